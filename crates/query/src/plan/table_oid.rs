//! The system column `tableoid`: the oid of the table that a row is from.
//!
//! A row of a plain table in FROM can be from no other, so the column is a constant: `regclass_oid('schema.table')`.

use super::own_level::each_expr;
use super::rewrite::call;
use sql::ast::{Expr, Ident, ObjectName, Select, TableFactor, Value};

const COLUMN: &str = "tableoid";

/// Replaces the column in the clauses of a SELECT; subqueries are SELECTs of their own.
pub(super) fn rewrite(select: &mut Select) {
    let factors = select
        .from
        .iter()
        .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
    let tables: Vec<(String, String)> = factors.filter_map(named).collect();
    if tables.is_empty() {
        return;
    }
    each_expr(select, |expr| {
        if let Some(table) = table_of(&tables, expr) {
            let name = Expr::value(Value::SingleQuotedString(table.to_owned()));
            *expr = call("regclass_oid", vec![name]);
        }
    });
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

/// The table whose oid `expr` is.
fn table_of<'a>(tables: &'a [(String, String)], expr: &Expr) -> Option<&'a str> {
    let is_column = |ident: &Ident| folded(ident) == COLUMN;
    match expr {
        Expr::Identifier(column) if is_column(column) => match tables {
            [(_, table)] => Some(table),
            _ => None,
        },
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, column] if is_column(column) => {
                let table = folded(table);
                tables.iter().find(|(alias, _)| *alias == table).map(|(_, table)| table.as_str())
            }
            _ => None,
        },
        _ => None,
    }
}
