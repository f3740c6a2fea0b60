//! Commits row by row, each row with its index entries.
//!
//! ```text
//!   1  void         for a new row: a stamp for the following steps; concurrent inserts of the row fail
//!   2  entries      new ones written, old ones overwritten, all as unverified
//!   3  reservations of new unique values; those of old ones marked
//!   4  row          if it has the stamp that was read, or the void's: now it is committed
//!   5  entries      new ones verified, old ones and old reservations deleted, each if unchanged since 2 and 3
//! ```
//! A failure before step 4 leaves unverified entries; after step 4 the row is committed, even if step 5 fails.

use super::layer::{DualStore, Shared};
use super::plan::{EntryChange, Plan, RowGroup};
use super::reserve::{Reserved, Rewritten};
use super::{FAMILY, mutation, stamp_of};
use crate::{TxnError, TxnResult};
use fragment::header::{self, UNVERIFIED, VOID};
use std::collections::BTreeMap;
use std::time::Duration;
use store::{Bytes, CommitNo, Condition, Durability, StoreError, StoreResult, TableId, WriteBatch};
use tokio::time::Instant;

/// The interval at which a long commit checks the definitions again. A DDL statement waits longer than this.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The state of a row that is being written.
struct Ahead<'g> {
    row: (TableId, &'g Bytes),
    /// The stamp that the row must have.
    expect: Option<CommitNo>,
    void: Option<CommitNo>,
    marked: Vec<(&'g EntryChange, CommitNo)>,
    reserved: Vec<(&'g EntryChange, Reserved)>,
    leaving: Vec<(&'g EntryChange, CommitNo)>,
}

impl DualStore {
    /// Writes a batch whose conditions have just been checked. Returns the last of its commits. `epochs`: the written
    /// tables, and the catalog versions in which they last changed.
    ///
    /// # Errors
    /// [`StoreError::ConditionFailed`] before the first row, [`TxnError::PartlyCommitted`] after it; the store's.
    pub(crate) async fn commit(
        &self,
        batch: WriteBatch,
        epochs: &BTreeMap<TableId, u64>,
        durability: Durability,
    ) -> TxnResult<CommitNo> {
        let Plan { groups, conditions } = self.0.plan(batch)?;
        let mut last = CommitNo(0);
        for condition in conditions {
            let batch = WriteBatch { conditions: vec![condition], ..WriteBatch::default() };
            last = later(last, self.0.raw.apply(batch, durability).await?);
        }
        let total = groups.len();
        let (mut looked, mut rewritten) = (Instant::now(), Rewritten::default());
        for (written, ((table, key), group)) in groups.iter().enumerate() {
            if looked.elapsed() > LOOK_EVERY {
                self.0
                    .check_definitions(epochs, (*table, key))
                    .await
                    .map_err(|source| broken(written, total, source))?;
                looked = Instant::now();
            }
            let done = self.0.write((*table, key), group, durability, &mut rewritten).await;
            last = later(last, done.map_err(|source| broken(written, total, source))?);
        }
        Ok(last)
    }
}

/// The later of two steps' commits; 0 stands for no commit.
fn later(before: CommitNo, step: CommitNo) -> CommitNo {
    if step == CommitNo(0) { before } else { step }
}

fn broken(written: usize, total: usize, source: StoreError) -> TxnError {
    if written == 0 { source.into() } else { TxnError::PartlyCommitted { written, total, source } }
}

impl Shared {
    async fn check_definitions(&self, epochs: &BTreeMap<TableId, u64>, row: (TableId, &Bytes)) -> StoreResult<()> {
        let Some(definitions) = self.definitions.get() else { return Ok(()) };
        match definitions.are_unchanged(epochs).await? {
            true => Ok(()),
            false => Err(changed(row)),
        }
    }

    /// Writes one row and its entries.
    async fn write(
        &self,
        row: (TableId, &Bytes),
        group: &RowGroup,
        durability: Durability,
        rewritten: &mut Rewritten,
    ) -> StoreResult<CommitNo> {
        match &group.row {
            None => {
                for entry in &group.entries {
                    self.repair((entry.storage, &entry.key), entry.entries.as_ref(), true).await?;
                }
                Ok(CommitNo(0))
            }
            Some(fragment) if group.entries.is_empty() => {
                let expect = group.expect.map(|expect| expect.map(|read| rewritten.stamp(row, read)));
                self.write_alone(row, expect, fragment.as_ref(), durability).await
            }
            Some(fragment) => self.write_with_entries(row, (group, fragment.as_ref()), durability, rewritten).await,
        }
    }

    /// Writes a row without entries. A void row counts as missing.
    async fn write_alone(
        &self,
        row: (TableId, &Bytes),
        expect: Option<Option<CommitNo>>,
        fragment: Option<&Vec<u8>>,
        durability: Durability,
    ) -> StoreResult<CommitNo> {
        let Some(mut expect) = expect else {
            let mutations = vec![mutation(row.0, row.1, fragment.cloned())];
            return self.raw.apply(WriteBatch { mutations, ..WriteBatch::default() }, durability).await;
        };
        loop {
            if let Some(commit) = self.swap(row, expect, fragment.cloned(), durability).await? {
                return Ok(commit);
            }
            match self.there(row.0, row.1).await? {
                Some(void) if expect.is_none() && header::marks_of(&void) & VOID != 0 => {
                    expect = header::commit_of(&void);
                }
                _ => return Err(changed(row)),
            }
        }
    }

    async fn write_with_entries(
        &self,
        row: (TableId, &Bytes),
        (group, fragment): (&RowGroup, Option<&Vec<u8>>),
        durability: Durability,
        rewritten: &mut Rewritten,
    ) -> StoreResult<CommitNo> {
        let there = self.there(row.0, row.1).await?;
        let is_row = there.as_ref().is_some_and(|there| header::marks_of(there) & VOID == 0);
        let stamp = stamp_of(there.as_ref());
        let expected = group.expect.map(|expect| expect.map(|read| rewritten.stamp(row, read)));
        if expected.is_some_and(|expected| expected != stamp.filter(|_| is_row)) {
            return Err(changed(row));
        }
        if fragment.is_none() && !is_row {
            // The row was inserted and deleted within the transaction.
            return Ok(CommitNo(0));
        }
        let (mut expect, mut void) = (stamp, None);
        if !is_row {
            void = self.swap(row, stamp, Some(header::marked(VOID)), durability).await?;
            expect = Some(void.ok_or_else(|| changed(row))?);
        }
        let (marked, reserved, leaving) = (Vec::new(), Vec::new(), Vec::new());
        let mut ahead = Ahead { row, expect, void, marked, reserved, leaving };
        if let Err(error) = self.prepare(&mut ahead, group, durability, rewritten).await {
            self.give_up(&ahead, &error).await;
            return Err(error);
        }
        let condition = Condition { table: row.0, family: FAMILY, key: row.1.clone(), expect: ahead.expect };
        let batch = WriteBatch {
            conditions: vec![condition],
            mutations: vec![mutation(row.0, row.1, fragment.cloned())],
            ..WriteBatch::default()
        };
        match self.raw.apply(batch, durability).await {
            // The row is committed. Unfinished steps are left to later readers and repairs.
            Ok(commit) => Ok(self.finish(&ahead, durability).await.map_or(commit, |last| later(commit, last))),
            Err(error) => {
                self.give_up(&ahead, &error).await;
                Err(error)
            }
        }
    }

    /// Executes steps 2 and 3.
    async fn prepare<'g>(
        &self,
        ahead: &mut Ahead<'g>,
        group: &'g RowGroup,
        durability: Durability,
        rewritten: &mut Rewritten,
    ) -> StoreResult<()> {
        for entry in &group.entries {
            let fragment = match &entry.fragment {
                Some(fragment) => header::with_marks(fragment, UNVERIFIED),
                None => header::marked(UNVERIFIED),
            };
            let mutations = vec![mutation(entry.storage, &entry.key, Some(fragment))];
            let stamp = self.raw.apply(WriteBatch { mutations, ..WriteBatch::default() }, durability).await?;
            ahead.marked.push((entry, stamp));
        }
        for entry in &group.entries {
            let Some(value) = entry.value.as_ref().map(|value| (entry.storage, value)) else { continue };
            match entry.fragment.is_some() {
                true => {
                    let entries = entry.entries.as_ref();
                    let reserved = self.reserve(value, entries, ahead.row.1, durability, rewritten).await?;
                    ahead.reserved.push((entry, reserved));
                }
                false => {
                    let leaving = self.mark_released(value, ahead.row.1, durability).await?;
                    ahead.leaving.extend(leaving.map(|stamp| (entry, stamp)));
                }
            }
        }
        Ok(())
    }

    /// Executes step 5. Returns the last commit.
    async fn finish(&self, ahead: &Ahead<'_>, durability: Durability) -> StoreResult<CommitNo> {
        let mut last = CommitNo(0);
        for (entry, stamp) in &ahead.marked {
            let done = self.swap((entry.storage, &entry.key), Some(*stamp), entry.fragment.clone(), durability).await?;
            last = later(last, done.unwrap_or_default());
        }
        for (entry, stamp) in &ahead.leaving {
            let Some(value) = &entry.value else { continue };
            let done = self.swap((entry.storage, value), Some(*stamp), None, durability).await?;
            last = later(last, done.unwrap_or_default());
        }
        Ok(last)
    }

    /// Undoes the reservations and the void row, if it is certain that the row was not written. Entries stay
    /// unverified: another writer of the row may have written the same entry.
    async fn give_up(&self, ahead: &Ahead<'_>, error: &StoreError) {
        if !matches!(error, StoreError::ConditionFailed { .. } | StoreError::Unsupported { .. }) {
            return;
        }
        for (entry, reserved) in ahead.reserved.iter().filter(|(_, reserved)| reserved.fresh) {
            if let Some(value) = &entry.value {
                // A reservation that is not undone is recognized as stale.
                let _ = self.swap((entry.storage, value), Some(reserved.stamp), None, Durability::Buffered).await;
            }
        }
        if ahead.void.is_some() {
            let _ = self.swap(ahead.row, ahead.void, None, Durability::Buffered).await;
        }
    }
}

fn changed((table, key): (TableId, &Bytes)) -> StoreError {
    StoreError::ConditionFailed { table, key: key.clone() }
}
