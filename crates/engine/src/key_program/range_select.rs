//! Short key ranges: compiled once, read by scans without a plan.

use super::conditions::KeyCondition;
use super::cursor::{Cursor, Source};
use super::operand::Limit;
use super::order::Order;
use crate::dml::{FAMILY, Target};
use crate::error::EngineResult;
use query::RowReader;
use rowkey::range::{ByteRange, Condition, KeyRanges, RangeLimits, key_ranges};
use std::sync::Arc;
use store::{KeyRange, ScanRequest};
use txn::ReadView;
use types::Datum;

/// With more salt buckets an ordered read is a plan: the merge queue is for few sources.
const MAX_MERGED: usize = 64;
/// Maximum number of rows in a batch.
const BATCH_ROWS: u64 = 1024;

/// `SELECT columns FROM t WHERE conditions on key columns ORDER BY key LIMIT n`, compiled.
#[derive(Debug)]
pub(crate) struct RangeSelect {
    pub(super) target: Target,
    conditions: Vec<KeyCondition>,
    order: Order,
    limit: Limit,
    pub(super) reader: RowReader,
}

impl RangeSelect {
    /// `wanted` are the positions of the output columns in the table.
    ///
    /// # Errors
    /// An invalid table definition.
    pub(super) fn new(
        target: Target,
        conditions: Vec<KeyCondition>,
        order: Order,
        limit: Limit,
        wanted: &[usize],
    ) -> EngineResult<Self> {
        let reader = RowReader::new(&target.codec, wanted)?;
        Ok(Self { target, conditions, order, limit, reader })
    }

    /// Whether it likely returns few rows: the first key part has few values, or there is a LIMIT.
    pub(super) fn is_short(&self) -> bool {
        let first = self.conditions.iter().any(|condition| condition.part == 0 && condition.is_narrow());
        let merged = self.order != Order::Any;
        let buckets = self.target.codec.key_schema().salt_buckets.map_or(1, usize::from);
        (first || self.limit != Limit::None) && !(merged && buckets > MAX_MERGED)
    }

    /// Opens the scans.
    pub(crate) async fn open(self: &Arc<Self>, view: &ReadView, params: &[Datum]) -> EngineResult<Cursor> {
        let limit = self.limit.rows(params)?;
        let mut conditions = Vec::with_capacity(self.conditions.len());
        for condition in &self.conditions {
            conditions.push(condition.bind(params)?);
        }
        let found = key_ranges(self.target.codec.key_schema(), &conditions, &RangeLimits::default());
        let unsure = self.unsure(&found, conditions);
        let lists = match (&found.buckets, self.order) {
            _ if found.ranges.is_empty() || limit == 0 => Vec::new(),
            (Some(buckets), Order::Key | Order::Reverse) if buckets.len() > 1 => {
                buckets.iter().map(|bucket| found.in_bucket(*bucket)).collect()
            }
            _ => vec![found.ranges],
        };
        let exact = unsure.is_empty() && limit < u64::MAX;
        let share = exact.then(|| first_share(limit, lists.len() as u64));
        let mut sources = Vec::with_capacity(lists.len());
        for ranges in lists {
            let range = |range: ByteRange| KeyRange { start: range.start.into(), end: range.end.map(Into::into) };
            let ranges: Vec<KeyRange> = ranges.into_iter().map(range).collect();
            let scan = view.scan(self.request(ranges.clone(), share)).await?;
            sources.push(Source::new(ranges, scan, share));
        }
        Ok(Cursor::new(Arc::clone(self), view.clone(), sources, unsure, limit))
    }

    pub(super) fn request(&self, ranges: Vec<KeyRange>, limit: Option<u64>) -> ScanRequest {
        ScanRequest {
            reverse: self.order == Order::Reverse,
            limit,
            batch_rows: limit.unwrap_or(BATCH_ROWS).min(BATCH_ROWS) as usize,
            ..ScanRequest::new(self.target.storage, FAMILY, ranges)
        }
    }

    pub(super) fn is_reverse(&self) -> bool {
        self.order == Order::Reverse
    }

    /// Conditions that must be checked on each row, each with its key part.
    fn unsure(&self, found: &KeyRanges, conditions: Vec<Condition>) -> Vec<(usize, Condition)> {
        let parts = self.conditions.iter().map(|condition| condition.part);
        let exact = found.exact.iter().copied().chain(std::iter::repeat(false));
        parts.zip(conditions).zip(exact).filter(|(_, exact)| !exact).map(|(unsure, _)| unsure).collect()
    }
}

/// How many of `limit` rows are requested of each bucket at first: its share plus two and a half standard deviations,
/// which a bucket seldom exceeds. A bucket that falls short is scanned again.
fn first_share(limit: u64, buckets: u64) -> u64 {
    if buckets < 2 {
        return limit;
    }
    let share = limit / buckets;
    limit.min(share + share.isqrt().saturating_mul(5) / 2 + 2)
}
