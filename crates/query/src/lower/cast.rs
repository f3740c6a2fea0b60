//! Casts.

use super::Lowering;
use super::constant::value_type;
use super::error::{LowerResult, internal, unsupported};
use crate::convert::expression_field;
use ::bind::tree::{CastContext, CastVia, Scalar};
use builtins::{Ty, TypeId};
use datafusion::common::ScalarValue;
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::{Cast, Expr};
use std::sync::Arc;
use types::{DataType, IntervalField, IntervalFields};

impl Lowering<'_> {
    /// The lowered operand as a value of type `to`.
    pub(super) fn cast(
        &mut self,
        value: Expr,
        arg: &Scalar,
        via: CastVia,
        to: Ty,
        context: CastContext,
    ) -> LowerResult<Expr> {
        if let (CastVia::Length, Some(element)) = (via, to.element()) {
            return self.limited_elements(value, element);
        }
        match self.catalog_cast(&value, arg, via, to)? {
            Some(cast) => Ok(cast),
            None => cast(value, arg, via, to, context),
        }
    }

    /// The array with its elements cut or rounded to that type.
    fn limited_elements(&mut self, array: Expr, element: Ty) -> LowerResult<Expr> {
        let number = |value: i32| Expr::Literal(ScalarValue::Int32(Some(value)), None);
        let oid = i32::try_from(element.id.0).unwrap_or_default();
        self.named("limit items", vec![array, number(oid), number(element.typmod)])
    }
}

fn cast(value: Expr, arg: &Scalar, via: CastVia, to: Ty, context: CastContext) -> LowerResult<Expr> {
    let from = arg.ty;
    match via {
        CastVia::Relabel if from.id == to.id && from.digits == to.digits => Ok(value),
        CastVia::Relabel if is_free(from, to) => Ok(value),
        CastVia::Length if context != CastContext::Explicit => internal("a length that is not asked for"),
        CastVia::Length => match to.data_type() {
            Some(ty) => Ok(written(value, &ty)),
            None => unsupported(format!("a cast to {}", to.sql_name())),
        },
        CastVia::Relabel | CastVia::Function(_) | CastVia::Text | CastVia::Elements => {
            if to.id == TypeId::BPCHAR && to.typmod == -1 {
                // It is kept without its blanks.
                return Ok(rtrim().call(vec![written(value, &DataType::Text)]));
            }
            Ok(written(value, &value_type(to)?))
        }
    }
}

/// Has the value the same form in both types?
fn is_free(from: Ty, to: Ty) -> bool {
    let is_text = |id: TypeId| matches!(id, TypeId::TEXT | TypeId::VARCHAR | TypeId::NAME);
    is_text(from.id) && is_text(to.id) || from.id == to.id && from.digits == to.digits
}

/// A cast like one that a statement writes: a target field without a name would take that of the operand.
pub(super) fn written(value: Expr, ty: &DataType) -> Expr {
    let field = expression_field(ty).with_name("cast");
    Expr::Cast(Cast::new_from_field(Box::new(value), Arc::new(field)))
}

/// What the function that limits intervals takes: the interval, its fields as two digits, and digits of a second.
pub(super) fn limited_interval(value: Expr, limits: IntervalFields) -> Vec<Expr> {
    const ALL: [IntervalField; 6] = [
        IntervalField::Year,
        IntervalField::Month,
        IntervalField::Day,
        IntervalField::Hour,
        IntervalField::Minute,
        IntervalField::Second,
    ];
    let code = |field: IntervalField| {
        ALL.iter().position(|known| *known == field).and_then(|at| i32::try_from(at).ok()).unwrap_or(0)
    };
    let fields = limits.bounds.map_or(-1, |(first, last)| code(first) * 10 + code(last));
    let digits = limits.digits.map_or(-1, i32::from);
    let number = |value: i32| Expr::Literal(ScalarValue::Int32(Some(value)), None);
    vec![value, number(fields), number(digits)]
}
