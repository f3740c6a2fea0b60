//! VALUES whose rows give a column a type in some rows and leave it to the others: `VALUES (date '2024-01-01'), (NULL)`.
//!
//! The planner wants every row to have the same type. Plain constants take the type that the others say.

use super::rewrite::call;
use super::set_returning::has_column;
use super::typed_places::is_parameter;
use sql::ast::{CastKind, DataType, Expr, Query, SetExpr, Statement, Value, Values, VisitMut, VisitorMut};
use std::ops::ControlFlow;

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
                SetExpr::Values(values) => unite_values(values),
                SetExpr::SetOperation { left, right, .. } => rest.extend([left.as_mut(), right.as_mut()]),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

fn unite_values(values: &mut Values) {
    let columns = values.rows.first().map_or(0, |row| row.content.len());
    for column in 0..columns {
        // Rows that read columns of several tables: the planner wants them to say the same of their origin, so none says.
        if column_of(values, column).any(has_column) {
            let cells = values.rows.iter_mut().filter_map(|row| row.content.get_mut(column));
            cells.filter(|cell| has_column(cell)).for_each(without_origin);
        }
        let Some(ty) = said(values, column) else { continue };
        // A text beside a type with a length has none, and then nothing has.
        let loose = ty.to_string().contains('(') && column_of(values, column).any(is_text);
        let ty = if loose { without_length(ty) } else { ty };
        let cells = values.rows.iter_mut().filter_map(|row| row.content.get_mut(column));
        cells.filter(|cell| loose || is_plain(cell)).for_each(|cell| cast(cell, &ty));
    }
}

fn column_of(values: &Values, column: usize) -> impl Iterator<Item = &Expr> {
    values.rows.iter().filter_map(move |row| row.content.get(column))
}

fn without_origin(cell: &mut Expr) {
    let value = std::mem::replace(cell, Expr::value(Value::Null));
    *cell = call("coalesce", vec![value]);
}

/// What parameters are beside constants alone.
fn of_constants(values: &Values, column: usize) -> Option<DataType> {
    let mut cells = column_of(values, column).filter(|cell| !is_parameter(cell)).peekable();
    cells.peek()?;
    let number = |cell: &Expr| match cell {
        Expr::Value(value) => matches!(&value.value, Value::Number(number, _) if number.parse::<i32>().is_ok()),
        _ => false,
    };
    let cells: Vec<&Expr> = cells.collect();
    if cells.iter().all(|cell| is_text(cell)) {
        return Some(DataType::Text);
    }
    cells.iter().all(|cell| number(cell)).then_some(DataType::Integer(None))
}

/// The one type that some cells of a column name while others are plain.
fn said(values: &Values, column: usize) -> Option<DataType> {
    let mut types = column_of(values, column).filter_map(type_of);
    let Some(first) = types.next() else {
        return column_of(values, column).any(is_parameter).then(|| of_constants(values, column))?;
    };
    let one = types.all(|other| other == first);
    (one && column_of(values, column).any(is_plain)).then(|| first.clone())
}

fn without_length(ty: DataType) -> DataType {
    match ty {
        DataType::Varchar(_) | DataType::CharacterVarying(_) | DataType::CharVarying(_) => DataType::Varchar(None),
        DataType::Char(_) | DataType::Character(_) => DataType::Text,
        other => other,
    }
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

/// A text, a parameter or NULL without a type.
fn is_plain(expr: &Expr) -> bool {
    is_text(expr) || is_parameter(expr) || matches!(expr, Expr::Value(value) if value.value == Value::Null)
}

fn is_text(expr: &Expr) -> bool {
    let Expr::Value(value) = expr else { return false };
    matches!(value.value, Value::SingleQuotedString(_) | Value::EscapedStringLiteral(_))
}

fn cast(cell: &mut Expr, ty: &DataType) {
    let expr = Box::new(std::mem::replace(cell, Expr::value(Value::Null)));
    *cell = Expr::Cast { kind: CastKind::DoubleColon, expr, data_type: ty.clone(), array: false, format: None };
}
