//! Arrays as text, `{a,"b c",NULL}`: no column of a table has them, but those of `pg_catalog` do.

use arrow::array::{Array, ArrayRef, AsArray, StringArray, new_empty_array};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType as ArrowType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Where a field says which type of `pg_type` it is, for types that SQL has not here.
const PG_TYPE_KEY: &str = "bennu.pg_type";

/// The text of a list.
pub(crate) fn array_text(list: Expr, field: &FieldRef) -> Expr {
    let vector = field.metadata().get(PG_TYPE_KEY).is_some_and(|name| name.ends_with("vector"));
    let function = ArrayText { vector, signature: Signature::any(1, Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(function)), vec![list]))
}

/// Is it a list?
pub(crate) fn is_list(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::List(_) | ArrowType::LargeList(_))
}

/// A constant `'{1,2}'` as a list of that type; `None` if it is none.
pub(crate) fn read_array(text: &str, ty: &ArrowType) -> Option<ScalarValue> {
    let ArrowType::List(item) = ty else { return None };
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    // Quoted elements are of no use where lists are compared here: numbers and single letters.
    if inner.contains(['"', '{', '\\']) {
        return None;
    }
    let texts: Vec<&str> = if inner.is_empty() { Vec::new() } else { inner.split(',').map(str::trim).collect() };
    let values: ArrayRef = if texts.is_empty() {
        new_empty_array(item.data_type())
    } else {
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        // An element that is no such value is an error, not NULL.
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        cast_with_options(&texts, item.data_type(), &strict).ok()?
    };
    let values: Option<Vec<ScalarValue>> =
        (0..values.len()).map(|place| ScalarValue::try_from_array(&values, place).ok()).collect();
    Some(ScalarValue::List(ScalarValue::new_list_nullable(&values?, item.data_type())))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayText {
    /// `1 2 3`, as `int2vector` prints.
    vector: bool,
    signature: Signature,
}

impl ScalarUDFImpl for ArrayText {
    fn name(&self) -> &str {
        "array_text"
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
                texts.push(list.map(|list| self.print(&list)).transpose()?);
            }
        }
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(texts))))
    }
}

impl ArrayText {
    fn print(&self, items: &ArrayRef) -> Result<String> {
        let items = match items.as_list_opt::<i32>() {
            // An array of arrays.
            Some(lists) => {
                let inner = lists.iter().map(|list| list.map(|list| self.print(&list)).transpose());
                let inner = inner.collect::<Result<Vec<Option<String>>>>()?;
                return Ok(format!("{{{}}}", inner.into_iter().flatten().collect::<Vec<_>>().join(",")));
            }
            None => cast(items, &ArrowType::Utf8)?,
        };
        let texts = items.as_string::<i32>().iter();
        if self.vector {
            return Ok(texts.flatten().collect::<Vec<_>>().join(" "));
        }
        let texts: Vec<String> = texts.map(|item| item.map_or_else(|| "NULL".to_owned(), quoted)).collect();
        Ok(format!("{{{}}}", texts.join(",")))
    }
}

/// An element, in quotes if it would be misread.
fn quoted(item: &str) -> String {
    let plain = !item.is_empty()
        && !item.eq_ignore_ascii_case("null")
        && !item.contains(|c: char| matches!(c, '{' | '}' | ',' | '"' | '\\') || c.is_ascii_whitespace());
    if plain { item.to_owned() } else { format!("\"{}\"", item.replace('\\', "\\\\").replace('"', "\\\"")) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow::datatypes::Field;

    #[test]
    fn elements_are_quoted_where_they_must_be() {
        assert_eq!(["a", "", "NULL", "a b", "a\"b\\"].map(quoted), ["a", "\"\"", "\"NULL\"", "\"a b\"", r#""a\"b\\""#]);
    }

    #[test]
    fn constants_are_read_as_lists() {
        let ty = ArrowType::List(Arc::new(Field::new("item", ArrowType::Int64, true)));
        let ScalarValue::List(list) = read_array("{1, 2}", &ty).unwrap() else { return };
        assert_eq!(list.value_length(0), 2);
        assert!(read_array("{}", &ty).is_some());
        assert_eq!(["1", "{a}", "{\"1\"}"].map(|text| read_array(text, &ty)), [None, None, None]);
    }
}
