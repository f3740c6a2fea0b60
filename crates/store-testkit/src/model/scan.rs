//! Scans: all rows are collected when the scan begins, and returned in batches.

use super::table::Rows;
use async_trait::async_trait;
use fragment::Verdict;
use std::collections::VecDeque;
use store::{Bytes, CommitNo, RowBatch, RowBatchBuilder, Scan, ScanCounters, ScanRequest, StoreResult};

pub(super) struct ModelScan {
    rows: VecDeque<Row>,
    keys: bool,
    values: bool,
    batch_rows: usize,
    counters: ScanCounters,
}

struct Row {
    key: Bytes,
    fragment: Bytes,
    undecided: bool,
}

impl ModelScan {
    pub(super) fn new(request: &ScanRequest, rows: &Rows, commit: CommitNo) -> Self {
        let mut scan = Self {
            rows: VecDeque::new(),
            keys: request.keys,
            values: request.values,
            batch_rows: request.batch_rows.max(1),
            counters: ScanCounters { seeks: request.ranges.len() as u64, ..ScanCounters::default() },
        };
        let forward = request.ranges.iter().flat_map(|range| rows.range(range, commit));
        if request.reverse {
            scan.collect(request, forward.rev());
        } else {
            scan.collect(request, forward);
        }
        scan
    }

    /// Collects rows up to the limit. Undecided rows do not count, because the caller may discard them.
    fn collect<'a>(&mut self, request: &ScanRequest, rows: impl Iterator<Item = (&'a Bytes, &'a Bytes)>) {
        let limit = request.limit.unwrap_or(u64::MAX);
        let filter = request.filter.as_ref().filter(|filter| !filter.is_empty());
        let mut passed = 0;
        for (key, fragment) in rows {
            if passed >= limit {
                break;
            }
            self.counters.rows_read += 1;
            self.counters.bytes_read += (key.len() + fragment.len()) as u64;
            let verdict = filter.map_or(Verdict::Pass, |filter| fragment::matches(filter, fragment));
            if verdict == Verdict::Fail {
                continue;
            }
            passed += u64::from(verdict == Verdict::Pass);
            let undecided = verdict == Verdict::Undecided;
            self.rows.push_back(Row { key: key.clone(), fragment: fragment.clone(), undecided });
        }
    }
}

#[async_trait]
impl Scan for ModelScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        let rows = self.rows.len().min(self.batch_rows);
        if rows == 0 {
            return Ok(None);
        }
        let mut batch = RowBatchBuilder::with_capacity(rows, self.values, self.keys);
        for row in self.rows.drain(..rows) {
            if self.values {
                batch.push_fragment(&row.fragment);
            } else {
                batch.push_rows(1);
            }
            if self.keys {
                batch.push_key(&row.key, &[]);
            }
            if row.undecided {
                batch.mark_undecided();
            }
        }
        self.counters.rows_returned += rows as u64;
        Ok(Some(batch.finish()))
    }

    fn counters(&self) -> ScanCounters {
        self.counters
    }
}
