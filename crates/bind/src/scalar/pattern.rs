//! LIKE, ILIKE and SIMILAR TO.
//!
//! ```text
//!   x LIKE p ESCAPE e       x ~~ like_escape(p, e)
//!   x SIMILAR TO p          x ~ similar_to_escape(p)
//! ```

use crate::binder::{Binder, plain};
use crate::error::BindResult;
use crate::tree::{CastContext, Kind, Scalar};
use builtins::{FuncId, Ty, TypeId};
use sql::ast;

/// Functions of `pg_proc` that the syntax uses; calls by name do not resolve to them.
const LIKE_ESCAPE: FuncId = FuncId(1637);
const LIKE_ESCAPE_OF_BYTES: FuncId = FuncId(2009);
const SIMILAR_TO_ESCAPE: FuncId = FuncId(1986);
const SIMILAR_TO: FuncId = FuncId(1987);

impl Binder<'_> {
    pub(super) fn pattern(&mut self, expr: &ast::Expr) -> BindResult<Scalar> {
        let (name, arg, pattern, escape) = match expr {
            ast::Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                (if *negated { "!~~" } else { "~~" }, expr, pattern, escape_char)
            }
            ast::Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                (if *negated { "!~~*" } else { "~~*" }, expr, pattern, escape_char)
            }
            ast::Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                return self.similar(expr, *negated, pattern, escape_char.as_ref());
            }
            _ => return self.unsupported("LIKE ANY of a list in parentheses"),
        };
        let (arg, mut pattern) = (self.scalar(arg)?, self.scalar(pattern)?);
        let span = arg.span.with(pattern.span);
        if let Some(escape) = escape {
            let escape = self.literal(escape)?;
            let (func, ty) = match pattern.ty.id {
                TypeId::BYTEA => (LIKE_ESCAPE_OF_BYTES, plain(TypeId::BYTEA)),
                _ => (LIKE_ESCAPE, Ty::TEXT),
            };
            pattern = self.escaped(func, pattern, Some(escape), ty)?;
        }
        self.operator(name, Some(arg), pattern, span)
    }

    fn similar(
        &mut self,
        arg: &ast::Expr,
        negated: bool,
        pattern: &ast::Expr,
        escape: Option<&ast::ValueWithSpan>,
    ) -> BindResult<Scalar> {
        let (arg, pattern) = (self.scalar(arg)?, self.scalar(pattern)?);
        let span = arg.span.with(pattern.span);
        let escape = escape.map(|escape| self.literal(escape)).transpose()?;
        let func = if escape.is_some() { SIMILAR_TO_ESCAPE } else { SIMILAR_TO };
        let pattern = self.escaped(func, pattern, escape, Ty::TEXT)?;
        self.operator(if negated { "!~" } else { "~" }, Some(arg), pattern, span)
    }

    /// Applies the escape to the pattern.
    fn escaped(&mut self, func: FuncId, pattern: Scalar, escape: Option<Scalar>, ty: Ty) -> BindResult<Scalar> {
        let span = pattern.span;
        let mut args = Vec::with_capacity(2);
        for arg in std::iter::once(pattern).chain(escape) {
            let (from, at) = (arg.ty, arg.span);
            match self.try_coerce(arg, ty, CastContext::Implicit)? {
                Some(arg) => args.push(arg),
                None => return Err(self.no_pattern(from, at)),
            }
        }
        self.note_call(func);
        Ok(Scalar { kind: Kind::Call { func, args }, ty, span })
    }

    /// Returns the error for a pattern that is not text.
    fn no_pattern(&self, ty: Ty, span: crate::tree::Span) -> crate::error::BindError {
        let args = vec![ty.sql_name(), "unknown".to_owned()];
        let kind = crate::error::BindErrorKind::UndefinedFunction { name: "pg_catalog.like_escape".to_owned(), args };
        crate::error::BindError::new(kind, span)
    }
}
