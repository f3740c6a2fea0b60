//! A SQL function written in Rust by the program that embeds the database.

use crate::convert::{arrow_type, batch_to_rows, datums_to_array};
use crate::error::QueryError;
use ::bind::OwnFunction;
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use builtins::Ty;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};
use types::{DataType, Datum};

/// The body of a function: maps arguments of the declared types to a value of the declared type, or to an error
/// message.
pub type RustBody = Arc<dyn Fn(&[Datum]) -> std::result::Result<Datum, String> + Send + Sync>;

/// A scalar function and its declaration.
#[derive(Clone)]
pub struct RustFunction {
    /// Its name, folded.
    pub name: String,
    /// Types of its arguments.
    pub arguments: Vec<DataType>,
    /// Type of its value.
    pub returns: DataType,
    /// Whether the result depends on the arguments alone.
    pub immutable: bool,
    /// Whether a NULL argument gives NULL without a call.
    pub strict: bool,
    /// The body.
    pub body: RustBody,
}

impl std::fmt::Debug for RustFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({:?}) -> {:?}", self.name, self.arguments, self.returns)
    }
}

/// The functions of the embedding program, by name.
#[derive(Debug, Default)]
pub struct RustFunctions {
    /// A lock, because functions can be registered at any time; it is held for a lookup only.
    by_name: RwLock<BTreeMap<String, Registered>>,
}

/// A function as registered, as plans use it, and as the binder uses it.
type Registered = (RustFunction, Arc<ScalarUDF>, Arc<OwnFunction>);

impl RustFunctions {
    /// Adds a function, or replaces the function of the same name.
    pub fn insert(&self, function: RustFunction) {
        let name = function.name.clone();
        let mut by_name = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::new(function.signature());
        by_name.insert(name, (function.clone(), Arc::new(function.into_udf()), own));
    }

    /// Returns the function `name`.
    pub fn get(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(name).map(|(_, planned, _)| Arc::clone(planned))
    }

    /// Returns the signature of the function `name`.
    pub fn signature(&self, name: &str) -> Option<Arc<OwnFunction>> {
        self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(name).map(|(.., own)| Arc::clone(own))
    }

    /// Returns all functions, ordered by name.
    pub fn all(&self) -> Vec<RustFunction> {
        let by_name = self.by_name.read().unwrap_or_else(PoisonError::into_inner);
        by_name.values().map(|(function, ..)| function.clone()).collect()
    }
}

impl RustFunction {
    fn signature(&self) -> OwnFunction {
        OwnFunction {
            name: self.name.clone(),
            args: self.arguments.iter().map(Ty::of).collect(),
            returns: Ty::of(&self.returns),
            volatile: !self.immutable,
        }
    }

    /// Converts the function to a DataFusion UDF.
    fn into_udf(self) -> ScalarUDF {
        let volatility = if self.immutable { Volatility::Immutable } else { Volatility::Volatile };
        let arguments: Vec<ArrowType> = self.arguments.iter().map(arrow_type).collect();
        let kind = if arguments.is_empty() { TypeSignature::Nullary } else { TypeSignature::Exact(arguments) };
        ScalarUDF::new_from_impl(Called { signature: Signature::new(kind, volatility), function: self })
    }

    fn call(&self, arguments: &[Datum]) -> Result<Datum> {
        if self.strict && arguments.iter().any(Datum::is_null) {
            return Ok(Datum::Null);
        }
        let failed = |message| QueryError::FunctionFailed { name: self.name.clone(), message };
        let value = (self.body)(arguments).map_err(failed)?;
        // The body may return a value of another type.
        Ok(types::coerce::assign(&self.returns, value).map_err(QueryError::from)?)
    }
}

#[derive(Debug)]
struct Called {
    signature: Signature,
    function: RustFunction,
}

/// Bodies cannot be compared: functions are equal if they share the body object.
impl PartialEq for Called {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name && Arc::ptr_eq(&self.function.body, &other.function.body)
    }
}

impl Eq for Called {}

impl Hash for Called {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl ScalarUDFImpl for Called {
    fn name(&self) -> &str {
        &self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(arrow_type(&self.function.returns))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        // Constant arguments are computed as one row; a volatile function is called for each row.
        let rows = if constant && self.function.immutable { 1 } else { args.number_rows };
        let arrays = args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<ArrayRef>>>()?;
        let values: Vec<Datum> =
            self.rows(&arrays, rows)?.iter().map(|row| self.function.call(row)).collect::<Result<_>>()?;
        let array = datums_to_array(&self.function.returns, values)?;
        if constant && self.function.immutable {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?));
        }
        Ok(ColumnarValue::Array(array))
    }
}

impl Called {
    fn rows(&self, arrays: &[ArrayRef], rows: usize) -> Result<Vec<Vec<Datum>>> {
        let fields: Vec<Field> = arrays.iter().map(|array| Field::new("", array.data_type().clone(), true)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays.to_vec(), &options)?;
        Ok(batch_to_rows(&batch, &self.function.arguments)?)
    }
}
