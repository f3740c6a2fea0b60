//! A text as a `name`, which holds 63 bytes.

use arrow::array::{AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Bytes of a name, at most.
const LONGEST: usize = 63;

/// As much of the text as a name holds.
pub(crate) fn name_of_text(text: Expr) -> Expr {
    let function = NameOfText { signature: Signature::any(1, Volatility::Immutable) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::new_from_impl(function)), vec![text]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NameOfText {
    signature: Signature,
}

impl ScalarUDFImpl for NameOfText {
    fn name(&self) -> &str {
        "name_of_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let mut names: Vec<Option<String>> = Vec::with_capacity(args.number_rows);
        for array in &arrays {
            let texts = cast(array, &ArrowType::Utf8)?;
            names.extend(texts.as_string::<i32>().iter().map(|text| text.map(|text| shortened(text).to_owned())));
        }
        Ok(ColumnarValue::Array(Arc::new(StringArray::from(names))))
    }
}

/// The text up to the last letter that fits.
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
