//! LIKE, ILIKE and SIMILAR TO.
//!
//! A constant pattern becomes DataFusion's own node, of which key ranges and byte predicates are made; an escape that is
//! computed is put into the pattern by a function.

use super::Lowering;
use super::call::with_type;
use super::error::LowerResult;
use crate::error::QueryError;
use crate::functions::LIKE_OF_BYTES;
use ::bind::tree::{Kind, Scalar};
use builtins::{TypeId, with_escape};
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Like;
use types::Datum;

/// The parts of a LIKE.
struct Matching<'t> {
    value: &'t Scalar,
    pattern: &'t Scalar,
    negated: bool,
    /// Without regard to case.
    folds: bool,
}

impl Lowering<'_> {
    /// The operator of that sign, if its right side is a pattern of LIKE or of SIMILAR TO.
    pub(super) fn pattern_operator(
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
            let matched = self.named(LIKE_OF_BYTES, args)?;
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
        Ok(Expr::Like(Like::new(of.negated, Box::new(value), Box::new(pattern), escape, of.folds)))
    }

    /// `value ~ similar_to_escape(pattern)`; `None`: the pattern is a regular expression.
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
            return Ok(Some(Expr::SimilarTo(like)));
        }
        let args = [value, pattern].map(|arg| self.expr(arg, schema).and_then(|lowered| with_type(lowered, arg)));
        let args = args.into_iter().collect::<LowerResult<Vec<_>>>()?;
        let matched = self.named("regexp_like", args)?;
        Ok(Some(if negated { Expr::Not(Box::new(matched)) } else { matched }))
    }
}

/// What stands behind ESCAPE.
enum Escape<'t> {
    Letter(char),
    /// A constant that is no letter.
    Text(&'t str),
    Computed,
}

/// The pattern in front of ESCAPE, if there is one.
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
