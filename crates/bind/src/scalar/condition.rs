//! IS, IN and BETWEEN.

use super::operator::is_row;
use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{BoolTest, CastContext, Kind, Scalar, Span};
use builtins::{Ty, TypeId};
use sql::ast;
use types::Datum;

impl Binder<'_> {
    pub(super) fn test(&mut self, expr: &ast::Expr) -> BindResult<Scalar> {
        use ast::Expr as E;
        match expr {
            E::IsNull(arg) => self.is_null(arg, false),
            E::IsNotNull(arg) => self.is_null(arg, true),
            E::IsTrue(arg) => self.is(arg, BoolTest::True, "IS TRUE"),
            E::IsNotTrue(arg) => self.is(arg, BoolTest::NotTrue, "IS NOT TRUE"),
            E::IsFalse(arg) => self.is(arg, BoolTest::False, "IS FALSE"),
            E::IsNotFalse(arg) => self.is(arg, BoolTest::NotFalse, "IS NOT FALSE"),
            E::IsUnknown(arg) => self.is(arg, BoolTest::Unknown, "IS UNKNOWN"),
            E::IsNotUnknown(arg) => self.is(arg, BoolTest::NotUnknown, "IS NOT UNKNOWN"),
            E::IsDistinctFrom(left, right) => self.distinct(left, right, false),
            E::IsNotDistinctFrom(left, right) => self.distinct(left, right, true),
            _ => Err(self.internal("a test that is none")),
        }
    }

    fn is_null(&mut self, arg: &ast::Expr, negated: bool) -> BindResult<Scalar> {
        if let Some(fields) = self.fields_of(arg)? {
            return self.row_is_null(fields, negated);
        }
        let arg = self.scalar(arg)?;
        let test = self.null_test(arg)?;
        Ok(self.negated(test, negated))
    }

    fn null_test(&mut self, arg: Scalar) -> BindResult<Scalar> {
        if let (true, Kind::Param(id)) = (arg.ty.is_unknown(), &arg.kind) {
            // IS NULL does not determine the type of a parameter, and later contexts come too late.
            self.untyped.push((*id, arg.span));
        }
        let arg = match arg.kind {
            Kind::Param(_) => arg,
            _ => self.output_type(arg)?,
        };
        let span = arg.span;
        Ok(Scalar { kind: Kind::IsNull(Box::new(arg)), ty: Ty::BOOL, span })
    }

    /// A row IS NULL if all its fields are, and IS NOT NULL if none is. A nested row is not NULL, whatever its fields
    /// are.
    fn row_is_null(&mut self, fields: Vec<Scalar>, negated: bool) -> BindResult<Scalar> {
        let span = fields.iter().fold(Span::default(), |all, field| all.with(field.span));
        let boolean = |kind, span| Scalar { kind, ty: Ty::BOOL, span };
        let mut all = Vec::with_capacity(fields.len());
        for field in fields {
            let at = field.span;
            all.push(match field.kind {
                Kind::Row(_) => boolean(Kind::Const(Datum::Bool(negated)), at),
                _ => {
                    let test = self.null_test(field)?;
                    self.negated(test, negated)
                }
            });
        }
        Ok(match all.is_empty() {
            true => boolean(Kind::Const(Datum::Bool(true)), span),
            false => boolean(Kind::And(all), span),
        })
    }

    fn distinct(&mut self, left: &ast::Expr, right: &ast::Expr, negated: bool) -> BindResult<Scalar> {
        if is_row(left) || is_row(right) {
            return self.distinct_rows(left, right, negated);
        }
        let (left, right) = (self.scalar(left)?, self.scalar(right)?);
        self.distinct_values(left, right, negated)
    }

    /// Rows are distinct if one of their fields is.
    fn distinct_rows(&mut self, left: &ast::Expr, right: &ast::Expr, negated: bool) -> BindResult<Scalar> {
        let is_null = |expr: &ast::Expr| matches!(expr, ast::Expr::Value(value) if value.value == ast::Value::Null);
        if is_null(left) || is_null(right) {
            // A row is not NULL, whatever its fields are.
            let row = if is_null(left) { right } else { left };
            let span = self.scalar(row)?.span;
            return Ok(Scalar { kind: Kind::Const(Datum::Bool(!negated)), ty: Ty::BOOL, span });
        }
        let (Some(left), Some(right)) = (self.fields_of(left)?, self.fields_of(right)?) else {
            return self.unsupported("IS DISTINCT FROM of a row and a value that is not written as one");
        };
        let span = left.iter().chain(&right).fold(Span::default(), |all, value| all.with(value.span));
        if left.len() != right.len() {
            return self.error(BindErrorKind::UnequalRows, span);
        }
        let mut tests = Vec::with_capacity(left.len());
        for (left, right) in left.into_iter().zip(right) {
            if matches!(left.kind, Kind::Row(_)) || matches!(right.kind, Kind::Row(_)) {
                return self.unsupported("IS DISTINCT FROM of rows within rows");
            }
            tests.push(self.distinct_values(left, right, negated)?);
        }
        let kind = if negated { Kind::And(tests) } else { Kind::Or(tests) };
        Ok(Scalar { kind, ty: Ty::BOOL, span })
    }

    pub(super) fn distinct_values(&mut self, left: Scalar, right: Scalar, negated: bool) -> BindResult<Scalar> {
        let span = left.span.with(right.span);
        if let (Kind::Const(Datum::Null), _) | (_, Kind::Const(Datum::Null)) = (&left.kind, &right.kind) {
            let other = if matches!(left.kind, Kind::Const(Datum::Null)) { right } else { left };
            let other = self.output_type(other)?;
            let test = Scalar { kind: Kind::IsNull(Box::new(other)), ty: Ty::BOOL, span };
            return Ok(self.negated(test, !negated));
        }
        let (eq, left, right) = self.comparison("=", left, right)?;
        let kind = Kind::Distinct { eq, left: Box::new(left), right: Box::new(right), negated };
        Ok(Scalar { kind, ty: Ty::BOOL, span })
    }

    /// Binds `x IN (a, b)`: one equality for all items if they have one type, else comparisons joined by OR.
    pub(super) fn in_list(&mut self, arg: &ast::Expr, list: &[ast::Expr], negated: bool) -> BindResult<Scalar> {
        if is_row(arg) || list.iter().any(is_row) {
            return self.in_rows(arg, list, negated);
        }
        let arg = self.scalar(arg)?;
        let items = self.scalars(list)?;
        let span = items.iter().fold(arg.span, |all, item| all.with(item.span));
        // PostgreSQL makes an array of items that read no columns, if they have a common type with the left operand.
        let types: Vec<Ty> = std::iter::once(arg.ty).chain(items.iter().map(|item| item.ty)).collect();
        if let Ok(common) = builtins::resolve::common_type(&types)
            && items.len() > 1
            && !items.iter().any(reads_columns)
        {
            return self.list_of(common, arg, items, negated, span);
        }
        let mut tests = Vec::with_capacity(items.len());
        for item in items {
            let spot = arg.span.with(item.span);
            let copy = self.copy(&arg)?;
            let equal = self.operator("=", Some(copy), item, spot)?;
            tests.push(self.must_be_boolean(equal, "IN")?);
        }
        Ok(self.negated(any_of(tests, span), negated))
    }

    fn list_of(&mut self, common: Ty, arg: Scalar, list: Vec<Scalar>, negated: bool, span: Span) -> BindResult<Scalar> {
        let probe = Scalar { kind: Kind::Const(Datum::Null), ty: common, span };
        let (eq, arg, probe) = self.comparison("=", arg, probe)?;
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            let item = self.coerce(item, common, CastContext::Implicit)?;
            items.push(self.coerce(item, probe.ty, CastContext::Implicit)?);
        }
        Ok(Scalar { kind: Kind::InList { eq, arg: Box::new(arg), list: items, negated }, ty: Ty::BOOL, span })
    }

    pub(super) fn between(
        &mut self,
        arg: &ast::Expr,
        negated: bool,
        low: &ast::Expr,
        high: &ast::Expr,
    ) -> BindResult<Scalar> {
        if is_row(arg) || is_row(low) || is_row(high) {
            return self.between_rows(arg, negated, low, high);
        }
        // A volatile operand is evaluated for each bound, as in PostgreSQL.
        let value = self.scalar(arg)?;
        let low = self.scalar(low)?;
        let (from, to) = if negated { ("<", ">") } else { (">=", "<=") };
        let above = value.span.with(low.span);
        let copy = self.copy(&value)?;
        let first = self.operator(from, Some(copy), low, above)?;
        // The first bound determines the type of a parameter.
        let value = if value.ty.id == TypeId::UNKNOWN { self.scalar(arg)? } else { value };
        let high = self.scalar(high)?;
        let (span, below) = (above.with(high.span), value.span.with(high.span));
        let second = self.operator(to, Some(value), high, below)?;
        Ok(within(vec![first, second], negated, span))
    }

    /// Does it call a volatile function or contain a subquery?
    pub(crate) fn is_volatile(&self, value: &Scalar) -> bool {
        let mut found = is_volatile_call(&value.kind) || matches!(value.kind, Kind::Subquery(_));
        value.each_operand(&mut |operand| found = found || self.is_volatile(operand));
        found
    }
}

/// Does it call a volatile function, outside of subqueries?
pub(crate) fn calls_volatile(value: &Scalar) -> bool {
    let mut found = is_volatile_call(&value.kind);
    value.each_operand(&mut |operand| found = found || calls_volatile(operand));
    found
}

fn is_volatile_call(kind: &Kind) -> bool {
    match kind {
        Kind::Call { func, .. } => {
            builtins::function(*func).is_none_or(|function| function.volatility == builtins::Volatility::Volatile)
        }
        Kind::Own { function, .. } => function.volatile,
        _ => false,
    }
}

/// Joins the tests by OR.
pub(super) fn any_of(mut tests: Vec<Scalar>, span: Span) -> Scalar {
    match (tests.len(), tests.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            tests.extend(last);
            Scalar { kind: Kind::Or(tests), ty: Ty::BOOL, span }
        }
    }
}

/// Combines the comparisons with both bounds of BETWEEN; those of NOT BETWEEN are already negated.
pub(super) fn within(bounds: Vec<Scalar>, negated: bool, span: Span) -> Scalar {
    let kind = if negated { Kind::Or(bounds) } else { Kind::And(bounds) };
    Scalar { kind, ty: Ty::BOOL, span }
}

/// Does it read a column, of any query level?
pub(crate) fn reads_columns(value: &Scalar) -> bool {
    let mut found = match &value.kind {
        Kind::Col(_) => true,
        Kind::Subquery(subquery) => !subquery.free.is_empty(),
        _ => false,
    };
    value.each_operand(&mut |operand| found = found || reads_columns(operand));
    found
}
