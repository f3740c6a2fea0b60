//! One of several concurrent clients of the store.

use super::ledger::{Ledger, Outcome};
use super::reading::{families_of, family_of};
use super::tables::{Change, Deed};
use crate::history::row;
use bennu_sim::random::Random;
use bennu_sim::scheduler;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use store::{
    BulkLoad, CommitNo, Durability, FamilyId, FamilySpec, Mutation, Store, StoreError, StoreResult, TableChange,
    TableId, TableSpec, WriteBatch,
};
use store_fjall_sim::FjallStore;

/// First number of loaded rows. Rows that all clients write start at 0.
pub(crate) const LOADED: u64 = 10_000;

/// The shared state of a life's clients. Locked briefly only.
pub(crate) struct Shared {
    pub(crate) ledger: Ledger,
    pub(crate) tables: Vec<u32>,
    pub(crate) next_table: u32,
    pub(crate) next_loaded: u64,
    /// Set when the clients must end.
    pub(crate) enough: bool,
    /// Counters of reached operations, to check the coverage.
    pub(crate) reached: super::Reached,
}

pub(crate) struct Client {
    pub(crate) store: Arc<FjallStore>,
    pub(crate) shared: Arc<Mutex<Shared>>,
    pub(crate) random: Random,
    /// A load that is finished at the end, possibly after the store is closed.
    pub(crate) kept: Option<(u64, Box<dyn BulkLoad>)>,
}

impl Client {
    pub(super) fn shared<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut self.shared.lock().unwrap())
    }

    /// Performs this many operations, or fewer if the clients must end.
    pub(crate) async fn live(mut self, acts: u64) {
        for _ in 0..acts {
            if self.shared(|shared| shared.enough) {
                break;
            }
            self.act().await;
        }
        let Self { store, shared, kept, .. } = self;
        drop(store);
        if let Some((writer, load)) = kept {
            let outcome = load.finish().await;
            loaded(&mut shared.lock().unwrap(), writer, outcome.map(Some));
        }
    }

    async fn act(&mut self) {
        let Some(table) = self.table() else { return self.create().await };
        match self.random.below(100) {
            0..30 => self.write(table).await,
            30..32 => self.write_large(table).await,
            32..45 => self.write_if(table).await,
            45..60 => self.load(table).await,
            60..63 => self.create().await,
            63..69 => self.drop_or_truncate(table).await,
            69..84 => self.look().await,
            84..89 => self.flush(table).await,
            89 => self.check().await,
            90..95 => self.cancel(table).await,
            _ => scheduler::sleep(Duration::from_millis(self.random.below(400))),
        }
    }

    pub(super) fn table(&mut self) -> Option<u32> {
        let tables = self.shared(|shared| shared.tables.clone());
        tables.get(self.random.below(tables.len() as u64) as usize).copied()
    }

    /// Applies a deed and waits for it, sometimes also for its durability.
    pub(super) async fn perform(&mut self, deed: Deed) -> Option<CommitNo> {
        let number = self.shared(|shared| shared.ledger.begin(deed.clone()));
        let durability = if deed.sync { Durability::Sync } else { Durability::Buffered };
        let outcome = match self.store.apply(self.batch(&deed, number), durability).await {
            Ok(commit) => {
                self.done(number, commit);
                commit
            }
            Err(error) => {
                self.shared(|shared| shared.ledger.end(number, Outcome::Refused(error)));
                return None;
            }
        };
        if deed.sync || self.random.percent(20) {
            self.sync(outcome).await;
        }
        Some(outcome)
    }

    pub(super) fn done(&self, number: u64, commit: CommitNo) {
        self.shared(|shared| shared.ledger.end(number, Outcome::Done(commit.0)));
    }

    pub(super) async fn sync(&self, commit: CommitNo) {
        match self.store.sync(commit).await {
            Ok(()) => self.shared(|shared| shared.ledger.synced(commit)),
            Err(error) => self.must_be_closing(&error),
        }
    }

    pub(super) fn must_be_closing(&self, error: &StoreError) {
        let closing = self.shared(|shared| shared.ledger.closing);
        assert!(closing && *error == StoreError::Closed, "{error:?}");
    }

    pub(super) fn batch(&self, deed: &Deed, writer: u64) -> WriteBatch {
        let mut batch = WriteBatch::default();
        for change in &deed.changes {
            match *change {
                Change::Create(id) => {
                    let families = (0..families_of(id)).map(|family| FamilySpec::new(FamilyId(family))).collect();
                    batch.tables.push(TableChange::Create(TableSpec { id: TableId(id), families, splits: vec![] }));
                }
                Change::Drop(id) => batch.tables.push(TableChange::Drop(TableId(id))),
                Change::Put(table, number) => batch.mutations.push(Mutation::Replace {
                    table: TableId(table),
                    family: family_of(table, number),
                    key: row::key(number).into(),
                    fragment: row::fragment(number, writer),
                }),
                Change::Delete(table, number) => batch.mutations.push(Mutation::Delete {
                    table: TableId(table),
                    family: family_of(table, number),
                    key: row::key(number).into(),
                }),
            }
        }
        batch
    }
}

/// Records the end of a load.
pub(super) fn loaded(shared: &mut Shared, writer: u64, outcome: StoreResult<Option<CommitNo>>) {
    match outcome {
        Ok(Some(commit)) => {
            shared.reached.loads += 1;
            shared.ledger.end(writer, Outcome::Done(commit.0));
            shared.ledger.synced(commit);
        }
        Ok(None) => shared.ledger.end(writer, Outcome::Unknown),
        Err(error) => {
            shared.reached.refused_loads += 1;
            shared.ledger.end(writer, Outcome::Refused(error));
        }
    }
}
