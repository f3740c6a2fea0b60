//! A [`Function`] as a DataFusion UDF.

use super::{ANY, Arguments, BOOL, Function, INT, OID, REGCLASS, Returns};
use crate::definition::TYPE_KEY;
use crate::rows::Cell;
use crate::source::Source;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, Int64Array, ListBuilder, StringArray, StringBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The UDF of a function over `source`.
pub(super) fn bind(function: &'static Function, source: Source) -> ScalarUDF {
    // Stable: the result depends on `source`, but is the same within a statement.
    let volatility = if function.acts { Volatility::Volatile } else { Volatility::Stable };
    let signature = Signature::user_defined(volatility);
    ScalarUDF::new_from_impl(Bound { function, source, signature })
}

#[derive(Debug)]
struct Bound {
    function: &'static Function,
    source: Source,
    signature: Signature,
}

/// All functions of one statement have the same `source`.
impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name && Arc::ptr_eq(&self.source.catalog, &other.source.catalog)
    }
}

impl Eq for Bound {}

impl Hash for Bound {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl ScalarUDFImpl for Bound {
    fn name(&self) -> &str {
        self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[ArrowType]) -> Result<Vec<ArrowType>> {
        let most = self.function.arguments.len();
        if given.len() > most || given.len() + self.function.optional < most {
            return plan_err!("Invalid number of arguments for function {}", self.function.name);
        }
        // Optional arguments that PostgreSQL has in front, such as the user of has_…_privilege, come first here, too.
        Ok(self.function.arguments.iter().zip(given).map(|(wanted, given)| coerced(*wanted, given)).collect())
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(match self.function.returns {
            Returns::Bool => ArrowType::Boolean,
            Returns::Int => ArrowType::Int32,
            Returns::Oid | Returns::BigInt => ArrowType::Int64,
            Returns::Text => ArrowType::Utf8,
            Returns::Texts => ArrowType::List(Arc::new(Field::new("item", ArrowType::Utf8, true))),
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<ArrowType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let field = Field::new(self.name(), self.return_type(&types)?, true);
        Ok(Arc::new(match self.function.returns {
            Returns::Oid => field.with_metadata(HashMap::from([(TYPE_KEY.to_owned(), "oid".to_owned())])),
            _ => field,
        }))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = !self.function.acts && args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        let columns = args.args.iter().map(|arg| cells(&arg.to_array(rows)?)).collect::<Result<Vec<_>>>()?;
        let mut values = Vec::with_capacity(rows);
        for row in 0..rows {
            let arguments: Vec<Cell> =
                columns.iter().map(|column| column.get(row).cloned().unwrap_or(Cell::Null)).collect();
            let null = !self.function.takes_null && arguments.contains(&Cell::Null);
            values.push(if null { Cell::Null } else { (self.function.body)(&self.source, &Arguments(&arguments))? });
        }
        let array = array(self.function.returns, values);
        if scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?));
        }
        Ok(ColumnarValue::Array(array))
    }
}

/// The Arrow type to which an argument is coerced.
fn coerced(wanted: u32, given: &ArrowType) -> ArrowType {
    match wanted {
        BOOL => ArrowType::Boolean,
        INT | OID => ArrowType::Int64,
        REGCLASS | ANY if given.is_integer() => ArrowType::Int64,
        ANY if *given == ArrowType::Boolean => ArrowType::Boolean,
        _ => ArrowType::Utf8,
    }
}

fn cells(array: &ArrayRef) -> Result<Vec<Cell>> {
    Ok(match array.data_type() {
        ArrowType::Boolean => array.as_boolean().iter().map(Cell::from).collect(),
        ArrowType::Int64 => array.as_primitive::<Int64Type>().iter().map(Cell::from).collect(),
        ArrowType::Utf8 => array.as_string::<i32>().iter().map(Cell::from).collect(),
        _ => cast(array, &ArrowType::Utf8)?.as_string::<i32>().iter().map(Cell::from).collect(),
    })
}

/// The bodies return cells of the function's return type; any other cell becomes NULL.
fn array(returns: Returns, values: Vec<Cell>) -> ArrayRef {
    let int = |cell: &Cell| if let Cell::Int(value) = cell { Some(*value) } else { None };
    match returns {
        Returns::Bool => {
            let bool = |cell: &Cell| if let Cell::Bool(value) = cell { Some(*value) } else { None };
            Arc::new(values.iter().map(bool).collect::<BooleanArray>())
        }
        Returns::Int => {
            let narrow = |cell: &Cell| int(cell).and_then(|value| i32::try_from(value).ok());
            Arc::new(values.iter().map(narrow).collect::<Int32Array>())
        }
        Returns::Oid | Returns::BigInt => Arc::new(values.iter().map(int).collect::<Int64Array>()),
        Returns::Text => {
            let text = |cell: &Cell| if let Cell::Text(value) = cell { Some(value.clone()) } else { None };
            Arc::new(values.iter().map(text).collect::<StringArray>())
        }
        Returns::Texts => {
            let mut builder = ListBuilder::new(StringBuilder::new());
            for cell in values {
                let texts = if let Cell::Texts(texts) = cell { Some(texts) } else { None };
                builder.append_option(texts.map(|texts| texts.into_iter().map(Some)));
            }
            Arc::new(builder.finish())
        }
    }
}
