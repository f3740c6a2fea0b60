//! The end of a transaction: its writes become one batch.

use crate::{LockOwner, Overlay, TxnError, TxnResult};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use store::{CommitNo, Condition, Durability, Mutation, Store, WriteBatch};

/// A transaction that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its place in the log; the session reads at least this from now on.
    pub commit: CommitNo,
    /// All at once? False on a store without atomic batches, when there was more than one row.
    pub atomic: bool,
    /// Rows written.
    pub rows: usize,
}

/// Applies the writes, releases the locks, and waits for the log when `durability` asks for it.
pub(crate) async fn commit(
    store: Arc<dyn Store>,
    locks: LockOwner,
    conditions: Vec<Condition>,
    writes: Overlay,
    durability: Durability,
) -> TxnResult<Committed> {
    let rows = writes.len();
    let batch = into_batch(writes, conditions);
    let atomic = store.capabilities().atomic_batches() || (rows <= 1 && batch.conditions.len() <= rows);
    let applied = Unstoppable::new(apply(Arc::clone(&store), batch, atomic, durability, locks));
    let commit = applied.await?;
    if durability == Durability::Sync {
        store.sync(commit).await?;
    }
    Ok(Committed { commit, atomic, rows })
}

fn into_batch(writes: Overlay, conditions: Vec<Condition>) -> WriteBatch {
    let mutations = writes.into_rows().map(|(table, family, key, written)| match written {
        Some(fragment) => Mutation::Replace { table, family, key, fragment: fragment.into() },
        None => Mutation::Delete { table, family, key },
    });
    WriteBatch { tables: Vec::new(), conditions, mutations: mutations.collect() }
}

/// The locks are dropped at its end: from then on others build on what it wrote.
async fn apply(
    store: Arc<dyn Store>,
    batch: WriteBatch,
    atomic: bool,
    durability: Durability,
    _locks: LockOwner,
) -> TxnResult<CommitNo> {
    if atomic {
        return Ok(store.apply(batch, durability).await?);
    }
    apply_row_by_row(store.as_ref(), batch, durability).await
}

/// As Phoenix does where the store knows no more: every row is atomic, the transaction is not. All
/// conditions are checked with the first row that they are about, those on unwritten rows before all.
async fn apply_row_by_row(store: &dyn Store, batch: WriteBatch, durability: Durability) -> TxnResult<CommitNo> {
    let WriteBatch { conditions, mutations, .. } = batch;
    let total = mutations.len();
    let (of_rows, others): (Vec<_>, Vec<_>) =
        conditions.into_iter().partition(|condition| mutations.iter().any(|mutation| is_about(condition, mutation)));
    let mut commit = CommitNo(0);
    for condition in others {
        let batch = WriteBatch { conditions: vec![condition], ..WriteBatch::default() };
        commit = store.apply(batch, durability).await?;
    }
    for (written, mutation) in mutations.into_iter().enumerate() {
        let conditions = of_rows.iter().filter(|condition| is_about(condition, &mutation)).cloned().collect();
        let batch = WriteBatch { tables: Vec::new(), conditions, mutations: vec![mutation] };
        commit = match store.apply(batch, durability).await {
            Ok(commit) => commit,
            Err(source) if written == 0 => return Err(source.into()),
            Err(source) => return Err(TxnError::PartlyCommitted { written, total, source }),
        };
    }
    Ok(commit)
}

fn is_about(condition: &Condition, mutation: &Mutation) -> bool {
    let (table, family, key) = mutation.target();
    condition.table == table && condition.family == family && condition.key == *key
}

/// A future that is brought to its end by the runtime when it is dropped half-way. Else a cancelled
/// statement would release its locks while the store still has its batch before it, and the next
/// writer would build on a state that is about to change.
struct Unstoppable<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
}

impl<T: Send + 'static> Unstoppable<T> {
    fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self { work: Some(Box::pin(work)) }
    }
}

impl<T: Send + 'static> Future for Unstoppable<T> {
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

impl<T: Send + 'static> Drop for Unstoppable<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(work);
        }
    }
}
