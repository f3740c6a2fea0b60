//! UNION, INTERSECT and EXCEPT.

use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use crate::lower::rel::union::union_all;
use crate::lower::scalar::comparable::by_length;
use ::bind::tree::{ColId, Rel, SetOpKind};
use datafusion::common::{Column, JoinType, NullEquality};
use datafusion::functions_window::row_number::row_number;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, Join, JoinConstraint, LogicalPlan, LogicalPlanBuilder, Projection, Window,
};
use std::sync::Arc;

impl Lowering<'_> {
    pub(in crate::lower) fn set_op(
        &mut self,
        op: SetOpKind,
        all: bool,
        (left, right): (&Rel, &Rel),
        cols: &[(ColId, ColId, ColId)],
    ) -> LowerResult<LogicalPlan> {
        let is_bag = op == SetOpKind::Union && all;
        let arms = match op {
            SetOpKind::Union => arms(all, (left, right), cols),
            _ => vec![side_of(left, cols, |col| col.1), side_of(right, cols, |col| col.2)],
        };
        let mut plans = Vec::with_capacity(arms.len());
        for arm in &arms {
            let rows = self.rel(arm.rel)?;
            plans.push(if is_bag { rows } else { self.signless(rows, &arm.cols)? });
        }
        let mut outputs = Vec::with_capacity(cols.len());
        for (id, _, _) in cols {
            let name = self.bound.col(*id).map(|info| info.name.clone()).unwrap_or_default();
            outputs.push(self.columns.computed(*id, &name));
        }
        // The columns of DataFusion's union have no qualifier. If a rule replaces the union by one of its inputs, the
        // input's columns must have the same names.
        let names: Vec<Column> = match op {
            SetOpKind::Union => outputs.iter().map(|output| Column::new_unqualified(output.name.clone())).collect(),
            _ => outputs.clone(),
        };
        let sides = plans.into_iter().zip(&arms).map(|(plan, arm)| self.side(plan, &arm.cols, &names));
        let mut sides = sides.collect::<LowerResult<Vec<_>>>()?;
        let kind = match op {
            SetOpKind::Union => {
                let rows = union_all(sides)?;
                let rows = if all { rows } else { self.distinct_rows(rows)? };
                return named(rows, &outputs);
            }
            SetOpKind::Intersect => JoinType::LeftSemi,
            SetOpKind::Except => JoinType::LeftAnti,
        };
        match (sides.pop(), sides.pop()) {
            (Some(right), Some(left)) => named(self.met(left, right, kind, all)?, &outputs),
            _ => internal("a set operation of one side"),
        }
    }

    /// INTERSECT or EXCEPT as a semi or anti join. With ALL, duplicates count: the duplicates of each side are
    /// numbered, and the second of one side matches only the second of the other.
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

    /// Projects one side to the names of the result.
    fn side(&self, plan: LogicalPlan, cols: &[ColId], outputs: &[Column]) -> LowerResult<LogicalPlan> {
        let mut exprs = Vec::with_capacity(outputs.len());
        for (col, output) in cols.iter().zip(outputs) {
            let value = self.column(*col, plan.schema())?;
            exprs.push(value.alias_qualified(output.relation.clone(), output.name.clone()));
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
    }
}

/// An input of a set operation, and its columns in the order of the result's.
struct Arm<'r> {
    rel: &'r Rel,
    cols: Vec<ColId>,
}

fn side_of<'r>(rel: &'r Rel, cols: &[(ColId, ColId, ColId)], col: fn(&(ColId, ColId, ColId)) -> ColId) -> Arm<'r> {
    Arm { rel, cols: cols.iter().map(col).collect() }
}

/// Flattens nested unions: `a UNION b UNION c …` becomes one node with many inputs instead of a deep tree, because each
/// of DataFusion's rules visits all nodes. A UNION within UNION ALL is kept.
fn arms<'r>(all: bool, (left, right): (&'r Rel, &'r Rel), cols: &[(ColId, ColId, ColId)]) -> Vec<Arm<'r>> {
    let mut waiting = vec![side_of(right, cols, |col| col.2), side_of(left, cols, |col| col.1)];
    let mut arms = Vec::with_capacity(2);
    while let Some(arm) = waiting.pop() {
        match inputs_of_union(&arm, all) {
            Some((left, right)) => waiting.extend([right, left]),
            None => arms.push(arm),
        }
    }
    arms
}

/// The inputs of an arm that is a union; `None` if it cannot be flattened.
fn inputs_of_union<'r>(arm: &Arm<'r>, all: bool) -> Option<(Arm<'r>, Arm<'r>)> {
    let Rel::SetOp { op: SetOpKind::Union, all: inner_all, left, right, cols } = arm.rel else { return None };
    if all && !inner_all {
        return None;
    }
    let read = arm.cols.iter().map(|wanted| cols.iter().find(|(output, _, _)| output == wanted).copied());
    let read = read.collect::<Option<Vec<_>>>()?;
    Some((side_of(left, &read, |col| col.1), side_of(right, &read, |col| col.2)))
}

/// Numbers the duplicates of each row.
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

/// Restores the output columns, if a node has dropped their qualifiers.
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
