//! A minimal store that fulfills the contract: a sorted map, cloned for every snapshot.
//!
//! Rows of these tests are plain bytes, not fragments, so that this crate needs no row layout.

use async_trait::async_trait;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::*;

/// More than the number of concurrent applies in any test.
pub const PERMITS: usize = 100;

type Rows = BTreeMap<(TableId, FamilyId, Bytes), (CommitNo, Bytes)>;

#[derive(Debug)]
pub struct MapStore {
    rows: Mutex<(CommitNo, Arc<Rows>)>,
    pub atomic_batch: bool,
    pub scans: AtomicU64,
    /// Number of applies that succeed before one fails; `u64::MAX` means never.
    pub applies_left: AtomicU64,
    /// Applies wait for a permit.
    pub gate: tokio::sync::Semaphore,
}

impl MapStore {
    pub fn new() -> Arc<Self> {
        Self::with(true)
    }

    pub fn with(atomic_batch: bool) -> Arc<Self> {
        Arc::new(Self {
            rows: Mutex::default(),
            atomic_batch,
            scans: AtomicU64::new(0),
            applies_left: AtomicU64::new(u64::MAX),
            gate: tokio::sync::Semaphore::new(PERMITS),
        })
    }

    pub fn newest(&self) -> (CommitNo, Arc<Rows>) {
        self.rows.lock().clone()
    }
}

struct MapScan {
    batches: std::vec::IntoIter<RowBatch>,
    counters: ScanCounters,
}

#[async_trait]
impl Scan for MapScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        Ok(self.batches.next())
    }
    fn counters(&self) -> ScanCounters {
        self.counters
    }
}

/// `None` is undecided.
fn passes(filter: &Filter, row: &[u8]) -> Option<bool> {
    let mut passes = true;
    for predicate in &filter.predicates {
        let start = predicate.offset as usize;
        let bytes = row.get(start..start + predicate.width as usize)?;
        passes &= predicate.lo.as_ref() <= bytes && bytes <= predicate.hi.as_ref();
    }
    Some(passes)
}

#[async_trait]
impl Store for MapStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: Scope::Store,
            atomic_batch: if self.atomic_batch { Scope::Store } else { Scope::Row },
            table_changes: false,
            exclusive: true,
            history: false,
            observers: false,
            filter: true,
            bulk_load: false,
            max_key_bytes: 1 << 15,
            max_fragment_bytes: 1 << 20,
        }
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        let (commit, rows) = self.newest();
        assert!(commit >= at_least);
        Ok(Snapshot::new(commit, rows))
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let newest = self.newest().1;
        let rows: &Rows = match at {
            ReadAt::Snapshot(snapshot) => snapshot.handle().unwrap(),
            ReadAt::Newest => &newest,
        };
        let row = |key: &&[u8]| rows.get(&(table, family, Bytes::copy_from_slice(key))).map(|row| row.1.clone());
        Ok(keys.iter().map(row).collect())
    }

    async fn scan(&self, request: ScanRequest, at: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        self.scans.fetch_add(1, Ordering::Relaxed);
        let rows: &Rows = at.handle().unwrap();
        let inside = |key: &Bytes| request.ranges.iter().any(|range| range.contains(key));
        let wanted = |row: &(&(TableId, FamilyId, Bytes), &(CommitNo, Bytes))| {
            (row.0.0, row.0.1) == (request.table, request.families[0]) && inside(&row.0.2)
        };
        let mut found: Vec<_> = rows.iter().filter(wanted).map(|(key, row)| (&key.2, &row.1)).collect();
        if request.reverse {
            found.reverse();
        }
        let mut counters = ScanCounters { rows_read: found.len() as u64, ..ScanCounters::default() };
        let filter = request.filter.clone().unwrap_or_default();
        let judged = found.into_iter().map(|(key, row)| (key, row, passes(&filter, row)));
        let mut left = request.limit.unwrap_or(u64::MAX);
        let mut taken = Vec::new();
        for row in judged.filter(|row| row.2 != Some(false)) {
            if left == 0 {
                break;
            }
            left -= u64::from(row.2.is_some());
            taken.push(row);
        }
        counters.rows_returned = taken.len() as u64;
        let mut batches = Vec::new();
        for rows in taken.chunks(request.batch_rows) {
            let mut batch = RowBatchBuilder::default();
            for (key, row, judged) in rows {
                if request.values {
                    batch.push_fragment(row);
                } else {
                    batch.push_rows(1);
                }
                if request.keys {
                    batch.push_key(key, &[]);
                }
                if judged.is_none() {
                    batch.mark_undecided();
                }
            }
            batches.push(batch.finish());
        }
        Ok(Box::new(MapScan { batches: batches.into_iter(), counters }))
    }

    async fn split(&self, _: TableId, _: FamilyId, ranges: &[KeyRange], _: usize) -> StoreResult<Vec<Vec<KeyRange>>> {
        Ok(vec![ranges.to_vec()])
    }

    async fn apply(&self, batch: WriteBatch, _: Durability) -> StoreResult<CommitNo> {
        let _permit = self.gate.acquire().await.unwrap();
        if self.applies_left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(StoreError::Io { action: "write".into(), reason: "injected".into() });
        }
        assert!(self.atomic_batch || batch.mutations.len() <= 1);
        let mut newest = self.rows.lock();
        for condition in &batch.conditions {
            let row = newest.1.get(&(condition.table, condition.family, condition.key.clone()));
            if row.map(|row| row.0) != condition.expect {
                return Err(StoreError::ConditionFailed { table: condition.table, key: condition.key.clone() });
            }
        }
        let commit = CommitNo(newest.0.0 + 1);
        let mut rows = newest.1.as_ref().clone();
        for mutation in batch.mutations {
            match mutation {
                Mutation::Replace { table, family, key, fragment } => {
                    rows.insert((table, family, key), (commit, fragment.into()));
                }
                Mutation::Delete { table, family, key } => {
                    rows.remove(&(table, family, key));
                }
            }
        }
        *newest = (commit, Arc::new(rows));
        Ok(commit)
    }

    async fn sync(&self, _: CommitNo) -> StoreResult<()> {
        Ok(())
    }

    async fn bulk_load(&self, _: TableId, _: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        Err(StoreError::Unsupported { what: "bulk_load" })
    }

    async fn regions(&self, _: TableId) -> StoreResult<Vec<RegionInfo>> {
        Ok(Vec::new())
    }

    async fn estimate(&self, _: TableId, _: FamilyId, _: &[KeyRange]) -> StoreResult<TableSize> {
        Ok(TableSize::default())
    }

    async fn flush(&self, _: TableId, _: bool) -> StoreResult<()> {
        Ok(())
    }

    async fn check(&self) -> StoreResult<CheckReport> {
        Ok(CheckReport::default())
    }

    fn stats(&self) -> StoreStats {
        StoreStats::default()
    }

    async fn close(&self) -> StoreResult<()> {
        Ok(())
    }
}
