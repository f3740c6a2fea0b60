//! How many columns a query's rows may have, those that it is only sorted by among them.
//!
//! The bound is PostgreSQL's; planning takes time that grows with the square of the columns.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use sql::ast::{Expr, OrderByKind, Query, SelectItem, SetExpr, Value};
use std::collections::HashSet;

/// Most columns of a row under way (PostgreSQL's `MaxTupleAttributeNumber`).
const MAX_ENTRIES: usize = 1664;

/// Checks what stands in the text; `*` is one column here.
///
/// # Errors
/// 54011.
pub(super) fn check_query(query: &Query) -> QueryResult<()> {
    let SetExpr::Select(select) = query.body.as_ref() else { return Ok(()) };
    let sorted = match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(by)) => {
            let columns: HashSet<&str> = select.projection.iter().filter_map(column_name).collect();
            by.iter().filter(|by| !is_listed(&by.expr, &columns)).count()
        }
        _ => 0,
    };
    check(select.projection.len() + sorted)
}

/// The name of a column of the answer, where the text tells it.
fn column_name(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(&alias.value),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(&name.value),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => names.last().map(|name| name.value.as_str()),
        _ => None,
    }
}

/// Is a row sorted by a column that it has anyway, by its number or name?
fn is_listed(by: &Expr, columns: &HashSet<&str>) -> bool {
    match by {
        Expr::Value(value) => matches!(value.value, Value::Number(..)),
        Expr::Identifier(name) => columns.contains(name.value.as_str()),
        _ => false,
    }
}

/// Checks the columns of an answer.
///
/// # Errors
/// 54011.
pub(super) fn check(columns: usize) -> QueryResult<()> {
    if columns > MAX_ENTRIES { Err(too_many()) } else { Ok(()) }
}

fn too_many() -> QueryError {
    Refusal::Columns.because(format!("target lists can have at most {MAX_ENTRIES} entries"))
}
