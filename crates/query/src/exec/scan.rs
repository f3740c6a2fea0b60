//! The leaf of every plan: reads a table's rows.
//!
//! ```text
//!   unsalted, or one bucket    each partition is a run of key ranges, in key order: ordered as it is
//!   salted                     no order by itself; when one is wanted, a partition merges its buckets,
//!                              each of them a scan in key order
//! ```
//! The node is plain data (table, ranges, projection, limit, direction, filters) and the view that it reads from.

use crate::access_path::AccessPath;
use crate::convert::RowDecoder;
use crate::convert::expr_to_ranges::{ranges_of, to_store_ranges};
use crate::error::{QueryError, QueryResult};
use crate::exec::dynamic_filter;
use crate::exec::order::KeyOrder;
use crate::exec::row_checks::{RowCheck, RowChecks, Sieve};
use crate::exec::running_scan::{ScanMetrics, ScanWork};
use crate::sample::Estimate;
use arrow::datatypes::SchemaRef;
use catalog::row_codec::{Place, RowCodec};
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{LexOrdering, Partitioning, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sorts::streaming_merge::StreamingMergeBuilder;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult, apply_expression_roots,
};
use std::fmt;
use std::sync::Arc;
use store::{FamilyId, KeyRange, RegionInfo};
use txn::ReadView;

/// All columns of a table are in this family at present.
pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// Reads rows of one table.
#[derive(Clone, Debug)]
pub struct RegionScanExec {
    codec: Arc<RowCodec>,
    reader: ReadView,
    path: Arc<AccessPath>,
    /// Indexes of the output's columns in the table.
    projection: Vec<usize>,
    decoder: RowDecoder,
    row_check: Option<RowCheck>,
    recheck: Option<RowCheck>,
    partitions: Vec<Vec<KeyRange>>,
    /// Do salt buckets have to be merged to keep key order?
    merge: bool,
    order: KeyOrder,
    reverse: bool,
    fetch: Option<usize>,
    /// Filters that joins and the like make while the statement runs; used to read less, never relied on.
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    estimate: Estimate,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// How many regions a scan touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Regions {
    pub(crate) touched: usize,
    pub(crate) all: usize,
}

/// What a scan is made of.
pub(crate) struct ScanParts {
    pub(crate) codec: Arc<RowCodec>,
    pub(crate) reader: ReadView,
    pub(crate) path: AccessPath,
    pub(crate) projection: Vec<usize>,
    pub(crate) decoder: RowDecoder,
    pub(crate) row_check: Option<RowCheck>,
    pub(crate) recheck: Option<RowCheck>,
    pub(crate) partitions: Vec<Vec<KeyRange>>,
    pub(crate) fetch: Option<usize>,
    pub(crate) estimate: Estimate,
}

impl RegionScanExec {
    pub(crate) fn new(parts: ScanParts) -> QueryResult<Self> {
        let ScanParts { codec, reader, path, projection, decoder, row_check, recheck, .. } = parts;
        let schema = Arc::clone(decoder.schema());
        let order = KeyOrder::new(&codec, &projection, path.ranges.equal_parts);
        let partitions = if parts.partitions.is_empty() { vec![Vec::new()] } else { parts.partitions };
        let properties = Arc::new(properties(&schema, &order, in_key_order(&path), false, partitions.len())?);
        Ok(Self {
            codec,
            reader,
            path: Arc::new(path),
            projection,
            decoder,
            row_check,
            recheck,
            partitions,
            merge: false,
            order,
            reverse: false,
            fetch: parts.fetch,
            dynamic: Vec::new(),
            estimate: parts.estimate,
            schema,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The same scan in key order or its reverse.
    fn ordered(&self, reverse: bool) -> QueryResult<Self> {
        let mut scan = self.clone();
        scan.metrics = ExecutionPlanMetricsSet::new();
        scan.reverse = reverse;
        scan.merge = !in_key_order(&self.path);
        if scan.merge {
            scan.partitions = self.bucket_groups();
        }
        scan.properties = Arc::new(properties(&self.schema, &self.order, true, reverse, scan.partitions.len())?);
        Ok(scan)
    }

    /// Salt buckets dealt to as many partitions as there are now.
    fn bucket_groups(&self) -> Vec<Vec<KeyRange>> {
        let mut groups = vec![Vec::new(); self.partitions.len()];
        let count = groups.len();
        let buckets = self.path.ranges.buckets.clone().unwrap_or_default();
        for (number, bucket) in buckets.into_iter().enumerate() {
            if let Some(group) = groups.get_mut(number % count) {
                group.extend(to_store_ranges(&self.path.ranges.in_bucket(bucket)));
            }
        }
        groups
    }

    pub(crate) fn path(&self) -> &AccessPath {
        &self.path
    }

    pub(crate) fn codec(&self) -> &RowCodec {
        &self.codec
    }

    pub(crate) fn is_reverse(&self) -> bool {
        self.reverse
    }

    pub(crate) fn merges_buckets(&self) -> bool {
        self.merge
    }

    /// How many regions it touches, asked of the store: not for every statement.
    pub(crate) async fn regions(&self) -> QueryResult<Regions> {
        let regions = self.reader.store().regions(self.codec.table().storage_id()).await?;
        let ranges = to_store_ranges(&self.path.ranges.ranges);
        let touches = |region: &RegionInfo| ranges.iter().any(|range| range.intersect(&region.range).is_some());
        Ok(Regions { touched: regions.iter().filter(|region| touches(region)).count(), all: regions.len() })
    }

    pub(crate) fn has_dynamic_filter(&self) -> bool {
        !self.dynamic.is_empty()
    }

    pub(crate) fn output_columns(&self) -> impl Iterator<Item = &str> {
        self.schema.fields().iter().map(|field| field.name().as_str())
    }

    /// The ranges of a partition, narrowed by what joins have found out by now.
    fn narrowed(&self, ranges: &[KeyRange]) -> Vec<KeyRange> {
        if self.dynamic.is_empty() {
            return ranges.to_vec();
        }
        let found = dynamic_filter::conditions(&self.dynamic, &|output| self.key_part(output));
        if found.is_empty() {
            return ranges.to_vec();
        }
        let mut all = self.path.conditions.clone();
        all.extend(found);
        intersect(ranges, &to_store_ranges(&ranges_of(&self.codec, &all).ranges))
    }

    /// The key part that an output column is.
    fn key_part(&self, output: usize) -> Option<usize> {
        match self.codec.places().get(*self.projection.get(output)?)? {
            Place::Key(part) => Some(*part),
            Place::Value(_) => None,
        }
    }

    /// The dynamic filters as a check of rows. A scan that hands out its first rows only is not for it: which ones
    /// these are must not depend on what is above.
    fn sieve(&self) -> QueryResult<Option<Sieve>> {
        if self.fetch.is_some() {
            return Ok(None);
        }
        let plain: Vec<_> = self.dynamic.iter().filter(|filter| !self.reads_lists(filter)).cloned().collect();
        let Some(predicate) = dynamic_filter::predicate(&plain)? else { return Ok(None) };
        let columns: Vec<usize> =
            predicate.columns.iter().filter_map(|output| self.projection.get(*output).copied()).collect();
        let decoder = RowDecoder::new(&self.codec, &columns)?;
        Ok(Some(Sieve::new(RowCheck { decoder, predicate: predicate.expr })))
    }

    /// Does it look at a column of lists? The bounds of a join's keys are not those of lists: comparing by them loses rows.
    fn reads_lists(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        let is_list = |at: usize| self.schema.fields().get(at).is_some_and(|field| field.data_type().is_nested());
        collect_columns(filter).iter().any(|column| is_list(column.index()))
    }

    fn work(&self, ranges: Vec<KeyRange>, batch_rows: usize) -> QueryResult<ScanWork> {
        let checks = RowChecks { recheck: self.recheck.clone(), filter: self.row_check.clone(), sieve: self.sieve()? };
        Ok(ScanWork {
            reader: self.reader.clone(),
            table: self.codec.table().storage_id(),
            family: FAMILY,
            ranges,
            reverse: self.reverse,
            fetch: self.fetch,
            filter: self.path.filter.clone(),
            decoder: self.decoder.clone(),
            checks,
            batch_rows,
        })
    }

    /// One scan per bucket, merged in key order.
    fn merged(
        &self,
        partition: usize,
        ranges: Vec<KeyRange>,
        context: &TaskContext,
    ) -> Result<SendableRecordBatchStream> {
        let batch_rows = context.session_config().batch_size();
        let metrics = ScanMetrics::new(&self.metrics, partition);
        let baseline = metrics.baseline.clone();
        let order = LexOrdering::new(self.order.sort_exprs(self.reverse))
            .ok_or_else(|| QueryError::internal("a merge without an order"))?;
        let mut streams: Vec<SendableRecordBatchStream> = Vec::new();
        for bucket in by_bucket(ranges) {
            // The merge counts what comes out; a bucket's own rows must not be counted too.
            let stream = self.work(bucket, batch_rows)?.run(metrics.without_rows());
            streams.push(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)));
        }
        if streams.is_empty() {
            let none = futures::stream::empty();
            return Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), none)));
        }
        let reservation = datafusion::execution::memory_pool::MemoryConsumer::new("merge of salt buckets")
            .register(context.memory_pool());
        StreamingMergeBuilder::new()
            .with_streams(streams)
            .with_schema(Arc::clone(&self.schema))
            .with_expressions(&order)
            .with_metrics(baseline)
            .with_batch_size(batch_rows)
            .with_fetch(self.fetch)
            .with_reservation(reservation)
            .build()
    }
}

/// Do the ranges give key order one after the other?
fn in_key_order(path: &AccessPath) -> bool {
    path.ranges.buckets.as_ref().is_none_or(|buckets| buckets.len() <= 1)
}

fn properties(
    schema: &SchemaRef,
    order: &KeyOrder,
    ordered: bool,
    reverse: bool,
    partitions: usize,
) -> QueryResult<PlanProperties> {
    let equivalence = order.properties(schema, ordered, reverse)?;
    let partitioning = Partitioning::UnknownPartitioning(partitions);
    Ok(PlanProperties::new(equivalence, partitioning, EmissionType::Incremental, Boundedness::Bounded))
}

/// What is in both of two sorted lists of disjoint ranges.
fn intersect(left: &[KeyRange], right: &[KeyRange]) -> Vec<KeyRange> {
    let (mut a, mut b) = (left.iter().peekable(), right.iter().peekable());
    let mut both = Vec::new();
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        both.extend(x.intersect(y));
        let x_ends_first = match (&x.end, &y.end) {
            (Some(x), Some(y)) => x <= y,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if x_ends_first {
            a.next();
        } else {
            b.next();
        }
    }
    both
}

/// Ranges that begin with the same salt byte, together.
fn by_bucket(ranges: Vec<KeyRange>) -> Vec<Vec<KeyRange>> {
    let mut buckets: Vec<(Option<u8>, Vec<KeyRange>)> = Vec::new();
    for range in ranges {
        let salt = range.start.first().copied();
        match buckets.last_mut() {
            Some((last, list)) if *last == salt => list.push(range),
            _ => buckets.push((salt, vec![range])),
        }
    }
    buckets.into_iter().map(|(_, ranges)| ranges).collect()
}

impl DisplayAs for RegionScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RegionScanExec: {} on {}", self.path.name(), self.codec.table().name)
    }
}

impl ExecutionPlan for RegionScanExec {
    fn name(&self) -> &str {
        "RegionScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(self.dynamic.iter(), f)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let ranges =
            self.partitions.get(partition).ok_or_else(|| QueryError::internal(format!("no partition {partition}")))?;
        if self.merge {
            return self.merged(partition, self.narrowed(ranges), &context);
        }
        let metrics = ScanMetrics::new(&self.metrics, partition);
        let batch_rows = context.session_config().batch_size();
        let (scan, ranges) = (self.clone(), ranges.clone());
        // Narrowed at the first poll: by then a join has read its build side.
        let stream = futures::stream::once(async move {
            Ok::<_, DataFusionError>(scan.work(scan.narrowed(&ranges), batch_rows)?.run(metrics))
        });
        let stream = futures::TryStreamExt::try_flatten(stream);
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        let share = if args.partition().is_some() { self.partitions.len().max(1) as u64 } else { 1 };
        let rows = usize::try_from(self.estimate.rows / share).unwrap_or(usize::MAX);
        if let Some(columns) = &self.estimate.columns {
            statistics.column_statistics.clone_from(columns);
        }
        statistics.num_rows = Precision::Inexact(self.fetch.map_or(rows, |fetch| fetch.min(rows)));
        Ok(Arc::new(statistics))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let mut scan = self.clone();
        scan.metrics = ExecutionPlanMetricsSet::new();
        scan.fetch = limit;
        Some(Arc::new(scan))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        if phase != FilterPushdownPhase::Post || result.parent_filters.is_empty() || self.fetch.is_some() {
            return Ok(FilterPushdownPropagation::all_unsupported(result));
        }
        let mut scan = self.clone();
        scan.metrics = ExecutionPlanMetricsSet::new();
        scan.dynamic.extend(result.parent_filters.iter().map(|filter| Arc::clone(&filter.filter)));
        let answers = vec![PushedDown::No; result.parent_filters.len()];
        Ok(FilterPushdownPropagation::with_parent_pushdown_result(answers).with_updated_node(Arc::new(scan)))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        match self.order.direction_for(order) {
            Some(reverse) => Ok(SortOrderPushdownResult::Exact { inner: Arc::new(self.ordered(reverse)?) }),
            None => Ok(SortOrderPushdownResult::Unsupported),
        }
    }
}
