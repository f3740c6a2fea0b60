//! Scans of salted tables in key order: a scan for each salt bucket, merged.

use crate::convert::expr_to_ranges::to_store_ranges;
use crate::error::QueryError;
use crate::exec::range_lists::by_bucket;
use crate::exec::running_scan::ScanMetrics;
use crate::exec::scan::RegionScanExec;
use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::sorts::streaming_merge::StreamingMergeBuilder;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use std::sync::Arc;
use store::KeyRange;

impl RegionScanExec {
    /// Distributes the salt buckets over the current number of partitions.
    pub(super) fn bucket_groups(&self) -> Vec<Vec<KeyRange>> {
        let mut groups = vec![Vec::new(); self.partitions.ranges.len()];
        let count = groups.len();
        let buckets = self.path.ranges.buckets.clone().unwrap_or_default();
        for (number, bucket) in buckets.into_iter().enumerate() {
            if let Some(group) = groups.get_mut(number % count) {
                group.extend(to_store_ranges(&self.path.ranges.in_bucket(bucket)));
            }
        }
        groups
    }

    /// Scans each bucket and merges them in key order.
    pub(super) fn merged(
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
            // The merge counts the returned rows; a bucket must not count its rows again.
            let stream = self.work(bucket, context)?.run(metrics.without_rows());
            streams.push(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)));
        }
        if streams.is_empty() {
            let none = futures::stream::empty();
            return Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), none)));
        }
        let reservation = MemoryConsumer::new("merge of salt buckets").register(context.memory_pool());
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
