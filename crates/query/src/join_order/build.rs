//! Builds the plan of a join tree, with the output columns of the original joins.
//!
//! Each condition is placed at the lowest join that has all its columns: as a key if it is an equality between both
//! sides, else as a filter. Columns that nothing above reads are dropped on the way.

use super::group::{Condition, Group, Kind, Leaf, Leaves};
use super::search::Tree;
use datafusion::common::{Column, DFSchemaRef, JoinType, NullEquality, Result, internal_err};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, JoinConstraint, LogicalPlan, Projection};
use std::collections::HashSet;
use std::sync::Arc;

/// Builds the plan; `schema` is the output schema.
pub(super) fn plan(group: &Group, tree: &Tree, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    let mut build =
        Build { group, output: schema.columns().into_iter().collect(), placed: vec![false; group.conditions.len()] };
    let (plan, _) = build.tree(tree)?;
    if plan.schema().columns() == schema.columns() {
        return Ok(plan);
    }
    let columns = schema.columns().into_iter().map(Expr::Column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new_with_schema(columns, Arc::new(plan), Arc::clone(schema))?))
}

struct Build<'g> {
    group: &'g Group,
    output: HashSet<Column>,
    /// Which conditions are placed already.
    placed: Vec<bool>,
}

impl Build<'_> {
    fn tree(&mut self, tree: &Tree) -> Result<(LogicalPlan, Leaves)> {
        match tree {
            Tree::Leaf(at) => match self.group.leaves.get(*at) {
                Some(leaf) => Ok((leaf.plan.clone(), 1 << at)),
                None => internal_err!("a join of a leaf that is not there"),
            },
            Tree::Join(left, right) => {
                let (of_left, of_right) = (self.tree(left)?, self.tree(right)?);
                let leaves = of_left.1 | of_right.1;
                let join = match self.taker(of_right.1) {
                    Some(leaf) => taken_away(of_left.0, leaf)?,
                    None => self.inner(of_left, of_right)?,
                };
                Ok((self.chosen(LogicalPlan::Join(join), leaves)?, leaves))
            }
        }
    }

    fn taker(&self, leaves: Leaves) -> Option<&Leaf> {
        let leaf =
            leaves.is_power_of_two().then(|| self.group.leaves.get(leaves.trailing_zeros() as usize)).flatten()?;
        (leaf.kind != Kind::Inner).then_some(leaf)
    }

    fn inner(
        &mut self,
        (left, of_left): (LogicalPlan, Leaves),
        (right, of_right): (LogicalPlan, Leaves),
    ) -> Result<Join> {
        let (mut on, mut filters) = (Vec::new(), Vec::new());
        for (condition, placed) in self.group.conditions.iter().zip(&mut self.placed) {
            if *placed || condition.leaves() & !(of_left | of_right) != 0 {
                continue;
            }
            *placed = true;
            match condition.as_key(of_left, of_right) {
                Some((one, other)) => on.push((one.clone(), other.clone())),
                None => filters.push(condition.expr()),
            }
        }
        let (left, right, filter) = (Arc::new(left), Arc::new(right), conjunction(filters));
        let (constraint, nulls) = (JoinConstraint::On, NullEquality::NullEqualsNothing);
        Join::try_new(left, right, on, filter, JoinType::Inner, constraint, nulls, false)
    }

    /// Drops columns that nothing above reads.
    fn chosen(&self, plan: LogicalPlan, leaves: Leaves) -> Result<LogicalPlan> {
        let mut needed: HashSet<&Column> = self.output.iter().collect();
        let open = self.group.conditions.iter().zip(&self.placed).filter(|(_, placed)| !**placed);
        for (condition, _) in open {
            needed.extend(named(condition));
        }
        let takers = self
            .group
            .leaves
            .iter()
            .enumerate()
            .filter(|(at, leaf)| leaf.kind != Kind::Inner && leaves & (1 << at) == 0);
        for (_, leaf) in takers {
            needed.extend(leaf.keys.iter().flat_map(|(left, _)| left.column_refs()));
            needed.extend(leaf.filter.iter().flat_map(Expr::column_refs));
        }
        let all = plan.schema().columns();
        let mut kept: Vec<Column> = all.iter().filter(|column| needed.contains(column)).cloned().collect();
        if kept.is_empty() {
            kept.extend(all.first().cloned());
        }
        if kept.len() == all.len() {
            return Ok(plan);
        }
        let kept = kept.into_iter().map(Expr::Column).collect();
        Ok(LogicalPlan::Projection(Projection::try_new(kept, Arc::new(plan))?))
    }
}

fn named(condition: &Condition) -> HashSet<&Column> {
    match condition {
        Condition::Equal { sides: [(one, _), (other, _)] } => {
            one.column_refs().into_iter().chain(other.column_refs()).collect()
        }
        Condition::Other { expr, .. } => expr.column_refs(),
    }
}

/// Applies a semi or anti join leaf.
fn taken_away(rows: LogicalPlan, leaf: &Leaf) -> Result<Join> {
    let kind = if leaf.kind == Kind::Anti { JoinType::LeftAnti } else { JoinType::LeftSemi };
    let (rows, other) = (Arc::new(rows), Arc::new(leaf.plan.clone()));
    let (keys, filter) = (leaf.keys.clone(), leaf.filter.clone());
    Join::try_new(rows, other, keys, filter, kind, JoinConstraint::On, NullEquality::NullEqualsNothing, false)
}
