//! `stddev` and `variance` of the elements of an array, for aggregates with DISTINCT.

use crate::error::{QueryError, QueryResult};
use crate::functions::aggregate::spread::{Spread, exact_spread};
use crate::functions::array::forms::{Returns, of_array};
use crate::functions::number::numeric;
use crate::functions::sql::{Body, Definition, Form, call_of, define_any, wrong};
use datafusion::logical_expr::Expr;
use types::{DataType, Datum, Decimal};

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define_any("stddev_samp of values", |types| of_numbers(types, |args| spread(args, "stddev_samp"))),
    define_any("stddev_pop of values", |types| of_numbers(types, |args| spread(args, "stddev_pop"))),
    define_any("var_samp of values", |types| of_numbers(types, |args| spread(args, "var_samp"))),
    define_any("var_pop of values", |types| of_numbers(types, |args| spread(args, "var_pop"))),
];

impl Spread {
    /// Computes the measure for an array of type `ty`.
    ///
    /// # Errors
    /// [`QueryError::Internal`] if `ty` is not an array of numbers.
    pub(crate) fn of_values(self, values: Expr, ty: DataType) -> QueryResult<Expr> {
        let wanted = format!("{} of values", self.name());
        let definition = FUNCTIONS.iter().find(|definition| definition.name == wanted);
        call_of(definition.ok_or_else(|| QueryError::internal(wanted))?, &[ty], vec![values], None)
    }
}

fn of_numbers(types: &[DataType], body: Body) -> Option<Form> {
    let Some(DataType::Array(element)) = types.first() else { return None };
    let returns = if element.data_type().is_float() { DataType::Double } else { DataType::Numeric(None) };
    of_array(types, 0, Returns::Known(returns), true, body)
}

fn spread(args: &[Datum], name: &str) -> QueryResult<Datum> {
    let ([Datum::Array(items)], Some(spread)) = (args, Spread::named(name)) else { return Err(wrong(args)) };
    let floats = items.iter().filter_map(float).collect::<Vec<f64>>();
    let exact: Option<Vec<Decimal>> = items.iter().filter(|item| !item.is_null()).map(decimal).collect();
    if floats.len() <= usize::from(spread.is_sample()) {
        return Ok(Datum::Null);
    }
    let Some(exact) = exact else { return Ok(Datum::Float8(of_floats(spread, &floats))) };
    match of_decimals(spread, &exact) {
        Some(value) => Ok(Datum::Numeric(value)),
        None => numeric::from_float(of_floats(spread, &floats)).map(Datum::Numeric),
    }
}

fn float(item: &Datum) -> Option<f64> {
    match item {
        Datum::Float4(value) => Some(f64::from(*value)),
        Datum::Float8(value) => Some(*value),
        item => decimal(item).map(|value| value.to_f64()),
    }
}

fn decimal(item: &Datum) -> Option<Decimal> {
    match item {
        Datum::Numeric(value) => Some(*value),
        item => Decimal::new(i128::from(item.as_i64()?), 0),
    }
}

/// Adds up in PostgreSQL's order and by its method, so that the last digit agrees.
fn of_floats(spread: Spread, values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in sorted {
        count += 1.0;
        sum += value;
        if count > 1.0 {
            let above = value * count - sum;
            squares += above * above / (count * (count - 1.0));
        }
    }
    let variance = squares / (count - f64::from(u8::from(spread.is_sample())));
    if spread.is_deviation() { variance.sqrt() } else { variance }
}

/// `None` if the sums need more digits than a numeric has.
fn of_decimals(spread: Spread, values: &[Decimal]) -> Option<Decimal> {
    let scale = values.iter().map(|value| value.scale).max()?;
    let (mut sum, mut squares) = (0_i128, 0_i128);
    for value in values {
        let digits = value.rescale(scale)?.unscaled;
        sum = sum.checked_add(digits)?;
        squares = squares.checked_add(digits.checked_mul(digits)?)?;
    }
    let squares = Decimal::new(squares, scale.checked_mul(2)?)?;
    exact_spread(spread, Decimal::new(sum, scale)?, squares, i64::try_from(values.len()).ok()?)
}
