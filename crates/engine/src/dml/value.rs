//! The right sides of assignments and VALUES.

use super::elements::ElementChange;
use super::insert::set;
use super::literal::{Literal, literal};
use super::params::ParamTypes;
use super::row_value::{Given, RowValue, Rows};
use super::target::{Row, Target};
use crate::error::{EngineResult, Fault, fail};
use catalog::TableOid;
use sql::InsertValue;
use sql::ast::Expr;
use types::Datum;

/// Where a column's new value comes from.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Of the column's type already.
    Constant(Datum),
    /// `$n`, counted from 0.
    Param(usize),
    /// Made of the row that is changed.
    Row(RowValue),
    /// The n-th of the statement's computed expressions.
    Computed(usize),
    /// The next value of a sequence.
    Next(TableOid),
    /// The row's own array with some elements changed.
    Elements(Vec<ElementChange>),
}

/// Expressions that must be evaluated, in order of their first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Computed(pub(crate) Vec<Expr>);

impl Computed {
    pub(crate) fn add(&mut self, expr: Expr) -> usize {
        self.0.push(expr);
        self.0.len() - 1
    }
}

/// What becomes of one right side in the place of that column.
pub(crate) fn value_for(
    target: &Target,
    at: usize,
    value: &InsertValue,
    rows: Rows<'_>,
    params: &mut ParamTypes,
    computed: &mut Computed,
) -> EngineResult<Value> {
    let InsertValue::Expr(expr) = value else { return default_of(target, at, computed) };
    let Some(column) = target.column(at) else { return Ok(Value::Constant(Datum::Null)) };
    match literal(expr) {
        Some(Literal::Param(index)) => {
            params.note(index, column.ty);
            Ok(Value::Param(index))
        }
        Some(literal) => target.literal(at, &literal).map(Value::Constant),
        None => match RowValue::compile(target, at, expr, rows, params)? {
            Some(value) => Ok(Value::Row(value)),
            None => Ok(Value::Computed(computed.add(expr.clone()))),
        },
    }
}

/// The column's default: NULL without one.
pub(crate) fn default_of(target: &Target, at: usize, computed: &mut Computed) -> EngineResult<Value> {
    let Some(column) = target.column(at) else { return Ok(Value::Constant(Datum::Null)) };
    if let Some(sequence) = column.sequence {
        return Ok(Value::Next(sequence));
    }
    if column.generated.is_some() {
        // The row writer computes it.
        return Ok(Value::Constant(Datum::Null));
    }
    let Some(text) = &column.default else { return Ok(Value::Constant(Datum::Null)) };
    let expr = sql::parse_expr(text)?;
    match literal(&expr) {
        Some(literal) => target.literal(at, &literal).map(Value::Constant),
        None => Ok(Value::Computed(computed.add(expr))),
    }
}

/// The row of constant defaults for a table of which `given` comes from elsewhere; the columns whose default
/// is computed for each row, and those expressions.
pub(crate) fn default_values(target: &Target, given: &[usize]) -> EngineResult<(Row, Vec<usize>, Vec<Expr>)> {
    let mut row = vec![Datum::Null; target.width()];
    let (mut columns, mut computed) = (Vec::new(), Computed::default());
    for (at, column) in target.table.columns.iter().enumerate() {
        if given.contains(&at) || column.hidden {
            continue;
        }
        match default_of(target, at, &mut computed)? {
            Value::Constant(value) => set(&mut row, at, value),
            Value::Param(index) => return fail(Fault::NoSuchParameter { number: index + 1 }),
            Value::Computed(_) | Value::Row(_) | Value::Elements(_) => columns.push(at),
            // Those of `sequence_defaults`.
            Value::Next(_) => {}
        }
    }
    Ok((row, columns, computed.0))
}

/// Columns that get the next value of a sequence, in a table of which `given` comes from elsewhere.
pub(crate) fn sequence_defaults(target: &Target, given: &[usize]) -> Vec<(usize, TableOid)> {
    let columns = target.table.columns.iter().enumerate().filter(|(at, _)| !given.contains(at));
    columns.filter_map(|(at, column)| column.sequence.map(|sequence| (at, sequence))).collect()
}

impl Value {
    /// The value now, as that column keeps it.
    pub(crate) fn get(&self, target: &Target, at: usize, given: &Given<'_>) -> EngineResult<Datum> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Row(value) => target.assign(at, value.get(given)?),
            Self::Elements(changes) => {
                let own = given.own.get(at).cloned().unwrap_or(Datum::Null);
                changes.iter().try_fold(own, |array, change| change.apply(target, at, array, given))
            }
            Self::Next(sequence) => match given.next.and_then(|values| values.take(*sequence)) {
                Some(value) => target.assign(at, Datum::Int8(value)),
                None => fail(Fault::Unsupported {
                    feature: "SET of a column to the next value of its sequence in ON CONFLICT".to_string(),
                }),
            },
            Self::Param(index) => match given.params.get(*index) {
                Some(value) => target.assign(at, value.clone()),
                None => fail(Fault::NoSuchParameter { number: index + 1 }),
            },
            Self::Computed(index) => match given.computed.get(*index) {
                Some(value) => target.assign(at, value.clone()),
                None => fail(Fault::Internal { detail: format!("no computed value {index}") }),
            },
        }
    }
}
