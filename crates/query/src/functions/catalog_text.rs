//! Text of values of `pg_catalog`: a `name` holds 63 bytes, and vectors such as `1 2 3` print without braces.

use crate::functions::simple::{Returns, simple_call};
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs};
use std::sync::Arc;

/// The maximum length of a `name` in bytes.
const LONGEST: usize = 63;

/// Truncates a text to the length of a `name`.
pub(crate) fn name_of_text(text: Expr) -> Expr {
    simple_call("name_of_text", Returns::Type(ArrowType::Utf8), names, vec![text])
}

/// Returns the text of a vector.
pub(crate) fn vector_text(list: Expr) -> Expr {
    simple_call("vector_text", Returns::Type(ArrowType::Utf8), vectors, vec![list])
}

fn names(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let mut names: Vec<Option<String>> = Vec::with_capacity(args.number_rows);
    for array in ColumnarValue::values_to_arrays(&args.args)? {
        let full = cast(&array, &ArrowType::Utf8)?;
        names.extend(full.as_string::<i32>().iter().map(|text| text.map(|text| shortened(text).to_owned())));
    }
    Ok(ColumnarValue::Array(Arc::new(StringArray::from(names))))
}

fn vectors(args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
    let mut texts: Vec<Option<String>> = Vec::with_capacity(args.number_rows);
    for array in ColumnarValue::values_to_arrays(&args.args)? {
        let Some(lists) = array.as_list_opt::<i32>() else { continue };
        for list in lists.iter() {
            texts.push(list.map(|list| print(&list)).transpose()?);
        }
    }
    Ok(ColumnarValue::Array(Arc::new(StringArray::from(texts))))
}

fn print(items: &ArrayRef) -> Result<String> {
    let items = cast(items, &ArrowType::Utf8)?;
    Ok(items.as_string::<i32>().iter().flatten().collect::<Vec<_>>().join(" "))
}

/// Truncates the text after the last whole character that fits.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_name_ends_with_a_whole_letter() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"x".repeat(70)).len(), 63);
        assert_eq!(shortened(&"ä".repeat(40)).len(), 62);
    }
}
