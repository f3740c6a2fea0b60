//! From a batch to the newest state: checks, stamps and writes it under the commit lock.
//!
//! One lock serves all commits instead of latches per row: the journal is shared anyway, a critical section takes some
//! microseconds (rows are encoded before, in `rows` and `prepared`), and under the lock the newest state is simply that
//! of the last commit. The lock blocks threads, so nothing under it waits for the disk except a cold read.

use crate::commit::building::Building;
use crate::commit::group_sync::GroupSync;
use crate::commit::journal_room::JournalRoom;
use crate::commit::lock_times::{Held, LockTimes};
use crate::commit::prepared::Prepared;
use crate::commit::publish::{Publisher, State};
use crate::commit::seqnos::Seqnos;
use crate::error::engine;
use crate::journal::watermark::Watermark;
use crate::meta;
use crate::placement::{Place, TableMap};
use crate::read_only::ReadOnly;
use crate::seam::{Mutex, is_left_out};
use crate::snapshots::Nonces;
use fjall::{Database, Keyspace, OwnedWriteBatch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use store::{Clock, CommitNo, Durability, StoreError, StoreResult, TableId, Timestamp};

/// Applies batches.
pub(crate) struct Pipeline {
    pub(crate) db: Database,
    pub(crate) meta: Keyspace,
    pub(crate) shared: Keyspace,
    pub(crate) publisher: Arc<Publisher>,
    pub(crate) read_only: Arc<ReadOnly>,
    pub(crate) group_sync: Arc<GroupSync>,
    pub(crate) watermark: Arc<Watermark>,
    /// The source of all fjall snapshots.
    pub(crate) nonces: Nonces,
    journal_room: JournalRoom,
    seqnos: Seqnos,
    clock: Arc<dyn Clock>,
    /// The commit lock. Guards the last commit, every write to fjall and the taking of snapshots. Never held across an
    /// await.
    last: Mutex<Last>,
    /// Statistics of the commit lock.
    pub(crate) lock_times: LockTimes,
    /// Set when no further commit is accepted. Accessed under the commit lock.
    ended: AtomicBool,
    commits: AtomicU64,
    rows_written: AtomicU64,
}

/// Upper bound of the commits that may be made while a large commit is in progress.
const AHEAD: u64 = 1 << 28;

/// The last commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    pub(crate) commit: CommitNo,
    pub(crate) stamp: Timestamp,
}

/// Requires that a table has not changed since a commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub(crate) table: TableId,
    pub(crate) since: CommitNo,
}

impl Fence {
    /// # Errors
    /// [`StoreError::TableChanged`], [`StoreError::NoSuchTable`]. The caller holds the commit lock, and `tables` are
    /// the newest ones.
    pub(crate) fn check(&self, tables: &TableMap) -> StoreResult<()> {
        match tables.table(self.table)?.changed.since(self.since) {
            true if is_left_out("the fence of a load") => Ok(()),
            true => Err(StoreError::TableChanged { table: self.table }),
            false => Ok(()),
        }
    }
}

/// What a dropped table leaves to be reclaimed.
#[derive(Default)]
pub(crate) struct Dropped {
    /// Slots to be purged.
    pub(crate) slots: Vec<u32>,
    /// Keyspaces to be deleted.
    pub(crate) keyspaces: Vec<Keyspace>,
}

impl Dropped {
    /// Adds a place that the batch frees.
    ///
    /// # Errors
    /// As [`meta::put_purge`].
    pub(crate) fn add(&mut self, batch: &mut OwnedWriteBatch, meta: &Keyspace, place: &Place) -> StoreResult<()> {
        match place.slot {
            Some(slot) => {
                meta::put_purge(batch, meta, slot)?;
                self.slots.push(slot);
            }
            None => self.keyspaces.push(place.keyspace.clone()),
        }
        Ok(())
    }

    /// Appends the remains of another batch.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.slots.append(&mut other.slots);
        self.keyspaces.append(&mut other.keyspaces);
    }
}

/// The arguments of [`Pipeline::new`].
pub(crate) struct Parts {
    pub(crate) db: Database,
    pub(crate) meta: Keyspace,
    pub(crate) shared: Keyspace,
    pub(crate) publisher: Arc<Publisher>,
    pub(crate) read_only: Arc<ReadOnly>,
    pub(crate) group_sync: Arc<GroupSync>,
    pub(crate) watermark: Arc<Watermark>,
    pub(crate) nonces: Nonces,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) last: Last,
    pub(crate) seqnos: Seqnos,
}

impl Pipeline {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            db: parts.db,
            meta: parts.meta,
            shared: parts.shared,
            publisher: parts.publisher,
            read_only: parts.read_only,
            journal_room: JournalRoom::new(parts.group_sync.journal().clone()),
            group_sync: parts.group_sync,
            seqnos: parts.seqnos,
            watermark: parts.watermark,
            nonces: parts.nonces,
            clock: parts.clock,
            last: Mutex::new(parts.last),
            lock_times: LockTimes::default(),
            ended: AtomicBool::new(false),
            commits: AtomicU64::new(0),
            rows_written: AtomicU64::new(0),
        }
    }

    /// Checks and applies a batch atomically; see [`store::Store::apply`]. Also returns what dropped tables leave to be
    /// reclaimed.
    ///
    /// # Errors
    /// As [`store::Store::apply`], and [`Fence::check`].
    pub(crate) fn apply(
        &self,
        batch: Prepared,
        durability: Durability,
        fences: &[Fence],
    ) -> StoreResult<(CommitNo, Dropped)> {
        let (mut last, base, Prepared { tables, conditions, rows, batch }) = self.lock_for(batch)?;
        fences.iter().try_for_each(|fence| fence.check(&base.tables))?;
        let stamp = self.next_stamp(&last)?;
        let mut building = Building::new(self, &base, stamp, batch);
        for change in tables {
            building.change_table(change)?;
        }
        conditions.check_now(&base, building.tables())?;
        let rows = rows.encoded(building.tables())?;
        building.write(rows)?;
        if building.batch.is_empty() {
            return Ok((base.commit, Dropped::default()));
        }
        let Building { batch, tables, dropped, rows, bytes, touched, .. } = building;
        let tables = tables.map_or_else(|| base.tables.clone(), Arc::new);
        self.commit(&mut last, batch, stamp, tables, durability)?;
        touched.iter().for_each(|changed| changed.by(stamp.commit));
        self.journal_room.used(bytes);
        drop(last);
        self.rows_written.fetch_add(rows, Ordering::Relaxed);
        if durability == Durability::Buffered {
            self.group_sync.soon(stamp.commit);
        }
        Ok((stamp.commit, dropped))
    }

    /// Takes the commit lock and brings the batch's rows to the current placements of their tables.
    ///
    /// # Errors
    /// As [`Self::lock_to_write`].
    fn lock_for(&self, mut batch: Prepared) -> StoreResult<(Held<'_>, Arc<State>, Prepared)> {
        loop {
            let last = self.lock_to_write()?;
            let base = self.publisher.newest().clone();
            if batch.is_for(&base.tables) {
                return Ok((last, base, batch));
            }
            // A bulk load moved a table since the rows were encoded.
            drop(last);
            batch = batch.moved_to(&base.tables);
        }
    }

    /// Takes the commit lock.
    pub(crate) fn lock(&self) -> Held<'_> {
        self.lock_times.begin(self.last.lock())
    }

    /// Takes the commit lock for a write.
    ///
    /// # Errors
    /// [`StoreError::Closed`] after [`Self::end`], [`StoreError::ReadOnly`].
    pub(crate) fn lock_to_write(&self) -> StoreResult<Held<'_>> {
        let last = self.lock();
        if self.ended.load(Ordering::Relaxed) {
            return Err(StoreError::Closed);
        }
        self.read_only.check()?;
        Ok(last)
    }

    /// Accepts no further commits. Returns when none is in progress.
    pub(crate) fn end(&self) {
        let _last = self.lock();
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Returns the commit number and timestamp of the next commit. Reserves more commit numbers on disk when they run
    /// out.
    ///
    /// # Errors
    /// I/O failures of the reservation.
    pub(crate) fn next_stamp(&self, last: &Last) -> StoreResult<Last> {
        let commit = CommitNo(last.commit.0 + 1);
        if !is_left_out("the reservation of commit numbers") {
            self.watermark.reserve(commit)?;
        }
        Ok(Last { commit, stamp: self.clock.now().max(last.stamp) })
    }

    /// Writes a fjall batch and makes the resulting state the newest. The caller holds the commit lock. A `Buffered`
    /// commit is also handed to the operating system: it is acknowledged and published without a sync, and a crash of
    /// this process alone must not lose it.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`]: the outcome is unknown and later commits are refused.
    pub(crate) fn commit(
        &self,
        last: &mut Last,
        batch: OwnedWriteBatch,
        stamp: Last,
        tables: Arc<TableMap>,
        durability: Durability,
    ) -> StoreResult<()> {
        self.write_locked(batch)?;
        if durability == Durability::Buffered && !is_left_out("the write before a commit is acknowledged") {
            let written = self.group_sync.journal().write_out();
            written.map_err(|error| self.read_only.set(&engine("writing the journal")(error)))?;
        }
        self.applied(last, stamp, tables, durability);
        Ok(())
    }

    /// Makes fjall's current content the newest state, as commit `stamp`. The caller holds the commit lock.
    pub(crate) fn applied(&self, last: &mut Last, stamp: Last, tables: Arc<TableMap>, durability: Durability) {
        *last = stamp;
        self.watermark.stamped(stamp.stamp);
        let views = self.publisher.newest().views.clone();
        let state = State { commit: stamp.commit, snapshot: self.nonces.take(&self.db), tables, views };
        self.publisher.applied(state, durability);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Writes a fjall batch without changes visible to readers (purges). Takes the commit lock.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub(crate) fn commit_internal(&self, batch: OwnedWriteBatch) -> StoreResult<()> {
        let _last = self.lock_to_write()?;
        self.write_locked(batch)?;
        self.publisher.refresh(self.nonces.take(&self.db));
        Ok(())
    }

    /// Writes a fjall batch without publishing it. The caller holds the commit lock.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub(crate) fn write_locked(&self, batch: OwnedWriteBatch) -> StoreResult<()> {
        let written = self.seqnos.write(&self.db, &self.meta, batch);
        written.map_err(|error| self.read_only.set(&engine("writing the journal")(error)))
    }

    /// Takes the stamp of rows that are written before their commit is made. Takes the commit lock.
    ///
    /// # Errors
    /// As [`Self::lock_to_write`] and [`Self::next_stamp`].
    pub(crate) fn reserve_stamp(&self) -> StoreResult<Last> {
        let mut last = self.lock_to_write()?;
        *last = self.next_stamp(&last)?;
        Ok(*last)
    }

    /// Takes a stamp for rows that are written before their commit is made and must appear new when it is: larger than
    /// the numbers of all commits in between. Only one such commit may be in progress. Takes the commit lock.
    ///
    /// # Errors
    /// As [`Self::reserve_stamp`].
    pub(crate) fn reserve_ahead(&self) -> StoreResult<Last> {
        let last = *self.lock_to_write()?;
        let commit = CommitNo(last.commit.0 + AHEAD);
        self.watermark.reserve(commit)?;
        Ok(Last { commit, stamp: self.clock.now().max(last.stamp) })
    }

    /// The stamp of the commit that publishes rows stamped `reserved`: the same, unless others committed meanwhile.
    ///
    /// # Errors
    /// As [`Self::next_stamp`].
    pub(crate) fn shown_by(&self, last: &Last, reserved: Last) -> StoreResult<Last> {
        if last.commit == reserved.commit { Ok(reserved) } else { self.next_stamp(last) }
    }

    /// Counts written rows.
    pub(crate) fn count_rows(&self, rows: u64) {
        self.rows_written.fetch_add(rows, Ordering::Relaxed);
    }

    /// Writes a sequence-number mark. Must be called before rows are written past the journal into a table's keyspace,
    /// and before the sync that precedes them. The caller holds the commit lock.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub(crate) fn close_journal_numbers(&self) -> StoreResult<()> {
        let written = self.seqnos.write_mark(&self.db, &self.meta);
        written.map_err(|error| self.read_only.set(&engine("writing the journal")(error)))
    }

    /// Number of commits so far.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Number of rows written so far.
    pub(crate) fn rows_written(&self) -> u64 {
        self.rows_written.load(Ordering::Relaxed)
    }
}
