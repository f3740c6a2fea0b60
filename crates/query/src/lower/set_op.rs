//! UNION, INTERSECT and EXCEPT.

use super::Lowering;
use super::comparable::by_length;
use super::error::{LowerResult, internal};
use super::union::union_all;
use ::bind::tree::{ColId, Rel, SetOpKind};
use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, Join, JoinConstraint, LogicalPlan, LogicalPlanBuilder, Projection, Window,
};
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
                let rows = union_all(of_left, of_right)?;
                let rows = if all { rows } else { self.distinct_rows(rows)? };
                named(rows, &outputs)?
            }
            SetOpKind::Intersect => named(self.met(of_left, of_right, JoinType::LeftSemi, all)?, &outputs)?,
            SetOpKind::Except => named(self.met(of_left, of_right, JoinType::LeftAnti, all)?, &outputs)?,
        })
    }

    /// Rows of the left side that the right side has, or has not. With ALL equal rows count: those of each side are numbered, and
    /// the second of a side meets only the second of the other.
    ///
    /// ```text
    ///   a a b  EXCEPT ALL  a c      (a,1) (a,2) (b,1)  anti join  (a,1) (c,1)      a b
    /// ```
    fn met(&mut self, left: LogicalPlan, right: LogicalPlan, kind: JoinType, all: bool) -> LowerResult<LogicalPlan> {
        let left = if all { left } else { self.distinct_rows(left)? };
        let joined = match kind {
            JoinType::LeftSemi => LogicalPlanBuilder::intersect(left, right, true)?,
            _ => LogicalPlanBuilder::except(left, right, true)?,
        };
        let LogicalPlan::Join(mut join) = joined else { return internal("a set operation that is no join") };
        let shown = columns(&join.left);
        if all {
            let (left, right) = (self.columns.nameless("number"), self.columns.nameless("number"));
            join.left = Arc::new(numbered(&join.left, &left)?);
            join.right = Arc::new(numbered(&join.right, &right)?);
            join.on.push((Expr::Column(left), Expr::Column(right)));
        }
        for (left, right) in &mut join.on {
            self.comparable_bits((left, join.left.schema()), (right, join.right.schema()));
        }
        let on = std::mem::take(&mut join.on);
        let nulls = NullEquality::NullEqualsNull;
        let joined = Join::try_new(join.left, join.right, on, None, kind, JoinConstraint::On, nulls, false)?;
        let joined = LogicalPlan::Join(joined);
        if !all {
            return Ok(joined);
        }
        Ok(LogicalPlan::Projection(Projection::try_new(shown, Arc::new(joined))?))
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

/// The rows, and how many equal ones are up to each.
fn numbered(side: &Arc<LogicalPlan>, number: &Column) -> LowerResult<LogicalPlan> {
    let keys = columns(side).into_iter().map(|column| by_length(column, side.schema())).collect();
    let count = row_number().partition_by(keys).build()?;
    let counted = Expr::Column(Column::new_unqualified(count.schema_name().to_string()));
    let rows = LogicalPlan::Window(Window::try_new(vec![count], Arc::clone(side))?);
    let mut exprs = columns(side);
    exprs.push(counted.alias_qualified(number.relation.clone(), number.name.clone()));
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows))?))
}

fn columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
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
