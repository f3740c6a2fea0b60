//! Projections and filters that call functions with effects, one row at a time.
//!
//! PostgreSQL makes the calls of a row before those of the next one, and none for rows that a LIMIT does not ask for:
//!
//! ```text
//!   SELECT nextval('s'), nextval('s') FROM t                            (1, 2), (3, 4), and not (1, 3), (2, 4)
//!   SELECT id FROM jobs WHERE pg_try_advisory_lock(id) LIMIT 1          takes one lock
//! ```
//! DataFusion evaluates each expression for a batch. Here the rows of a batch are evaluated one after the other
//! ([`lazy`]), in a single partition. Below a limit each row is a batch of its own, and the next one is evaluated only
//! when it is asked for. Otherwise the rows are returned as one batch again.

mod branches;
mod lazy;

use super::pass_through::only_input;
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::{concat, filter_record_batch, take_record_batch};
use arrow::datatypes::SchemaRef;
pub(crate) use branches::BranchesExec;
use datafusion::common::cast::as_boolean_array;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties, Statistics,
};
use futures::{StreamExt, stream};
pub(crate) use lazy::Lazy;
use std::fmt;
use std::sync::Arc;
use types::interrupt;

/// What is evaluated at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steps {
    /// A batch.
    Batches,
    /// A row; the rows of a batch are returned together.
    Rows,
    /// A row, which is returned before the next one is evaluated.
    RowsApart,
}

/// Evaluates a projection or a filter row by row.
#[derive(Debug)]
pub(crate) struct RowByRowExec {
    /// A `ProjectionExec` or a `FilterExec`.
    operator: Arc<dyn ExecutionPlan>,
    steps: Steps,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl RowByRowExec {
    pub(crate) fn new(operator: Arc<dyn ExecutionPlan>, steps: Steps) -> Self {
        let properties = operator.properties().as_ref().clone();
        // DataFusion takes a call with constant arguments for a constant of its partition.
        let mut known = properties.equivalence_properties().clone();
        known.clear_per_partition_constants();
        let properties = properties.with_eq_properties(known).with_partitioning(Partitioning::UnknownPartitioning(1));
        Self { operator, steps, metrics: ExecutionPlanMetricsSet::new(), properties: Arc::new(properties) }
    }

    pub(crate) fn operator(&self) -> &dyn ExecutionPlan {
        self.operator.as_ref()
    }

    fn work(&self) -> Result<Work> {
        let input = only_input(self.operator.children())?.schema();
        let lazy = |expr: &Arc<dyn PhysicalExpr>| match self.steps {
            Steps::Batches => Ok(Lazy::Whole(Arc::clone(expr))),
            Steps::Rows | Steps::RowsApart => Lazy::new(expr, &input),
        };
        if let Some(projection) = self.operator.downcast_ref::<ProjectionExec>() {
            let exprs = projection.expr().iter().map(|item| lazy(&item.expr));
            return Ok(Work::Project(exprs.collect::<Result<_>>()?, self.operator.schema()));
        }
        match self.operator.downcast_ref::<FilterExec>() {
            Some(filter) => {
                let columns = filter.projection().as_ref().map(|columns| columns.to_vec());
                Ok(Work::Filter(lazy(filter.predicate())?, columns))
            }
            None => internal_err!("{} row by row", self.operator.name()),
        }
    }
}

impl DisplayAs for RowByRowExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operator.fmt_as(format, f)
    }
}

impl ExecutionPlan for RowByRowExec {
    fn name(&self) -> &str {
        "RowByRowExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.operator.children()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
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
        self.operator.apply_expressions(visit)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let anew = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Arc::new(Self::new(Arc::clone(&self.operator).replace_children(children, anew)?, self.steps)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, input: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        self.operator.statistics_from_inputs(input, args)
    }

    fn execute(&self, partition: usize, tasks: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let options = Arc::clone(tasks.session_config().options());
        let input = only_input(self.operator.children())?.execute(partition, tasks)?;
        let rows = Rows { work: self.work()?, apart: self.steps == Steps::RowsApart, options, input, batch: None };
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let batches = stream::try_unfold((rows, metrics), |(mut rows, metrics)| async move {
            let Some(batch) = rows.next().await? else { return Ok(None) };
            metrics.record_output(batch.num_rows());
            Ok(Some((batch, (rows, metrics))))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

/// What is evaluated for each row.
enum Work {
    Project(Vec<Lazy>, SchemaRef),
    /// A condition, and the columns that are returned if these are not all.
    Filter(Lazy, Option<Vec<usize>>),
}

/// A running operator.
struct Rows {
    work: Work,
    apart: bool,
    options: Arc<ConfigOptions>,
    input: SendableRecordBatchStream,
    /// The batch that is evaluated, and the next row of it.
    batch: Option<(RecordBatch, usize)>,
}

impl Rows {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some((batch, at)) = self.batch.take().filter(|(batch, at)| *at < batch.num_rows()) else {
                match self.input.next().await.transpose()? {
                    Some(batch) => self.batch = Some((batch, 0)),
                    None => return Ok(None),
                }
                continue;
            };
            let rows = if self.apart {
                let row = copied(&batch, at)?;
                self.batch = Some((batch, at + 1));
                self.work.evaluated(row, &self.options).await?
            } else {
                self.work.evaluated(batch, &self.options).await?
            };
            if rows.num_rows() > 0 {
                return Ok(Some(rows));
            }
        }
    }
}

impl Work {
    /// The result for these rows.
    async fn evaluated(&self, rows: RecordBatch, options: &Arc<ConfigOptions>) -> Result<RecordBatch> {
        match self {
            Self::Project(exprs, schema) => {
                let mut values: Vec<Vec<ArrayRef>> = vec![Vec::new(); exprs.len()];
                let apart = if exprs.iter().any(Lazy::acts) { rows.num_rows() } else { 0 };
                for at in 0..apart {
                    let row = row(&rows, at).await?;
                    for (expr, values) in exprs.iter().zip(&mut values).filter(|(expr, _)| expr.acts()) {
                        values.push(expr.value(&row, options).await?);
                    }
                }
                let columns = exprs.iter().zip(values).map(|(expr, values)| match expr {
                    Lazy::Whole(expr) if values.is_empty() => expr.evaluate(&rows)?.into_array(rows.num_rows()),
                    _ => Ok(concat(&values.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
                });
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let count = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
                Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &count)?)
            }
            Self::Filter(condition, columns) => {
                let kept = filter_record_batch(&rows, &kept(condition, &rows, options).await?)?;
                Ok(match columns {
                    Some(columns) => kept.project(columns)?,
                    None => kept,
                })
            }
        }
    }
}

/// For each row, whether the condition holds.
async fn kept(condition: &Lazy, rows: &RecordBatch, options: &Arc<ConfigOptions>) -> Result<BooleanArray> {
    if let Lazy::Whole(condition) = condition {
        return Ok(as_boolean_array(&condition.evaluate(rows)?.into_array(rows.num_rows())?)?.clone());
    }
    let mut kept = Vec::with_capacity(rows.num_rows());
    for at in 0..rows.num_rows() {
        let value = condition.value(&row(rows, at).await?, options).await?;
        kept.push(lazy::truth(&value) == Some(true));
    }
    Ok(BooleanArray::from(kept))
}

/// A copy of a row: a slice would hold the whole batch, and each holder would count all of it.
fn copied(rows: &RecordBatch, at: usize) -> Result<RecordBatch> {
    match rows.num_columns() {
        0 => Ok(rows.slice(at, 1)),
        _ => Ok(take_record_batch(rows, &UInt64Array::from_iter_values([at as u64]))?),
    }
}

/// One row of a batch. Between rows other tasks may run, and a cancelled statement ends.
async fn row(rows: &RecordBatch, at: usize) -> Result<RecordBatch> {
    if interrupt::pause().map_err(crate::QueryError::from)? {
        tokio::task::yield_now().await;
    }
    Ok(rows.slice(at, 1))
}
