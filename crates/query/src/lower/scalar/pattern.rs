//! LIKE, ILIKE and SIMILAR TO.
//!
//! A constant pattern becomes DataFusion's own node, from which key ranges and byte predicates are derived; a function
//! applies an escape character that is not constant.

use crate::error::QueryError;
use crate::functions::{
    LIKE_OF_BYTES, PATTERN_ENDS, call_of, function_named, regex_pattern, similar_pattern, with_backslashes,
};
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use crate::lower::scalar::call::with_type;
use crate::lower::scalar::comparable::{Side, pad};
use ::bind::tree::{Kind, Scalar};
use builtins::{TypeId, with_escape};
use datafusion::common::{DFSchema, DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};
use types::{DataType, Datum};

/// The operands of a LIKE.
struct Matching<'t> {
    value: &'t Scalar,
    pattern: &'t Scalar,
    negated: bool,
    /// Case-insensitive, as ILIKE.
    folds: bool,
}

impl Lowering<'_> {
    /// The operator `sign`, if its right side is a LIKE or SIMILAR TO pattern.
    pub(in crate::lower) fn pattern_operator(
        &mut self,
        sign: &str,
        value: &Scalar,
        pattern: &Scalar,
        schema: &DFSchemaRef,
    ) -> LowerResult<Option<Expr>> {
        let (negated, folds) = match sign {
            "~~" => (false, false),
            "!~~" => (true, false),
            "~~*" => (false, true),
            "!~~*" => (true, true),
            "~" | "!~" => return self.similar(value, pattern, sign == "!~", schema),
            _ => return Ok(None),
        };
        self.like(&Matching { value, pattern, negated, folds }, schema).map(Some)
    }

    fn like(&mut self, of: &Matching<'_>, schema: &DFSchemaRef) -> LowerResult<Expr> {
        if of.value.ty.id == TypeId::BYTEA {
            let args = [of.value, of.pattern].map(|arg| self.expr(arg, schema).and_then(|value| with_type(value, arg)));
            let args = args.into_iter().collect::<LowerResult<Vec<_>>>()?;
            let matched = self.sql_call(LIKE_OF_BYTES, &[DataType::Bytea, DataType::Bytea], args)?;
            return Ok(if of.negated { Expr::Not(Box::new(matched)) } else { matched });
        }
        let value = self.expr(of.value, schema)?;
        let (pattern, escape) = match escaped(of.pattern) {
            Some((inner, Escape::Letter(letter))) => (self.expr(inner, schema)?, Some(letter)),
            Some((Scalar { kind: Kind::Const(Datum::Text(inner)), .. }, Escape::Text(escape))) => {
                let spelled = with_escape(inner, escape).map_err(QueryError::from)?;
                (Expr::Literal(ScalarValue::Utf8(Some(spelled)), None), None)
            }
            _ => (self.expr(of.pattern, schema)?, None),
        };
        like(Like::new(of.negated, Box::new(value), Box::new(pattern), escape, of.folds), schema)
    }

    /// `value ~ similar_to_escape(pattern)`; `None` if the pattern is a regular expression.
    fn similar(
        &mut self,
        value: &Scalar,
        pattern: &Scalar,
        negated: bool,
        schema: &DFSchemaRef,
    ) -> LowerResult<Option<Expr>> {
        let Kind::Call { func, args } = &pattern.kind else { return Ok(None) };
        if builtins::function(*func).is_none_or(|function| function.name != "similar_to_escape") {
            return Ok(None);
        }
        let constant = match args.as_slice() {
            [inner] if is_text(inner) => Some((inner, None)),
            [inner, Scalar { kind: Kind::Const(Datum::Text(escape)), .. }] if is_text(inner) => {
                only_letter(escape).map(|letter| (inner, Some(letter)))
            }
            _ => None,
        };
        if let Some((inner, escape)) = constant {
            let (value, inner) = (self.expr(value, schema)?, self.expr(inner, schema)?);
            let like = Like::new(negated, Box::new(value), Box::new(inner), escape, false);
            return similar_to(like, schema).map(Some);
        }
        let args = [value, pattern].map(|arg| self.expr(arg, schema).and_then(|lowered| with_type(lowered, arg)));
        let args = args.into_iter().collect::<LowerResult<Vec<_>>>()?;
        let matched = self.sql_call("regexp_like", &[DataType::Text, DataType::Text], args)?;
        Ok(Some(if negated { Expr::Not(Box::new(matched)) } else { matched }))
    }
}

/// The operand of ESCAPE.
enum Escape<'t> {
    Letter(char),
    /// A constant that is not a single character.
    Text(&'t str),
    Computed,
}

/// The pattern and its ESCAPE, if there is one.
fn escaped(pattern: &Scalar) -> Option<(&Scalar, Escape<'_>)> {
    let Kind::Call { func, args } = &pattern.kind else { return None };
    if builtins::function(*func).is_none_or(|function| function.name != "like_escape") {
        return None;
    }
    match args.as_slice() {
        [inner, Scalar { kind: Kind::Const(Datum::Text(escape)), .. }] => Some(match only_letter(escape) {
            Some(letter) => (inner, Escape::Letter(letter)),
            None => (inner, Escape::Text(escape)),
        }),
        [inner, _] => Some((inner, Escape::Computed)),
        _ => None,
    }
}

fn only_letter(text: &str) -> Option<char> {
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none())
}

fn is_text(value: &Scalar) -> bool {
    matches!(value.kind, Kind::Const(Datum::Text(_)))
}

/// Translates `SIMILAR TO` to a regular expression.
fn similar_to(mut like: Like, schema: &DFSchema) -> LowerResult<Expr> {
    pad(&mut like.expr, schema);
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

/// `text ~ pattern` by our own function, which parses PostgreSQL's syntax at run time: DataFusion's operator expects
/// its own syntax.
pub(in crate::lower) fn matches(text: Expr, pattern: Expr, folds: bool, negated: bool) -> LowerResult<Expr> {
    let mut args = vec![text, pattern];
    args.extend(folds.then(|| lit("i")));
    let types = vec![DataType::Text; args.len()];
    let matched = call("regexp_like", &types, args)?;
    Ok(if negated { Expr::Not(Box::new(matched)) } else { matched })
}

fn call(name: &str, types: &[DataType], args: Vec<Expr>) -> LowerResult<Expr> {
    let definition = function_named(name).ok_or_else(|| QueryError::internal(format!("no {name}")))?;
    call_of(definition, types, args, None)
}

/// LIKE, by DataFusion's node or our own function.
fn like(mut like: Like, schema: &DFSchema) -> LowerResult<Expr> {
    if let (Some(escape), Expr::Literal(ScalarValue::Utf8(Some(pattern)), _)) =
        (like.escape_char, like.pattern.as_mut())
    {
        *pattern = with_backslashes(pattern, escape);
        like.escape_char = None;
    }
    pad(&mut like.expr, schema);
    match like.pattern.as_ref() {
        Expr::Literal(ScalarValue::Utf8(Some(pattern)), _) if ends_in_escape(pattern) => {
            let begins = pattern.strip_suffix('\\').map(|begins| format!("{begins}_%"));
            without_end(like, begins.unwrap_or_default())
        }
        _ => Ok(Expr::Like(like)),
    }
}

/// A pattern that ends with its escape character matches no text, and is an error if the text continues at that
/// position.
fn without_end(mut like: Like, begins: String) -> LowerResult<Expr> {
    let negated = std::mem::replace(&mut like.negated, false);
    *like.pattern = Expr::Literal(ScalarValue::Utf8(Some(begins)), None);
    let goes_on = Expr::Like(like);
    let never = call(PATTERN_ENDS, &[DataType::Boolean], vec![goes_on])?;
    Ok(if negated { Expr::Not(Box::new(never)) } else { never })
}

fn ends_in_escape(pattern: &str) -> bool {
    pattern.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1
}
