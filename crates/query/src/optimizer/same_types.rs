//! Restricts the rewrite of a single DISTINCT aggregate to plans that keep their types.
//!
//! DataFusion's rule (55.2, `SingleDistinctToGroupBy`) aggregates twice, so a sum becomes a sum of sums. A sum of
//! decimals has ten digits more than its argument:
//!
//! ```text
//!   sum(v), count(DISTINCT id)          v numeric(6, 2): sum numeric(16, 2)
//!   sum(sum(v)), count(id)              sum numeric(26, 2), but the nodes above expect (16, 2)
//! ```
//! Such aggregates are not rewritten.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::single_distinct_to_groupby::SingleDistinctToGroupBy;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// Replaces DataFusion's rule.
#[derive(Debug, Default)]
pub(super) struct SameTypes {
    rule: SingleDistinctToGroupBy,
}

impl OptimizerRule for SameTypes {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !matches!(plan, LogicalPlan::Aggregate(_)) {
            return Ok(Transformed::no(plan));
        }
        let grouped_twice = self.rule.rewrite(plan.clone(), config)?;
        match same_types(plan.schema(), grouped_twice.data.schema()) {
            true => Ok(grouped_twice),
            false => Ok(Transformed::no(plan)),
        }
    }
}

fn same_types(before: &DFSchema, after: &DFSchema) -> bool {
    before.fields().iter().map(|field| field.data_type()).eq(after.fields().iter().map(|field| field.data_type()))
}
