//! A new name in the query of a view.
//!
//! ```text
//!   RENAME TO, SET SCHEMA    FROM t   becomes  FROM n AS t
//!   RENAME COLUMN a TO b     FROM t   becomes  FROM (SELECT b AS a, c FROM t) AS t
//! ```
//! The derived table has the columns that the view sees of the table, under their old names.

use crate::ddl::check::identifier;
use bind::{NamedRelation, change_references};
use catalog::{Catalog, ColumnId, Table, TableOid, ViewRead};
use sql::ast::{Ident, ObjectName, ObjectNamePart, Query, SetExpr, TableAlias, TableFactor, Visit, Visitor};
use sql::folded;
use std::ops::ControlFlow;
use std::sync::Arc;
use types::ident::quote;

/// What gets another name.
#[derive(Clone, Copy, Debug)]
pub(in crate::ddl) enum NewName<'a> {
    /// A table or view.
    Relation(&'a str),
    /// The schema that a table is moved to.
    Schema(&'a str),
    /// A column of a table, and its new name.
    Column(ColumnId, &'a str),
}

/// A new name of a relation, and what the query of a view sees of the relation.
pub(super) struct Renaming<'a> {
    new: NewName<'a>,
    /// The schema of the relation.
    schema: String,
    /// The relation, if it has a stored definition of columns.
    table: Option<Arc<Table>>,
    /// The columns that the view reads.
    columns: &'a [ColumnId],
}

impl<'a> Renaming<'a> {
    pub(super) fn new(catalog: &Catalog, relation: TableOid, new: NewName<'a>, reads: &'a [ViewRead]) -> Self {
        let table = catalog.table_by_oid(relation).cloned();
        let of_view = || catalog.view_by_oid(relation).map(|view| view.schema);
        let schema = table.as_ref().map(|table| table.schema).or_else(of_view);
        let schema = schema.and_then(|id| catalog.schemas().find(|schema| schema.id == id)).map(|it| it.name.clone());
        let columns = reads.iter().find(|read| read.relation == relation).map(|read| read.columns.as_slice());
        Self { new, schema: schema.unwrap_or_default(), table, columns: columns.unwrap_or_default() }
    }

    /// Changes the references `named` to the relation in a query, whose text is `text`. Returns whether all could be
    /// changed, and there were any.
    pub(super) fn apply(&self, query: &mut Query, text: &str, named: &[NamedRelation]) -> bool {
        if let NewName::Column(column, _) = self.new
            && !self.columns.contains(&column)
        {
            return true;
        }
        let hidden = matches!(self.new, NewName::Relation(to) if names_cte(query, to));
        let (mut any, mut all) = (false, true);
        change_references(query, text, named, &mut |factor| {
            any = true;
            all &= self.change(factor, hidden).is_some();
        });
        any && all
    }

    /// Changes an item of FROM; `None` if it has a form that cannot be changed. `hidden`: a CTE has the new name.
    fn change(&self, factor: &mut TableFactor, hidden: bool) -> Option<()> {
        if let NewName::Column(column, to) = self.new {
            *factor = self.derived(factor, column, to)?;
            return Some(());
        }
        let TableFactor::Table { name, alias, .. } = factor else { return None };
        let old = name.0.last().and_then(ObjectNamePart::as_ident)?.clone();
        match self.new {
            NewName::Relation(to) if hidden && name.0.len() == 1 => *name = names([self.schema.as_str(), to]),
            NewName::Relation(to) => *name.0.last_mut()? = ObjectNamePart::Identifier(identifier(to)),
            NewName::Schema(schema) => *name = names([schema, folded(&old).as_str()]),
            NewName::Column(..) => {}
        }
        alias.get_or_insert_with(|| alias_of(&old));
        Some(())
    }

    /// The derived table instead of a reference to the table.
    fn derived(&self, factor: &TableFactor, renamed: ColumnId, to: &str) -> Option<TableFactor> {
        let TableFactor::Table { name, alias, .. } = factor else { return None };
        let alias = match alias {
            Some(TableAlias { name, columns, .. }) if columns.is_empty() => folded(name),
            Some(_) => return None,
            None => folded(name.0.last().and_then(ObjectNamePart::as_ident)?),
        };
        let seen = self.table.iter().flat_map(|table| table.visible_columns());
        let items = seen.filter(|column| self.columns.contains(&column.id)).map(|column| match column.id == renamed {
            true => format!("{} AS {}", quote(to), quote(&column.name)),
            false => quote(&column.name).into_owned(),
        });
        let items = items.collect::<Vec<_>>().join(", ");
        let from = name.0.iter().map(|part| part.as_ident().map(|ident| quote(&folded(ident)).into_owned()));
        let from = from.collect::<Option<Vec<_>>>()?.join(".");
        let text = format!("SELECT 1 FROM (SELECT {items} FROM {from}) AS {}", quote(&alias));
        let SetExpr::Select(select) = *sql::parse_query(&text).ok()?.body else { return None };
        Some(select.from.into_iter().next()?.relation)
    }
}

fn names<'n>(parts: impl IntoIterator<Item = &'n str>) -> ObjectName {
    ObjectName(parts.into_iter().map(|part| ObjectNamePart::Identifier(identifier(part))).collect())
}

fn alias_of(name: &Ident) -> TableAlias {
    TableAlias { explicit: true, name: identifier(&folded(name)), columns: Vec::new(), at: None }
}

/// Whether a WITH in the query defines this name.
fn names_cte(query: &Query, name: &str) -> bool {
    struct Ctes<'n>(&'n str);
    impl Visitor for Ctes<'_> {
        type Break = ();
        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            let mut ctes = query.with.iter().flat_map(|with| &with.cte_tables);
            match ctes.any(|cte| folded(&cte.alias.name) == self.0) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }
    query.visit(&mut Ctes(name)).is_break()
}
