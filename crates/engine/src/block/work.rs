//! What a writing statement works with: its transaction, or its block's.

use crate::error::EngineResult;
use crate::references::{LateUnique, Modes, References};
use crate::row_writer::{ChangedGroups, Tally};
use query::HeldMemory;
use std::collections::HashMap;
use std::sync::Arc;
use store::{Bytes, CommitNo, FamilyId, Store, TableId};
use tokio::sync::OwnedMutexGuard;
use txn::{LockMode, LockWait, ReadView, Transaction};

/// What becomes of a statement that is about more rows than memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ManyRows {
    /// 53200: all are needed at once, for RETURNING, or because others can write to the table in spite of its lock.
    Refused,
    /// They are changed one by one, with the table locked alone.
    Streamed,
}

/// A writing statement's transaction.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) txn: OwnedMutexGuard<Transaction>,
    /// Of a block, whose locks and writes outlive the statement?
    pub(crate) in_block: bool,
    pub(crate) wait: LockWait,
    /// The stamps that rows had when the statement looked at them last, where that is how it tells what has changed.
    pub(crate) looked: HashMap<(TableId, Bytes), CommitNo>,
    /// What the row writer wrote.
    pub(crate) tally: Tally,
    /// Memory of the rows that the statement is about, until it ends.
    pub(crate) rows: Option<Arc<HeldMemory>>,
    pub(crate) many_rows: ManyRows,
    /// What foreign keys are to be asked about when the statement ends.
    pub(crate) references: References,
    /// What incremental materialized views are to know when the statement ends.
    pub(crate) changed_groups: ChangedGroups,
    /// When the constraints of its block are checked.
    pub(crate) modes: Option<Modes>,
    /// Entries of unique indexes that stand beside others until the block ends.
    pub(crate) twins: Vec<LateUnique>,
}

impl Work {
    /// For a statement of `txn`.
    pub(crate) fn new(txn: OwnedMutexGuard<Transaction>, in_block: bool, wait: LockWait) -> Self {
        let (looked, tally, references) = (HashMap::new(), Tally::default(), References::default());
        Self {
            txn,
            in_block,
            wait,
            looked,
            tally,
            rows: None,
            many_rows: ManyRows::Refused,
            references,
            changed_groups: ChangedGroups::default(),
            modes: None,
            twins: Vec::new(),
        }
    }

    /// A state to read that holds at least `seen`, and what the block wrote before.
    pub(crate) async fn view(&mut self, store: &dyn Store, seen: CommitNo) -> EngineResult<ReadView> {
        if seen != CommitNo(0) {
            // Waits until it is published; the transaction's own snapshot is then new enough.
            store.snapshot(seen).await?;
        }
        Ok(self.txn.begin_statement().await?)
    }

    /// Locks a row to the end of the transaction.
    pub(crate) async fn lock(&mut self, table: TableId, key: &Bytes, mode: LockMode) -> EngineResult<()> {
        self.txn.lock_row(table, key, mode, self.wait).await?;
        Ok(())
    }

    /// The row as this transaction sees it under its lock.
    pub(crate) async fn newest(&mut self, table: TableId, family: FamilyId, key: &[u8]) -> EngineResult<Option<Bytes>> {
        Ok(self.txn.get_newest(table, family, key).await?)
    }
}
