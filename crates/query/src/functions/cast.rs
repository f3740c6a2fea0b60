//! Casts whose result in PostgreSQL differs from Arrow's: rounding to integers, the length of `varchar(n)`, dates as
//! text, and all casts from text.

use crate::convert::scalar::{column_reader, datums_to_array};
use crate::convert::{arrow_type, expression_field, sql_type_of};
use crate::error::{QueryError, QueryResult};
use crate::functions::array::nested::{nest_to_deepest, nest_to_dimensions};
use crate::functions::datetime::zone::{Zone, without_zone};
use crate::functions::short_name::short_name;
use crate::functions::sql::without_views;
use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Field, FieldRef, Float64Type, TimestampMicrosecondType,
};
use builtins::TimeZone;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use types::{DataType, Datum, ElementType, coerce, temporal, text};

/// Builds `expr::ty` with PostgreSQL's semantics; `None` if Arrow's own cast has the same result.
pub(crate) fn postgres_cast(expr: &Expr, from: &Field, ty: &DataType) -> Option<Expr> {
    let own = sql_type_of(from);
    if own == Some(*ty) && matches!(ty, DataType::Oid | DataType::Json) {
        return None;
    }
    // Arrow has one type for both: without a cast, the text would still count as a char(n) or as JSON.
    let was_other = matches!(own, Some(DataType::Char(_) | DataType::Json));
    let from = from.data_type();
    if arrow_agrees(from, ty) && !(was_other && ty.is_text()) {
        return None;
    }
    Some(call(expr.clone(), *ty, None))
}

/// Builds `expr::ty` for a cast that depends on the session's zone.
pub(crate) fn cast_in_zone(expr: Expr, ty: DataType, zone: &Zone) -> Expr {
    call(expr, ty, Some(zone.clone()))
}

/// Rounds a time or timestamp to the precision of `ty`, its own type.
pub(crate) fn round_to_precision(expr: Expr, ty: DataType) -> Expr {
    if ty.digits().is_some() { call(expr, ty, None) } else { expr }
}

/// Returns the target type of a PostgreSQL cast; `None` for other calls.
pub(crate) fn cast_target(call: &ScalarFunction) -> Option<DataType> {
    call.func.inner().downcast_ref::<PostgresCast>().map(|cast| cast.ty)
}

/// Returns the target type of a cast from dates or timestamps to timestamps in UTC, which preserves their order.
pub(crate) fn utc_timestamp_target(call: &ScalarFunction) -> Option<DataType> {
    let cast = call.func.inner().downcast_ref::<PostgresCast>().filter(|cast| cast.zone.is_none())?;
    matches!(cast.ty, DataType::Timestamp(None) | DataType::TimestampTz(None)).then_some(cast.ty)
}

fn call(expr: Expr, ty: DataType, zone: Option<Zone>) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let function = ScalarUDF::new_from_impl(PostgresCast { ty, zone, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![expr]))
}

fn arrow_agrees(from: &ArrowType, ty: &DataType) -> bool {
    use ArrowType as A;
    let to = arrow_type(ty);
    match (from, ty) {
        (A::Null, _) => true,
        (_, DataType::Varchar(Some(_)) | DataType::Char(_) | DataType::Varbinary(_) | DataType::Binary(_)) => false,
        // An oid has its own range, and not every text is JSON.
        (_, DataType::Oid | DataType::Json) => false,
        (_, ty) if ty.digits().is_some() => false,
        (from, _) if *from == to => true,
        (A::Struct(_), _) => true,
        (from, _) if from.is_integer() => fits(from, ty) || ty.is_text() || *ty == DataType::Boolean,
        (A::Boolean, ty) => ty.is_integer() || ty.is_text(),
        // Only Bennu's arithmetic of dates and days casts a date to an integer.
        (A::Date32, DataType::Integer) => true,
        // In the other direction, Arrow makes infinities of values that are out of range.
        (A::Float32, DataType::Double) => true,
        (A::Decimal128(..) | A::Decimal256(..), DataType::Numeric(_)) => fits(from, ty),
        (A::Utf8 | A::LargeUtf8 | A::Utf8View, ty) => ty.is_text(),
        _ => false,
    }
}

/// Returns whether `ty` can hold every number of the type `from`, so that a cast cannot fail.
fn fits(from: &ArrowType, ty: &DataType) -> bool {
    use ArrowType as A;
    // Digits before the decimal point, and after it.
    let (digits, scale) = match from {
        A::Int16 => (5, 0),
        A::Int32 => (10, 0),
        A::Int64 => (19, 0),
        A::Decimal128(precision, scale) | A::Decimal256(precision, scale) => {
            (i16::from(*precision) - i16::from(*scale), *scale)
        }
        _ => return false,
    };
    match (ty, arrow_type(ty)) {
        (DataType::Real | DataType::Double, _) => from.is_integer(),
        // A cast that rounds must be opaque to DataFusion, which would move it to the other side of a comparison.
        (DataType::Numeric(_), A::Decimal128(precision, to) | A::Decimal256(precision, to)) => {
            to >= scale && i16::from(precision) - i16::from(to) >= digits
        }
        (DataType::BigInt, _) => matches!(from, A::Int16 | A::Int32 | A::Int64),
        (DataType::Integer, _) => matches!(from, A::Int16 | A::Int32),
        (DataType::SmallInt, _) => matches!(from, A::Int16),
        _ => false,
    }
}

/// Returns whether Arrow casts these numbers as PostgreSQL does if the values fit. Arrow's error for other values has
/// no type.
fn arrow_may_fail(from: &ArrowType, ty: &DataType) -> bool {
    let decimal = matches!(from, ArrowType::Decimal128(..) | ArrowType::Decimal256(..));
    *ty != DataType::Oid && (from.is_integer() && ty.is_number() || decimal && matches!(ty, DataType::Numeric(_)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PostgresCast {
    ty: DataType,
    /// The session's zone and style, if the cast depends on them.
    zone: Option<Zone>,
    signature: Signature,
}

impl ScalarUDFImpl for PostgresCast {
    fn name(&self) -> &str {
        self.ty.base_name()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(short_name(self.name(), args))
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
        Ok(format!("{}::{}", shown.join(", "), self.ty.sql_name()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(arrow_type(&self.ty))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let field = expression_field(&self.ty);
        let ty = nest_to_deepest(field.data_type().clone(), args.arg_fields.iter().map(|field| field.data_type()));
        Ok(Arc::new(field.with_data_type(ty)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (Some(value), Some(from)) = (args.args.first(), args.arg_fields.first()) else {
            return Err(QueryError::internal("a cast without an operand").into());
        };
        let from = sql_type_of(from)
            .ok_or_else(|| QueryError::Unsupported { feature: format!("a cast from {}", from.data_type()) })?;
        match value {
            ColumnarValue::Scalar(scalar) => {
                let array = self.cast_array(&scalar.to_array()?, &from)?;
                let array = nest_to_dimensions(array, args.return_field.data_type())?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?))
            }
            ColumnarValue::Array(array) => {
                let array = self.cast_array(array, &from)?;
                Ok(ColumnarValue::Array(nest_to_dimensions(array, args.return_field.data_type())?))
            }
        }
    }
}

/// Arrow's casts return NULL for values that they cannot cast, unless `safe` is false.
const STRICT: arrow::compute::CastOptions<'static> =
    arrow::compute::CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

impl PostgresCast {
    fn cast_array(&self, array: &ArrayRef, from: &DataType) -> QueryResult<ArrayRef> {
        let canonical = match from {
            // Arrays keep their own type, which may be nested.
            DataType::Array(_) => without_views(array)?,
            from => arrow::compute::cast(array, &arrow_type(from))?,
        };
        if self.zone.is_none()
            && matches!(from, DataType::Timestamp(_) | DataType::TimestampTz(_))
            && matches!(self.ty, DataType::Date | DataType::Time(None))
            && let Ok(fast) = arrow::compute::cast_with_options(&canonical, &arrow_type(&self.ty), &STRICT)
        {
            return Ok(fast);
        }
        if self.zone.is_none()
            && let Some(fast) = cast_finite_timestamps(&canonical, &self.ty)
        {
            return Ok(fast);
        }
        if let Some(fast) = cast_exact_numerics(&canonical, &self.ty) {
            return Ok(fast);
        }
        // If a value does not fit, the loop below returns an error with a type.
        if arrow_may_fail(canonical.data_type(), &self.ty)
            && let Ok(fast) = arrow::compute::cast_with_options(&canonical, &arrow_type(&self.ty), &STRICT)
        {
            return Ok(fast);
        }
        let read = column_reader(from, canonical.as_ref())?;
        let mut values = Vec::with_capacity(canonical.len());
        for row in 0..canonical.len() {
            values.push(if canonical.is_null(row) {
                Datum::Null
            } else {
                cast_value(&self.ty, pad_char(from, &self.ty, read(row)?), self.zone.as_ref())?
            });
        }
        datums_to_array(&self.ty, values)
    }
}

/// Casts dates and timestamps to timestamps; `None` if a date is infinite or out of range, which Arrow does not check.
fn cast_finite_timestamps(array: &ArrayRef, ty: &DataType) -> Option<ArrayRef> {
    if !matches!(ty, DataType::Timestamp(None) | DataType::TimestampTz(None)) {
        return None;
    }
    let to = arrow_type(ty);
    if let Some(dates) = array.as_primitive_opt::<Date32Type>() {
        const LAST: i32 = (temporal::MAX_TIMESTAMP / temporal::DAY) as i32;
        let finite = dates.values().iter().all(|days| (temporal::MIN_DATE..LAST).contains(days));
        return finite.then(|| arrow::compute::cast_with_options(array, &to, &STRICT).ok()).flatten();
    }
    let moments = array.as_primitive_opt::<TimestampMicrosecondType>()?;
    // Both types count microseconds since 1970 in UTC.
    Some(Arc::new(moments.clone().with_data_type(to)))
}

/// Casts numerics to doubles by a division, if all have so few digits that a double holds the digits and the power of
/// ten exactly: then the quotient is rounded correctly.
fn cast_exact_numerics(array: &ArrayRef, ty: &DataType) -> Option<ArrayRef> {
    const LARGEST: u128 = 1 << f64::MANTISSA_DIGITS;
    const LARGEST_POWER: i8 = 22;
    let numerics = array.as_primitive_opt::<Decimal128Type>().filter(|_| *ty == DataType::Double)?;
    let scale = numerics.scale();
    if !(0..=LARGEST_POWER).contains(&scale) || !numerics.values().iter().all(|digits| digits.unsigned_abs() <= LARGEST)
    {
        return None;
    }
    let power: f64 = format!("1e{scale}").parse().ok()?;
    Some(Arc::new(numerics.unary::<_, Float64Type>(|digits| digits as f64 / power)))
}

fn cast_value(ty: &DataType, value: Datum, zone: Option<&Zone>) -> QueryResult<Datum> {
    match (ty, value) {
        (DataType::TimestampTz(_), Datum::Text(input)) => {
            Ok(coerce::cast(ty, Datum::TimestampTz(moment_of_text(&input, zone)?))?)
        }
        (DataType::Array(element), Datum::Text(input)) if element.data_type() == DataType::TimestampTz(None) => {
            let texts = text::parse(&DataType::Array(ElementType::Text), input.trim())?;
            cast_value(ty, texts, zone)
        }
        // JSON keeps its whitespace.
        (DataType::Json, Datum::Text(input)) => Ok(text::parse(ty, &input)?),
        // Whitespace is part of the bytes.
        (ty, Datum::Text(input)) if ty.is_bytes() => Ok(text::parse(ty, &input)?),
        (ty, Datum::Text(input)) if !ty.is_text() => {
            let text = without_zone(input.trim(), ty);
            Ok(match zone {
                Some(zone) => text::parse_in(ty, text, &zone.rules())?,
                None => text::parse(ty, text)?,
            })
        }
        (DataType::Array(element), Datum::Array(items)) => {
            let cast = |item: Datum| match item {
                nested @ Datum::Array(_) => cast_value(ty, nested, zone),
                item => cast_value(&element.data_type(), item, zone),
            };
            Ok(Datum::Array(items.into_iter().map(cast).collect::<QueryResult<_>>()?))
        }
        (ty, value) => match zone {
            Some(zone) => Ok(coerce::cast(ty, to_local_time(zone, ty, value)?)?),
            None => Ok(coerce::cast(ty, value)?),
        },
    }
}

/// Pads a `char(n)` with blanks, which are not stored, before a cast to bytes.
fn pad_char(from: &DataType, to: &DataType, value: Datum) -> Datum {
    match (from, value) {
        (DataType::Char(length), Datum::Text(text)) if to.is_bytes() => {
            Datum::Text(format!("{text:<width$}", width = *length as usize))
        }
        (_, value) => value,
    }
}

/// A text without a zone is read in the session's zone, or in UTC.
fn moment_of_text(input: &str, zone: Option<&Zone>) -> QueryResult<i64> {
    let rules = zone.map_or(TimeZone::UTC, Zone::rules);
    Ok(temporal::parse_timestamptz_in(input.trim(), &rules)?)
}

/// Converts a value to local time in the zone; a cast to `ty` follows.
fn to_local_time(zone: &Zone, ty: &DataType, value: Datum) -> QueryResult<Datum> {
    Ok(match value {
        Datum::Array(items) if ty.is_text() => {
            let texts = items.into_iter().map(|item| match item {
                Datum::Null => Ok(Datum::Null),
                nested @ Datum::Array(_) => Ok(nested),
                item => cast_value(&DataType::Text, item, Some(zone)),
            });
            Datum::Array(texts.collect::<QueryResult<_>>()?)
        }
        value => zone.rules().seen_as(ty, value)?,
    })
}
