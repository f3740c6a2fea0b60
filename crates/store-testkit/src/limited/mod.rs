//! A store without some capabilities, to test the layers above without them on a backend that has them.
//!
//! ```text
//!   mod        the removed capabilities, and batches row by row
//!   row_scan   scans with snapshots of single rows
//! ```

mod row_scan;

use crate::rebuilt::rebuilt;
use async_trait::async_trait;
use row_scan::RowScan;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, Capabilities, CommitNo, Condition, Durability, FamilyId, LoadMemory, LoadRows, LoadTable,
    Mutation, OnDuplicate, ReadAt, RowBatch, Scan, ScanCounters, ScanRequest, Scope, Snapshot, Store, StoreError,
    StoreResult, TableId, Wrapper, WriteBatch,
};

/// The capabilities to remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// Applies batches row by row: after an error the rows before it stay written.
    pub atomic_batch: bool,
    /// Snapshots are per row: each read returns the state published at that time.
    pub snapshot: bool,
    /// A batch has either one table change or rows.
    pub table_changes: bool,
    /// Reports that other processes may write to the store.
    pub exclusive: bool,
    /// Ignores filters: every batch is undecided.
    pub filter: bool,
    /// Refuses bulk loads.
    pub bulk_load: bool,
    /// Refuses longer rowkeys.
    pub keys_beyond: Option<usize>,
    /// Refuses longer fragments.
    pub fragments_beyond: Option<usize>,
}

impl Without {
    /// Removes all optional capabilities, without lower limits of keys and fragments.
    pub fn everything() -> Self {
        let rest = Self::default();
        let (atomic_batch, snapshot, table_changes, exclusive, filter, bulk_load) =
            (true, true, true, true, true, true);
        Self { atomic_batch, snapshot, table_changes, exclusive, filter, bulk_load, ..rest }
    }

    fn has_limits(&self) -> bool {
        self.keys_beyond.is_some() || self.fragments_beyond.is_some()
    }
}

/// A [`Store`] with fewer capabilities than the inner one.
#[derive(Clone, Debug)]
pub struct LimitedStore {
    inner: Arc<dyn Store>,
    without: Without,
}

impl LimitedStore {
    /// Wraps `inner` without the capabilities in `without`.
    pub fn new(inner: Arc<dyn Store>, without: Without) -> Self {
        Self { inner, without }
    }

    /// The inner snapshot for a read at `snapshot`.
    async fn moment(&self, snapshot: &Snapshot) -> StoreResult<Snapshot> {
        if self.without.snapshot { self.inner.snapshot(snapshot.commit()).await } else { Ok(snapshot.clone()) }
    }

    async fn scan_below(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        if self.without.snapshot {
            return RowScan::begin(Arc::clone(&self.inner), request, snapshot.commit()).await;
        }
        self.inner.scan(request, snapshot).await
    }

    /// Applies the table changes, then each row with its conditions as a batch of its own.
    async fn apply_row_by_row(&self, batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        let WriteBatch { tables, conditions, mutations } = batch;
        let mut last = self.inner.apply(WriteBatch { tables, ..WriteBatch::default() }, durability).await?;
        for row in rows_of(conditions, mutations) {
            last = self.inner.apply(row, durability).await?;
        }
        Ok(last)
    }
}

/// Splits a batch into one batch per row, in the order of first occurrence. The order within a row is kept.
fn rows_of(conditions: Vec<Condition>, mutations: Vec<Mutation>) -> Vec<WriteBatch> {
    let mut rows = Vec::new();
    let mut places = BTreeMap::new();
    for condition in conditions {
        let row = (condition.table, condition.family, condition.key.clone());
        batch_of(row, &mut places, &mut rows, |batch| batch.conditions.push(condition));
    }
    for mutation in mutations {
        let (table, family, key) = mutation.target();
        let row = (table, family, key.clone());
        batch_of(row, &mut places, &mut rows, |batch| batch.mutations.push(mutation));
    }
    rows
}

/// Checks the limits of a mutation's row.
fn sized(mutation: Mutation, limits: &Capabilities) -> StoreResult<Mutation> {
    match mutation {
        Mutation::Replace { key, fragment, table, family } => {
            check(&key, &fragment, limits)?;
            Ok(Mutation::Replace { key, fragment, table, family })
        }
        delete => Ok(delete),
    }
}

fn check(key: &[u8], fragment: &[u8], limits: &Capabilities) -> StoreResult<()> {
    let (key_limit, fragment_limit) = (limits.max_key_bytes, limits.max_fragment_bytes);
    for (what, bytes, limit) in [("rowkey", key.len(), key_limit), ("row", fragment.len(), fragment_limit)] {
        if bytes > limit {
            return Err(StoreError::TooLarge { what, bytes, limit });
        }
    }
    Ok(())
}

struct SizedLoad {
    load: Box<dyn BulkLoad>,
    limits: Capabilities,
}

#[async_trait]
impl BulkLoad for SizedLoad {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        check(key, fragment, &self.limits)?;
        self.load.write(family, key, fragment).await
    }

    fn add_table(&mut self, table: LoadTable) -> StoreResult<()> {
        self.load.add_table(table)
    }

    fn hold_memory(&mut self, memory: Arc<dyn LoadMemory>) {
        self.load.hold_memory(memory);
    }

    async fn write_rows_of(&mut self, table: TableId, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        rows.iter().try_for_each(|(key, fragment)| check(key, fragment, &self.limits))?;
        self.load.write_rows_of(table, family, rows).await
    }

    async fn finish(self: Box<Self>) -> StoreResult<CommitNo> {
        self.load.finish().await
    }
}

type Row = (TableId, FamilyId, Bytes);

/// Changes the batch of `row`, and adds one if it does not exist.
fn batch_of(
    row: Row,
    places: &mut BTreeMap<Row, usize>,
    rows: &mut Vec<WriteBatch>,
    change: impl FnOnce(&mut WriteBatch),
) {
    let place = *places.entry(row).or_insert_with(|| {
        rows.push(WriteBatch::default());
        rows.len() - 1
    });
    if let Some(batch) = rows.get_mut(place) {
        change(batch);
    }
}

#[async_trait]
impl Wrapper for LimitedStore {
    fn inner(&self) -> &dyn Store {
        self.inner.as_ref()
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities {
            snapshot: if self.without.snapshot { Scope::Row } else { inner.snapshot },
            atomic_batch: if self.without.atomic_batch { Scope::Row } else { inner.atomic_batch },
            table_changes: inner.table_changes && !self.without.table_changes,
            exclusive: inner.exclusive && !self.without.exclusive,
            filter: inner.filter && !self.without.filter,
            bulk_load: inner.bulk_load && !self.without.bulk_load,
            max_key_bytes: self.without.keys_beyond.unwrap_or(usize::MAX).min(inner.max_key_bytes),
            max_fragment_bytes: self.without.fragments_beyond.unwrap_or(usize::MAX).min(inner.max_fragment_bytes),
            ..inner
        }
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        let snapshot = self.inner.snapshot(at_least).await?;
        // Only the commit number is kept, not the state.
        Ok(if self.without.snapshot { Snapshot::new(snapshot.commit(), Arc::new(())) } else { snapshot })
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        match at {
            ReadAt::Snapshot(snapshot) => {
                let moment = self.moment(snapshot).await?;
                self.inner.get(table, family, keys, ReadAt::Snapshot(&moment)).await
            }
            ReadAt::Newest => self.inner.get(table, family, keys, at).await,
        }
    }

    async fn scan(&self, mut request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        let filtered = request.filter.as_ref().is_some_and(|filter| !filter.is_empty());
        if !filtered || !self.without.filter {
            return self.scan_below(request, snapshot).await;
        }
        // The filter is removed, so the caller must apply the limit, too.
        (request.filter, request.limit) = (None, None);
        Ok(Box::new(UndecidedScan(self.scan_below(request, snapshot).await?)))
    }

    async fn apply(&self, mut batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        if self.without.has_limits() {
            let limits = Wrapper::capabilities(self);
            batch.mutations =
                batch.mutations.into_iter().map(|mutation| sized(mutation, &limits)).collect::<Result<_, _>>()?;
        }
        if self.without.table_changes && !batch.tables.is_empty() {
            let alone = batch.tables.len() == 1 && batch.conditions.is_empty() && batch.mutations.is_empty();
            if !alone {
                return Err(StoreError::Unsupported { what: "a table change together with others or with rows" });
            }
        }
        if self.without.atomic_batch {
            return self.apply_row_by_row(batch, durability).await;
        }
        self.inner.apply(batch, durability).await
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        if self.without.bulk_load {
            return Err(StoreError::Unsupported { what: "bulk load" });
        }
        let load = self.inner.bulk_load(table, on_duplicate).await?;
        Ok(if self.without.has_limits() {
            Box::new(SizedLoad { load, limits: Wrapper::capabilities(self) })
        } else {
            load
        })
    }
}

/// Marks every batch undecided.
struct UndecidedScan(Box<dyn Scan>);

#[async_trait]
impl Scan for UndecidedScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        let Some(batch) = self.0.next().await? else { return Ok(None) };
        let mut marked = rebuilt(&batch, <[u8]>::to_vec);
        marked.mark_undecided();
        Ok(Some(marked.finish()))
    }

    fn counters(&self) -> ScanCounters {
        self.0.counters()
    }
}
