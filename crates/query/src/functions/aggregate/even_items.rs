//! Checks the result of `array_agg` of arrays: as in PostgreSQL, all have equal dimensions and none is NULL or empty.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use arrow::array::cast::AsArray;
use arrow::array::{Array, ArrayRef, ListArray};
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Returns `array` itself after checking the dimensions of its elements.
pub(crate) fn even_items(array: Expr) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    Expr::ScalarFunction(ScalarFunction::new_udf(
        Arc::new(ScalarUDF::new_from_impl(EvenItems { signature })),
        vec![array],
    ))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct EvenItems {
    signature: Signature,
}

impl ScalarUDFImpl for EvenItems {
    fn name(&self) -> &str {
        "even items"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[ArrowType]) -> Result<ArrowType> {
        args.first().cloned().ok_or_else(|| no_array().into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        args.arg_fields.first().cloned().ok_or_else(|| no_array().into())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let value = args.args.into_iter().next().ok_or_else(no_array)?;
        let arrays = value.to_array(args.number_rows)?;
        if let Some(lists) = arrays.as_list_opt::<i32>() {
            for list in lists.iter().flatten() {
                check(&list)?;
            }
        }
        Ok(value)
    }
}

fn no_array() -> QueryError {
    QueryError::internal("items of no array")
}

fn check(items: &ArrayRef) -> QueryResult<()> {
    let Some(items) = items.as_list_opt::<i32>() else { return Ok(()) };
    let mut first = None;
    for item in items.iter() {
        let item = item.ok_or_else(|| Refusal::Null.because("cannot accumulate null arrays"))?;
        let sizes = sizes(&item);
        if sizes.is_empty() {
            return Err(Refusal::Subscript.because("cannot accumulate empty arrays"));
        }
        if *first.get_or_insert_with(|| sizes.clone()) != sizes {
            return Err(Refusal::Subscript.because("cannot accumulate arrays of different dimensionality"));
        }
    }
    Ok(())
}

/// Returns the size of each dimension; an empty array has no dimension.
fn sizes(items: &ArrayRef) -> Vec<usize> {
    let mut all = Vec::new();
    let mut level = Arc::clone(items);
    while !level.is_empty() {
        all.push(level.len());
        let nested: Option<&ListArray> = level.as_list_opt::<i32>();
        match nested {
            Some(nested) if !nested.is_null(0) => level = nested.value(0),
            _ => break,
        }
    }
    all
}
