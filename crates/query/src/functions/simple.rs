//! Small scalar functions, each a name, types and a closure.

use crate::convert::sql_type_of;
use crate::error::QueryError;
use arrow::array::{ArrayRef, FixedSizeBinaryBuilder};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

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
    ]
}

fn setting_signature() -> Signature {
    let one = TypeSignature::Exact(vec![ArrowType::Utf8]);
    let two = TypeSignature::Exact(vec![ArrowType::Utf8, ArrowType::Boolean]);
    Signature::one_of(vec![one, two], Volatility::Volatile)
}

fn simple(name: &'static str, signature: Signature, returns: ArrowType, body: Body) -> ScalarUDF {
    ScalarUDF::new_from_impl(Simple { name, signature, returns, body })
}

struct Simple {
    name: &'static str,
    signature: Signature,
    returns: ArrowType,
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

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.body)(&args)
    }
}

fn pg_typeof(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let name = args.arg_fields.first().and_then(|field| match field.data_type() {
        ArrowType::Null => Some("unknown"),
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
