//! `stddev` and `variance` of integers and numerics as numerics, from exact sums.
//!
//! ```text
//!   variance(x)    spread(sum(x), sum(square(x)), count(x), var_samp(x))
//! ```
//! For floats, and for sums with more digits than a numeric has, the result is the last argument, a double.

use crate::convert::scalar::{column_reader, datums_to_array};
use crate::convert::{arrow_type, sql_type};
use crate::error::{QueryError, QueryResult};
use crate::functions::number::numeric::{self, rounded_quotient, ten_to};
use crate::functions::simple::{Body, Returns, simple_call};
use arrow::array::{Array, ArrayRef, cast::AsArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Float64Type, Int64Type, i256};
use builtins::bodies::numerics::quotient_scale;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs};
use types::{DataType, Datum, Decimal, NUMERIC_MAX_SCALE};

/// Which measure to compute from the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Spread {
    /// Of a sample, not of the population: divides by n - 1.
    sample: bool,
    /// The standard deviation, not the variance.
    deviation: bool,
}

impl Spread {
    /// Returns the measure that the aggregate `name` computes.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (sample, deviation) = match name {
            "stddev" | "stddev_samp" => (true, true),
            "stddev_pop" => (false, true),
            "var" | "var_samp" => (true, false),
            "var_pop" => (false, false),
            _ => return None,
        };
        Some(Self { sample, deviation })
    }

    /// Returns the name of the aggregate.
    pub(in crate::functions) fn name(self) -> &'static str {
        match (self.sample, self.deviation) {
            (true, true) => "stddev_samp",
            (false, true) => "stddev_pop",
            (true, false) => "var_samp",
            (false, false) => "var_pop",
        }
    }

    pub(in crate::functions) fn is_sample(self) -> bool {
        self.sample
    }

    pub(in crate::functions) fn is_deviation(self) -> bool {
        self.deviation
    }

    /// Computes the measure from four aggregates; `float` is DataFusion's own.
    pub(crate) fn of(self, sum: Expr, squares: Expr, count: Expr, float: Expr) -> Expr {
        let (name, body): (_, Body) = match (self.sample, self.deviation) {
            (true, true) => ("stddev_samp of sums", |args| of_sums(args, Self { sample: true, deviation: true })),
            (false, true) => ("stddev_pop of sums", |args| of_sums(args, Self { sample: false, deviation: true })),
            (true, false) => ("var_samp of sums", |args| of_sums(args, Self { sample: true, deviation: false })),
            (false, false) => ("var_pop of sums", |args| of_sums(args, Self { sample: false, deviation: false })),
        };
        simple_call(name, Returns::Of(exact_or_double), body, vec![sum, squares, count, float])
    }
}

/// Squares `value` exactly; returns NULL for a float, whose squares are not used.
pub(crate) fn square(value: Expr) -> Expr {
    simple_call("square", Returns::Of(exact_or_double), squares, vec![value])
}

fn is_exact(ty: &ArrowType) -> bool {
    ty.is_integer() || ty.is_decimal()
}

/// Returns numeric for exact numbers, double for others.
fn exact_or_double(args: &[ArrowType]) -> ArrowType {
    let exact = args.first().is_some_and(is_exact);
    if exact { arrow_type(&DataType::Numeric(None)) } else { ArrowType::Float64 }
}

fn squares(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(&args.args)?;
    let Some(values) = arrays.first() else { return Err(QueryError::internal("square of nothing").into()) };
    if !is_exact(values.data_type()) {
        return Ok(ColumnarValue::Array(new_null_array(&ArrowType::Float64, values.len())));
    }
    let read = numeric_reader(values)?;
    let mut squares = Vec::with_capacity(values.len());
    for row in 0..values.len() {
        squares.push(match read(row)? {
            Some(value) => Datum::Numeric(squared(value).ok_or_else(numeric::overflow)?),
            None => Datum::Null,
        });
    }
    Ok(ColumnarValue::Array(datums_to_array(&DataType::Numeric(None), squares)?))
}

/// Squares `value`, rounded to the largest scale of a numeric.
fn squared(value: Decimal) -> Option<Decimal> {
    let factor = i256::from_i128(value.unscaled);
    let (product, scale) = (factor.checked_mul(factor)?, value.scale.checked_mul(2)?);
    let excess = scale.saturating_sub(NUMERIC_MAX_SCALE);
    let digits = rounded_quotient(product, i256::from_i128(types::decimal::power_of_ten(excess)?))?;
    Decimal::new(digits.to_i128()?, scale.min(NUMERIC_MAX_SCALE))
}

type NumericReader = Box<dyn Fn(usize) -> QueryResult<Option<Decimal>>>;

/// Reads integers and decimals of any width.
fn numeric_reader(values: &ArrayRef) -> Result<NumericReader> {
    let own = match values.data_type() {
        ArrowType::Decimal128(..) => sql_type(values.data_type()),
        _ => None,
    };
    let ty = own.unwrap_or(DataType::Numeric(None));
    let values = cast(values, &arrow_type(&ty))?;
    Ok(Box::new(move |row| {
        if values.is_null(row) {
            return Ok(None);
        }
        match column_reader(&ty, values.as_ref())?(row)? {
            Datum::Numeric(value) => Ok(Some(value)),
            _ => Ok(None),
        }
    }))
}

fn of_sums(args: &ScalarFunctionArgs, spread: Spread) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(&args.args)?;
    let [sums, squares, counts, floats] = arrays.as_slice() else {
        return Err(QueryError::internal("a variance is made of four aggregates").into());
    };
    let floats = cast(floats, &ArrowType::Float64)?;
    if !is_exact(sums.data_type()) {
        return Ok(ColumnarValue::Array(floats));
    }
    let floats = floats.as_primitive::<Float64Type>();
    let counts = cast(counts, &ArrowType::Int64)?;
    let (sum, square) = (numeric_reader(sums)?, numeric_reader(squares)?);
    let mut values = Vec::with_capacity(sums.len());
    for (row, count) in counts.as_primitive::<Int64Type>().iter().enumerate() {
        let count = count.unwrap_or(0);
        values.push(match (sum(row)?, square(row)?) {
            (Some(sum), Some(squares)) if count > i64::from(spread.sample) => {
                let exact = exact_spread(spread, sum, squares, count);
                Datum::Numeric(exact.map_or_else(|| numeric::from_float(floats.value(row)), Ok)?)
            }
            _ => Datum::Null,
        });
    }
    Ok(ColumnarValue::Array(datums_to_array(&DataType::Numeric(None), values)?))
}

/// Computes `(n * squares - sum²) / (n * (n - 1))`, or `/ n²` for a population; `None` on overflow.
pub(in crate::functions) fn exact_spread(
    spread: Spread,
    sum: Decimal,
    squares: Decimal,
    count: i64,
) -> Option<Decimal> {
    let scale = sum.scale.checked_mul(2)?.max(squares.scale);
    let aligned = |digits: i256, own: u8| digits.checked_mul(ten_to(u32::from(scale.checked_sub(own)?))?);
    let n = i256::from_i128(i128::from(count));
    let total = i256::from_i128(sum.unscaled);
    let total = aligned(total.checked_mul(total)?, sum.scale.checked_mul(2)?)?;
    let squares = aligned(i256::from_i128(squares.unscaled), squares.scale)?;
    let above = n.checked_mul(squares)?.checked_sub(total)?.to_i128()?;
    if above <= 0 {
        return Some(Decimal::ZERO);
    }
    // Trailing zeros would count against the limit of digits.
    let above = Decimal { unscaled: above, scale }.normalized();
    let below = Decimal::new(i128::from(count) * i128::from(count - i64::from(spread.sample)), 0)?;
    if above.scale > NUMERIC_MAX_SCALE || !above.fits_precision(38) {
        return None;
    }
    let variance = numeric::quotient(above, below).ok()?;
    if spread.deviation { numeric::root(variance, quotient_scale(above, below)).ok() } else { Some(variance) }
}
