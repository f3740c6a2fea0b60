//! Zero and minus zero are equal, but DataFusion compares bits: floats in grouping and join keys lose the sign of zero.
//!
//! Table columns never store minus zero, so only computed values are affected. Adding zero turns minus zero into zero.

use crate::convert::origin_of;
use crate::functions::checked_arithmetic;
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use ::bind::tree::ColId;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Operator, Projection};
use std::sync::Arc;

impl Lowering<'_> {
    /// Replaces minus zero in the columns `cols`.
    pub(in crate::lower) fn signless(&self, plan: LogicalPlan, cols: &[ColId]) -> LowerResult<LogicalPlan> {
        let compared = cols.iter().map(|col| Ok(self.columns.get(*col)?.clone()));
        let compared = compared.collect::<LowerResult<Vec<Column>>>()?;
        let mut changed = false;
        let schema = Arc::clone(plan.schema());
        let exprs = schema.columns().into_iter().map(|column| {
            let value = Expr::Column(column.clone());
            if !compared.contains(&column) {
                return value;
            }
            let signless = without_sign(value.clone(), &schema);
            if signless == value {
                return value;
            }
            changed = true;
            signless.alias_qualified(column.relation, column.name)
        });
        let exprs: Vec<Expr> = exprs.collect();
        if !changed {
            return Ok(plan);
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
    }
}

/// The value without the sign of zero, for comparison with other rows.
pub(in crate::lower) fn without_sign(value: Expr, schema: &DFSchema) -> Expr {
    if matches!(value, Expr::Placeholder(_)) || is_of_table(&value, schema) {
        return value;
    }
    match value {
        // Adding zero drops the sign.
        Expr::Literal(ScalarValue::Float32(Some(float)), data) => {
            Expr::Literal(ScalarValue::Float32(Some(float + 0.0)), data)
        }
        Expr::Literal(ScalarValue::Float64(Some(float)), data) => {
            Expr::Literal(ScalarValue::Float64(Some(float + 0.0)), data)
        }
        value => match value.get_type(schema) {
            Ok(ArrowType::Float32) => sum(value, ScalarValue::Float32(Some(0.0))),
            Ok(ArrowType::Float64) => sum(value, ScalarValue::Float64(Some(0.0))),
            _ => value,
        },
    }
}

fn sum(value: Expr, zero: ScalarValue) -> Expr {
    checked_arithmetic(Operator::Plus, value, Expr::Literal(zero, None))
}

fn is_of_table(value: &Expr, schema: &DFSchema) -> bool {
    let Expr::Column(_) = value else { return false };
    value.to_field(schema).is_ok_and(|(_, field)| origin_of(&field) != (0, 0))
}
