//! Comparisons of values, lists, arrays and rows.

use super::call::operator_name;
use super::constant::value_type;
use super::error::{LowerResult, internal};
use super::{Lowering, cast};
use crate::functions::WITH_EACH;
use crate::representation::{compare_rows, planned_operator};
use ::bind::tree::{CompareOp, Kind, Scalar};
use builtins::{FuncId, TypeId};
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

impl Lowering<'_> {
    pub(super) fn comparison(&mut self, kind: &Kind, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match kind {
            Kind::Distinct { left, right, negated, .. } => {
                let (left, right) = (self.expr(left, schema)?, self.expr(right, schema)?);
                Ok(distinct(left, right, *negated))
            }
            Kind::InList { arg, list, negated, .. } => {
                let arg = self.expr(arg, schema)?;
                Ok(Expr::InList(InList::new(Box::new(arg), self.exprs(list, schema)?, *negated)))
            }
            Kind::AnyArray { op, arg, array, all } => self.any_of_array(*op, (arg, array), *all, schema),
            Kind::RowCompare { op, pairs } => {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for (_, _, a, b) in pairs {
                    left.push(self.expr(a, schema)?);
                    right.push(self.expr(b, schema)?);
                }
                let one = |a, op, b| planned_operator(op, a, b, schema);
                Ok(compare_rows(&left, operator_of(*op), &right, &one)?)
            }
            _ => internal("this comparison"),
        }
    }

    fn any_of_array(
        &mut self,
        op: FuncId,
        (arg, array): (&Scalar, &Scalar),
        all: bool,
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        let Some(sign) = operator_name(op, 2) else { return internal("ANY of this function") };
        if let (Kind::Array(items), "=", false) | (Kind::Array(items), "<>", true) = (&array.kind, sign, all)
            && !items.is_empty()
            && items.iter().all(|item| item.ty.id.element().is_none())
        {
            // Key ranges are made of a list. Its items are compared one by one, whatever type the others are of.
            let arg = self.expr(arg, schema)?;
            let each = self.named(WITH_EACH, vec![arg])?;
            return Ok(Expr::InList(InList::new(Box::new(each), self.exprs(items, schema)?, all)));
        }
        let name = format!("{sign} {}", if all { "all" } else { "any" });
        let mut value = self.expr(arg, schema)?;
        // A real among doubles is a double.
        if let (TypeId::FLOAT4, Some(element @ TypeId::FLOAT8)) = (arg.ty.id, array.ty.id.element()) {
            value = cast::written(value, &value_type(element.into())?);
        }
        let args = vec![value, self.expr(array, schema)?];
        self.named(&name, args)
    }
}

fn distinct(left: Expr, right: Expr, negated: bool) -> Expr {
    let op = if negated { Operator::IsNotDistinctFrom } else { Operator::IsDistinctFrom };
    match (is_null_constant(&left), is_null_constant(&right)) {
        (_, true) => nullness(left, negated),
        (true, _) => nullness(right, negated),
        _ => Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))),
    }
}

fn is_null_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(value, _) if value.is_null())
}

/// `value IS [NOT] DISTINCT FROM NULL`.
fn nullness(value: Expr, negated: bool) -> Expr {
    match value {
        Expr::Literal(ScalarValue::Null, _) => Expr::Literal(ScalarValue::Boolean(Some(negated)), None),
        value if negated => value.is_null(),
        value => value.is_not_null(),
    }
}

pub(super) fn operator_of(op: CompareOp) -> Operator {
    match op {
        CompareOp::Eq => Operator::Eq,
        CompareOp::NotEq => Operator::NotEq,
        CompareOp::Lt => Operator::Lt,
        CompareOp::LtEq => Operator::LtEq,
        CompareOp::Gt => Operator::Gt,
        CompareOp::GtEq => Operator::GtEq,
    }
}
