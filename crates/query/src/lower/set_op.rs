//! UNION, INTERSECT and EXCEPT.

use super::Lowering;
use super::error::LowerResult;
use ::bind::tree::{ColId, Rel, SetOpKind};
use datafusion::common::Column;
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, LogicalPlanBuilder, Projection, Union};
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn set_op(
        &mut self,
        op: SetOpKind,
        all: bool,
        left: &Rel,
        right: &Rel,
        cols: &[(ColId, ColId, ColId)],
    ) -> LowerResult<LogicalPlan> {
        let (mut left, mut right) = (self.rel(left)?, self.rel(right)?);
        if !(all && op == SetOpKind::Union) {
            left = self.signless(left, &cols.iter().map(|(_, col, _)| *col).collect::<Vec<_>>())?;
            right = self.signless(right, &cols.iter().map(|(_, _, col)| *col).collect::<Vec<_>>())?;
        }
        let mut outputs = Vec::with_capacity(cols.len());
        for (id, _, _) in cols {
            let name = self.bound.col(*id).map(|info| info.name.clone()).unwrap_or_default();
            outputs.push(self.columns.computed(*id, &name));
        }
        let of_left = self.side(left, cols.iter().map(|(_, col, _)| *col), &outputs)?;
        let of_right = self.side(right, cols.iter().map(|(_, _, col)| *col), &outputs)?;
        Ok(match op {
            SetOpKind::Union => {
                let inputs = vec![Arc::new(of_left), Arc::new(of_right)];
                let rows = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
                let rows = if all { rows } else { LogicalPlan::Distinct(Distinct::All(Arc::new(rows))) };
                named(rows, &outputs)?
            }
            SetOpKind::Intersect => named(LogicalPlanBuilder::intersect(of_left, of_right, all)?, &outputs)?,
            SetOpKind::Except => named(LogicalPlanBuilder::except(of_left, of_right, all)?, &outputs)?,
        })
    }

    /// The columns of one side under the names of the result.
    fn side(
        &self,
        plan: LogicalPlan,
        cols: impl Iterator<Item = ColId>,
        outputs: &[Column],
    ) -> LowerResult<LogicalPlan> {
        let mut exprs = Vec::with_capacity(outputs.len());
        for (col, output) in cols.zip(outputs) {
            let value = self.column(col, plan.schema())?;
            exprs.push(value.alias_qualified(output.relation.clone(), output.name.clone()));
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
    }
}

/// The rows with columns of these names, if a node has dropped their qualifiers.
fn named(plan: LogicalPlan, outputs: &[Column]) -> LowerResult<LogicalPlan> {
    let columns = plan.schema().columns();
    if columns == outputs {
        return Ok(plan);
    }
    let exprs = columns
        .into_iter()
        .zip(outputs)
        .map(|(column, output)| Expr::Column(column).alias_qualified(output.relation.clone(), output.name.clone()));
    Ok(LogicalPlan::Projection(Projection::try_new(exprs.collect(), Arc::new(plan))?))
}
