//! The transaction and the statement-level state of a writing statement.

use crate::error::EngineResult;
use crate::references::{DeferredUnique, Modes, References};
use crate::row_writer::{ChangedGroups, Tally};
use query::{HeldMemory, Planner};
use std::collections::HashMap;
use std::sync::Arc;
use store::{Bytes, CommitNo, FamilyId, Store, TableId};
use tokio::sync::OwnedMutexGuard;
use txn::{LockMode, LockWait, ReadView, Transaction};

/// How a statement handles more rows than fit in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ManyRows {
    /// 53200: all rows are needed at once, for RETURNING or because another process can write to the table despite its
    /// lock.
    Refused,
    /// Rows are changed one by one under an exclusive table lock.
    Streamed,
}

/// The transaction and the state of a writing statement.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) txn: OwnedMutexGuard<Transaction>,
    /// Whether the transaction is a block's, whose locks and writes outlive the statement.
    pub(crate) in_block: bool,
    pub(crate) wait: LockWait,
    /// The stamps last read for each row, to detect concurrent changes on stores without snapshots of all tables.
    pub(crate) looked: HashMap<(TableId, Bytes), CommitNo>,
    /// Counts of the written rows.
    pub(crate) tally: Tally,
    /// Memory reserved for the statement's rows, until it ends.
    pub(crate) rows: Option<Arc<HeldMemory>>,
    pub(crate) many_rows: ManyRows,
    /// Foreign key checks to run at the end of the statement.
    pub(crate) references: References,
    /// Changed groups of incremental materialized views, written to their change logs at the end of the statement.
    pub(crate) changed_groups: ChangedGroups,
    /// The block's SET CONSTRAINTS modes.
    pub(crate) modes: Option<Modes>,
    /// Duplicate entries of deferrable unique constraints, checked again later.
    pub(crate) late_uniques: Vec<DeferredUnique>,
}

impl Work {
    /// Begins a statement of `txn`.
    pub(crate) fn new(
        txn: OwnedMutexGuard<Transaction>,
        in_block: bool,
        wait: LockWait,
        planner: &Arc<Planner>,
    ) -> Self {
        let (looked, tally, references) = (HashMap::new(), Tally::default(), References::new(planner));
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
            late_uniques: Vec::new(),
        }
    }

    /// A snapshot that includes the commit `seen` and the block's own writes.
    pub(crate) async fn view(&mut self, store: &dyn Store, seen: CommitNo) -> EngineResult<ReadView> {
        if seen != CommitNo(0) {
            // Waits until `seen` is published, so that the transaction's next snapshot includes it.
            store.snapshot(seen).await?;
        }
        Ok(self.txn.begin_statement().await?)
    }

    /// Locks a row to the end of the transaction.
    pub(crate) async fn lock(&mut self, table: TableId, key: &Bytes, mode: LockMode) -> EngineResult<()> {
        self.txn.lock_row(table, key, mode, self.wait).await?;
        Ok(())
    }

    /// The newest version of a locked row, with the transaction's own writes.
    pub(crate) async fn newest(&mut self, table: TableId, family: FamilyId, key: &[u8]) -> EngineResult<Option<Bytes>> {
        Ok(self.txn.get_newest(table, family, key).await?)
    }
}
