//! Rows on their way into a table by a bulk load: none of them may be there before.

use super::{New, Old, Tally};
use crate::dml::{FAMILY, Target};
use crate::error::{EngineResult, Fault, fail};
use catalog::Table;
use store::{BulkLoad, CommitNo, LoadRows};

/// A load under way. Dropping it undoes it.
pub(crate) struct BulkRows {
    load: Box<dyn BulkLoad>,
    tally: Tally,
    /// The last row's, kept for its memory.
    fragment: Vec<u8>,
}

impl BulkRows {
    /// Rows of `table` for `load`, from which the caller keeps other writers off.
    ///
    /// # Errors
    /// A table with indexes: a load makes no entries.
    pub(crate) fn new(table: &Table, load: Box<dyn BulkLoad>) -> EngineResult<Self> {
        if !table.indexes.is_empty() {
            return fail(Fault::Internal { detail: "rows are loaded past the indexes".to_string() });
        }
        Ok(Self { load, tally: Tally::default(), fragment: Vec::new() })
    }

    /// Writes one row, as [`super::RowWriter::write`] does with [`Old::Unique`].
    ///
    /// # Errors
    /// 23505 where it is known by now, and the store's failures.
    pub(crate) async fn write(&mut self, target: &Target, new: New<'_>) -> EngineResult<()> {
        let (key, fragment) = match new {
            New::Row(new) => {
                self.fragment.clear();
                target.fragment_into(&new.row, &mut self.fragment)?;
                (new.key.as_ref(), self.fragment.as_slice())
            }
            New::Cells { key, fragment } => (key, fragment),
        };
        self.load.write(FAMILY, key, fragment).await.map_err(|error| target.in_words(error.into()))?;
        self.tally.count(&Old::Unique);
        Ok(())
    }

    /// Writes rows that were encoded elsewhere, of a table that nothing hangs on.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) async fn write_block(&mut self, target: &Target, rows: LoadRows) -> EngineResult<()> {
        let count = rows.len() as u64;
        self.load.write_rows(FAMILY, rows).await.map_err(|error| target.in_words(error.into()))?;
        self.tally.inserted += count;
        Ok(())
    }

    /// Makes all rows durable and visible.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) async fn finish(self, target: &Target) -> EngineResult<(CommitNo, Tally)> {
        let commit = self.load.finish().await.map_err(|error| target.in_words(error.into()))?;
        Ok((commit, self.tally))
    }
}
