//! The leaf of every plan: reads a table's rows by rowkey or by an index.
//!
//! ```text
//!   unsalted, or one bucket    each partition is a run of key ranges in key order, so its output is ordered
//!   salted                     unordered by itself; if an order is required, a partition merges its buckets,
//!                              each of them a scan in key order
//! ```
//! The node is plain data (table, ranges, projection, limit, direction, filters) and a read view.

use crate::access_path::AccessPath;
use crate::choose_path::Knowledge;
use crate::convert::RowDecoder;
use crate::convert::expr_to_ranges::to_store_ranges;
use crate::error::{QueryError, QueryResult};
use crate::exec::intersection::{Intersection, OtherIndex};
use crate::exec::narrowing::Finder;
use crate::exec::order::KeyOrder;
use crate::exec::row_checks::RowChecks;
use crate::exec::row_fetch::RowFetch;
use crate::exec::running_scan::{ScanMetrics, ScanWork};
use crate::intersected::Partner;
use crate::key_partitions::Partitions;
use crate::sample::Estimate;
use crate::scan_source::ScanSource;
use arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Partitioning, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SortOrderPushdownResult, apply_expression_roots,
};
use std::fmt;
use std::sync::Arc;
use store::{FamilyId, KeyRange, RegionInfo, StoreError};
use txn::ReadView;

/// All columns of a table are in this family at present.
pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// Reads rows of one table.
#[derive(Clone, Debug)]
pub struct RegionScanExec {
    pub(super) source: ScanSource,
    pub(super) reader: ReadView,
    pub(super) path: Arc<AccessPath>,
    /// Indexes of the output's columns in the table.
    pub(super) projection: Vec<usize>,
    decoder: RowDecoder,
    checks: RowChecks,
    /// Checks on the entries whose rows are fetched.
    entry_checks: RowChecks,
    /// The other index of an intersection.
    other: Option<(Partner, OtherIndex)>,
    pub(super) partitions: Partitions,
    /// Must salt buckets be merged to keep key order?
    merge: bool,
    pub(super) order: KeyOrder,
    pub(super) reverse: bool,
    pub(super) fetch: Option<usize>,
    /// Dynamic filters of joins and TopK; they only reduce what is read, no result depends on them.
    pub(super) dynamic: Vec<Arc<dyn PhysicalExpr>>,
    /// Indexes by which the dynamic filters may find rows.
    pub(super) finders: Vec<Finder>,
    /// The table's statistics.
    pub(super) knowledge: Option<Knowledge>,
    estimate: Estimate,
    /// The cost of the access path, in rows of a scan.
    cost: f64,
    /// Leading key parts: one row is enough per group of rows equal in these.
    skips: Option<usize>,
    pub(super) schema: SchemaRef,
    properties: Arc<PlanProperties>,
    pub(super) metrics: ExecutionPlanMetricsSet,
}

/// The number of regions that a scan touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Regions {
    pub(crate) touched: usize,
    pub(crate) all: usize,
}

/// The arguments of [`RegionScanExec::new`].
pub(crate) struct ScanParts {
    pub(crate) source: ScanSource,
    pub(crate) reader: ReadView,
    pub(crate) path: AccessPath,
    pub(crate) projection: Vec<usize>,
    pub(crate) decoder: RowDecoder,
    pub(crate) checks: RowChecks,
    pub(crate) entry_checks: RowChecks,
    pub(crate) other: Option<(Partner, OtherIndex)>,
    pub(crate) partitions: Partitions,
    pub(crate) fetch: Option<usize>,
    pub(crate) estimate: Estimate,
    pub(crate) cost: f64,
    pub(crate) skips: Option<usize>,
    pub(crate) finders: Vec<Finder>,
    pub(crate) knowledge: Option<Knowledge>,
    /// For each key part its expression over the output, if it is an expression.
    pub(crate) computed: Vec<Option<Arc<dyn PhysicalExpr>>>,
}

impl RegionScanExec {
    pub(crate) fn new(parts: ScanParts) -> QueryResult<Self> {
        let ScanParts { source, reader, path, projection, decoder, checks, entry_checks, .. } = parts;
        let schema = Arc::clone(decoder.schema());
        let order = KeyOrder::new(&source, &projection, path.ranges.equal_parts, parts.computed);
        let partitions =
            if parts.partitions.ranges.is_empty() { Partitions::one(Vec::new()) } else { parts.partitions };
        let properties = Arc::new(properties(&schema, &order, path.is_in_key_order(), false, &partitions)?);
        Ok(Self {
            source,
            reader,
            path: Arc::new(path),
            projection,
            decoder,
            checks,
            entry_checks,
            other: parts.other,
            partitions,
            merge: false,
            order,
            reverse: false,
            fetch: parts.fetch,
            dynamic: Vec::new(),
            finders: parts.finders,
            knowledge: parts.knowledge,
            estimate: parts.estimate,
            cost: parts.cost,
            skips: parts.skips,
            schema,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// A copy with fresh metrics.
    fn uncounted(&self) -> Self {
        Self { metrics: ExecutionPlanMetricsSet::new(), ..self.clone() }
    }

    /// A copy in key order or reverse key order.
    pub(crate) fn ordered(&self, reverse: bool) -> QueryResult<Self> {
        let mut scan = self.uncounted();
        scan.reverse = reverse;
        scan.merge = !self.path.is_in_key_order();
        if scan.merge {
            scan.partitions = Partitions { ranges: self.bucket_groups(), aligned: None };
        }
        scan.properties = Arc::new(properties(&self.schema, &self.order, true, reverse, &scan.partitions)?);
        Ok(scan)
    }

    /// The estimated cost of the access path.
    pub(crate) fn cost(&self) -> f64 {
        self.cost
    }

    /// The columns of which each distinct combination is read once.
    pub(crate) fn skips(&self) -> Option<Vec<&str>> {
        let columns = &self.source.table_codec().table().columns;
        let key = self.source.key_columns();
        let name = |column: &Option<usize>| columns.get((*column)?).map(|column| column.name.as_str());
        Some(key.iter().take(self.skips?).filter_map(name).collect())
    }

    pub(crate) fn path(&self) -> &AccessPath {
        &self.path
    }

    pub(crate) fn source(&self) -> &ScanSource {
        &self.source
    }

    /// The other index of an intersection.
    pub(crate) fn partner(&self) -> Option<&Partner> {
        self.other.as_ref().map(|(partner, _)| partner)
    }

    pub(crate) fn is_reverse(&self) -> bool {
        self.reverse
    }

    pub(crate) fn merges_buckets(&self) -> bool {
        self.merge
    }

    /// The number of regions it touches. Asks the store, so it is not called for every statement. `None` if the table
    /// was dropped or rewritten since the snapshot that is read: the store knows only the current regions.
    pub(crate) async fn regions(&self) -> QueryResult<Option<Regions>> {
        let regions = match self.reader.store().regions(self.source.scanned().table().storage_id()).await {
            Err(StoreError::NoSuchTable { .. }) => return Ok(None),
            regions => regions?,
        };
        let ranges = to_store_ranges(&self.path.ranges.ranges);
        let touches = |region: &RegionInfo| ranges.iter().any(|range| range.intersect(&region.range).is_some());
        Ok(Some(Regions { touched: regions.iter().filter(|region| touches(region)).count(), all: regions.len() }))
    }

    pub(crate) fn has_dynamic_filter(&self) -> bool {
        !self.dynamic.is_empty()
    }

    pub(crate) fn output_columns(&self) -> impl Iterator<Item = &str> {
        self.schema.fields().iter().map(|field| field.name().as_str())
    }

    pub(super) fn work(&self, ranges: Vec<KeyRange>, context: &TaskContext) -> QueryResult<ScanWork> {
        let both = self.other.as_ref().zip(self.source.used_index()).map(|((_, other), index)| {
            let (table, pool) = (self.source.table_codec(), context.memory_pool());
            Intersection::new(index.codec.clone(), table, other.clone(), pool, self.reverse)
        });
        let checks = RowChecks { dynamic: self.dynamic_row_filters()?, ..self.checks.clone() };
        let rows = self.source.fetched_by().map(|index| RowFetch {
            index: index.codec.clone(),
            table: Arc::clone(self.source.table_codec()),
            checks: self.entry_checks.clone(),
            filter: self.path.fetched.store.clone(),
            may_change: self.reader.may_change(index.codec.index().storage_id()),
        });
        Ok(ScanWork {
            reader: self.reader.clone(),
            table: self.source.scanned().table().storage_id(),
            family: FAMILY,
            ranges,
            reverse: self.reverse,
            fetch: self.fetch,
            filter: self.path.scanned.store.clone(),
            both,
            rows,
            decoder: self.decoder.clone(),
            checks,
            batch_rows: context.session_config().batch_size(),
            skips: self.skips.map(|parts| (self.source.scanned().key_schema().clone(), parts)),
        })
    }
}

fn properties(
    schema: &SchemaRef,
    order: &KeyOrder,
    ordered: bool,
    reverse: bool,
    partitions: &Partitions,
) -> QueryResult<PlanProperties> {
    let equivalence = order.properties(schema, ordered, reverse)?;
    let by_range = partitions.aligned.as_ref().and_then(|aligned| order.partitioning(aligned));
    let partitioning = by_range.unwrap_or(Partitioning::UnknownPartitioning(partitions.ranges.len()));
    Ok(PlanProperties::new(equivalence, partitioning, EmissionType::Incremental, Boundedness::Bounded))
}

impl DisplayAs for RegionScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RegionScanExec: {} on {}", self.path.name(), self.source.scanned().table().name)
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
        let table = self.source.table_codec().table();
        if table.is_unpopulated() {
            return Err(QueryError::NotPopulated { name: table.name.clone() }.into());
        }
        let ranges = self
            .partitions
            .ranges
            .get(partition)
            .ok_or_else(|| QueryError::internal(format!("no partition {partition}")))?;
        if self.merge {
            return self.merged(partition, self.narrowed_by_key(ranges), &context);
        }
        let metrics = ScanMetrics::new(&self.metrics, partition);
        let (scan, ranges) = (self.clone(), ranges.clone());
        // Narrows at the first poll: by then a join has read its build side.
        let stream = futures::stream::once(async move {
            let ranges = scan.found_by_index(scan.narrowed(&ranges).await?).await?;
            Ok::<_, DataFusionError>(scan.work(ranges, &context)?.run(metrics))
        });
        let stream = futures::TryStreamExt::try_flatten(stream);
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        let share = if args.partition().is_some() { self.partitions.ranges.len().max(1) as u64 } else { 1 };
        let rows = usize::try_from(self.estimate.rows / share).unwrap_or(usize::MAX);
        if let Some(columns) = &self.estimate.columns {
            statistics.column_statistics.clone_from(columns);
        }
        statistics.num_rows = Precision::Inexact(self.fetch.map_or(rows, |fetch| fetch.min(rows)));
        Ok(Arc::new(statistics))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let mut scan = self.uncounted();
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
        let mut scan = self.uncounted();
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
