//! Patterns.

use super::adapt::{self, Side};
use crate::error::{QueryError, QueryResult};
use crate::functions::{PATTERN_ENDS, call_of, function_named, regex_pattern, similar_pattern, with_backslashes};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};

/// `SIMILAR TO` as the regular expression that it means.
pub(super) fn similar_to(mut like: Like, schema: &DFSchema) -> QueryResult<Expr> {
    let side = Side::of(&like.expr, schema);
    adapt::pad(&mut like.expr, &side);
    if Side::of(&like.pattern, schema) == Side::Null {
        return Ok(Expr::Literal(ScalarValue::Boolean(None), None));
    }
    let Expr::Literal(ScalarValue::Utf8(Some(pattern)), _) = like.pattern.as_ref() else {
        return Err(QueryError::Unsupported { feature: "SIMILAR TO with a pattern that varies".to_owned() });
    };
    let escape = like.escape_char.or(Some('\\'));
    let similar = format!("^(?:{})$", similar_pattern(pattern, escape));
    let Some(regex) = regex_pattern(&similar)? else { return matches(*like.expr, lit(similar), false, like.negated) };
    let op = if like.negated { Operator::RegexNotMatch } else { Operator::RegexMatch };
    let regex = Expr::Literal(ScalarValue::Utf8(Some(regex)), None);
    Ok(Expr::BinaryExpr(BinaryExpr::new(like.expr, op, Box::new(regex))))
}

/// `text ~ pattern` by a function of ours, which reads the pattern as PostgreSQL does when it is there: the planner's
/// operator takes it as it comes, in another spelling.
pub(super) fn matches(text: Expr, pattern: Expr, folds: bool, negated: bool) -> QueryResult<Expr> {
    let definition = function_named("regexp_like").ok_or_else(|| QueryError::internal("no regexp_like"))?;
    let mut args = vec![text, pattern];
    args.extend(folds.then(|| lit("i")));
    let matched = call_of(definition, args);
    Ok(if negated { Expr::Not(Box::new(matched)) } else { matched })
}

/// LIKE as DataFusion or a function of ours computes it.
pub(super) fn represent_like(mut like: Like, schema: &DFSchema) -> Expr {
    if let (Some(escape), Expr::Literal(ScalarValue::Utf8(Some(pattern)), _)) =
        (like.escape_char, like.pattern.as_mut())
    {
        *pattern = with_backslashes(pattern, escape);
        like.escape_char = None;
    }
    let left = Side::of(&like.expr, schema);
    adapt::pad(&mut like.expr, &left);
    match like.pattern.as_ref() {
        Expr::Literal(ScalarValue::Utf8(Some(pattern)), _) if ends_in_escape(pattern) => {
            let begins = pattern.strip_suffix('\\').map(|begins| format!("{begins}_%"));
            without_end(like, begins.unwrap_or_default())
        }
        _ => Expr::Like(like),
    }
}

/// A pattern that ends with its escape matches nothing, and is wrong as soon as a text goes on at that place.
fn without_end(mut like: Like, begins: String) -> Expr {
    let negated = std::mem::replace(&mut like.negated, false);
    *like.pattern = Expr::Literal(ScalarValue::Utf8(Some(begins)), None);
    let goes_on = Expr::Like(like);
    let never = match function_named(PATTERN_ENDS) {
        Some(definition) => call_of(definition, vec![goes_on]),
        None => goes_on,
    };
    if negated { Expr::Not(Box::new(never)) } else { never }
}

fn ends_in_escape(pattern: &str) -> bool {
    pattern.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1
}
