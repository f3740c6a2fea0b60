//! Operators that pass on the rows of their input unchanged in number and order, with a side task per batch.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::{
    ChildStats, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs,
};
use std::fmt::{self, Debug};
use std::sync::Arc;

/// The task of a [`PassThroughExec`].
pub(crate) trait PassThrough: Clone + Debug + Send + Sync + 'static {
    /// The operator's name.
    const NAME: &'static str;

    /// The expressions that it evaluates.
    fn exprs(&self) -> &[Arc<dyn PhysicalExpr>] {
        &[]
    }

    /// Wraps the stream of one partition.
    fn pass(&self, input: SendableRecordBatchStream, tasks: &TaskContext) -> SendableRecordBatchStream;
}

/// Passes on the rows of its input.
#[derive(Debug)]
pub(crate) struct PassThroughExec<P> {
    input: Arc<dyn ExecutionPlan>,
    passing: P,
}

impl<P: PassThrough> PassThroughExec<P> {
    pub(super) fn over(input: Arc<dyn ExecutionPlan>, passing: P) -> Self {
        Self { input, passing }
    }
}

/// The only element of `inputs`.
///
/// # Errors
/// If `inputs` is empty or has several elements.
pub(crate) fn only_input<T>(inputs: impl IntoIterator<Item = T>) -> Result<T> {
    let mut inputs = inputs.into_iter();
    match (inputs.next(), inputs.next()) {
        (Some(input), None) => Ok(input),
        _ => internal_err!("one input is wanted"),
    }
}

impl<P: PassThrough> DisplayAs for PassThroughExec<P> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(P::NAME)
    }
}

impl<P: PassThrough> ExecutionPlan for PassThroughExec<P> {
    fn name(&self) -> &str {
        P::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
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
        for expr in self.passing.exprs() {
            recursion = recursion.visit_sibling(|| visit(expr))?;
        }
        Ok(recursion)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::over(only_input(children)?, self.passing.clone())))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, input: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        only_input(input).map(Arc::clone)
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, Arc::clone(&tasks))?;
        Ok(self.passing.pass(input, &tasks))
    }
}
