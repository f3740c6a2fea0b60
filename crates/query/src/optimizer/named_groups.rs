//! Groups that others determine are left out only where each group has a name of its own.
//!
//! Of `GROUP BY x, x::date` DataFusion's rule (55.2, `EliminateGroupByConstant`) leaves `x` and computes the date behind the group, from columns that are
//! known by their names. A cast is not part of a name: both would be `x`, and the rule fails.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{HashSet, Result};
use datafusion::logical_expr::{Aggregate, LogicalPlan};
use datafusion::optimizer::eliminate_group_by_constant::EliminateGroupByConstant;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Takes the place of DataFusion's rule.
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
