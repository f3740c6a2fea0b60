//! Optimizing that ends when its statement is stopped.
//!
//! Planning never gives way, and a join of a hundred wide tables takes it seconds: whoever cancels the statement would
//! wait for as long. So each rule asks before it looks at a node of the plan. Before the rules ask the steps of
//! `plan/mod.rs` and, node by node, those of `pg_semantics`; the making of operators, after them, does not.

use crate::error::QueryError;
use crate::plan::Stop;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The rules of `optimizer`, which fail with [`QueryError::Stopped`] once `stop` says so.
pub(crate) fn interruptible(optimizer: &Optimizer, stop: &Arc<dyn Stop>) -> Optimizer {
    let asking = |rule: &Arc<dyn OptimizerRule + Send + Sync>| {
        Arc::new(Asking { rule: Arc::clone(rule), stop: Arc::clone(stop) }) as Arc<dyn OptimizerRule + Send + Sync>
    };
    Optimizer::with_rules(optimizer.rules.iter().map(asking).collect())
}

/// A rule that asks first.
#[derive(Debug)]
struct Asking {
    rule: Arc<dyn OptimizerRule + Send + Sync>,
    stop: Arc<dyn Stop>,
}

impl OptimizerRule for Asking {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if self.stop.is_stopped() {
            return Err(QueryError::Stopped.into());
        }
        self.rule.rewrite(plan, config)
    }
}
