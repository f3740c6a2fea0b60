//! One JSON object per line: numbers and booleans as such, NULL as null, all other values as strings.

use bennu::{ColumnDesc, DataType};
use std::io::{self, Write};

pub(super) fn row(columns: &[ColumnDesc], row: &[Option<String>], out: &mut dyn Write) -> io::Result<()> {
    let members: Vec<String> = columns
        .iter()
        .zip(row)
        .map(|(column, value)| format!("{}:{}", string(&column.name), member(&column.ty, value.as_deref())))
        .collect();
    writeln!(out, "{{{}}}", members.join(","))
}

fn member(ty: &DataType, value: Option<&str>) -> String {
    use DataType as T;
    match (ty, value) {
        (_, None) => "null".to_owned(),
        (T::Boolean, Some(value)) => (value == "t").to_string(),
        (T::SmallInt | T::Integer | T::BigInt | T::Numeric(_), Some(value)) => value.to_owned(),
        // JSON has no infinity and no NaN.
        (T::Real | T::Double, Some(value)) if value.parse::<f64>().is_ok_and(f64::is_finite) => value.to_owned(),
        (_, Some(value)) => string(value),
    }
}

fn string(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_json_type() {
        let cases = [
            (DataType::Boolean, Some("t"), "true"),
            (DataType::Numeric(None), Some("1.50"), "1.50"),
            (DataType::Double, Some("1e+20"), "1e+20"),
            (DataType::Double, Some("NaN"), "\"NaN\""),
            (DataType::Text, Some("a\"b\\\n\u{1}é"), "\"a\\\"b\\\\\\n\\u0001é\""),
            (DataType::Integer, None, "null"),
        ];
        for (ty, value, expected) in cases {
            assert_eq!(member(&ty, value), expected);
        }
    }
}
