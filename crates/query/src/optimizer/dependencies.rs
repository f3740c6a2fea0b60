//! Corrects the functional dependencies of aggregates and unnested arrays.
//!
//! A table's key determines its columns, and rules drop keys of ORDER BY and GROUP BY that others determine. For an
//! aggregate over a join, DataFusion (55.2, `Aggregate::try_new`) claims that the key of one joined table determines
//! *all* output columns, those of the other tables, too. So before those rules run, each aggregate gets the one
//! dependency that always holds: its group columns determine the others.
//!
//! For unnested arrays DataFusion claims that the key of the input determines the elements, though one row has become
//! several. Their dependencies are dropped.

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{Dependency, FunctionalDependence, FunctionalDependencies, Result};
use datafusion::logical_expr::{Aggregate, LogicalPlan, Unnest};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// Corrects the dependencies of aggregates and of unnested arrays, and of all nodes above them.
#[derive(Debug)]
pub(super) struct SoundDependencies;

impl OptimizerRule for SoundDependencies {
    fn name(&self) -> &str {
        "sound_dependencies"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        // Reported as unchanged: other rules need no further pass because of it.
        Ok(Transformed::no(corrected(plan)?))
    }
}

/// The plan with sound dependencies, including its subqueries.
///
/// # Errors
/// None for a valid plan.
pub(crate) fn corrected(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut wrong = false;
    plan.apply_with_subqueries(|node| {
        wrong |= match node {
            LogicalPlan::Aggregate(aggregate) => right_of_group(aggregate)?.is_some(),
            LogicalPlan::Unnest(unnest) => !unnest.schema.functional_dependencies().is_empty(),
            _ => false,
        };
        Ok(if wrong { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    if !wrong {
        return Ok(plan);
    }
    let corrected = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(aggregate) => Ok(Transformed::yes(LogicalPlan::Aggregate(of_group(aggregate)?))),
        LogicalPlan::Unnest(unnest) => Ok(Transformed::yes(LogicalPlan::Unnest(of_elements(unnest)?))),
        // A leaf keeps its dependencies.
        node if node.inputs().is_empty() => Ok(Transformed::no(node)),
        node => Ok(Transformed::yes(node.recompute_schema()?)),
    })?;
    Ok(corrected.data)
}

fn of_elements(mut unnest: Unnest) -> Result<Unnest> {
    let schema = unnest.schema.as_ref().clone();
    unnest.schema = Arc::new(schema.with_functional_dependencies(FunctionalDependencies::empty())?);
    Ok(unnest)
}

/// The sound dependencies of an aggregate, if it may claim others: its input has none (so that the claim is outdated)
/// or has some that allow repeated rows.
fn right_of_group(aggregate: &Aggregate) -> Result<Option<FunctionalDependencies>> {
    let (input, claimed) =
        (aggregate.input.schema().functional_dependencies(), aggregate.schema.functional_dependencies());
    let doubtful = input.is_empty() || input.iter().any(|dependence| dependence.mode == Dependency::Multi);
    if claimed.is_empty() || !doubtful {
        return Ok(None);
    }
    let count = aggregate.group_expr_len()?;
    let fields = aggregate.schema.fields();
    let nullable = fields.iter().take(count).any(|field| field.is_nullable());
    let keys = FunctionalDependence::new((0..count).collect(), (0..fields.len()).collect(), nullable)
        .with_mode(Dependency::Single);
    let right = FunctionalDependencies::new(if count == 0 { Vec::new() } else { vec![keys] });
    Ok((right != *claimed).then_some(right))
}

fn of_group(mut aggregate: Aggregate) -> Result<Aggregate> {
    if let Some(right) = right_of_group(&aggregate)? {
        // Bypasses the constructor, which computes the unsound dependencies.
        aggregate.schema = Arc::new(aggregate.schema.as_ref().clone().with_functional_dependencies(right)?);
    }
    Ok(aggregate)
}
