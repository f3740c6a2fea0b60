//! The system column `tableoid`: the oid of the table that a row is from.
//!
//! A row of a plain table in FROM can be from no other, so the column is a constant: `regclass_oid('schema.table')`.

use super::rewrite::call;
use sql::ast::{Expr, Ident, ObjectName, Query, Select, TableFactor, Value, VisitMut, VisitorMut};
use std::ops::ControlFlow;

const COLUMN: &str = "tableoid";

/// Replaces the column in the clauses of a SELECT; subqueries are SELECTs of their own.
pub(super) fn rewrite(select: &mut Select) {
    let factors = select
        .from
        .iter()
        .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
    let tables: Vec<(String, String)> = factors.filter_map(named).collect();
    if !tables.is_empty() {
        let _ = select.visit(&mut Replacer { tables, depth: 0 });
    }
}

/// The name that columns of a table are qualified with, and the table's own.
fn named(factor: &TableFactor) -> Option<(String, String)> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let last = name.0.last()?.as_ident()?;
    let alias = alias.as_ref().map_or(last, |alias| &alias.name);
    Some((folded(alias), quoted(name)?))
}

fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { types::ident::fold(&ident.value) }
}

fn quoted(name: &ObjectName) -> Option<String> {
    let parts = name.0.iter().map(|part| part.as_ident().map(|part| types::ident::quote(&folded(part)).into_owned()));
    Some(parts.collect::<Option<Vec<_>>>()?.join("."))
}

struct Replacer {
    tables: Vec<(String, String)>,
    /// How many subqueries deep.
    depth: usize,
}

impl Replacer {
    fn table_of(&self, expr: &Expr) -> Option<&str> {
        let is_column = |ident: &Ident| folded(ident) == COLUMN;
        match expr {
            Expr::Identifier(column) if is_column(column) => match self.tables.as_slice() {
                [(_, table)] => Some(table),
                _ => None,
            },
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, column] if is_column(column) => {
                    let table = folded(table);
                    self.tables.iter().find(|(alias, _)| *alias == table).map(|(_, table)| table.as_str())
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl VisitorMut for Replacer {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Some(table) = self.table_of(expr)
        {
            let name = Expr::value(Value::SingleQuotedString(table.to_owned()));
            *expr = call("regclass_oid", vec![name]);
        }
        ControlFlow::Continue(())
    }
}
