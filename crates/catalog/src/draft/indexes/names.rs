//! Names of indexes and of their parts, as PostgreSQL chooses them.

use super::{NewIndex, NewIndexExpr, NewPartOf};
use crate::{CatalogError, CatalogResult, Draft, Table};

impl Draft {
    /// The given name, if it is free, else PostgreSQL's choice. Source: `ChooseIndexName`.
    pub(super) fn index_name(&self, table: &Table, new: &NewIndex, parts: &[String]) -> CatalogResult<String> {
        let schema = self.next.schema_name(table).to_string();
        if let Some(name) = &new.name {
            self.check_name_is_free(&schema, name)?;
            if new.constraint && table.is_constraint(name) {
                let (table, constraint) = (table.name.clone(), name.clone());
                return Err(CatalogError::DuplicateConstraint { table, constraint });
            }
            return Ok(name.clone());
        }
        let columns = parts.iter().chain(&new.include);
        let columns = columns.map(String::as_str).collect::<Vec<_>>().join("_");
        let base = match new.primary {
            true => format!("{}_pkey", table.name),
            false => format!("{}_{columns}_{}", table.name, if new.constraint { "key" } else { "idx" }),
        };
        let numbered = (1..).map(|number| format!("{base}{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let free = |name: &String| !table.is_constraint(name) && self.check_name_is_free(&schema, name).is_ok();
        Ok(names.find(free).unwrap_or(base))
    }
}

/// Names of the parts. A number is appended to a name that an earlier part has. Source: `ChooseIndexColumnNames` of
/// PostgreSQL.
pub(super) fn part_names(new: &NewIndex) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(new.parts.len());
    for part in &new.parts {
        let (NewPartOf::Column(wanted) | NewPartOf::Expression(NewIndexExpr { name: wanted, .. })) = &part.of;
        let numbered = (1..).map(|number| format!("{wanted}{number}"));
        let mut free = std::iter::once(wanted.clone()).chain(numbered).filter(|name| !names.contains(name));
        names.push(free.next().unwrap_or_default());
    }
    names
}
