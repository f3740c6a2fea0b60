//! Restricts the elimination of redundant group keys to aggregates whose output names differ.
//!
//! For `GROUP BY x, x::date` DataFusion's rule (55.2, `EliminateGroupByConstant`) keeps `x` and computes the date above
//! the aggregate, finding columns by name. A cast is not part of a name: both keys are named `x`, and the rule fails.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{HashSet, Result};
use datafusion::logical_expr::{Aggregate, LogicalPlan};
use datafusion::optimizer::eliminate_group_by_constant::EliminateGroupByConstant;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Replaces DataFusion's rule.
#[derive(Debug, Default)]
pub(super) struct NamedGroups {
    rule: EliminateGroupByConstant,
}

impl OptimizerRule for NamedGroups {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Aggregate(aggregate) if !names_differ(&aggregate) => {
                Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)))
            }
            plan => self.rule.rewrite(plan, config),
        }
    }
}

fn names_differ(aggregate: &Aggregate) -> bool {
    let mut names = HashSet::new();
    let exprs = aggregate.group_expr.iter().chain(&aggregate.aggr_expr);
    exprs.map(|expr| expr.schema_name().to_string()).all(|name| names.insert(name))
}
