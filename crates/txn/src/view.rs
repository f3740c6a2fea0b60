//! The state that one statement reads: a snapshot, overlaid with earlier writes of its transaction.

use crate::overlay_scan::OverlayScan;
use crate::writes::WriteSet;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{
    Bytes, FamilyId, KeyRange, PointRead, ReadAt, Scan, ScanRequest, Snapshot, Store, StoreError, StoreResult, TableId,
    TableSize,
};

/// A consistent state to read from. Cheap to clone, and can be sent to other tasks. Like a snapshot, it must not
/// outlive its statement (or portal).
#[derive(Clone, Debug)]
pub struct ReadView {
    store: Arc<dyn Store>,
    snapshot: Snapshot,
    /// `None` if the transaction has written nothing so far.
    overlay: Option<Arc<WriteSet>>,
    /// Tables that are newer than the snapshot, by name.
    missing: Option<Arc<BTreeMap<TableId, String>>>,
}

impl ReadView {
    /// A snapshot without overlay, for reads outside of a transaction.
    pub fn plain(store: Arc<dyn Store>, snapshot: Snapshot) -> Self {
        Self { store, snapshot, overlay: None, missing: None }
    }

    pub(crate) fn with_overlay(store: Arc<dyn Store>, snapshot: Snapshot, overlay: &Arc<WriteSet>) -> Self {
        let overlay = (!overlay.is_empty()).then(|| Arc::clone(overlay));
        Self { store, snapshot, overlay, missing: None }
    }

    /// The same state, in which these tables cannot be read: reading them is an error with the name.
    #[must_use]
    pub fn without(self, tables: Arc<BTreeMap<TableId, String>>) -> Self {
        Self { missing: (!tables.is_empty()).then_some(tables), ..self }
    }

    fn has(&self, table: TableId) -> StoreResult<()> {
        match self.missing.as_ref().and_then(|missing| missing.get(&table)) {
            Some(name) => Err(StoreError::OlderThanTable { table: name.clone() }),
            None => Ok(()),
        }
    }

    /// The underlying store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The fragment of one row. An own write of the transaction has no commit stamp yet (zeros).
    ///
    /// # Errors
    /// As [`Store::get`].
    pub async fn get(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Bytes>> {
        self.has(table)?;
        if let Some(overlay) = &self.overlay
            && let Some(written) = overlay.get(table, family, key)?
        {
            return Ok(written);
        }
        self.store.get_row(table, family, key, &self.snapshot).await
    }

    /// As [`Self::get`] for many keys, with results in the same order.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub async fn get_many<K: AsRef<[u8]> + Sync>(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[K],
    ) -> StoreResult<Vec<Option<Bytes>>> {
        self.has(table)?;
        let wanted: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        let mut answers = self.store.get(table, family, &wanted, ReadAt::Snapshot(&self.snapshot)).await?;
        if let Some(overlay) = &self.overlay {
            for (key, answer) in keys.iter().zip(&mut answers) {
                if let Some(written) = overlay.get(table, family, key.as_ref())? {
                    *answer = written;
                }
            }
        }
        Ok(answers)
    }

    /// The rows of index entries, given the keys of entries and the rowkey of each. If entries and rows are not read
    /// from one snapshot, a row may have changed in between: it is then `None`, like a missing row
    /// ([`Self::may_change`]). Otherwise the keys of entries are not used.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub async fn rows_of(
        &self,
        (entries, rows): (TableId, TableId),
        family: FamilyId,
        keys: &[&[u8]],
        rowkeys: &[&[u8]],
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let mut found = self.get_many(rows, family, rowkeys).await?;
        if let Some(made) = self.store.entry_rows(entries) {
            for ((entry, rowkey), row) in keys.iter().zip(rowkeys).zip(&mut found) {
                let Some(fragment) = row.as_ref() else { continue };
                if made.entry(rowkey, fragment)?.is_none_or(|(now, _)| now != *entry) {
                    *row = None;
                }
            }
        }
        Ok(found)
    }

    /// Whether rows may change between reading entries of this index and reading their rows.
    pub fn may_change(&self, entries: TableId) -> bool {
        self.store.entry_rows(entries).is_some()
    }

    /// Begins a scan. Own writes are merged in key order and replace rows of the store. Own rows are not filtered
    /// (their batches are [`store::RowBatch::undecided`]), and with a filter they do not count against the limit: there
    /// may be too many rows but never too few, so the caller applies filter and limit again.
    ///
    /// # Errors
    /// As [`Store::scan`].
    pub async fn scan(&self, request: ScanRequest) -> StoreResult<Box<dyn Scan>> {
        self.has(request.table)?;
        match &self.overlay {
            None => self.store.scan(request, &self.snapshot).await,
            Some(overlay) => OverlayScan::begin(self.store.as_ref(), &self.snapshot, overlay, request).await,
        }
    }

    /// As [`Store::split`].
    ///
    /// # Errors
    /// As [`Store::split`].
    pub async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        match self.store.split(table, family, ranges, pieces).await {
            // The store only knows its present tables, but this view still has the table.
            Err(StoreError::NoSuchTable { .. }) => Ok(vec![ranges.to_vec()]),
            other => other,
        }
    }

    /// As [`Store::estimate`], without own writes. Returns zeros for a table that was dropped since.
    ///
    /// # Errors
    /// As [`Store::estimate`].
    pub async fn estimate(&self, table: TableId, family: FamilyId, ranges: &[KeyRange]) -> StoreResult<TableSize> {
        match self.store.estimate(table, family, ranges).await {
            Err(StoreError::NoSuchTable { .. }) => Ok(TableSize::default()),
            other => other,
        }
    }
}
