//! Fetches the rows of index entries.
//!
//! The rowkeys of a batch of entries are looked up in chunks, in the read view of the entries. Rows keep the order of
//! their entries. Predicates on index columns are checked before the row is fetched.

use crate::error::{QueryError, QueryResult};
use crate::exec::row_checks::RowChecks;
use catalog::row_codec::RowCodec;
use index::IndexCodec;
use std::sync::Arc;
use store::{FamilyId, Filter, KeyList, RowBatch, RowBatchBuilder, ScanCounters};
use txn::ReadView;

/// The largest number of rows of one request.
const ROWS_AT_ONCE: usize = 1024;

/// Fetches the rows of entries.
#[derive(Clone, Debug)]
pub(crate) struct RowFetch {
    pub(crate) index: IndexCodec,
    pub(crate) table: Arc<RowCodec>,
    /// Checks on the entries.
    pub(crate) checks: RowChecks,
    /// The store's filter on the rows.
    pub(crate) filter: Option<Filter>,
    /// May a row have changed since its entry was written? Entries without a row are then skipped.
    pub(crate) may_change: bool,
}

impl RowFetch {
    /// Does every entry yield its row?
    pub(crate) fn takes_all(&self) -> bool {
        self.filter.is_none() && self.checks.are_none() && !self.may_change
    }

    /// The rows of the entries that pass, and the cost of reading them.
    ///
    /// # Errors
    /// [`QueryError::Row`] for an entry without a row; errors of the store.
    pub(crate) async fn rows(
        &mut self,
        reader: &ReadView,
        family: FamilyId,
        entries: RowBatch,
    ) -> QueryResult<(RowBatch, ScanCounters)> {
        let entries = self.checks.apply(&entries)?.unwrap_or(entries);
        let rowkeys = self.rowkeys(&entries)?;
        let keys: Vec<(&[u8], &[u8])> = entries.keys().zip(rowkeys.iter()).collect();
        let mut rows = RowBatchBuilder::with_capacity(keys.len(), true, true);
        let mut cost = ScanCounters { seeks: keys.len() as u64, ..ScanCounters::default() };
        for chunk in keys.chunks(ROWS_AT_ONCE) {
            let tables = (self.index.index().storage_id(), self.table.table().storage_id());
            let (keys, rowkeys): (Vec<_>, Vec<_>) = chunk.iter().copied().unzip();
            let found = reader.rows_of(tables, family, &keys, &rowkeys).await?;
            for (key, fragment) in rowkeys.into_iter().zip(found) {
                let fragment = match fragment {
                    Some(fragment) => fragment,
                    None if self.may_change => continue,
                    None => return Err(self.without_row()),
                };
                cost.rows_read += 1;
                cost.bytes_read += (key.len() + fragment.len()) as u64;
                push_if_passing(self.filter.as_ref(), key, &fragment, &mut rows);
            }
        }
        Ok((rows.finish(), cost))
    }

    /// The rowkeys of the entries.
    fn rowkeys(&self, entries: &RowBatch) -> QueryResult<KeyList> {
        let (mut keys, mut rowkey) = (KeyList::with_capacity(entries.len()), Vec::new());
        for (key, fragment) in entries.keys().zip(entries.fragments()) {
            self.index.rowkey_into(&self.table, key, fragment, &mut rowkey)?;
            keys.push(&rowkey);
        }
        Ok(keys)
    }

    fn without_row(&self) -> QueryError {
        let detail = format!("index \"{}\" has an entry without a row", self.index.index().name);
        self.table.corrupted(&detail).into()
    }
}

/// Appends the row unless it fails the filter; was it appended?
pub(super) fn push_if_passing(
    filter: Option<&Filter>,
    key: &[u8],
    fragment: &[u8],
    rows: &mut RowBatchBuilder,
) -> bool {
    let passes = match filter.map(|filter| fragment::matches(filter, fragment)) {
        None | Some(fragment::Verdict::Pass) => true,
        Some(fragment::Verdict::Fail) => false,
        Some(fragment::Verdict::Undecided) => {
            rows.mark_undecided();
            true
        }
    };
    if passes {
        rows.push_fragment(fragment);
        rows.push_key(key, &[]);
    }
    passes
}
