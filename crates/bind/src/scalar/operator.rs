//! Operators, and the connectives AND, OR and NOT.

use super::row::items_of;
use crate::binder::Binder;
use crate::coerce::name_of;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::tree::{BoolTest, CastContext, Kind, Scalar, Span};
use builtins::resolve::{self, Failure};
use builtins::{FuncId, Ty, TypeId, digits, function};
use sql::ast;

impl Binder<'_> {
    pub(super) fn binary(
        &mut self,
        left: &ast::Expr,
        op: &ast::BinaryOperator,
        right: &ast::Expr,
    ) -> BindResult<Scalar> {
        if matches!(op, ast::BinaryOperator::And | ast::BinaryOperator::Or) {
            return self.connective(left, op, right);
        }
        if *op == ast::BinaryOperator::Overlaps {
            return self.overlaps(left, right);
        }
        if is_row(left) || is_row(right) {
            return self.compare_rows(left, op, right);
        }
        let name = self.operator_name(op)?;
        let (left, right) = (self.scalar(left)?, self.scalar(right)?);
        let span = left.span.with(right.span);
        self.operator(&name, Some(left), right, span)
    }

    /// Returns the name of the operator; some operators of other databases are not supported.
    pub(super) fn operator_name(&self, op: &ast::BinaryOperator) -> BindResult<String> {
        use ast::BinaryOperator as O;
        match op {
            O::Xor
            | O::Spaceship
            | O::DuckIntegerDivide
            | O::MyIntegerDivide
            | O::Match
            | O::Regexp
            | O::Assignment => self.unsupported(format!("operator {op}")),
            O::PGCustomBinaryOperator(parts) => match parts.as_slice() {
                [symbol] => Ok(symbol.clone()),
                [schema, symbol] => self.operator_of_schema(schema, symbol),
                // No operator has such a name.
                _ => Ok(parts.join(".")),
            },
            other => Ok(other.to_string()),
        }
    }

    /// Resolves `OPERATOR(schema.symbol)`: all operators are in `pg_catalog`.
    fn operator_of_schema(&self, schema: &str, symbol: &str) -> BindResult<String> {
        let schema = match schema.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
            Some(quoted) => quoted.replace("\"\"", "\""),
            None => schema.to_lowercase(),
        };
        match schema.as_str() {
            "pg_catalog" => Ok(symbol.to_owned()),
            _ if self.relations.has_schema(&schema) => Ok(format!("{schema}.{symbol}")),
            _ => self.error(BindErrorKind::UndefinedSchema { name: schema }, Span::default()),
        }
    }

    /// Binds a chain of AND or of OR as one node, so that its depth does not grow with its length.
    fn connective(&mut self, left: &ast::Expr, op: &ast::BinaryOperator, right: &ast::Expr) -> BindResult<Scalar> {
        let mut operands = vec![right];
        let mut rest = left;
        while let ast::Expr::BinaryOp { left, op: inner, right } = rest
            && inner == op
        {
            operands.push(right);
            rest = left;
        }
        operands.push(rest);
        let is_and = *op == ast::BinaryOperator::And;
        let (mut all, mut span) = (Vec::with_capacity(operands.len()), Span::default());
        for operand in operands.into_iter().rev() {
            let operand = self.boolean(operand, if is_and { "AND" } else { "OR" })?;
            span = span.with(operand.span);
            match (operand.kind, is_and) {
                (Kind::And(inner), true) | (Kind::Or(inner), false) => all.extend(inner),
                (kind, _) => all.push(Scalar { kind, ty: operand.ty, span: operand.span }),
            }
        }
        let kind = if is_and { Kind::And(all) } else { Kind::Or(all) };
        Ok(Scalar { kind, ty: Ty::BOOL, span })
    }

    pub(super) fn unary(&mut self, op: &ast::UnaryOperator, operand: &ast::Expr) -> BindResult<Scalar> {
        if *op == ast::UnaryOperator::Not {
            let value = self.boolean(operand, "NOT")?;
            let span = value.span;
            return Ok(Scalar { kind: Kind::Not(Box::new(value)), ty: Ty::BOOL, span });
        }
        if *op == ast::UnaryOperator::Minus
            && let Some((digits, span)) = written_number(operand)
        {
            let span = self.span(span);
            return self.number(&negative(&digits), span);
        }
        if is_row(operand) {
            return self.unsupported(format!("operator {op} in front of a row"));
        }
        let value = self.scalar(operand)?;
        let span = value.span;
        self.operator(&op.to_string(), None, value, span)
    }

    /// Binds an operator with bound operands.
    pub(crate) fn operator(
        &mut self,
        name: &str,
        left: Option<Scalar>,
        right: Scalar,
        span: Span,
    ) -> BindResult<Scalar> {
        let call = match resolve::operator(name, left.as_ref().map(|left| left.ty), right.ty) {
            Ok(call) => call,
            Err(failure) => return Err(self.operator_error(name, left.as_ref(), &right, failure)),
        };
        self.note_call(call.func);
        let mut args = Vec::with_capacity(2);
        if let Some((left, ty)) = left.zip(call.left) {
            args.push(self.coerce(left, ty, CastContext::Implicit)?);
        }
        args.push(self.coerce(right, call.right, CastContext::Implicit)?);
        let ty = with_result_digits(call.func, &args, call.returns);
        Ok(Scalar { kind: Kind::Call { func: call.func, args }, ty, span })
    }

    fn operator_error(&self, name: &str, left: Option<&Scalar>, right: &Scalar, failure: Failure) -> BindError {
        let before = left.map(|left| left.span).unwrap_or_default();
        let span = self.operator_span(name, before, right.span);
        let (left, right) = (left.map(|left| name_of(left.ty)), name_of(right.ty));
        let name = name.to_owned();
        match failure {
            Failure::Ambiguous => BindError::new(BindErrorKind::AmbiguousOperator { left, name, right }, span)
                .with_hint("Could not choose a best candidate operator. You might need to add explicit type casts."),
            Failure::None | Failure::Undetermined => {
                let hint = match left {
                    Some(_) => {
                        "No operator matches the given name and argument types. You might need to add explicit type casts."
                    }
                    None => {
                        "No operator matches the given name and argument type. You might need to add an explicit type cast."
                    }
                };
                BindError::new(BindErrorKind::UndefinedOperator { left, name, right }, span).with_hint(hint)
            }
        }
    }

    /// Finds the operator between its operands, for the position of an error.
    fn operator_span(&self, name: &str, left: Span, right: Span) -> Span {
        let between = self.lines.text().get(left.end as usize..right.start as usize).unwrap_or_default();
        let found = between.rfind(name).and_then(|at| u32::try_from(at).ok());
        match found.filter(|_| !right.is_empty()) {
            Some(at) => {
                let start = left.end + at;
                Span { start, end: start + u32::try_from(name.len()).unwrap_or_default() }
            }
            None => left.with(right),
        }
    }

    /// Resolves `=`, `<` or another operator that returns boolean. Returns its function and the cast operands.
    pub(super) fn comparison(
        &mut self,
        name: &str,
        left: Scalar,
        right: Scalar,
    ) -> BindResult<(FuncId, Scalar, Scalar)> {
        let span = left.span.with(right.span);
        let compared = self.operator(name, Some(left), right, span)?;
        let Kind::Call { func, args } = compared.kind else { return Err(self.internal("an operator that is no call")) };
        match <[Scalar; 2]>::try_from(args) {
            Ok([left, right]) if compared.ty.id == Ty::BOOL.id => Ok((func, left, right)),
            _ => self.error(BindErrorKind::AnyNotBoolean, span),
        }
    }

    /// Records a call: the function for privilege checks, and its volatility.
    pub(crate) fn note_call(&mut self, func: FuncId) {
        if let Some(function) = function(func) {
            self.facts.volatility = self.facts.volatility.max(function.volatility);
            self.facts.session_bound |= function.volatility == builtins::Volatility::Stable;
        }
        self.needs.functions.insert(func);
    }

    pub(super) fn negated(&self, value: Scalar, negated: bool) -> Scalar {
        let span = value.span;
        match negated {
            true => Scalar { kind: Kind::Not(Box::new(value)), ty: Ty::BOOL, span },
            false => value,
        }
    }

    pub(super) fn is(&mut self, arg: &ast::Expr, test: BoolTest, what: &'static str) -> BindResult<Scalar> {
        let arg = self.boolean(arg, what)?;
        let span = arg.span;
        Ok(Scalar { kind: Kind::Is { arg: Box::new(arg), test }, ty: Ty::BOOL, span })
    }
}

/// Returns the type of a call, with the digits of a numeric result.
pub(super) fn with_result_digits(func: FuncId, args: &[Scalar], returns: Ty) -> Ty {
    if returns.id != TypeId::NUMERIC {
        return returns;
    }
    let types: Vec<Ty> = args.iter().map(|arg| arg.ty).collect();
    let constant = |at: usize| match args.get(at).map(|arg| &arg.kind) {
        Some(Kind::Const(value)) => Some(value),
        _ => None,
    };
    let form = |name| digits::of_call(name, &types).or_else(|| digits::of_constants(name, &types, &constant));
    Ty { digits: function(func).and_then(|function| form(function.name)), ..returns }
}

/// Returns a number, or a negated one: both are constants of the smallest type that holds them.
fn written_number(expr: &ast::Expr) -> Option<(String, sql::SourceSpan)> {
    match expr {
        ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(digits, _), span }) => {
            Some((digits.clone(), *span))
        }
        ast::Expr::Nested(inner) => written_number(inner),
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => {
            written_number(expr).map(|(digits, span)| (negative(&digits), span))
        }
        _ => None,
    }
}

fn negative(digits: &str) -> String {
    match digits.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None => format!("-{digits}"),
    }
}

/// Is it a row constructor?
pub(super) fn is_row(expr: &ast::Expr) -> bool {
    items_of(expr).is_some()
}
