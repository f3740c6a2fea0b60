//! Expressions.

mod aggregate;
mod array;
mod call;
mod case;
mod cast;
mod condition;
mod defaults;
mod literal;
mod operator;
mod pattern;
mod record;
mod row;
mod session;
mod special;
mod subquery;
mod within_group;

pub(crate) use condition::{calls_volatile, reads_columns};

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{Kind, Scalar, Span};
use sql::ast;

/// Maximum nesting depth of expressions and queries: each level takes stack. `sql` limits the nesting in the text; this
/// limit also covers chains of operators.
pub(crate) const MAX_DEPTH: usize = 400;

impl Binder<'_> {
    /// Binds an expression in the current scope. Its type may still be unknown.
    pub(crate) fn scalar(&mut self, expr: &ast::Expr) -> BindResult<Scalar> {
        if self.depth >= MAX_DEPTH {
            return self.error(BindErrorKind::TooDeep { what: "expressions are" }, Span::default());
        }
        self.depth += 1;
        let bound = self.expression(expr);
        self.depth -= 1;
        bound
    }

    fn expression(&mut self, expr: &ast::Expr) -> BindResult<Scalar> {
        use ast::Expr as E;
        match expr {
            E::Identifier(ident) => self.identifier(ident),
            E::CompoundIdentifier(idents) => self.qualified_column(idents),
            E::Value(value) => self.literal(value),
            E::Nested(inner) => self.scalar(inner),
            E::BinaryOp { left, op, right } => self.binary(left, op, right),
            E::UnaryOp { op, expr } => self.unary(op, expr),
            E::Cast { expr, data_type, .. } => self.cast(expr, data_type),
            E::Function(function) => self.function(function),
            E::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            E::Subquery(query) => self.scalar_subquery(query),
            E::Exists { subquery, negated } => self.exists(subquery, *negated),
            E::InSubquery { expr, subquery, negated } => self.in_subquery(expr, subquery, *negated),
            E::Tuple(items) => self.row(items),
            E::Array(array) => self.array(&array.elem),
            E::CompoundFieldAccess { root, access_chain } => self.subscripts(root, access_chain),
            E::AnyOp { left, compare_op, right, .. } => self.quantified(left, compare_op, right, false),
            E::AllOp { left, compare_op, right } => self.quantified(left, compare_op, right, true),
            _ => self.other_expression(expr),
        }
    }

    /// Binds a column, or a reserved word that is a value.
    fn identifier(&mut self, ident: &ast::Ident) -> BindResult<Scalar> {
        let reserved = ident.quote_style.is_none();
        let value = match reserved {
            true => self.session_value(&crate::name::fold(ident), self.span(ident.span))?,
            false => None,
        };
        value.map_or_else(|| self.column(ident), Ok)
    }

    fn other_expression(&mut self, expr: &ast::Expr) -> BindResult<Scalar> {
        use ast::Expr as E;
        match expr {
            E::IsNull(_)
            | E::IsNotNull(_)
            | E::IsTrue(_)
            | E::IsNotTrue(_)
            | E::IsFalse(_)
            | E::IsNotFalse(_)
            | E::IsUnknown(_)
            | E::IsNotUnknown(_)
            | E::IsDistinctFrom(..)
            | E::IsNotDistinctFrom(..) => self.test(expr),
            E::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            E::Between { expr, negated, low, high } => self.between(expr, *negated, low, high),
            E::Like { .. } | E::ILike { .. } | E::SimilarTo { .. } => self.pattern(expr),
            E::TypedString(typed) => self.typed_string(typed),
            E::Interval(interval) => self.interval(interval),
            E::AtTimeZone { .. }
            | E::Extract { .. }
            | E::Position { .. }
            | E::Substring { .. }
            | E::Trim { .. }
            | E::Overlay { .. } => self.special(expr),
            _ => self.unsupported(format!("the expression {expr}")),
        }
    }

    /// Binds a condition; `what` names the construct in messages.
    pub(crate) fn boolean(&mut self, expr: &ast::Expr, what: &'static str) -> BindResult<Scalar> {
        let value = self.scalar(expr)?;
        self.must_be_boolean(value, what)
    }

    /// Binds a condition as conjuncts.
    pub(crate) fn conditions(&mut self, expr: &ast::Expr, what: &'static str) -> BindResult<Vec<Scalar>> {
        let condition = self.boolean(expr, what)?;
        Ok(match condition.kind {
            Kind::And(all) => all,
            kind => vec![Scalar { kind, ..condition }],
        })
    }

    pub(crate) fn scalars_of(&mut self, exprs: &[&ast::Expr]) -> BindResult<Vec<Scalar>> {
        exprs.iter().map(|expr| self.scalar(expr)).collect()
    }

    pub(crate) fn scalars(&mut self, exprs: &[ast::Expr]) -> BindResult<Vec<Scalar>> {
        exprs.iter().map(|expr| self.scalar(expr)).collect()
    }
}
