//! Commits a transaction: its writes become one batch.

use crate::dual::DualStore;
use crate::transaction::Stamps;
use crate::writes::{Spilled, WriteSet};
use crate::{LockOwner, TxnError, TxnResult};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, Mutation, PointRead, Store, StoreError, TableId, WriteBatch,
};

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its commit number; the session reads at least this commit from now on.
    pub commit: CommitNo,
    /// Whether it was atomic. False on a store without atomic batches, if there was more than one row.
    pub atomic: bool,
    /// Rows written.
    pub rows: usize,
}

/// The conditions of a commit.
#[derive(Debug)]
pub(crate) struct Conditions {
    /// Set explicitly by statements.
    pub(crate) required: Vec<Condition>,
    /// Stamps of rows that were read: a written row must be unchanged.
    pub(crate) stamps: Option<Stamps>,
    /// The written tables, and the catalog versions in which they last changed.
    pub(crate) epochs: BTreeMap<TableId, u64>,
}

/// Applies the writes, releases the locks, and syncs if `durability` asks for it.
pub(crate) async fn commit(
    store: Arc<dyn Store>,
    locks: LockOwner,
    conditions: Conditions,
    writes: Arc<WriteSet>,
    durability: Durability,
) -> TxnResult<Committed> {
    let rows = writes.len();
    if writes.has_runs() {
        return commit_spilled(store, locks, conditions.required, writes, durability).await;
    }
    // A view that outlives its statement still shares the write set, which is then copied.
    let writes = Arc::unwrap_or_clone(writes);
    let (batch, required, epochs) = into_batch(writes, conditions);
    let is_row = |mutation: &&Mutation| store.entry_rows(mutation.target().0).is_none();
    let single = batch.mutations.iter().filter(is_row).count() <= 1 && batch.conditions.len() <= rows;
    let atomic = store.capabilities().atomic_batches() || single;
    let applied = async move {
        let commit = apply(Arc::clone(&store), batch, atomic, epochs, durability, locks).await?;
        synced(store.as_ref(), commit, durability).await
    };
    let commit = Uncancellable::new(applied).await.map_err(|error| in_words(error, &required))?;
    Ok(Committed { commit, atomic, rows })
}

/// As [`commit`] for writes that are not in memory: streams them to the store.
async fn commit_spilled(
    store: Arc<dyn Store>,
    locks: LockOwner,
    conditions: Vec<Condition>,
    writes: Arc<WriteSet>,
    durability: Durability,
) -> TxnResult<Committed> {
    let rows = writes.len();
    let applied = async move {
        let applied = store.apply_large(Arc::new(Spilled(writes)), conditions, durability).await;
        drop(locks);
        synced(store.as_ref(), applied?, durability).await
    };
    let commit = Uncancellable::new(applied).await?;
    Ok(Committed { commit, atomic: true, rows })
}

/// Syncs the commit if it must be durable. Part of the uncancellable future: an unsynced commit is invisible, and keeps
/// later commits of others invisible, too.
async fn synced(store: &dyn Store, commit: CommitNo, durability: Durability) -> TxnResult<CommitNo> {
    if durability == Durability::Sync {
        store.sync(commit).await?;
    }
    Ok(commit)
}

/// Rows with conditions.
type Rows = BTreeSet<(TableId, Bytes)>;

/// Returns the batch, the rows with conditions of statements, and the epochs of the tables.
fn into_batch(writes: WriteSet, conditions: Conditions) -> (WriteBatch, Rows, BTreeMap<TableId, u64>) {
    let Conditions { required, mut stamps, epochs } = conditions;
    let of_statements: BTreeSet<_> = required.iter().map(|it| (it.table, it.key.clone())).collect();
    let mut conditions = required;
    let mut mutations = Vec::with_capacity(writes.len());
    for (table, family, key, written) in writes.into_flat_rows() {
        let read = stamps.as_mut().and_then(|stamps| stamps.remove(&(table, family, key.clone())));
        if let Some(expect) = read.filter(|_| !of_statements.contains(&(table, key.clone()))) {
            conditions.push(Condition { table, family, key: key.clone(), expect });
        }
        mutations.push(match written {
            Some(fragment) => Mutation::Replace { table, family, key, fragment: fragment.into() },
            None => Mutation::Delete { table, family, key },
        });
    }
    (WriteBatch { tables: Vec::new(), conditions, mutations }, of_statements, epochs)
}

/// A condition that no statement set is a stamp condition of a row that was read.
fn in_words(error: TxnError, required: &BTreeSet<(TableId, Bytes)>) -> TxnError {
    match error {
        TxnError::Store(StoreError::ConditionFailed { table, key }) if !required.contains(&(table, key.clone())) => {
            TxnError::RowChanged { table, key }
        }
        error => error,
    }
}

/// Drops the locks at the end: from then on others can build on the writes.
async fn apply(
    store: Arc<dyn Store>,
    batch: WriteBatch,
    atomic: bool,
    epochs: BTreeMap<TableId, u64>,
    durability: Durability,
    _locks: LockOwner,
) -> TxnResult<CommitNo> {
    let done = match DualStore::over(store.as_ref()) {
        Some(dual) => {
            check(store.as_ref(), &batch.conditions).await?;
            dual.commit(batch, &epochs, durability).await
        }
        None if atomic => return Ok(store.apply(batch, durability).await?),
        None => apply_row_by_row(store.as_ref(), batch, durability).await,
    };
    if done.is_err() && durability == Durability::Sync {
        publish_steps(store.as_ref()).await;
    }
    done
}

/// Syncs the steps of a commit that failed between two of them. Unsynced steps are invisible and would keep later
/// commits of others invisible. If this sync fails, the next one reports the error.
async fn publish_steps(store: &dyn Store) {
    if let Ok(last) = store.apply(WriteBatch::default(), Durability::Buffered).await {
        let _ = store.sync(last).await;
    }
}

/// Commits like Phoenix without transactions: every row is atomic, the transaction is not. A condition on a written row
/// is checked when that row is written, other conditions before all rows.
async fn apply_row_by_row(store: &dyn Store, batch: WriteBatch, durability: Durability) -> TxnResult<CommitNo> {
    let WriteBatch { conditions, mutations, .. } = batch;
    check(store, &conditions).await?;
    let total = mutations.len();
    let written: BTreeSet<_> = mutations.iter().map(|mutation| target(mutation.target())).collect();
    let mut of_rows: BTreeMap<_, Vec<Condition>> = BTreeMap::new();
    let mut others = Vec::new();
    for condition in conditions {
        let row = (condition.table, condition.family, condition.key.clone());
        if written.contains(&row) { of_rows.entry(row).or_default().push(condition) } else { others.push(condition) }
    }
    let mut commit = CommitNo(0);
    for condition in others {
        let batch = WriteBatch { conditions: vec![condition], ..WriteBatch::default() };
        commit = store.apply(batch, durability).await?;
    }
    for (written, mutation) in mutations.into_iter().enumerate() {
        let conditions = of_rows.remove(&target(mutation.target())).unwrap_or_default();
        let batch = WriteBatch { tables: Vec::new(), conditions, mutations: vec![mutation] };
        commit = match store.apply(batch, durability).await {
            Ok(commit) => commit,
            Err(source) if written == 0 => return Err(source.into()),
            Err(source) => return Err(TxnError::PartlyCommitted { written, total, source }),
        };
    }
    Ok(commit)
}

/// Most conflicts exist before the first row is written: then the transaction fails as a whole.
async fn check(store: &dyn Store, conditions: &[Condition]) -> TxnResult<()> {
    for condition in conditions {
        let newest = store.get_newest(condition.table, condition.family, &condition.key).await?;
        if newest.as_deref().and_then(fragment::header::commit_of) != condition.expect {
            let (table, key) = (condition.table, condition.key.clone());
            return Err(StoreError::ConditionFailed { table, key }.into());
        }
    }
    Ok(())
}

fn target((table, family, key): (TableId, FamilyId, &Bytes)) -> (TableId, FamilyId, Bytes) {
    (table, family, key.clone())
}

/// A future that the runtime completes when it is dropped half-way. Otherwise a cancelled statement would release its
/// locks before the store applies its batch, and the next writer would build on an outdated state.
struct Uncancellable<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
}

impl<T: Send + 'static> Uncancellable<T> {
    fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)) }
    }
}

impl<T: Send + 'static> Future for Uncancellable<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = self.work.as_mut() else { return Poll::Pending };
        let poll = work.as_mut().poll(context);
        if poll.is_ready() {
            self.work = None;
        }
        poll
    }
}

impl<T: Send + 'static> Drop for Uncancellable<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(work);
        }
    }
}
