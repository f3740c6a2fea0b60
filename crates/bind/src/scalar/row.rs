//! Row values and how they compare.

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{CompareOp, Kind, Scalar, Span};
use builtins::{Ty, TypeId};
use sql::ast;

impl Binder<'_> {
    /// `(a, b)`.
    pub(super) fn row(&mut self, items: &[ast::Expr]) -> BindResult<Scalar> {
        let values = self.scalars(items)?;
        self.row_of(values)
    }

    /// A row of bound fields.
    pub(super) fn row_of(&mut self, values: Vec<Scalar>) -> BindResult<Scalar> {
        let values = values.into_iter().map(|value| self.output_type(value)).collect::<BindResult<Vec<_>>>()?;
        let span = values.iter().fold(Span::default(), |all, value| all.with(value.span));
        Ok(Scalar { kind: Kind::Row(values), ty: Ty::plain(TypeId::RECORD), span })
    }

    /// `(a, b) < (c, d)`.
    pub(super) fn compare_rows(
        &mut self,
        left: &ast::Expr,
        op: &ast::BinaryOperator,
        right: &ast::Expr,
    ) -> BindResult<Scalar> {
        use ast::BinaryOperator as O;
        let op = match op {
            O::Eq => CompareOp::Eq,
            O::NotEq => CompareOp::NotEq,
            O::Lt => CompareOp::Lt,
            O::LtEq => CompareOp::LtEq,
            O::Gt => CompareOp::Gt,
            O::GtEq => CompareOp::GtEq,
            _ => return Err(self.not_built("this operator on rows")),
        };
        let (Some(left), Some(right)) = (items_of(left), items_of(right)) else {
            return Err(self.not_built("a row beside a value that is not written as one"));
        };
        let (left, right) = (self.scalars_of(&left)?, self.scalars_of(&right)?);
        self.row_comparison(op, left, right)
    }

    fn row_comparison(&mut self, op: CompareOp, left: Vec<Scalar>, right: Vec<Scalar>) -> BindResult<Scalar> {
        let span = left.iter().chain(&right).fold(Span::default(), |all, value| all.with(value.span));
        if left.len() != right.len() {
            return self.error(BindErrorKind::UnequalRows, span);
        }
        let mut pairs = Vec::with_capacity(left.len());
        for (left, right) in left.into_iter().zip(right) {
            if matches!(left.kind, Kind::Row(_)) || matches!(right.kind, Kind::Row(_)) {
                return Err(self.not_built("rows within rows"));
            }
            let (eq, left, right) = self.comparison("=", left, right)?;
            let lt = match op {
                CompareOp::Eq | CompareOp::NotEq => eq,
                _ => {
                    let (left, right) = (self.copy(&left)?, self.copy(&right)?);
                    self.comparison("<", left, right)?.0
                }
            };
            pairs.push((eq, lt, left, right));
        }
        Ok(Scalar { kind: Kind::RowCompare { op, pairs }, ty: Ty::BOOL, span })
    }

    /// `(a, b) IN ((1, 2), (3, 4))`.
    pub(super) fn in_rows(&mut self, arg: &ast::Expr, list: &[ast::Expr], negated: bool) -> BindResult<Scalar> {
        let Some(arg) = items_of(arg) else { return Err(self.not_built("rows in IN")) };
        let arg = self.scalars_of(&arg)?;
        let mut tests = Vec::with_capacity(list.len());
        for row in list {
            let Some(row) = items_of(row) else { return Err(self.not_built("rows in IN")) };
            let row = self.scalars_of(&row)?;
            let arg = arg.iter().map(|value| self.copy(value)).collect::<BindResult<Vec<_>>>()?;
            tests.push(self.row_comparison(CompareOp::Eq, arg, row)?);
        }
        let span = tests.iter().fold(Span::default(), |all, test| all.with(test.span));
        let any = match (tests.len(), tests.pop()) {
            (1, Some(only)) => only,
            (_, last) => {
                tests.extend(last);
                Scalar { kind: Kind::Or(tests), ty: Ty::BOOL, span }
            }
        };
        Ok(self.negated(any, negated))
    }
}

/// The values of a row that is written out: `(a, b)`, `ROW(a, b)`.
pub(super) fn items_of(expr: &ast::Expr) -> Option<Vec<&ast::Expr>> {
    match expr {
        ast::Expr::Nested(inner) => items_of(inner),
        ast::Expr::Tuple(items) => Some(items.iter().collect()),
        ast::Expr::Function(function) => arguments_of_row(function),
        _ => None,
    }
}

fn arguments_of_row(function: &ast::Function) -> Option<Vec<&ast::Expr>> {
    let is_row = match function.name.0.as_slice() {
        [part] => {
            part.as_ident().is_some_and(|ident| ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("row"))
        }
        _ => false,
    };
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    if !is_row || function.over.is_some() || function.filter.is_some() || list.duplicate_treatment.is_some() {
        return None;
    }
    let value = |arg| match arg {
        &ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().map(value).collect()
}
