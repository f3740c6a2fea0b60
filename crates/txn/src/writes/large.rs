//! A write set with spilled runs as a large write: the store reads its layers, instead of a batch in memory.

use super::merged::OwnRows;
use super::set::WriteSet;
use std::sync::Arc;
use store::{FamilyId, KeyRange, LargeRows, LargeWrite, StoreResult, TableId};

/// See the module documentation.
#[derive(Debug)]
pub(crate) struct Spilled(pub(crate) Arc<WriteSet>);

impl LargeWrite for Spilled {
    fn families(&self) -> Vec<(TableId, FamilyId)> {
        self.0.families().into_iter().collect()
    }

    fn bytes(&self) -> u64 {
        self.0.row_bytes()
    }

    fn rows(&self, table: TableId, family: FamilyId) -> StoreResult<LargeRows<'_>> {
        let mut rows = OwnRows::new(Arc::clone(&self.0), (table, family), &[KeyRange::all()], false);
        Ok(Box::new(std::iter::from_fn(move || rows.take().transpose())))
    }
}
