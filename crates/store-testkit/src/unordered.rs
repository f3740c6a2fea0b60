//! A store whose commit numbers are not ordered: the bits of each number are reversed.
//!
//! The contract guarantees that a row keeps its stamp until it is written again, and that a snapshot contains the
//! requested commit. It guarantees no order of numbers, because stores with row-level atomicity cannot provide one. A
//! layer that compares numbers other than for equality fails here.

use crate::rebuilt::rebuilt;
use async_trait::async_trait;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, CommitNo, Condition, Durability, FamilyId, LargeWrite, LoadMemory, LoadRows, LoadTable,
    OnDuplicate, ReadAt, RowBatch, Scan, ScanCounters, ScanRequest, Snapshot, Store, StoreError, StoreResult, TableId,
    Wrapper, WriteBatch,
};

/// A [`Store`] that reverses the commit numbers of the inner store.
#[derive(Clone, Debug)]
pub struct UnorderedStore(Arc<dyn Store>);

impl UnorderedStore {
    /// Wraps `inner` with reversed numbers.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self(inner)
    }
}

/// Converts between inner and outer commit numbers. 0 is unchanged.
fn turned(commit: CommitNo) -> CommitNo {
    CommitNo(commit.0.reverse_bits())
}

/// The fragment with a converted stamp.
fn restamped(fragment: &[u8]) -> Vec<u8> {
    let mut restamped = fragment.to_vec();
    if let (Some(at), Some(commit)) = (fragment::header::timestamp_of(fragment), fragment::header::commit_of(fragment))
    {
        // Bytes too short for a stamp are not changed.
        let _ = fragment::header::stamp(&mut restamped, at, turned(commit));
    }
    restamped
}

fn below(condition: Condition) -> Condition {
    Condition { expect: condition.expect.map(turned), ..condition }
}

/// The snapshot of the inner store.
fn inside(snapshot: &Snapshot) -> StoreResult<&Snapshot> {
    snapshot.handle::<Snapshot>().ok_or(StoreError::Unsupported { what: "a snapshot of another store" })
}

fn outside(snapshot: Snapshot) -> Snapshot {
    Snapshot::new(turned(snapshot.commit()), Arc::new(snapshot))
}

#[async_trait]
impl Wrapper for UnorderedStore {
    fn inner(&self) -> &dyn Store {
        self.0.as_ref()
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        self.0.snapshot(turned(at_least)).await.map(outside)
    }

    fn newest(&self) -> Option<Snapshot> {
        self.0.newest().map(outside)
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let at = match at {
            ReadAt::Snapshot(snapshot) => ReadAt::Snapshot(inside(snapshot)?),
            ReadAt::Newest => ReadAt::Newest,
        };
        let found = self.0.get(table, family, keys, at).await?;
        Ok(found.into_iter().map(|row| row.map(|fragment| restamped(&fragment).into())).collect())
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        Ok(Box::new(Restamped(self.0.scan(request, inside(snapshot)?).await?)))
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        let conditions = batch.conditions.into_iter().map(below).collect();
        self.0.apply(WriteBatch { conditions, ..batch }, durability).await.map(turned)
    }

    async fn apply_large(
        &self,
        write: Arc<dyn LargeWrite>,
        conditions: Vec<Condition>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        let conditions = conditions.into_iter().map(below).collect();
        self.0.apply_large(write, conditions, durability).await.map(turned)
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        self.0.sync(turned(commit)).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        Ok(Box::new(TurnedLoad(self.0.bulk_load(table, on_duplicate).await?)))
    }
}

/// A scan whose rows have converted stamps.
struct Restamped(Box<dyn Scan>);

#[async_trait]
impl Scan for Restamped {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        let Some(batch) = self.0.next().await? else { return Ok(None) };
        let mut turned = rebuilt(&batch, restamped);
        if batch.undecided() {
            turned.mark_undecided();
        }
        Ok(Some(turned.finish()))
    }

    fn counters(&self) -> ScanCounters {
        self.0.counters()
    }
}

struct TurnedLoad(Box<dyn BulkLoad>);

#[async_trait]
impl BulkLoad for TurnedLoad {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        self.0.write(family, key, fragment).await
    }

    async fn write_rows(&mut self, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        self.0.write_rows(family, rows).await
    }

    fn add_table(&mut self, table: LoadTable) -> StoreResult<()> {
        self.0.add_table(table)
    }

    fn hold_memory(&mut self, memory: Arc<dyn LoadMemory>) {
        self.0.hold_memory(memory);
    }

    async fn write_rows_of(&mut self, table: TableId, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        self.0.write_rows_of(table, family, rows).await
    }

    async fn finish(self: Box<Self>) -> StoreResult<CommitNo> {
        self.0.finish().await.map(turned)
    }
}
