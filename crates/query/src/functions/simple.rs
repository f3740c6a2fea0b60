//! Small scalar functions, each a name, types and a closure.

use crate::convert::{arrow_type, sql_type, sql_type_of};
use crate::error::QueryError;
use arrow::array::cast::AsArray;
use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, FixedSizeBinaryBuilder, Int64Array};
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use chrono::{DateTime, TimeZone, Utc};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;
use types::DataType;

type Body = fn(&ScalarFunctionArgs) -> Result<ColumnarValue>;

pub(super) fn all() -> Vec<ScalarUDF> {
    let text = ArrowType::Utf8;
    vec![
        simple("pg_typeof", Signature::any(1, Volatility::Stable), text, pg_typeof),
        simple(
            "gen_random_uuid",
            Signature::nullary(Volatility::Volatile),
            ArrowType::FixedSizeBinary(16),
            random_uuid,
        ),
        // Replaced by its value before a plan runs: `session_constant.rs`.
        simple("current_setting", setting_signature(), ArrowType::Utf8, |_| {
            Err(QueryError::internal("current_setting() was not given a value").into())
        }),
        simple_of("timezone", Signature::any(2, Volatility::Immutable), timezone_type, timezone),
    ]
}

fn setting_signature() -> Signature {
    let one = TypeSignature::Exact(vec![ArrowType::Utf8]);
    let two = TypeSignature::Exact(vec![ArrowType::Utf8, ArrowType::Boolean]);
    Signature::one_of(vec![one, two], Volatility::Volatile)
}

fn simple(name: &'static str, signature: Signature, returns: ArrowType, body: Body) -> ScalarUDF {
    ScalarUDF::new_from_impl(Simple { name, signature, returns: Returns::Always(returns), body })
}

fn simple_of(name: &'static str, signature: Signature, returns: TypeOf, body: Body) -> ScalarUDF {
    ScalarUDF::new_from_impl(Simple { name, signature, returns: Returns::Of(returns), body })
}

type TypeOf = fn(&[ArrowType]) -> Result<ArrowType>;

/// The type of what a function returns.
enum Returns {
    Always(ArrowType),
    Of(TypeOf),
}

fn timezone_type(args: &[ArrowType]) -> Result<ArrowType> {
    match args.get(1) {
        Some(ArrowType::Timestamp(_, Some(_))) => Ok(arrow_type(&DataType::Timestamp)),
        Some(ArrowType::Timestamp(_, None)) => Ok(arrow_type(&DataType::TimestampTz)),
        other => {
            let name = other.and_then(sql_type).map_or("unknown".to_owned(), |ty| ty.sql_name());
            Err(QueryError::NoSuchFunction { signature: format!("timezone(text, {name})") }.into())
        }
    }
}

struct Simple {
    name: &'static str,
    signature: Signature,
    returns: Returns,
    body: Body,
}

impl std::fmt::Debug for Simple {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}()", self.name)
    }
}

/// Names are unique here, and a closure cannot be compared.
impl PartialEq for Simple {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Simple {}

impl Hash for Simple {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Simple {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        match &self.returns {
            Returns::Always(ty) => Ok(ty.clone()),
            Returns::Of(type_of) => type_of(args),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.body)(&args)
    }
}

fn pg_typeof(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let name = args.arg_fields.first().and_then(|field| match field.data_type() {
        ArrowType::Null => Some("unknown"),
        ArrowType::Interval(_) | ArrowType::Duration(_) => Some("interval"),
        _ => sql_type_of(field).map(|ty| ty.base_name()),
    });
    Ok(ColumnarValue::Scalar(ScalarValue::Utf8(name.map(str::to_owned))))
}

/// Version 4: 122 random bits.
fn random_uuid(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let mut builder = FixedSizeBinaryBuilder::with_capacity(args.number_rows, 16);
    for _ in 0..args.number_rows {
        // Each state of the standard library's hasher is seeded from the system's randomness.
        let half = || RandomState::new().build_hasher().finish();
        let mut bytes = ((u128::from(half()) << 64) | u128::from(half())).to_be_bytes();
        bytes[6] = (bytes[6] & 0x0F) | 0x40;
        bytes[8] = (bytes[8] & 0x3F) | 0x80;
        builder.append_value(bytes)?;
    }
    let array: ArrayRef = Arc::new(builder.finish());
    Ok(ColumnarValue::Array(array))
}

/// `timezone(zone, x)`: the local time of a moment, or the moment of a local time.
fn timezone(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let [ColumnarValue::Scalar(ScalarValue::Utf8(zone)), value] = args.args.as_slice() else {
        return Err(QueryError::Unsupported { feature: "a time zone that varies from row to row".to_owned() }.into());
    };
    let Some(zone) = zone else {
        return Ok(ColumnarValue::Scalar(ScalarValue::try_from(args.return_field.data_type())?));
    };
    let zone = Tz::from_str(zone)
        .map_err(|_| QueryError::BadArgument { message: format!("time zone \"{zone}\" not recognized") })?;
    let array = value.to_array(args.number_rows)?;
    let micros = arrow::compute::cast(&array, &ArrowType::Int64)?;
    let to_local = matches!(array.data_type(), ArrowType::Timestamp(_, Some(_)));
    let shifted: Int64Array = micros
        .as_primitive::<Int64Type>()
        .iter()
        .map(|micros| micros.and_then(|micros| if to_local { local_of(micros, zone) } else { moment_of(micros, zone) }))
        .collect();
    let shifted: ArrayRef = Arc::new(shifted);
    Ok(ColumnarValue::Array(arrow::compute::cast(&shifted, args.return_field.data_type())?))
}

fn local_of(micros: i64, zone: Tz) -> Option<i64> {
    let moment = DateTime::<Utc>::from_timestamp_micros(micros)?;
    Some(moment.with_timezone(&zone).naive_local().and_utc().timestamp_micros())
}

/// Of a local time that comes twice the earlier moment, of one that never comes the time an hour later.
fn moment_of(micros: i64, zone: Tz) -> Option<i64> {
    let local = DateTime::<Utc>::from_timestamp_micros(micros)?.naive_utc();
    let moment = zone.from_local_datetime(&local).earliest();
    let moment = moment.or_else(|| zone.from_local_datetime(&(local + chrono::Duration::hours(1))).earliest());
    moment.map(|moment| moment.timestamp_micros())
}
