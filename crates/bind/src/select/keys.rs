//! Keys of ORDER BY and DISTINCT ON: output names, positions, expressions.

use super::SortKey;
use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindErrorKind, BindResult};
use crate::name::fold;
use crate::same::{same, written_alike};
use crate::tree::{Kind, Scalar, Span};
use sql::ast;

/// What a key refers to.
pub(crate) enum Target {
    /// An output, by index, and the position of the key.
    Output(usize, Span),
    /// An expression that is not an output.
    Expr(Scalar),
}

impl Target {
    /// Returns the index of the output that the key is.
    pub(super) fn output(&self) -> Option<usize> {
        match self {
            Self::Output(at, _) => Some(*at),
            Self::Expr(_) => None,
        }
    }

    /// Returns the expression, if the key is not an output.
    pub(super) fn expression(&mut self) -> Option<&mut Scalar> {
        match self {
            Self::Output(..) => None,
            Self::Expr(value) => Some(value),
        }
    }
}

pub(super) type Outputs<'o> = &'o [(String, Scalar)];

impl Binder<'_> {
    pub(super) fn sort_keys(&mut self, keys: &[ast::OrderByExpr], outputs: Outputs<'_>) -> BindResult<Vec<SortKey>> {
        let mut all = Vec::with_capacity(keys.len());
        for key in keys {
            let desc = key.options.asc == Some(false);
            let nulls_first = key.options.nulls_first.unwrap_or(desc);
            match self.target(&key.expr, outputs, Clause::OrderBy)? {
                // Rows sort field by field, and a NULL field sorts as the largest value.
                Target::Expr(Scalar { kind: Kind::Row(fields), .. }) => {
                    all.extend(fields.into_iter().map(|field| SortKey {
                        target: Target::Expr(field),
                        desc,
                        nulls_first: desc,
                    }))
                }
                target => all.push(SortKey { target, desc, nulls_first }),
            }
        }
        Ok(all)
    }

    /// Returns the values of a window key: the fields of a row one by one.
    pub(super) fn key_values(&mut self, key: &ast::Expr) -> BindResult<Vec<Scalar>> {
        let value = self.scalar(key)?;
        let value = self.output_type(value)?;
        match value.kind {
            Kind::Row(fields) => Ok(fields),
            _ => Ok(vec![value]),
        }
    }

    pub(super) fn distinct_keys(
        &mut self,
        distinct: Option<&ast::Distinct>,
        outputs: Outputs<'_>,
    ) -> BindResult<Option<Vec<Target>>> {
        let Some(ast::Distinct::On(keys)) = distinct else { return Ok(None) };
        keys.iter().map(|key| self.target(key, outputs, Clause::DistinctOn)).collect::<BindResult<_>>().map(Some)
    }

    /// Binds a key of ORDER BY or DISTINCT ON: an unqualified name refers to an output before it refers to a column.
    fn target(&mut self, expr: &ast::Expr, outputs: Outputs<'_>, clause: Clause) -> BindResult<Target> {
        if let ast::Expr::Identifier(ident) = expr
            && let Some(at) = self.output_named(ident, outputs, clause)?
        {
            return Ok(Target::Output(at, self.span(ident.span)));
        }
        if let Some(at) = self.position(expr, outputs.len(), clause)? {
            return Ok(Target::Output(at.0, at.1));
        }
        let value = self.in_clause(clause, |binder| binder.scalar(expr))?;
        let value = self.output_type(value)?;
        match outputs.iter().position(|(_, output)| written_alike(output, &value)) {
            Some(at) => Ok(Target::Output(at, value.span)),
            None => Ok(Target::Expr(value)),
        }
    }

    /// Finds the output of that name; two different ones are ambiguous.
    pub(super) fn output_named(
        &self,
        ident: &ast::Ident,
        outputs: Outputs<'_>,
        clause: Clause,
    ) -> BindResult<Option<usize>> {
        let name = fold(ident);
        let mut named = outputs.iter().enumerate().filter(|(_, (output, _))| *output == name);
        let Some((at, (_, first))) = named.next() else { return Ok(None) };
        if named.any(|(_, (_, other))| !same(first, other)) {
            return self.error(BindErrorKind::AmbiguousOutput { clause, name }, self.span(ident.span));
        }
        Ok(Some(at))
    }

    /// Returns the index of the output at a position; other constants are errors.
    pub(crate) fn position(
        &self,
        expr: &ast::Expr,
        outputs: usize,
        clause: Clause,
    ) -> BindResult<Option<(usize, Span)>> {
        let (literal, sign) = match expr {
            ast::Expr::Value(literal) => (literal, ""),
            ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match expr.as_ref() {
                ast::Expr::Value(literal) if matches!(literal.value, ast::Value::Number(..)) => (literal, "-"),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let span = self.span(literal.span);
        let digits = match &literal.value {
            ast::Value::Number(digits, _) => format!("{sign}{digits}"),
            ast::Value::Placeholder(_) => return Ok(None),
            _ => return self.error(BindErrorKind::ConstantKey { clause }, span),
        };
        match digits.parse::<i32>() {
            Ok(position) => match usize::try_from(position).ok().and_then(|at| at.checked_sub(1)) {
                Some(at) if at < outputs => Ok(Some((at, span))),
                _ => self.error(BindErrorKind::NoSuchPosition { clause, position: position.to_string() }, span),
            },
            Err(_) => self.error(BindErrorKind::ConstantKey { clause }, span),
        }
    }
}
