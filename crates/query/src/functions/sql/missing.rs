//! Calls that no function answers, as errors name them: with the types of their arguments, `lenght(unknown)`.

use crate::Refusal;
use crate::convert::sql_type;
use crate::error::QueryError;
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The error of a call. Operators are functions whose name no query can write.
pub(crate) fn no_such_function(name: &str, types: &[String]) -> QueryError {
    match (name.split_once(' '), types) {
        (Some(("operator", operator)), [left, right]) => {
            QueryError::NoSuchOperator { left: left.clone(), operator: operator.to_owned(), right: right.clone() }
        }
        (Some(("prefix", operator)), [right]) => {
            QueryError::NoSuchPrefixOperator { operator: operator.to_owned(), right: right.clone() }
        }
        (Some((operator, "any" | "all")), [left, right]) => match right.strip_suffix("[]") {
            Some(item) => {
                QueryError::NoSuchOperator { left: left.clone(), operator: operator.to_owned(), right: item.to_owned() }
            }
            None => Refusal::NoArray.because("op ANY/ALL (array) requires array on right side"),
        },
        _ => QueryError::NoSuchFunction { signature: format!("{name}({})", types.join(", ")) },
    }
}

/// The same of a call that is being planned, where constants have no types yet.
pub(super) fn no_such_call(name: &str, args: &ReturnFieldArgs<'_>) -> QueryError {
    let constants = args.scalar_arguments.iter().copied().chain(std::iter::repeat(None));
    let types: Vec<String> =
        args.arg_fields.iter().zip(constants).map(|(field, constant)| name_of(field, constant)).collect();
    no_such_function(name, &types)
}

fn name_of(field: &FieldRef, constant: Option<&ScalarValue>) -> String {
    let ty = field.data_type();
    match constant {
        _ if ty.is_null() => "unknown".to_owned(),
        Some(ScalarValue::Utf8(_)) => "unknown".to_owned(),
        Some(ScalarValue::Int64(Some(number))) if i32::try_from(*number).is_ok() => "integer".to_owned(),
        _ => sql_type(ty).map_or_else(|| "record".to_owned(), |ty| ty.base_name().to_owned()),
    }
}

/// What a call of a missing function was, once one has been planned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told(Arc<OnceLock<String>>);

impl Told {
    /// The name with the types of the arguments.
    pub(crate) fn signature(&self) -> Option<String> {
        self.0.get().cloned()
    }
}

/// It says nothing about a function.
impl PartialEq for Told {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Told {}

impl Hash for Told {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A function that is not there. To plan a call of it is an error, and tells the types of its arguments.
pub(crate) fn missing_function(name: &str, told: Told) -> Arc<ScalarUDF> {
    let signature = Signature::user_defined(Volatility::Volatile);
    Arc::new(ScalarUDF::new_from_impl(Missing { name: name.to_owned(), signature, told }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Missing {
    name: String,
    signature: Signature,
    told: Told,
}

impl ScalarUDFImpl for Missing {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, args: &[ArrowType]) -> Result<Vec<ArrowType>> {
        Ok(args.to_vec())
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Err(no_such_function(&self.name, &[]).into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let error = no_such_call(&self.name, &args);
        if let QueryError::NoSuchFunction { signature } = &error {
            self.told.0.get_or_init(|| signature.clone());
        }
        Err(error.into())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(no_such_function(&self.name, &[]).into())
    }
}
