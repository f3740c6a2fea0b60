//! Makes planning interruptible.
//!
//! Planning never yields, and a join of a hundred wide tables takes it seconds, for which a cancel request would have
//! to wait. So each logical rule checks for an interrupt before it visits a node. Before the rules, the steps of
//! `plan/mod.rs` and, node by node, lowering check; after them the scans (`provider.rs`), and each physical rule before
//! it visits the plan.

use crate::error::QueryError;
use crate::plan::Stop;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{Analyzer, AnalyzerRule, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::{PhysicalOptimizerContext, PhysicalOptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;
use types::interrupt::check;

/// The rules of `optimizer`, which fail with [`QueryError::Stopped`] once `stop` is set.
pub(crate) fn interruptible(optimizer: &Optimizer, stop: &Arc<dyn Stop>) -> Optimizer {
    let asking = |rule: &Arc<dyn OptimizerRule + Send + Sync>| {
        Arc::new(Asking { rule: Arc::clone(rule), stop: Arc::clone(stop) }) as Arc<dyn OptimizerRule + Send + Sync>
    };
    Optimizer::with_rules(optimizer.rules.iter().map(asking).collect())
}

/// The rules of `analyzer`, each preceded by a check for an interrupt.
pub(crate) fn interruptible_analyzer(analyzer: &Analyzer) -> Analyzer {
    let asking = |rule: &Arc<dyn AnalyzerRule + Send + Sync>| {
        Arc::new(InterruptibleAnalyzerRule(Arc::clone(rule))) as Arc<dyn AnalyzerRule + Send + Sync>
    };
    let mut asked = Analyzer::with_rules(analyzer.rules.iter().map(asking).collect());
    asked.function_rewrites.clone_from(&analyzer.function_rewrites);
    asked
}

#[derive(Debug)]
struct InterruptibleAnalyzerRule(Arc<dyn AnalyzerRule + Send + Sync>);

impl AnalyzerRule for InterruptibleAnalyzerRule {
    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        check().map_err(QueryError::from)?;
        self.0.analyze(plan, config)
    }

    fn name(&self) -> &str {
        self.0.name()
    }
}

/// The physical rule, preceded by a check for an interrupt.
pub(super) fn asking(
    rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>,
) -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
    Arc::new(InterruptiblePhysicalRule(rule))
}

#[derive(Debug)]
struct InterruptiblePhysicalRule(Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for InterruptiblePhysicalRule {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        check().map_err(QueryError::from)?;
        self.0.optimize(plan, config)
    }

    fn optimize_with_context(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        context: &dyn PhysicalOptimizerContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        check().map_err(QueryError::from)?;
        self.0.optimize_with_context(plan, context)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// A logical rule that checks before each node.
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
