//! VALUES whose rows give a column a type in some rows and leave it to the others: `VALUES (date '2024-01-01'), (NULL)`.
//!
//! The planner wants every row to have the same type. Plain constants take the type that is said once; where several
//! types are said, or one with a length, the rows become the parts of a UNION ALL, whose columns find their common type.

use super::set_functions::parse;
use sql::ast::{
    CastKind, DataType, Expr, Ident, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement, Value,
    Values, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Rows that become parts of a UNION; a query has no room for many more.
const MOST_PARTS: usize = 100;

/// Gives the columns of all VALUES of a statement one type.
pub(super) fn unite(statement: &mut Statement) {
    let _ = statement.visit(&mut Uniter);
}

struct Uniter;

impl VisitorMut for Uniter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let mut rest = vec![query.body.as_mut()];
        while let Some(body) = rest.pop() {
            match body {
                SetExpr::Values(values) => {
                    if let Some(union) = unite_values(values) {
                        *body = union;
                    }
                }
                SetExpr::SetOperation { left, right, .. } => rest.extend([left.as_mut(), right.as_mut()]),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

/// What a column's rows say of its type.
enum Said {
    /// Nothing, or all the same.
    Alike,
    /// This, but not in every row.
    Once(DataType),
    /// Several types, or one with a length beside rows without.
    Several,
}

fn unite_values(values: &mut Values) -> Option<SetExpr> {
    let columns = values.rows.first().map_or(0, |row| row.content.len());
    if values.rows.len() < 2 || values.rows.iter().any(|row| row.content.len() != columns) {
        return None;
    }
    for column in 0..columns {
        match said(values, column) {
            Said::Alike => {}
            Said::Once(ty) => {
                let cells = values.rows.iter_mut().filter_map(|row| row.content.get_mut(column));
                cells.filter(|cell| is_plain(cell)).for_each(|cell| cast(cell, &ty));
            }
            Said::Several if values.rows.len() <= MOST_PARTS => return union_of(values),
            Said::Several => {}
        }
    }
    None
}

fn said(values: &Values, column: usize) -> Said {
    let mut cells = values.rows.iter().filter_map(|row| row.content.get(column)).map(type_of).peekable();
    let mut types = cells.clone().flatten();
    let Some(first) = types.next() else { return Said::Alike };
    if types.any(|other| other != first) {
        return Said::Several;
    }
    if cells.all(|cell| cell.is_some()) {
        return Said::Alike;
    }
    if first.to_string().contains('(') { Said::Several } else { Said::Once(first.clone()) }
}

/// The type that an expression names.
fn type_of(expr: &Expr) -> Option<&DataType> {
    match expr {
        Expr::Cast { data_type, .. } => Some(data_type),
        Expr::TypedString(typed) => Some(&typed.data_type),
        Expr::Nested(inner) => type_of(inner),
        _ => None,
    }
}

/// A text or NULL without a type.
fn is_plain(expr: &Expr) -> bool {
    let Expr::Value(value) = expr else { return false };
    matches!(value.value, Value::SingleQuotedString(_) | Value::EscapedStringLiteral(_) | Value::Null)
}

fn cast(cell: &mut Expr, ty: &DataType) {
    let expr = Box::new(std::mem::replace(cell, Expr::value(Value::Null)));
    *cell = Expr::Cast { kind: CastKind::DoubleColon, expr, data_type: ty.clone(), array: false, format: None };
}

fn union_of(values: &mut Values) -> Option<SetExpr> {
    let SetExpr::Select(pattern) = *parse("SELECT 1")?.body else { return None };
    let rows = std::mem::take(&mut values.rows).into_iter();
    let parts = rows.map(|row| SetExpr::Select(Box::new(select(row.content, (*pattern).clone()))));
    parts.reduce(|left, right| SetExpr::SetOperation {
        op: SetOperator::Union,
        set_quantifier: SetQuantifier::All,
        left: Box::new(left),
        right: Box::new(right),
    })
}

/// `SELECT a AS column1, b AS column2`.
fn select(row: Vec<Expr>, mut pattern: Select) -> Select {
    let named = |(at, expr)| SelectItem::ExprWithAlias { expr, alias: Ident::new(format!("column{}", at + 1)) };
    pattern.projection = row.into_iter().enumerate().map(named).collect();
    pattern
}
