//! Executes LIKE with a pattern that is not just a prefix, a suffix or a substring. Arrow's kernel makes such a pattern
//! a regular expression, whose search cannot be cancelled and takes as many steps per character as the pattern is long.

use crate::error::QueryError;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use builtins::LikePattern;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{Like, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Replaces a LIKE that Arrow's kernel would make a regular expression by a function; returns whether it did.
pub(crate) fn matched(expr: Expr) -> (bool, Expr) {
    let Expr::Like(like) = expr else { return (false, expr) };
    let pattern = match like.pattern.as_ref() {
        Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
        _ => None,
    };
    if pattern.as_deref().is_some_and(is_plain) && like.escape_char.is_none() {
        return (false, Expr::Like(like));
    }
    let beginning = pattern.as_deref().and_then(|pattern| begins(&like, pattern));
    let Like { negated, expr, pattern, escape_char, case_insensitive } = like;
    let signature = Signature::any(2, Volatility::Immutable);
    let function = Matched { folds: case_insensitive, negated, escape: escape_char, signature };
    let function = Arc::new(ScalarUDF::new_from_impl(function));
    let matched = Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![*expr, *pattern]));
    (true, beginning.map_or_else(|| matched.clone(), |begins| begins.and(matched.clone())))
}

/// Returns whether the pattern has no wildcard or escape except a `%` at either end.
fn is_plain(pattern: &str) -> bool {
    let inner = pattern.strip_prefix('%').unwrap_or(pattern);
    let inner = inner.strip_suffix('%').unwrap_or(inner);
    !inner.contains(['%', '_', '\\'])
}

/// Returns a LIKE of a column with the constant prefix of the pattern, which can become a key range.
fn begins(like: &Like, pattern: &str) -> Option<Expr> {
    let whole = like.negated || like.case_insensitive || like.escape_char.is_some();
    let column = matches!(like.expr.as_ref(), Expr::Column(_));
    let end = pattern.find(['%', '_', '\\']).filter(|end| *end > 0 && column && !whole)?;
    let beginning = Box::new(lit(format!("{}%", pattern.get(..end)?)));
    Some(Expr::Like(Like::new(false, like.expr.clone(), beginning, None, false)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Matched {
    folds: bool,
    negated: bool,
    /// The escape character; `None` is the backslash.
    escape: Option<char>,
    signature: Signature,
}

impl ScalarUDFImpl for Matched {
    fn name(&self) -> &str {
        match (self.negated, self.folds) {
            (false, false) => "operator LIKE",
            (false, true) => "operator ILIKE",
            (true, false) => "operator NOT LIKE",
            (true, true) => "operator NOT ILIKE",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> Result<ArrowType> {
        Ok(ArrowType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Scalar(text), ColumnarValue::Scalar(pattern)] => {
                let found = self.each(&texts(&text.to_array()?)?, &Patterns::One(self.one(pattern)))?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&found, 0)?))
            }
            [text, ColumnarValue::Scalar(pattern)] => {
                let text = texts(&text.to_array(args.number_rows)?)?;
                Ok(ColumnarValue::Array(Arc::new(self.each(&text, &Patterns::One(self.one(pattern)))?)))
            }
            [text, ColumnarValue::Array(patterns)] => {
                let text = texts(&text.to_array(args.number_rows)?)?;
                Ok(ColumnarValue::Array(Arc::new(self.each(&text, &Patterns::Each(texts(patterns)?))?)))
            }
            _ => Err(QueryError::internal("LIKE has a text and a pattern").into()),
        }
    }
}

/// The patterns of a batch: one for all rows, or one for each row.
enum Patterns {
    /// `None` is NULL.
    One(Option<LikePattern>),
    Each(StringArray),
}

impl Matched {
    fn one(&self, pattern: &ScalarValue) -> Option<LikePattern> {
        pattern.try_as_str().flatten().map(|pattern| self.read(pattern))
    }

    fn read(&self, pattern: &str) -> LikePattern {
        let spelled = match self.escape {
            Some(escape) if escape != '\\' => Cow::Owned(with_backslashes(pattern, escape)),
            _ => Cow::Borrowed(pattern),
        };
        if self.folds { LikePattern::new(&spelled.to_lowercase()) } else { LikePattern::new(&spelled) }
    }

    fn each(&self, texts: &StringArray, patterns: &Patterns) -> Result<BooleanArray> {
        let found = texts.iter().enumerate().map(|(row, text)| {
            let Some(text) = text else { return Ok(None) };
            match patterns {
                Patterns::One(None) => Ok(None),
                Patterns::One(Some(pattern)) => self.is_match(pattern, text).map(Some),
                Patterns::Each(patterns) if patterns.is_null(row) => Ok(None),
                Patterns::Each(patterns) => self.is_match(&self.read(patterns.value(row)), text).map(Some),
            }
        });
        Ok(found.collect::<std::result::Result<_, QueryError>>()?)
    }

    fn is_match(&self, pattern: &LikePattern, text: &str) -> std::result::Result<bool, QueryError> {
        let found = if self.folds { pattern.matches(&text.to_lowercase()) } else { pattern.matches(text) };
        Ok(found? != self.negated)
    }
}

fn texts(values: &ArrayRef) -> Result<StringArray> {
    match values.data_type() {
        ArrowType::Utf8 => Ok(values.as_string::<i32>().clone()),
        _ => Ok(cast(values, &ArrowType::Utf8)?.as_string::<i32>().clone()),
    }
}

/// Replaces the escape character of a pattern by the backslash.
pub(crate) fn with_backslashes(pattern: &str, escape: char) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == escape {
            out.push('\\');
            out.extend(letters.next());
        } else if letter == '\\' {
            out.push_str("\\\\");
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_keep_their_meaning_with_another_escape() {
        assert_eq!(with_backslashes(r"10!%\x%", '!'), r"10\%\\x%");
    }

    #[test]
    fn what_arrow_does_without_a_regular_expression_stays_with_it() {
        for plain in ["abc", "abc%", "%abc", "%abc%", "%", "%%", ""] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in ["a%c", "a_", "%a%b%", "a\\%", "%%a%%"] {
            assert!(!is_plain(other), "{other}");
        }
    }
}
