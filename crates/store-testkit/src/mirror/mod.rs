//! Two stores in lockstep: every call goes to both, and a difference between their results is an error.
//!
//! Commit numbers and timestamps differ between the stores, so fragments are compared without stamps, and a list of
//! pairs maps the commits of one to those of the other. Callers see the numbers of `a`.
//!
//! ```text
//!   pairs      (a3, b1) (a4, b2) (a7, b3)       one for each commit through the mirror
//!   snapshot   a at a4 and b at b2: both contain the first two pairs
//! ```
//! Stores may publish the same commit at different times. A snapshot then syncs the store that lags behind, which is
//! allowed: the contract does not forbid early publication of a synced commit.

mod load;
mod pairs;
mod scan;

use crate::limited::{LimitedStore, Without};
use async_trait::async_trait;
use load::MirrorLoad;
use pairs::Pairs;
use parking_lot::Mutex;
use scan::MirrorScan;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, Capabilities, CheckReport, CommitNo, Condition, Durability, FamilyId, KeyRange, OnDuplicate,
    ReadAt, RegionInfo, Scan, ScanRequest, Snapshot, Store, StoreError, StoreResult, StoreStats, TableChange, TableId,
    TableSize, WriteBatch,
};

/// A [`Store`] that mirrors two stores, both initially empty. Clones are handles to the same pair.
#[derive(Clone, Debug)]
pub struct MirrorStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    a: Arc<dyn Store>,
    b: Arc<dyn Store>,
    /// Maps the commits of `a` and `b`. Never locked across an await.
    pairs: Mutex<Pairs>,
    /// Tables dropped through the mirror. Never locked across an await.
    dropped: Mutex<BTreeSet<TableId>>,
    /// Held while both stores are changed, or read at the same state. An async lock, because it is held across awaits.
    gate: tokio::sync::Mutex<()>,
}

/// Snapshots of the same state in both stores.
struct Both(Snapshot, Snapshot);

impl MirrorStore {
    /// Mirrors two empty stores. A capability that only one of them has is removed from the other.
    pub fn new(a: Arc<dyn Store>, b: Arc<dyn Store>) -> Self {
        let (can_a, can_b) = (a.capabilities(), b.capabilities());
        let (a, b) = (level(a, can_b), level(b, can_a));
        let (pairs, dropped, gate) = Default::default();
        Self(Arc::new(Shared { a, b, pairs, dropped, gate }))
    }

    /// The snapshots of both stores in a mirror's snapshot.
    fn both<'s>(&self, snapshot: &'s Snapshot) -> StoreResult<&'s Both> {
        snapshot.handle::<Both>().ok_or_else(|| different(format!("{snapshot:?} is not of a mirror")))
    }

    /// Compares results of reads at a snapshot. A table that was dropped meanwhile may be missing in one store only.
    fn agree_at<T>(&self, table: TableId, what: &str, a: StoreResult<T>, b: StoreResult<T>) -> StoreResult<(T, T)> {
        let gone = StoreError::NoSuchTable { table };
        let one_is_gone = a.as_ref().err() == Some(&gone) || b.as_ref().err() == Some(&gone);
        if one_is_gone && self.0.dropped.lock().contains(&table) {
            return Err(gone);
        }
        agree(what, a, b)
    }
}

/// Removes the capabilities from `store` that `less` does not have.
fn level(store: Arc<dyn Store>, less: Capabilities) -> Arc<dyn Store> {
    let can = store.capabilities();
    let without = Without {
        atomic_batch: can.atomic_batch > less.atomic_batch,
        snapshot: can.snapshot > less.snapshot,
        table_changes: can.table_changes && !less.table_changes,
        exclusive: can.exclusive && !less.exclusive,
        filter: can.filter && !less.filter,
        bulk_load: can.bulk_load && !less.bulk_load,
        keys_beyond: (can.max_key_bytes > less.max_key_bytes).then_some(less.max_key_bytes),
        fragments_beyond: (can.max_fragment_bytes > less.max_fragment_bytes).then_some(less.max_fragment_bytes),
    };
    if without == Without::default() { store } else { Arc::new(LimitedStore::new(store, without)) }
}

/// The error if the stores differ.
fn different(detail: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupted { detail: format!("the mirrored stores differ: {detail}") }
}

/// Returns both results, or the error if both fail equally.
fn agree<T, U>(what: &str, a: StoreResult<T>, b: StoreResult<U>) -> StoreResult<(T, U)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(a), Err(b)) if std::mem::discriminant(&a) == std::mem::discriminant(&b) => Err(a),
        (Err(a), Err(b)) => Err(different(format!("{what} failed with \"{a}\" and with \"{b}\""))),
        (Ok(_), Err(b)) => Err(different(format!("{what} worked, and failed with \"{b}\""))),
        (Err(a), Ok(_)) => Err(different(format!("{what} failed with \"{a}\", and worked"))),
    }
}

/// Returns the fragment of `a` if that of `b` is equal except for its stamp.
fn same(key: &[u8], a: Option<Bytes>, b: Option<Bytes>) -> StoreResult<Option<Bytes>> {
    let equal = match (&a, &b) {
        (Some(a), Some(b)) => same_fragment(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    if equal { Ok(a) } else { Err(different(format!("row {key:02X?} is {a:02X?} and {b:02X?}"))) }
}

/// Compares two fragments without their stamps.
fn same_fragment(a: &[u8], b: &[u8]) -> bool {
    let stamp = 4..fragment::header::LEN;
    a.len() == b.len() && a.get(..stamp.start) == b.get(..stamp.start) && a.get(stamp.end..) == b.get(stamp.end..)
}

impl Shared {
    /// Applies a batch to both stores; conditions for `b` use its commit numbers. The caller holds the gate.
    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        let is_empty = batch.is_empty();
        let to_b = |condition: Condition| Condition {
            expect: condition.expect.map(|commit| self.pairs.lock().exactly_of_a(commit)),
            ..condition
        };
        let conditions = batch.conditions.iter().cloned().map(to_b).collect();
        let for_b = WriteBatch { conditions, ..batch.clone() };
        let dropped: Vec<_> = batch.tables.iter().filter_map(dropped).collect();
        let (a, b) = (self.a.apply(batch, durability).await, self.b.apply(for_b, durability).await);
        let (a, b) = agree("a batch", a, b)?;
        if !is_empty {
            self.pairs.lock().push(a, b);
            self.dropped.lock().extend(dropped);
        }
        Ok(a)
    }

    /// Takes snapshots with the same commits. The caller holds the gate, so that no commit is in progress.
    async fn snapshots(&self) -> StoreResult<Both> {
        let (mut a, mut b) = (self.a.snapshot(CommitNo(0)).await?, self.b.snapshot(CommitNo(0)).await?);
        loop {
            let lag = self.pairs.lock().lag(a.commit(), b.commit());
            match lag {
                None => return Ok(Both(a, b)),
                Some((Some(commit), _)) => {
                    self.a.sync(commit).await?;
                    a = self.a.snapshot(commit).await?;
                }
                Some((None, commit)) => {
                    self.b.sync(commit).await?;
                    b = self.b.snapshot(commit).await?;
                }
            }
        }
    }

    fn of_a(&self, commit: CommitNo) -> CommitNo {
        self.pairs.lock().up_to_a(commit)
    }
}

fn dropped(change: &TableChange) -> Option<TableId> {
    match change {
        TableChange::Drop(table) => Some(*table),
        TableChange::Create(_) => None,
    }
}

#[async_trait]
impl Store for MirrorStore {
    fn capabilities(&self) -> Capabilities {
        let (a, b) = (self.0.a.capabilities(), self.0.b.capabilities());
        Capabilities {
            snapshot: a.snapshot.min(b.snapshot),
            atomic_batch: a.atomic_batch.min(b.atomic_batch),
            table_changes: a.table_changes && b.table_changes,
            exclusive: a.exclusive && b.exclusive,
            history: a.history && b.history,
            observers: a.observers && b.observers,
            filter: a.filter && b.filter,
            bulk_load: a.bulk_load && b.bulk_load,
            max_key_bytes: a.max_key_bytes.min(b.max_key_bytes),
            max_fragment_bytes: a.max_fragment_bytes.min(b.max_fragment_bytes),
        }
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        let shared = &self.0;
        let waited = (shared.a.snapshot(at_least).await, shared.b.snapshot(shared.of_a(at_least)).await);
        agree("a snapshot", waited.0, waited.1)?;
        let _gate = shared.gate.lock().await;
        let both = shared.snapshots().await?;
        Ok(Snapshot::new(both.0.commit(), Arc::new(both)))
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let (a, b) = match at {
            ReadAt::Snapshot(snapshot) => {
                let both = self.both(snapshot)?;
                let a = self.0.a.get(table, family, keys, ReadAt::Snapshot(&both.0)).await;
                let b = self.0.b.get(table, family, keys, ReadAt::Snapshot(&both.1)).await;
                self.agree_at(table, "a get", a, b)?
            }
            ReadAt::Newest => {
                let _gate = self.0.gate.lock().await;
                let a = self.0.a.get(table, family, keys, at).await;
                agree("a get of the newest", a, self.0.b.get(table, family, keys, at).await)?
            }
        };
        if (a.len(), b.len()) != (keys.len(), keys.len()) {
            return Err(different(format!("{} and {} answers for {} keys", a.len(), b.len(), keys.len())));
        }
        keys.iter().zip(a.into_iter().zip(b)).map(|(key, (a, b))| same(key, a, b)).collect()
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        let (both, table) = (self.both(snapshot)?, request.table);
        let a = self.0.a.scan(request.clone(), &both.0).await;
        let b = self.0.b.scan(request, &both.1).await;
        let (a, b) = self.agree_at(table, "a scan", a, b)?;
        Ok(Box::new(MirrorScan::new(a, b)))
    }

    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        // Split points may differ between the stores.
        let b = self.0.b.split(table, family, ranges, pieces).await;
        Ok(agree("a split", self.0.a.split(table, family, ranges, pieces).await, b)?.0)
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        let _gate = self.0.gate.lock().await;
        self.0.apply(batch, durability).await
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        let b = self.0.b.sync(self.0.of_a(commit)).await;
        agree("a sync", self.0.a.sync(commit).await, b).map(|_| ())
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        let b = self.0.b.bulk_load(table, on_duplicate).await;
        let (a, b) = agree("a bulk load", self.0.a.bulk_load(table, on_duplicate).await, b)?;
        Ok(Box::new(MirrorLoad::new(self.0.clone(), a, b)))
    }

    async fn regions(&self, table: TableId) -> StoreResult<Vec<RegionInfo>> {
        let b = self.0.b.regions(table).await;
        Ok(agree("a list of regions", self.0.a.regions(table).await, b)?.0)
    }

    async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
        let b = self.0.b.estimate(table, family, ranges).await;
        Ok(agree("an estimate", self.0.a.estimate(table, family, ranges).await, b)?.0)
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        let b = self.0.b.flush(table, major).await;
        agree("a flush", self.0.a.flush(table, major).await, b).map(|_| ())
    }

    async fn check(&self) -> StoreResult<CheckReport> {
        let _gate = self.0.gate.lock().await;
        let (mut a, b) = agree("a check", self.0.a.check().await, self.0.b.check().await)?;
        a.problems.extend(b.problems);
        let counts =
            |rows: &[(TableId, FamilyId, u64)]| rows.iter().copied().filter(|rows| rows.2 > 0).collect::<BTreeSet<_>>();
        let (of_a, of_b) = (counts(&a.rows), counts(&b.rows));
        if of_a != of_b {
            let what = different(format!("rows are {of_a:?} and {of_b:?}")).to_string();
            a.problems.push(store::Problem { place: None, what });
        }
        Ok(a)
    }

    fn stats(&self) -> StoreStats {
        self.0.a.stats()
    }

    async fn close(&self) -> StoreResult<()> {
        let b = self.0.b.close().await;
        agree("a close", self.0.a.close().await, b).map(|_| ())
    }
}
