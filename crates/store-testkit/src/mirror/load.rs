//! A mirrored bulk load.

use super::{Shared, agree};
use async_trait::async_trait;
use std::sync::Arc;
use store::{BulkLoad, CommitNo, FamilyId, LoadMemory, LoadRows, LoadTable, StoreResult, TableId};

pub(super) struct MirrorLoad {
    mirror: Arc<Shared>,
    a: Box<dyn BulkLoad>,
    b: Box<dyn BulkLoad>,
}

impl MirrorLoad {
    pub(super) fn new(mirror: Arc<Shared>, a: Box<dyn BulkLoad>, b: Box<dyn BulkLoad>) -> Self {
        Self { mirror, a, b }
    }
}

#[async_trait]
impl BulkLoad for MirrorLoad {
    async fn write(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> StoreResult<()> {
        let b = self.b.write(family, key, fragment).await;
        agree("a row of a bulk load", self.a.write(family, key, fragment).await, b).map(|_| ())
    }

    fn add_table(&mut self, table: LoadTable) -> StoreResult<()> {
        let b = self.b.add_table(table.clone());
        agree("another table of a bulk load", self.a.add_table(table), b).map(|_| ())
    }

    /// Passed to the first store only, because the model keeps everything in memory.
    fn hold_memory(&mut self, memory: Arc<dyn LoadMemory>) {
        self.a.hold_memory(memory);
    }

    async fn write_rows_of(&mut self, table: TableId, family: FamilyId, rows: LoadRows) -> StoreResult<()> {
        let b = self.b.write_rows_of(table, family, rows.clone()).await;
        agree("rows of a bulk load", self.a.write_rows_of(table, family, rows).await, b).map(|_| ())
    }

    async fn finish(self: Box<Self>) -> StoreResult<CommitNo> {
        let Self { mirror, a, b } = *self;
        let _gate = mirror.gate.lock().await;
        let (a, b) = agree("a finished bulk load", a.finish().await, b.finish().await)?;
        mirror.pairs.lock().push(a, b);
        Ok(a)
    }
}
