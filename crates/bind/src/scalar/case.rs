//! CASE, COALESCE, GREATEST, LEAST and NULLIF.

use crate::binder::Binder;
use crate::coerce::{name_of, null_of};
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{Kind, Scalar, Span};
use builtins::{FuncId, Ty, resolve};
use sql::ast;

impl Binder<'_> {
    pub(super) fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        whens: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
    ) -> BindResult<Scalar> {
        let sets = self.sets_so_far();
        let operand = operand.map(|operand| self.case_operand(operand)).transpose()?;
        let once = operand.as_ref().is_some_and(|operand| self.is_volatile(operand));
        let mut conditions = Vec::with_capacity(whens.len());
        // PostgreSQL considers ELSE first when it determines the common type.
        let mut values = Vec::with_capacity(whens.len() + 1);
        for when in whens {
            conditions.push(match &operand {
                None => self.boolean(&when.condition, "CASE/WHEN")?,
                Some(operand) if once => {
                    let value = self.scalar(&when.condition)?;
                    // The operator that PostgreSQL would choose must exist.
                    self.comparison("=", Scalar { span: operand.span, ..null_of(operand.ty) }, value.clone())?;
                    value
                }
                Some(operand) => {
                    let value = self.scalar(&when.condition)?;
                    let span = value.span;
                    let operand = self.copy(operand)?;
                    let equal = self.operator("=", Some(operand), value, span)?;
                    self.must_be_boolean(equal, "CASE/WHEN")?
                }
            });
            values.push(self.scalar(&when.result)?);
        }
        values.insert(
            0,
            match otherwise {
                Some(otherwise) => self.scalar(otherwise)?,
                None => null(),
            },
        );
        self.refuse_sets(sets, "CASE")?;
        let ty = self.unify_values(&mut values, "CASE")?;
        let span = conditions.iter().chain(&values).fold(Span::default(), |all, part| all.with(part.span));
        let mut values = values.into_iter();
        let other = values.next().filter(|_| otherwise.is_some()).map(Box::new);
        let kind = match operand.filter(|_| once) {
            Some(operand) => {
                let (eq, operand, compared) = self.of_one_type(operand, conditions)?;
                Kind::CaseOf { eq, operand: Box::new(operand), arms: compared.into_iter().zip(values).collect(), other }
            }
            None => Kind::Case { arms: conditions.into_iter().zip(values).collect(), other },
        };
        Ok(Scalar { kind, ty, span })
    }

    /// Casts an operand that is evaluated once and its values to one type, and returns the equality of that type.
    fn of_one_type(&mut self, operand: Scalar, mut values: Vec<Scalar>) -> BindResult<(FuncId, Scalar, Vec<Scalar>)> {
        let span = operand.span;
        values.insert(0, operand);
        let ty = self.unify_values(&mut values, "CASE/WHEN")?;
        let operand = values.remove(0);
        Ok((self.equality(ty, span)?, operand, values))
    }

    /// Binds the operand of CASE. An untyped one is text, as in PostgreSQL. Each condition evaluates a copy of the
    /// operand, unless it is volatile.
    fn case_operand(&mut self, operand: &ast::Expr) -> BindResult<Scalar> {
        let operand = self.scalar(operand)?;
        self.output_type(operand)
    }

    /// Binds `coalesce(…)`, `greatest(…)`, `least(…)`.
    pub(super) fn pick(&mut self, name: &'static str, mut args: Vec<Scalar>) -> BindResult<Scalar> {
        let ty = self.unify_values(&mut args, name)?;
        if name == "COALESCE" {
            // NULL is never chosen, and COALESCE of one value is that value.
            let is_null = |arg: &Scalar| matches!(arg.kind, Kind::Const(types::Datum::Null));
            match args.iter().any(|arg| !is_null(arg)) {
                true => args.retain(|arg| !is_null(arg)),
                false => args.truncate(1),
            }
            if let [_] = args.as_slice()
                && let Some(only) = args.pop()
            {
                return Ok(only);
            }
        }
        let span = args.iter().fold(Span::default(), |all, arg| all.with(arg.span));
        let kind = match name {
            "COALESCE" => Kind::Coalesce(args),
            _ => Kind::Extreme { max: name == "GREATEST", lt: self.ordering(ty, span)?, args },
        };
        Ok(Scalar { kind, ty, span })
    }

    pub(super) fn null_if(&mut self, args: Vec<Scalar>) -> BindResult<Scalar> {
        let Ok([left, right]) = <[Scalar; 2]>::try_from(args) else {
            return self
                .error(BindErrorKind::Syntax { message: "syntax error: NULLIF takes two values" }, Span::default());
        };
        let span = left.span.with(right.span);
        let copy = self.copy(&left)?;
        let (eq, first, second) = self.comparison("=", copy, right)?;
        // The result has the type that the comparison casts the first value to.
        let left = if left.ty.id == first.ty.id { left } else { first.clone() };
        let ty = left.ty;
        let kind = Kind::NullIf { eq, left: Box::new(left), args: Box::new((first, second)) };
        Ok(Scalar { kind, ty, span })
    }

    /// Returns `<` of a type.
    pub(crate) fn ordering(&mut self, ty: Ty, span: Span) -> BindResult<FuncId> {
        match resolve::operator("<", Some(ty), ty) {
            Ok(call) => Ok(call.func),
            Err(_) => self.error(BindErrorKind::NoOrdering { ty: name_of(ty) }, span),
        }
    }

    /// Returns `=` of a type.
    pub(crate) fn equality(&mut self, ty: Ty, span: Span) -> BindResult<FuncId> {
        match resolve::operator("=", Some(ty), ty) {
            Ok(call) => Ok(call.func),
            Err(_) => self.error(BindErrorKind::NoEquality { ty: name_of(ty) }, span),
        }
    }
}

fn null() -> Scalar {
    Scalar { kind: Kind::Const(types::Datum::Null), ty: Ty::UNKNOWN, span: Span::default() }
}
