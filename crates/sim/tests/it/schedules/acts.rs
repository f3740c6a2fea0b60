//! The operations of a client.

use super::client::{Client, loaded};
use super::ledger::Outcome;
use super::reading::{self, family_of, read_row};
use super::tables::{Change, Deed};
use crate::history::row;
use bennu_sim::scheduler;
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use store::{CommitNo, Condition, Durability, OnDuplicate, PointRead, Store, StoreError, StoreResult, TableId};

/// First number of rows that no other client writes.
const OWN: u64 = 1 << 32;
/// Rows in a batch that the store treats as large: more than 1,000.
const LARGE: u64 = 1_001;

impl Client {
    pub(super) async fn write(&mut self, table: u32) {
        let mut changes = Vec::new();
        for _ in 0..1 + self.random.below(5) {
            let table = if self.random.percent(30) { self.table().unwrap_or(table) } else { table };
            let number = self.random.below(24);
            changes.push(match self.random.percent(25) {
                true => Change::Delete(table, number),
                false => Change::Put(table, number),
            });
        }
        // Each row once, because the order within a batch is not tested here.
        changes.sort_by_key(key_of);
        changes.dedup_by_key(|change| key_of(change));
        let sync = self.random.percent(60);
        self.perform(Deed { changes, sync, ..Deed::default() }).await;
    }

    pub(super) async fn write_large(&mut self, table: u32) {
        let first = self.random.below(30);
        let deletes = if self.random.percent(30) { self.random.below(LARGE) } else { 0 };
        let change = |at| if at < deletes { Change::Delete(table, first + at) } else { Change::Put(table, first + at) };
        let changes = (0..LARGE).map(change).collect();
        let sync = self.random.percent(60);
        let done = self.perform(Deed { changes, sync, ..Deed::default() }).await;
        self.shared(|shared| shared.reached.large += u64::from(done.is_some()));
    }

    /// Writes on the condition that a row is unchanged since it was read.
    pub(super) async fn write_if(&mut self, table: u32) {
        let number = self.random.below(6);
        let (id, family) = (TableId(table), family_of(table, number));
        let read = match self.store.get_newest(id, family, &row::key(number)).await {
            Ok(read) => read.map(|bytes| read_row(number, &bytes)),
            Err(StoreError::NoSuchTable { .. } | StoreError::Closed) => return,
            Err(error) => panic!("{error:?}"),
        };
        if self.random.percent(30) {
            scheduler::sleep(Duration::from_micros(self.random.below(5_000)));
        }
        let conditions = vec![(table, number, read.map(|(writer, _)| writer))];
        let mut changes = vec![Change::Put(table, number)];
        if self.random.percent(12) {
            changes.extend((50..50 + LARGE).map(|number| Change::Put(table, number)));
        }
        let deed = Deed { changes, conditions, sync: true, ..Deed::default() };
        let writer = self.shared(|shared| shared.ledger.begin(deed.clone()));
        let mut batch = self.batch(&deed, writer);
        let expect = read.map(|(_, stamp)| CommitNo(stamp));
        batch.conditions.push(Condition { table: id, family, key: row::key(number).into(), expect });
        match self.store.apply(batch, Durability::Sync).await {
            Ok(commit) => {
                self.done(writer, commit);
                self.sync(commit).await;
            }
            Err(error) => self.shared(|shared| {
                shared.reached.refused_conditions += u64::from(matches!(error, StoreError::ConditionFailed { .. }));
                shared.ledger.end(writer, Outcome::Refused(error));
            }),
        }
    }

    pub(super) async fn create(&mut self) {
        let table = self.shared(|shared| {
            shared.next_table += 1;
            shared.next_table - 1
        });
        let deed = Deed { changes: vec![Change::Create(table)], sync: true, ..Deed::default() };
        if self.perform(deed).await.is_some() {
            self.shared(|shared| shared.tables.push(table));
        }
    }

    pub(super) async fn drop_or_truncate(&mut self, table: u32) {
        let mut changes = vec![Change::Drop(table)];
        let truncates = self.random.percent(60);
        let new = self.shared(|shared| {
            shared.next_table += 1;
            shared.next_table - 1
        });
        if truncates {
            changes.extend([Change::Create(new), Change::Put(new, 1)]);
        }
        let sync = self.random.percent(70);
        if self.perform(Deed { changes, sync, ..Deed::default() }).await.is_some() {
            self.shared(|shared| {
                shared.reached.drops += 1;
                shared.tables.retain(|other| *other != table);
                shared.tables.extend(truncates.then_some(new));
            });
        }
    }

    /// A bulk load: small or large, sorted or not, into an empty table or not; some fail, some are abandoned.
    pub(super) async fn load(&mut self, table: u32) {
        let count = if self.random.percent(30) { 1 + self.random.below(8) } else { 10 + self.random.below(70) };
        let behind = self.random.percent(75);
        let first = match behind {
            true => self.shared(|shared| {
                shared.next_loaded += count;
                shared.next_loaded - count
            }),
            false => self.random.below(60),
        };
        let mut numbers: Vec<u64> = (first..first + count).collect();
        if self.random.percent(40) {
            numbers.rotate_left(self.random.below(count) as usize);
        }
        if self.random.percent(10) {
            numbers.push(first);
        }
        let replace = self.random.percent(30);
        let changes = numbers.iter().map(|number| Change::Put(table, *number)).collect();
        let deed = Deed { changes, loads: true, fails_on_duplicates: !replace, sync: true, ..Deed::default() };
        let writer = self.shared(|shared| shared.ledger.begin(deed));
        let outcome = self.fill(table, &numbers, replace, writer).await;
        if self.kept.as_ref().is_none_or(|(kept, _)| *kept != writer) {
            self.shared(|shared| loaded(shared, writer, outcome));
        }
    }

    /// `None` if the load was abandoned or is kept for later.
    pub(super) async fn fill(
        &mut self,
        table: u32,
        numbers: &[u64],
        replace: bool,
        writer: u64,
    ) -> StoreResult<Option<CommitNo>> {
        let on_duplicate = if replace { OnDuplicate::Replace } else { OnDuplicate::Fail };
        let mut load = self.store.bulk_load(TableId(table), on_duplicate).await?;
        let gives_up = self.random.percent(12).then(|| self.random.below(numbers.len() as u64));
        for (at, number) in numbers.iter().enumerate() {
            if gives_up == Some(at as u64) {
                return Ok(None);
            }
            load.write(family_of(table, *number), &row::key(*number), &row::fragment(*number, writer)).await?;
            if self.random.percent(3) {
                scheduler::sleep(Duration::from_millis(self.random.below(60)));
            }
        }
        if self.kept.is_none() && self.random.percent(10) {
            self.kept = Some((writer, load));
            return Ok(None);
        }
        load.finish().await.map(Some)
    }

    /// Reads some tables at a snapshot, and again after a delay.
    pub(super) async fn look(&mut self) {
        let at_least = self.shared(|shared| shared.ledger.visible());
        let snapshot = match self.store.snapshot(CommitNo(0)).await {
            Ok(snapshot) => snapshot,
            Err(error) => return self.must_be_closing(&error),
        };
        let commit = snapshot.commit().0;
        let durable = self.store.stats().values.iter().find(|(name, _)| *name == "durable_commit").unwrap().1;
        self.shared(|shared| {
            shared.ledger.taken(commit, at_least);
            let sync = shared.ledger.last_sync_up_to(commit);
            assert!(sync <= durable, "commit {sync} is shown, and commits are durable up to {durable} only");
        });
        let tables: Vec<u32> = (0..2).filter_map(|_| self.table()).collect();
        let again = 1 + self.random.below(2);
        for time in 0..again {
            for table in &tables {
                match reading::table(&self.store, *table, &snapshot).await {
                    Ok(rows) => self.shared(|shared| shared.ledger.read(commit, *table, rows)),
                    Err(StoreError::SnapshotTooOld { .. }) => {
                        return self.shared(|shared| shared.reached.too_old += 1);
                    }
                    Err(error) => return self.must_be_closing(&error),
                }
            }
            if time + 1 < again {
                scheduler::sleep(Duration::from_millis(self.random.below(1_500)));
            }
        }
    }

    pub(super) async fn flush(&mut self, table: u32) {
        match self.store.flush(TableId(table), self.random.percent(40)).await {
            Ok(()) => self.shared(|shared| shared.reached.flushes += 1),
            Err(StoreError::NoSuchTable { .. }) => {}
            Err(error) => self.must_be_closing(&error),
        }
    }

    pub(super) async fn check(&mut self) {
        if let Err(error) = reading::check(&self.store).await {
            self.must_be_closing(&error);
        }
    }

    /// Writes own rows without waiting for the result.
    pub(super) async fn cancel(&mut self, table: u32) {
        let count = if self.random.percent(20) { LARGE } else { 1 + self.random.below(4) };
        let first = OWN + self.shared(|shared| shared.ledger.first + shared.ledger.entries.len() as u64) * 2_000;
        let changes = (first..first + count).map(|number| Change::Put(table, number)).collect();
        let deed = Deed { changes, sync: true, ..Deed::default() };
        let number = self.shared(|shared| shared.ledger.begin(deed.clone()));
        let batch = self.batch(&deed, number);
        let outcome = polled(self.store.apply(batch, Durability::Sync), self.random.below(4)).await;
        self.shared(|shared| {
            let outcome = match outcome {
                None => Outcome::Unknown,
                Some(Ok(commit)) => Outcome::Done(commit.0),
                Some(Err(error)) => Outcome::Refused(error),
            };
            shared.reached.cancelled += u64::from(matches!(outcome, Outcome::Unknown));
            shared.ledger.end(number, outcome);
        });
    }
}

/// The table and row of a change.
fn key_of(change: &Change) -> (u32, u64) {
    match *change {
        Change::Put(table, number) | Change::Delete(table, number) => (table, number),
        Change::Create(table) | Change::Drop(table) => (table, 0),
    }
}

/// Polls a future up to this many times, then drops it.
async fn polled<T>(future: impl Future<Output = T>, polls: u64) -> Option<T> {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
