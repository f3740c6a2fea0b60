//! CHECK constraints: conditions that must not be false for any row.
//!
//! The catalog keeps their text and the columns that it names; crates above compile and evaluate them. The text names
//! columns without their table, so that renaming the table does not change it.

use crate::{CatalogError, CatalogResult, ColumnId, Draft, Index, Table, TableOid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A CHECK constraint of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its oid, as clients see it.
    pub oid: u32,
    /// Its name, unique among the constraints of the table.
    pub name: String,
    /// Source text of the condition.
    pub text: String,
    /// The columns that the text names, each once.
    pub columns: Vec<ColumnId>,
    /// Whether all rows are known to satisfy it. False for NOT VALID until VALIDATE CONSTRAINT.
    #[serde(default = "validated", skip_serializing_if = "is_validated")]
    pub validated: bool,
}

fn validated() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_validated(validated: &bool) -> bool {
    *validated
}

/// A CHECK constraint to be created.
#[derive(Clone, Debug)]
pub struct NewCheck {
    /// `None` is PostgreSQL's choice: `<table>_<column>_check` over one column, else `<table>_check`, followed by a
    /// number if the name is taken.
    pub name: Option<String>,
    /// Source text of the condition.
    pub text: String,
    /// Names of the columns in it, each once.
    pub columns: Vec<String>,
    /// See [`Check::validated`].
    pub validated: bool,
}

impl Table {
    /// The CHECK constraint of that name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }

    /// The index of the UNIQUE constraint of that name.
    pub fn unique_constraint(&self, name: &str) -> Option<&Index> {
        self.index(name).filter(|index| index.constraint.is_some())
    }

    /// Whether a constraint of this table has that name.
    pub fn is_constraint(&self, name: &str) -> bool {
        let own = self.key_name.as_deref() == Some(name) || self.check(name).is_some();
        own || self.unique_constraint(name).is_some() || self.foreign_key(name).is_some()
    }

    fn push_check(&mut self, oid: u32, new: NewCheck) -> CatalogResult<()> {
        let columns =
            new.columns.iter().map(|name| Ok(self.must_get_column(name)?.id)).collect::<CatalogResult<_>>()?;
        let name = match new.name {
            Some(name) if self.is_constraint(&name) => {
                return Err(CatalogError::DuplicateConstraint { table: self.name.clone(), constraint: name });
            }
            Some(name) => name,
            None => self.free_check_name(&new.columns, &[]),
        };
        self.checks.push(Check { oid, name, text: new.text, columns, validated: new.validated });
        self.checks.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    /// The name of an unnamed CHECK constraint over these columns; `taken` names are not free either.
    /// Source: `ChooseConstraintName` of PostgreSQL.
    pub fn free_check_name(&self, columns: &[String], taken: &[&str]) -> String {
        let base = match columns {
            [column] => format!("{}_{column}_check", self.name),
            _ => format!("{}_check", self.name),
        };
        let numbered = (1..).map(|number| format!("{base}{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        names.find(|name| !self.is_constraint(name) && !taken.contains(&name.as_str())).unwrap_or(base)
    }
}

/// Adds the constraints of a table that is being created; their oids are assigned with the table's.
pub(crate) fn add_new_checks(table: &mut Table, checks: Vec<NewCheck>) -> CatalogResult<()> {
    let mut given = BTreeSet::new();
    for name in checks.iter().filter_map(|check| check.name.as_ref()) {
        if !given.insert(name) {
            return Err(CatalogError::DuplicateCheck { constraint: name.clone() });
        }
    }
    // Explicit names go first, so that a generated name avoids them.
    let (named, unnamed): (Vec<_>, Vec<_>) = checks.into_iter().partition(|check| check.name.is_some());
    named.into_iter().chain(unnamed).try_for_each(|check| table.push_check(0, check))
}

impl Draft {
    /// ADD CHECK. The caller checks the existing rows, under the table's exclusive lock.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], [`CatalogError::NoSuchColumn`], [`CatalogError::DuplicateConstraint`].
    pub fn add_check(&mut self, oid: TableOid, new: NewCheck) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        let check = self.take_oid()?;
        table.push_check(check, new)?;
        Ok(self.put_table(table))
    }

    /// DROP CONSTRAINT; with `cascade`, also of foreign keys that refer to it. After dropping a primary key the rows
    /// must be rewritten ([`Self::drop_key`]). Returns kind and name of the dependent objects that were dropped.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::NoSuchConstraint`]; [`CatalogError::DependentObjects`].
    pub fn drop_constraint(&mut self, oid: TableOid, name: &str, cascade: bool) -> CatalogResult<Vec<String>> {
        if self.table(oid)?.foreign_key(name).is_some() {
            self.remove_foreign_keys(oid, |key| key.name == name)?;
            return Ok(Vec::new());
        }
        if let Some(index) = self.table(oid)?.unique_constraint(name).map(|index| index.oid) {
            let what = format!("constraint {name} on {}", self.described(oid));
            let others = self.release_parent(oid, Some(index), &BTreeSet::new(), (&what, cascade))?;
            let mut table = self.table(oid)?.as_ref().clone();
            self.remove_indexes(&mut table, |index| index.name == name);
            self.put_table(table);
            return Ok(others);
        }
        if self.table(oid)?.key_name.as_deref() == Some(name) {
            return self.drop_key(oid, cascade);
        }
        let mut table = self.table(oid)?.as_ref().clone();
        find_check(&table, name, "dropping")?;
        table.checks.retain(|check| check.name != name);
        self.put_table(table);
        Ok(Vec::new())
    }

    /// RENAME CONSTRAINT of any kind of constraint.
    ///
    /// # Errors
    /// As [`Self::drop_constraint`], and [`CatalogError::DuplicateConstraint`].
    pub fn rename_constraint(&mut self, oid: TableOid, name: &str, to: &str) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        if table.is_constraint(to) {
            return Err(CatalogError::DuplicateConstraint { table: table.name.clone(), constraint: to.to_string() });
        }
        if let Some(index) = table.unique_constraint(name) {
            return self.rename_index(oid, index.oid, to);
        }
        if table.key_name.as_deref() == Some(name) {
            table.key_name = Some(to.to_string());
            return Ok(self.put_table(table));
        }
        if let Some(key) = table.foreign_keys.iter_mut().find(|key| key.name == name) {
            key.name = to.to_string();
            return Ok(self.put_table(table));
        }
        find_check(&table, name, "renaming")?;
        for check in table.checks.iter_mut().filter(|check| check.name == name) {
            check.name = to.to_string();
        }
        table.checks.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(self.put_table(table))
    }

    /// Replaces the texts of CHECK constraints, after a rename of a column in them. Ignores names that no longer exist.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`].
    pub fn set_check_texts(&mut self, oid: TableOid, texts: &[(String, String)]) -> CatalogResult<Arc<Table>> {
        let mut table = self.table(oid)?.as_ref().clone();
        for (name, text) in texts {
            for check in table.checks.iter_mut().filter(|check| check.name == *name) {
                check.text.clone_from(text);
            }
        }
        Ok(self.put_table(table))
    }

    /// Assigns oids to the constraints of a new table.
    pub(crate) fn take_check_oids(&mut self, table: &mut Table) -> CatalogResult<()> {
        for check in &mut table.checks {
            check.oid = self.take_oid()?;
        }
        Ok(())
    }
}

fn find_check<'a>(table: &'a Table, name: &str, verb: &str) -> CatalogResult<&'a Check> {
    match table.check(name) {
        Some(check) => Ok(check),
        None if table.is_constraint(name) => {
            Err(CatalogError::Unsupported { feature: format!("{verb} a primary key constraint") })
        }
        None => Err(CatalogError::NoSuchConstraint { table: table.name.clone(), constraint: name.to_string() }),
    }
}
