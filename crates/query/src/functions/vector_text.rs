//! Vectors of `pg_catalog` as text, `1 2 3`: types of its own, which print without braces.

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Where a field says which type of `pg_type` it is, for types that SQL has not here.
const PG_TYPE_KEY: &str = "bennu.pg_type";

/// Is it an `int2vector` or `oidvector`?
pub(crate) fn prints_as_vector(field: &Field) -> bool {
    matches!(field.data_type(), ArrowType::List(_))
        && field.metadata().get(PG_TYPE_KEY).is_some_and(|name| name.ends_with("vector"))
}

/// The text of a vector.
pub(crate) fn vector_text(list: Expr) -> Expr {
    let function = VectorText { signature: Signature::any(1, Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(function)), vec![list]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct VectorText {
    signature: Signature,
}

impl ScalarUDFImpl for VectorText {
    fn name(&self) -> &str {
        "vector_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let mut texts: Vec<Option<String>> = Vec::with_capacity(args.number_rows);
        for array in &arrays {
            let Some(lists) = array.as_list_opt::<i32>() else { continue };
            for list in lists.iter() {
                texts.push(list.map(|list| print(&list)).transpose()?);
            }
        }
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(texts))))
    }
}

fn print(items: &ArrayRef) -> Result<String> {
    let items = cast(items, &ArrowType::Utf8)?;
    Ok(items.as_string::<i32>().iter().flatten().collect::<Vec<_>>().join(" "))
}
