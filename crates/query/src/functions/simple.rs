//! Small scalar functions: each has a name, types and a closure.

use crate::convert::sql_type_of;
use crate::error::QueryError;
use arrow::array::{ArrayRef, FixedSizeBinaryBuilder};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// Computes a batch of rows.
pub(super) type Body = fn(&ScalarFunctionArgs) -> Result<ColumnarValue>;

pub(super) fn all() -> Vec<ScalarUDF> {
    let text = || Returns::Type(ArrowType::Utf8);
    vec![
        simple("pg_typeof", Signature::any(1, Volatility::Stable), text(), pg_typeof),
        simple(
            "gen_random_uuid",
            Signature::nullary(Volatility::Volatile),
            Returns::Type(ArrowType::FixedSizeBinary(16)),
            random_uuid,
        ),
    ]
}

/// The result type of a function.
#[derive(Clone, Debug)]
pub(super) enum Returns {
    /// A fixed type.
    Type(ArrowType),
    /// A type that depends on the types of the arguments.
    Of(fn(&[ArrowType]) -> ArrowType),
    /// The type of the first argument; `nullable`: the result may be NULL if the argument is not.
    First { nullable: bool },
}

/// Creates a function with a unique name.
pub(super) fn simple(name: &'static str, signature: Signature, returns: Returns, body: Body) -> ScalarUDF {
    ScalarUDF::new_from_impl(Simple { name, signature, returns, body })
}

/// Builds a call of such a function with arguments of any type.
pub(super) fn simple_call(name: &'static str, returns: Returns, body: Body, args: Vec<Expr>) -> Expr {
    let function = simple(name, Signature::any(args.len(), Volatility::Immutable), returns, body);
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))
}

/// Is it one of these functions? None of them has effects.
pub(super) fn draws_a_value(function: &ScalarUDF) -> bool {
    function.inner().is::<Simple>()
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

/// Names are unique, and closures cannot be compared.
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
            Returns::Type(ty) => Ok(ty.clone()),
            Returns::Of(by_types) => Ok(by_types(args)),
            Returns::First { .. } => args.first().cloned().ok_or_else(|| self.without_arguments()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let Returns::First { nullable } = self.returns else {
            let types: Vec<ArrowType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
            return Ok(Arc::new(Field::new(self.name, self.return_type(&types)?, true)));
        };
        let first = args.arg_fields.first().ok_or_else(|| self.without_arguments())?;
        let nullable = nullable || first.is_nullable();
        Ok(Arc::new(first.as_ref().clone().with_name(self.name).with_nullable(nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.body)(&args)
    }
}

impl Simple {
    fn without_arguments(&self) -> DataFusionError {
        QueryError::internal(format!("{}() without arguments", self.name)).into()
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
