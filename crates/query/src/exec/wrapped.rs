//! Wrappers that change how an operator executes and keep its name, properties and children.

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::Arc;

/// How a wrapped operator executes.
pub(crate) trait Wrapping: Debug + Send + Sync + 'static {
    /// Executes one partition.
    fn execute(
        operator: &Arc<dyn ExecutionPlan>,
        partition: usize,
        tasks: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream>;
}

/// Executes its operator as `W` says; otherwise it looks like the operator.
#[derive(Debug)]
pub(crate) struct WrappedExec<W> {
    operator: Arc<dyn ExecutionPlan>,
    wrapping: PhantomData<W>,
}

impl<W: Wrapping> WrappedExec<W> {
    pub(crate) fn new(operator: Arc<dyn ExecutionPlan>) -> Self {
        Self { operator, wrapping: PhantomData }
    }

    pub(crate) fn operator(&self) -> &dyn ExecutionPlan {
        self.operator.as_ref()
    }
}

impl<W: Wrapping> DisplayAs for WrappedExec<W> {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operator.fmt_as(format, f)
    }
}

impl<W: Wrapping> ExecutionPlan for WrappedExec<W> {
    fn name(&self) -> &str {
        self.operator.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.operator.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.operator.children()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.operator.apply_expressions(visit)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Arc::new(Self::new(Arc::clone(&self.operator).replace_children(children, anew)?)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.operator.metrics()
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        W::execute(&self.operator, partition, tasks)
    }
}
