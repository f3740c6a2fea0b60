//! A store that injects errors according to a plan.
//!
//! The test keeps a handle to the plan: it adds faults while the store runs, and queries how many calls failed. Each
//! fault counts only the calls of its kind, so that a test can specify "the third scan batch" independently of other
//! calls.

use async_trait::async_trait;
use parking_lot::Mutex;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, CommitNo, Durability, FamilyId, LoadMemory, LoadRows, LoadTable, OnDuplicate, ReadAt, RowBatch,
    Scan, ScanCounters, ScanRequest, Snapshot, Store, StoreError, StoreResult, TableId, Wrapper, WriteBatch,
};

/// A call that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// `snapshot`.
    Snapshot,
    /// `get`.
    Get,
    /// `scan`.
    Scan,
    /// `Scan::next`.
    ScanNext,
    /// `apply`, before anything is written.
    Apply,
    /// `apply`, after the batch was written: the caller gets an error although the write succeeded.
    AfterApply,
    /// `sync`, before anything is synced.
    Sync,
    /// `bulk_load`.
    BulkLoad,
    /// `BulkLoad::write`.
    BulkWrite,
    /// `BulkLoad::finish`, before anything is visible.
    BulkFinish,
    /// `flush`.
    Flush,
}

/// The faults and delays of a store.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    faults: Vec<Fault>,
    delays: Vec<(Point, usize)>,
    struck: usize,
}

#[derive(Debug)]
struct Fault {
    point: Point,
    /// Number of calls that succeed before the fault.
    passes: usize,
    error: StoreError,
    /// Whether all later calls fail, too.
    lasting: bool,
}

impl FaultPlan {
    /// A plan without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes call number `nth` at `point` from now, counted from 1, fail with `error`; later calls succeed.
    pub fn fail(&self, point: Point, nth: usize, error: StoreError) {
        self.add(Fault { point, passes: nth.saturating_sub(1), error, lasting: false });
    }

    /// Makes call number `nth` at `point` from now, counted from 1, and all later ones fail with `error`.
    pub fn fail_from(&self, point: Point, nth: usize, error: StoreError) {
        self.add(Fault { point, passes: nth.saturating_sub(1), error, lasting: true });
    }

    /// Makes every call at `point` yield `turns` times before it continues.
    pub fn delay(&self, point: Point, turns: usize) {
        self.0.lock().delays.push((point, turns));
    }

    /// The number of calls that have failed by this plan.
    pub fn struck(&self) -> usize {
        self.0.lock().struck
    }

    /// Removes all faults and delays.
    pub fn clear(&self) {
        let mut plan = self.0.lock();
        plan.faults.clear();
        plan.delays.clear();
    }

    fn add(&self, fault: Fault) {
        self.0.lock().faults.push(fault);
    }

    /// Applies the delays and faults of `point`. Each call at `point` must await it.
    async fn pass(&self, point: Point) -> StoreResult<()> {
        for _ in 0..self.turns(point) {
            tokio::task::yield_now().await;
        }
        self.strike(point)
    }

    fn turns(&self, point: Point) -> usize {
        self.0.lock().delays.iter().filter(|delay| delay.0 == point).map(|delay| delay.1).sum()
    }

    /// Counts the call for all faults of its point; the first one that is due is returned.
    fn strike(&self, point: Point) -> StoreResult<()> {
        let mut plan = self.0.lock();
        let mut due = None;
        for (at, fault) in plan.faults.iter_mut().enumerate().filter(|(_, fault)| fault.point == point) {
            match fault.passes.checked_sub(1) {
                Some(left) => fault.passes = left,
                None if due.is_none() => due = Some((at, fault.error.clone(), fault.lasting)),
                None => {}
            }
        }
        let Some((at, error, lasting)) = due else { return Ok(()) };
        plan.struck += 1;
        if !lasting {
            plan.faults.remove(at);
        }
        Err(error)
    }
}

/// A [`Store`] with injected faults.
#[derive(Clone, Debug)]
pub struct FaultStore {
    inner: Arc<dyn Store>,
    plan: FaultPlan,
}

impl FaultStore {
    /// Wraps `inner` with the faults of `plan`.
    pub fn new(inner: Arc<dyn Store>, plan: FaultPlan) -> Self {
        Self { inner, plan }
    }
}

#[async_trait]
impl Wrapper for FaultStore {
    fn inner(&self) -> &dyn Store {
        self.inner.as_ref()
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        self.plan.pass(Point::Snapshot).await?;
        self.inner.snapshot(at_least).await
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        self.plan.pass(Point::Get).await?;
        self.inner.get(table, family, keys, at).await
    }

    async fn scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        self.plan.pass(Point::Scan).await?;
        let scan = self.inner.scan(request, snapshot).await?;
        Ok(Box::new(FaultScan { scan, plan: self.plan.clone() }))
    }

    async fn apply(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        self.plan.pass(Point::Apply).await?;
        let commit = self.inner.apply(batch, durability).await?;
        self.plan.pass(Point::AfterApply).await?;
        Ok(commit)
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        self.plan.pass(Point::Sync).await?;
        self.inner.sync(commit).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        self.plan.pass(Point::BulkLoad).await?;
        let load = self.inner.bulk_load(table, on_duplicate).await?;
        Ok(Box::new(FaultLoad { load, plan: self.plan.clone() }))
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        self.plan.pass(Point::Flush).await?;
        self.inner.flush(table, major).await
    }
}

struct FaultScan {
    scan: Box<dyn Scan>,
    plan: FaultPlan,
}

#[async_trait]
impl Scan for FaultScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        self.plan.pass(Point::ScanNext).await?;
        self.scan.next().await
    }

    fn counters(&self) -> ScanCounters {
        self.scan.counters()
    }
}

struct FaultLoad {
    load: Box<dyn BulkLoad>,
    plan: FaultPlan,
}

#[async_trait]
impl BulkLoad for FaultLoad {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        self.plan.pass(Point::BulkWrite).await?;
        self.load.write(family, key, fragment).await
    }

    fn add_table(&mut self, table: LoadTable) -> StoreResult<()> {
        self.load.add_table(table)
    }

    fn hold_memory(&mut self, memory: Arc<dyn LoadMemory>) {
        self.load.hold_memory(memory);
    }

    async fn write_rows_of(&mut self, table: TableId, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        self.plan.pass(Point::BulkWrite).await?;
        self.load.write_rows_of(table, family, rows).await
    }

    async fn finish(self: Box<Self>) -> StoreResult<CommitNo> {
        // A fault drops the load, which discards its rows.
        self.plan.pass(Point::BulkFinish).await?;
        self.load.finish().await
    }
}
