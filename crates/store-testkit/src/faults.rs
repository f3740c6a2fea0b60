//! A store whose calls fail when a plan says so.
//!
//! The plan is a handle that the test keeps: it adds faults while the store runs, and asks whether
//! they have struck. A fault is counted down by calls of its kind alone, so that a test can say
//! "the third scan batch" without knowing what else goes on.

use async_trait::async_trait;
use parking_lot::Mutex;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, CommitNo, Durability, FamilyId, LoadMemory, LoadRows, LoadTable, OnDuplicate, ReadAt, RowBatch,
    Scan, ScanCounters, ScanRequest, Snapshot, Store, StoreError, StoreResult, TableId, Wrapper, WriteBatch,
};

/// A place where a fault can strike.
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
    /// `apply`, when the batch is written: the caller hears of a failure that was none.
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

/// When which error comes, and where callers wait.
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
    /// Calls that still pass.
    passes: usize,
    error: StoreError,
    /// Does it strike again and again?
    lasting: bool,
}

impl FaultPlan {
    /// A plan without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Call number `nth` at `point` from now, counted from 1, fails with `error`; those behind it pass.
    pub fn fail(&self, point: Point, nth: usize, error: StoreError) {
        self.add(Fault { point, passes: nth.saturating_sub(1), error, lasting: false });
    }

    /// Call number `nth` at `point` from now, counted from 1, and all behind it fail with `error`.
    pub fn fail_from(&self, point: Point, nth: usize, error: StoreError) {
        self.add(Fault { point, passes: nth.saturating_sub(1), error, lasting: true });
    }

    /// Every call at `point` lets other tasks run `turns` times before it goes on.
    pub fn delay(&self, point: Point, turns: usize) {
        self.0.lock().delays.push((point, turns));
    }

    /// How many calls have failed by this plan.
    pub fn struck(&self) -> usize {
        self.0.lock().struck
    }

    /// Takes all faults and delays away.
    pub fn clear(&self) {
        let mut plan = self.0.lock();
        plan.faults.clear();
        plan.delays.clear();
    }

    fn add(&self, fault: Fault) {
        self.0.lock().faults.push(fault);
    }

    /// To be passed by each call at `point`.
    async fn pass(&self, point: Point) -> StoreResult<()> {
        for _ in 0..self.turns(point) {
            tokio::task::yield_now().await;
        }
        self.strike(point)
    }

    fn turns(&self, point: Point) -> usize {
        self.0.lock().delays.iter().filter(|delay| delay.0 == point).map(|delay| delay.1).sum()
    }

    /// Counts the call down on all faults of its point; the first that is due strikes.
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

/// A [`Store`] that fails by plan.
#[derive(Clone, Debug)]
pub struct FaultStore {
    inner: Arc<dyn Store>,
    plan: FaultPlan,
}

impl FaultStore {
    /// `inner`, but for what `plan` says.
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
        // On a fault the load is dropped, and so undone.
        self.plan.pass(Point::BulkFinish).await?;
        self.load.finish().await
    }
}
