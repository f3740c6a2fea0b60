//! Zero and minus zero are equal, and DataFusion groups by bits: floats that rows are compared by lose the sign of zero.
//! Columns of tables have no minus zero.

use super::Lowering;
use super::error::LowerResult;
use crate::convert::origin_of;
use ::bind::tree::ColId;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, Projection, binary_expr};
use std::sync::Arc;

impl Lowering<'_> {
    /// The rows, whose columns `cols` have no minus zero.
    pub(super) fn signless(&self, plan: LogicalPlan, cols: &[ColId]) -> LowerResult<LogicalPlan> {
        let compared = cols.iter().map(|col| Ok(self.columns.get(*col)?.clone()));
        let compared = compared.collect::<LowerResult<Vec<Column>>>()?;
        let mut changed = false;
        let columns = plan.schema().columns();
        let exprs = plan.schema().iter().zip(columns).map(|((qualifier, field), column)| {
            let zero = match field.data_type() {
                ArrowType::Float32 => ScalarValue::Float32(Some(0.0)),
                ArrowType::Float64 => ScalarValue::Float64(Some(0.0)),
                _ => return Expr::Column(column),
            };
            if origin_of(field) != (0, 0) || !compared.contains(&column) {
                return Expr::Column(column);
            }
            changed = true;
            let sum = binary_expr(Expr::Column(column), Operator::Plus, Expr::Literal(zero, None));
            sum.alias_qualified(qualifier.cloned(), field.name())
        });
        let exprs: Vec<Expr> = exprs.collect();
        if !changed {
            return Ok(plan);
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
    }
}
