//! Comparisons of values, lists, arrays and rows.

use crate::functions::in_list;
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal, unsupported};
use crate::lower::scalar::call::{operator_name, with_type};
use crate::lower::scalar::constant::value_type;
use crate::lower::scalar::row_compare::compare_rows;
use ::bind::tree::{Kind, Scalar};
use builtins::{FuncId, Ty, TypeId};
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator};
use types::{CompareOp, DataType, ElementType};

impl Lowering<'_> {
    pub(in crate::lower) fn comparison(&mut self, kind: &Kind, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match kind {
            Kind::Distinct { left, right, negated, .. } => {
                let (left, right) = (self.expr(left, schema)?, self.expr(right, schema)?);
                self.distinct_values(left, right, *negated, schema)
            }
            Kind::InList { arg, list, negated, .. } => {
                let arg = self.expr(arg, schema)?;
                let list = self.exprs(list, schema)?;
                self.in_list(arg, list, *negated, schema)
            }
            Kind::AnyArray { op, arg, array, all } => self.any_of_array(*op, (arg, array), *all, schema),
            Kind::RowCompare { op, pairs } => {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for (_, _, a, b) in pairs {
                    left.push(self.expr(a, schema)?);
                    right.push(self.expr(b, schema)?);
                }
                let one = |a, op, b| self.binary(op, a, b, schema);
                compare_rows(&left, operator_of(*op), &right, &one)
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
            // Key ranges are derived from IN lists. The items are compared one by one, each in its own type.
            let arg = self.expr(arg, schema)?;
            let items = self.exprs(items, schema)?;
            return self.in_list(arg, items, all, schema);
        }
        let value = with_type(self.expr(arg, schema)?, arg)?;
        let Some(element) = array.ty.element() else { return internal("ANY of no array") };
        let items = with_type(self.expr(array, schema)?, array)?;
        self.quantified_test(sign, all, (value, arg.ty), (items, element), schema)
    }

    fn distinct_values(&self, left: Expr, right: Expr, negated: bool, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let op = if negated { Operator::IsNotDistinctFrom } else { Operator::IsDistinctFrom };
        match (is_null_constant(&left), is_null_constant(&right)) {
            (_, true) => Ok(nullness(left, negated)),
            (true, _) => Ok(nullness(right, negated)),
            _ => self.binary(op, left, right, schema),
        }
    }

    /// `value op ANY (array)`; `ty` and `element` are the types of the value and of the array's elements.
    pub(in crate::lower) fn quantified_test(
        &mut self,
        sign: &str,
        all: bool,
        (mut value, mut ty): (Expr, Ty),
        (mut array, mut element): (Expr, Ty),
        schema: &DFSchemaRef,
    ) -> LowerResult<Expr> {
        // Casts the narrower operand to the wider type: `real` to `double precision`, dates to timestamps.
        if widens(ty.id, element.id) {
            value = self.written(value, &value_type(element)?, schema)?;
            ty = element;
        } else if widens(element.id, ty.id) {
            let wide = value_type(ty)?.unlimited();
            let Some(wide) = ElementType::of(&wide) else { return internal("an array of this type") };
            array = self.written(array, &DataType::Array(wide), schema)?;
            element = ty;
        }
        if element.id == TypeId::BPCHAR {
            let texts = DataType::Array(ElementType::Text);
            array = self.sql_call("array without blanks", &[texts], vec![array])?;
        }
        let items = ElementType::of(&value_type(element)?.unlimited()).map(DataType::Array);
        let Some(items) = items else {
            // The array would be an array of arrays.
            return unsupported(format!("{sign} {} (subquery) of arrays", if all { "ALL" } else { "ANY" }));
        };
        let name = format!("{sign} {}", if all { "all" } else { "any" });
        let types = vec![value_type(ty)?.unlimited(), items];
        let args = vec![value, array];
        let own = args.first().and_then(|value| value.get_type(schema).ok());
        if let Some(list) = in_list(&name, &args, own.as_ref())? {
            return Ok(list);
        }
        self.by_value(&name, types, args, Ty::BOOL, schema)
    }
}

/// Does a comparison operator cast the first type to the second?
fn widens(from: TypeId, to: TypeId) -> bool {
    matches!(
        (from, to),
        (TypeId::FLOAT4, TypeId::FLOAT8)
            | (TypeId::DATE, TypeId::TIMESTAMP | TypeId::TIMESTAMPTZ)
            | (TypeId::TIMESTAMP, TypeId::TIMESTAMPTZ)
    )
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

pub(in crate::lower) fn operator_of(op: CompareOp) -> Operator {
    match op {
        CompareOp::Eq => Operator::Eq,
        CompareOp::Ne => Operator::NotEq,
        CompareOp::Lt => Operator::Lt,
        CompareOp::Le => Operator::LtEq,
        CompareOp::Gt => Operator::Gt,
        CompareOp::Ge => Operator::GtEq,
    }
}
