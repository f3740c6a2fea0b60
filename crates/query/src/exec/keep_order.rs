//! Rows whose order is observable, so that DataFusion keeps the sort below.

use super::pass_through::only_input;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use std::fmt;
use std::sync::Arc;

/// Requires its input ordered and in a single partition, and passes the rows on.
#[derive(Debug)]
pub(crate) struct KeepOrderExec {
    input: Arc<dyn ExecutionPlan>,
    order: LexOrdering,
    properties: Arc<PlanProperties>,
}

impl KeepOrderExec {
    /// Wraps a plan and requires the order that the plan has; returns a plan without an order unchanged.
    pub(crate) fn over(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        match input.output_ordering().cloned() {
            Some(order) => Arc::new(Self::new(input, order)),
            None => input,
        }
    }

    fn new(input: Arc<dyn ExecutionPlan>, order: LexOrdering) -> Self {
        let properties = input.properties().as_ref().clone().with_partitioning(Partitioning::UnknownPartitioning(1));
        Self { input, order, properties: Arc::new(properties) }
    }
}

impl DisplayAs for KeepOrderExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeepOrderExec")
    }
}

impl ExecutionPlan for KeepOrderExec {
    fn name(&self) -> &str {
        "KeepOrderExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![Some(OrderingRequirements::from(self.order.clone()))]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut recursion = TreeNodeRecursion::Continue;
        for sort in &self.order {
            recursion = recursion.visit_sibling(|| visit(&sort.expr))?;
        }
        Ok(recursion)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = only_input(children)?;
        Ok(Arc::new(Self::new(input, self.order.clone())))
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, tasks)
    }
}
