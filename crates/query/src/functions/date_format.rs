//! Patterns of `to_char`, `to_date` and `to_timestamp`: PostgreSQL's letters to those of the planner's functions.

use crate::error::{QueryError, QueryResult};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::ScalarFunction;

/// Longer patterns first. Names of months and days are padded in PostgreSQL unless `FM` stands before them.
const PATTERNS: [(&str, &str); 26] = [
    ("FMMonth", "%B"),
    ("FMMON", "%b"),
    ("FMDay", "%A"),
    ("FMDD", "%-d"),
    ("FMMM", "%-m"),
    ("FMHH24", "%-H"),
    ("FMHH12", "%-I"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("YYYY", "%Y"),
    ("IYYY", "%G"),
    ("SSSS", "\0"),
    ("DDD", "%j"),
    ("Mon", "%b"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("Dy", "%a"),
    ("IW", "%V"),
];

/// Rewrites the pattern of a call of one of these functions.
///
/// # Errors
/// [`QueryError::Unsupported`] for patterns that are not constant or have other letters.
pub(crate) fn translate_pattern(mut call: ScalarFunction) -> QueryResult<ScalarFunction> {
    if !matches!(call.func.name(), "to_char" | "to_date" | "to_timestamp") {
        return Ok(call);
    }
    if let Some(pattern) = call.args.get_mut(1) {
        let Expr::Literal(ScalarValue::Utf8(Some(text)), _) = pattern else {
            return Err(QueryError::Unsupported {
                feature: format!("{}() with a pattern that varies", call.func.name()),
            });
        };
        *text = translate(text)?;
    }
    Ok(call)
}

fn translate(pattern: &str) -> QueryResult<String> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (literal, tail) = quoted.split_once('"').unwrap_or((quoted, ""));
            out.push_str(&literal.replace('%', "%%"));
            rest = tail;
            continue;
        }
        match PATTERNS.iter().find(|(letters, _)| rest.starts_with(letters)) {
            Some((letters, format)) if !format.starts_with('\0') => {
                out.push_str(format);
                rest = rest.get(letters.len()..).unwrap_or_default();
            }
            None if !first.is_alphanumeric() => {
                out.push_str(if first == '%' { "%%" } else { rest.get(..first.len_utf8()).unwrap_or_default() });
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
            _ => return Err(QueryError::Unsupported { feature: format!("the date pattern \"{rest}\"") }),
        }
    }
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_translated_or_refused() {
        assert_eq!(translate("YYYY-MM-DD HH24:MI:SS.MS").unwrap(), "%Y-%m-%d %H:%M:%S.%3f");
        assert_eq!(translate("Mon DD \"at 100%\"").unwrap(), "%b %d at 100%%");
        assert!(translate("SSSS").is_err() && translate("Q").is_err());
    }
}
