//! A table that is named where FROM has it by another name, or where it cannot be seen: what PostgreSQL says of it.
//!
//! ```text
//!   SELECT t.k FROM t AS x                        it is called x
//!   SELECT * FROM t, (SELECT t.k FROM u) AS s     it is there, but not for a query beside it
//! ```

use super::names::ident_name;
use crate::error::{Entry, QueryError};
use sql::ast::{Expr, Query, SetExpr, TableFactor, TableWithJoins, Visit, Visitor};
use std::ops::ControlFlow;

/// Tells more of a [`QueryError::MissingFrom`].
pub(super) fn explained(error: QueryError, query: &Query) -> QueryError {
    let QueryError::MissingFrom { name, entry: None } = error else { return error };
    let mut searcher = Searcher { name: &name, levels: Vec::new() };
    let found = match query.visit(&mut searcher) {
        ControlFlow::Break(entry) => entry,
        // `t.*` is no expression: it stands in the query itself.
        ControlFlow::Continue(()) => entries(query).into_iter().find_map(|entry| entry.named(&name)),
    };
    QueryError::MissingFrom { name, entry: found }
}

/// A table of FROM.
struct InFrom {
    table: String,
    alias: Option<String>,
}

impl InFrom {
    fn named(&self, name: &str) -> Option<Entry> {
        match &self.alias {
            Some(alias) if alias == name => Some(Entry::OutOfSight),
            Some(alias) if self.table == name => Some(Entry::Alias(alias.clone())),
            None if self.table == name => Some(Entry::OutOfSight),
            _ => None,
        }
    }
}

struct Searcher<'a> {
    name: &'a str,
    /// FROM of each query around the place, outermost first.
    levels: Vec<Vec<InFrom>>,
}

impl Visitor for Searcher<'_> {
    type Break = Option<Entry>;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        self.levels.push(entries(query));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Self::Break> {
        self.levels.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        let Expr::CompoundIdentifier(parts) = expr else { return ControlFlow::Continue(()) };
        let [table, _] = parts.as_slice() else { return ControlFlow::Continue(()) };
        if ident_name(table) != self.name {
            return ControlFlow::Continue(());
        }
        let seen = self.levels.iter().rev().flatten();
        ControlFlow::Break(seen.filter_map(|entry| entry.named(self.name)).next())
    }
}

fn entries(query: &Query) -> Vec<InFrom> {
    let mut all = Vec::new();
    if let SetExpr::Select(select) = query.body.as_ref() {
        select.from.iter().for_each(|table| collect(table, &mut all));
    }
    all
}

fn collect(table: &TableWithJoins, all: &mut Vec<InFrom>) {
    for factor in std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)) {
        let (table, alias) = match factor {
            TableFactor::Table { name, alias, .. } => {
                let table = name.0.last().and_then(|part| part.as_ident()).map(ident_name);
                (table.unwrap_or_default(), alias.as_ref())
            }
            TableFactor::Derived { alias, .. } => (String::new(), alias.as_ref()),
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                collect(table_with_joins, all);
                continue;
            }
            _ => continue,
        };
        all.push(InFrom { table, alias: alias.map(|alias| ident_name(&alias.name)) });
    }
}
