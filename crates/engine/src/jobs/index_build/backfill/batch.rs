//! One batch of a backfill: the entries of the first rows of a range, in one commit.

use super::Backfill;
use crate::dml::{FAMILY, Target};
use crate::error::EngineResult;
use crate::row_writer::{index_codec, register_index};
use crate::{Engine, SessionStart};
use builtins::TimeZone;
use catalog::TableOid;
use index::IndexCodec;
use query::QueryError;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::{Bytes, CommitNo, Durability, KeyRange, ReadAt, ScanRequest, Snapshot, Store};
use txn::{LockMode, LockWait, Transaction, TransactionOptions, TxnError};
use types::{Datum, interrupt};

/// Maximum number of rows in a batch: about a millisecond of work, for which other transactions may have to wait.
const BATCH_ROWS: usize = 128;
/// Number of rows of a batch that are in memory at once.
const ROWS_IN_MEMORY: usize = 64;
/// Time between attempts to lock a row that another transaction holds.
const BUSY: Duration = Duration::from_millis(5);
/// Steps of an interrupt check that building an entry counts as.
const STEPS_OF_AN_ENTRY: usize = 512;

/// Result of a batch.
pub(super) enum Batch {
    /// The rows of the batch have entries; the next batch begins at this key.
    Next(Bytes),
    /// There are no more rows.
    End,
}

impl Backfill {
    /// Adds the entries of the first rows of a range. `None`: the table or the index has other storage now.
    pub(super) async fn batch(&self, range: &KeyRange, codecs: &mut Option<Codecs>) -> EngineResult<Option<Batch>> {
        let engine = self.context.engine()?;
        let mut txn = transaction(&engine);
        let storage = self.table.storage_id();
        let lock = async { Ok(txn.locks().lock_table(storage, LockMode::Shared, LockWait::Forever).await.map(drop)?) };
        self.context.stoppable(lock).await?;
        let Some(codecs) = self.codecs(&engine, codecs).await? else { return Ok(None) };
        let keys = first_keys(engine.store().as_ref(), storage, range, self.seen).await?;
        let Some(last) = keys.last().cloned() else { return Ok(Some(Batch::End)) };
        let full = keys.len() >= BATCH_ROWS;
        let mut busy = Vec::new();
        let mut mine = Vec::with_capacity(keys.len());
        for key in keys {
            match txn.lock_row(storage, &key, LockMode::Shared, LockWait::Never).await {
                Ok(_) => mine.push(key),
                Err(TxnError::LockNotAvailable { .. }) => busy.push(key),
                Err(error) => return Err(error.into()),
            }
        }
        self.add_entries(&engine, codecs, &mut txn, &mine).await?;
        txn.commit(Durability::Buffered).await?;
        for key in busy {
            if !self.busy_row(&engine, &key).await? {
                return Ok(None);
            }
        }
        Ok(Some(if full { Batch::Next(successor(&last)) } else { Batch::End }))
    }

    /// Adds the entry of a row that another transaction held.
    async fn busy_row(&self, engine: &Arc<Engine>, key: &Bytes) -> EngineResult<bool> {
        let storage = self.table.storage_id();
        loop {
            self.context.check()?;
            let mut txn = transaction(engine);
            let lock =
                async { Ok(txn.locks().lock_table(storage, LockMode::Shared, LockWait::Forever).await.map(drop)?) };
            self.context.stoppable(lock).await?;
            let mut codecs = None;
            let Some(codecs) = self.codecs(engine, &mut codecs).await? else { return Ok(false) };
            match txn.lock_row(storage, key, LockMode::Shared, LockWait::Never).await {
                Ok(_) => {
                    self.add_entries(engine, codecs, &mut txn, std::slice::from_ref(key)).await?;
                    txn.commit(Durability::Buffered).await?;
                    return Ok(true);
                }
                // Holds no lock while it waits: the holder may request the table exclusively.
                Err(TxnError::LockNotAvailable { .. }) => drop(txn),
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(BUSY).await;
        }
    }

    /// Adds the entries of rows whose locks are held.
    async fn add_entries(
        &self,
        engine: &Engine,
        codecs: &Codecs,
        txn: &mut Transaction,
        keys: &[Bytes],
    ) -> EngineResult<()> {
        let Codecs { target, index, .. } = codecs;
        let storage = self.table.storage_id();
        let mut row = vec![Datum::Null; target.width()];
        for some in keys.chunks(ROWS_IN_MEMORY) {
            let wanted: Vec<&[u8]> = some.iter().map(AsRef::as_ref).collect();
            let rows = engine.store().get(storage, FAMILY, &wanted, ReadAt::Newest).await?;
            let mut bytes = 0;
            for (key, fragment) in some.iter().zip(rows) {
                interrupt::spend(STEPS_OF_AN_ENTRY).map_err(QueryError::from)?;
                let Some(fragment) = fragment else { continue };
                bytes += (key.len() + fragment.len()) as u64;
                let values = target.codec.decode_row(key, &fragment, index.columns())?;
                for (at, value) in index.columns().iter().zip(values) {
                    if let Some(slot) = row.get_mut(*at) {
                        *slot = value;
                    }
                }
                if let Some(entry) = index.entry(&row)? {
                    txn.put(index.index().storage_id(), FAMILY, entry.key, entry.fragment).await?;
                }
            }
            self.rows.fetch_add(some.len() as u64, Ordering::Relaxed);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The current codecs from rows to entries. The caller holds the table's lock.
    async fn codecs<'c>(
        &self,
        engine: &Arc<Engine>,
        known: &'c mut Option<Codecs>,
    ) -> EngineResult<Option<&'c Codecs>> {
        let catalog = engine.catalog().current();
        if known.as_ref().is_none_or(|codecs| codecs.version != catalog.version()) {
            let Some(table) = catalog.table_by_oid(TableOid(self.spec.table)) else { return Ok(None) };
            let index = table.indexes.iter().find(|index| index.oid == self.spec.index);
            let Some(index) = index.filter(|index| self.is_of(table, index)) else { return Ok(None) };
            if index.texts().next().is_some() {
                // Expressions of an index do not depend on the session that compiles them.
                engine.session(SessionStart::default())?.compile_indexes(&catalog, table).await?;
            }
            register_index(engine, table, index)?;
            let target = Target::new(&catalog, table, TimeZone::UTC)?;
            *known = Some(Codecs { version: catalog.version(), target, index: index_codec(table, index)? });
        }
        Ok(known.as_ref())
    }
}

/// Builds entries from rows, for one version of the definitions.
pub(super) struct Codecs {
    version: u64,
    target: Target,
    index: IndexCodec,
}

fn transaction(engine: &Engine) -> Transaction {
    Transaction::begin(Arc::clone(engine.store()), engine.locks(), TransactionOptions::default())
}

/// The first keys of a range in the newest published snapshot.
async fn first_keys(
    store: &dyn Store,
    table: store::TableId,
    range: &KeyRange,
    seen: CommitNo,
) -> EngineResult<Vec<Bytes>> {
    let state: Snapshot = store.snapshot(seen).await?;
    let mut request = ScanRequest::new(table, FAMILY, vec![range.clone()]);
    request.values = false;
    request.limit = Some(BATCH_ROWS as u64);
    request.batch_rows = BATCH_ROWS;
    let mut scan = store.scan(request, &state).await?;
    let mut keys = Vec::with_capacity(BATCH_ROWS);
    while let Some(batch) = scan.next().await? {
        keys.extend(batch.keys().map(Bytes::copy_from_slice));
    }
    Ok(keys)
}

/// The least key greater than `key`.
fn successor(key: &[u8]) -> Bytes {
    let mut next = Vec::with_capacity(key.len() + 1);
    next.extend_from_slice(key);
    next.push(0);
    next.into()
}
