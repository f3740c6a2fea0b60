//! Ends a large load: sorted rows are ingested into fjall's tables, bypassing the journal, and published by one commit.
//!
//! ```text
//!   one table of one family, in an own keyspace:         append    ingest into it                        append.rs
//!   several tables, one of them in an own keyspace       append    one large commit                      append.rs
//!     with rows:
//!   otherwise:  move    ingest into new keyspaces, stored rows merged in, each table on a thread of its own,
//!                       then change all placements in one batch of the meta keyspace
//!   rows were streamed:         ingest the unsorted rest on top, then change the placements likewise
//!   a table has rows by now:    move them, too, with the streamed rows
//! ```
//! Ingestion is atomic for one keyspace and not journaled. In a move, the batch that changes the placements is the
//! commit.
//!
//! - Each way ends under the commit lock behind fences: if another commit wrote to a table since it was read, the
//!   result would hide its rows. Then the table is moved again.
//! - A new keyspace that is not used is deleted with its content.
//!
//! Rows of a load carry a commit number that was reserved when their writing began. The commit that publishes them has
//! the largest of these numbers, or a larger one if others committed meanwhile.

use super::append;
use super::loaded::Loaded;
use super::merge::{Origin, Source, Stored};
use super::moving::{self, Move, Moved, RowsFrom};
use super::stream::Streamed;
use super::table::TableLoad;
use super::writer::NewKeyspaces;
use crate::commit::pipeline::Dropped;
use crate::commit::publish::State;
use crate::inner::Inner;
use crate::meta;
use crate::placement::{Place, Table};
use crate::seam::task;
use crate::store::{blocking, joined};
use bytes::Bytes;
use fjall::{OwnedWriteBatch, Readable, Slice};
use std::sync::Arc;
use store::{CommitNo, Durability, FamilyId, KeyRange, LoadTable, StoreError, StoreResult};

/// Attempts to move tables to which other commits write.
pub(super) const MOVES: usize = 4;

/// The rows of one table in a load.
pub(super) struct Part {
    pub(super) of: LoadTable,
    loaded: Arc<Loaded>,
    pub(super) streamed: Option<Streamed>,
    /// Keyspaces that contain exactly the rows of the load: the streamed rows and those added to them.
    all_in: Option<Arc<NewKeyspaces>>,
    moved: Option<Moved>,
}

impl Part {
    /// The rows of a table after its last row. Its runs are read with at most `memory` bytes, or with the minimum if
    /// that is more.
    pub(super) fn new(load: TableLoad, memory: usize) -> Self {
        let TableLoad { inner, of, buffer, packed, runs, streamed, folder, .. } = load;
        let threads = inner.options.load_threads;
        let loaded = Arc::new(Loaded::new(runs, (buffer, packed), threads, memory, folder));
        Self { of, loaded, streamed, all_in: None, moved: None }
    }

    /// All rows that were not streamed.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn sources(&self) -> StoreResult<Vec<Source>> {
        self.loaded.sources(&KeyRange::all(), 1)
    }

    /// Returns true if there are no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.loaded.is_empty() && self.streamed.is_none()
    }

    /// Returns true if rows must still be written to new keyspaces.
    fn is_to_be_moved(&self) -> bool {
        self.moved.is_none() && !(self.is_empty() && self.all_in.is_none())
    }

    /// Marks the rows to be moved again after another commit wrote to the table.
    fn move_again(&mut self) {
        if let Some(Moved { homes, alone: true, .. }) = self.moved.take() {
            self.all_in = Some(Arc::new(homes));
        }
    }
}

/// Merges, ingests and publishes the rows. The caller syncs the returned commit.
///
/// # Errors
/// As [`store::BulkLoad::finish`].
pub(super) async fn install(inner: &Arc<Inner>, parts: Vec<Part>) -> StoreResult<CommitNo> {
    let of = inner.clone();
    let (mut parts, appends) = blocking(move || append::is_wanted(&of, &parts).map(|wanted| (parts, wanted))).await?;
    if appends {
        return append::append(inner, parts).await;
    }
    let mut moves = 0;
    loop {
        parts = move_all(inner, parts).await?;
        let of = inner.clone();
        let (back, shown) = blocking(move || {
            let _alone = of.admission.lock_gate_exclusively();
            let shown = flip(&of, &mut parts);
            Ok((parts, shown))
        })
        .await?;
        parts = back;
        moves += 1;
        match shown {
            Err(StoreError::TableChanged { table }) if moves < MOVES => {
                parts.iter_mut().filter(|part| part.of.table == table).for_each(Part::move_again);
            }
            other => return other,
        }
    }
}

/// Moves the rows of all tables concurrently.
async fn move_all(inner: &Arc<Inner>, parts: Vec<Part>) -> StoreResult<Vec<Part>> {
    let moving = parts.iter().filter(|part| part.is_to_be_moved()).count();
    let threads = (inner.options.load_threads / moving.max(1)).max(1);
    let (mut under_way, mut moved, mut failed) = (Vec::with_capacity(parts.len()), Vec::new(), None);
    for part in parts {
        match begin_to_move(inner, part, threads).await {
            Ok(begun) => under_way.push(begun),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    // Waits for all of them, so that the error of the first failed table is returned.
    for begun in under_way {
        match begun.end().await {
            Ok(part) => moved.push(part),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(moved), Err)
}

/// A part, and the threads that write its rows. If `moved` is unknown, a thread returns it.
struct UnderWay {
    part: Part,
    moved: Option<Moved>,
    work: Vec<task::JoinHandle<StoreResult<Option<Moved>>>>,
}

async fn begin_to_move(inner: &Arc<Inner>, mut part: Part, threads: usize) -> StoreResult<UnderWay> {
    let (mut moved, mut work) = (None, Vec::new());
    if let Some(streamed) = part.streamed.take() {
        let (inner, of, loaded) = (inner.clone(), part.of.clone(), part.loaded.clone());
        work.push(task::spawn_blocking(move || moving::extend(&inner, of, &loaded, streamed).map(Some)));
    } else if part.is_to_be_moved() {
        let rows = match &part.all_in {
            Some(homes) => RowsFrom::Keyspaces(homes.clone()),
            None => RowsFrom::Loaded(part.loaded.clone()),
        };
        let (inner, of) = (inner.clone(), part.of.clone());
        let (moving, to) = blocking(move || Move::begin(&inner, &of, rows, threads)).await?;
        let moving = Arc::new(moving);
        for piece in 0..moving.pieces() {
            let moving = moving.clone();
            work.push(task::spawn_blocking(move || moving.write(piece).map(|()| None)));
        }
        moved = Some(to);
    }
    Ok(UnderWay { part, moved, work })
}

impl UnderWay {
    async fn end(self) -> StoreResult<Part> {
        let Self { mut part, mut moved, work } = self;
        let mut failed = None;
        // The keyspaces must not be deleted while threads write to them.
        for work in work {
            match joined(work.await) {
                Ok(to) => moved = moved.or(to),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        part.moved = part.moved.or(moved);
        Ok(part)
    }
}

/// The stored rows of one family within a range of keys.
pub(super) fn stored_rows(state: &State, family: FamilyId, place: &Place, keys: &KeyRange) -> Source {
    let all = KeyRange::prefix(place.prefix.clone());
    let behind = |key: &Bytes| Bytes::copy_from_slice(&place.key(key));
    let range = KeyRange { start: behind(&keys.start), end: keys.end.as_ref().map(behind).or(all.end) };
    let iter = match range.end {
        Some(end) => state.snapshot.range(&place.keyspace, range.start..end),
        None => state.snapshot.range(&place.keyspace, range.start..),
    };
    let row = (Slice::from([]), Slice::from([]));
    Source::Stored(Stored { iter, prefix: place.prefix.len(), family, origin: Origin::Stored, row })
}

/// The rows of a load that are in keyspaces already.
pub(super) fn rows_of(inner: &Inner, homes: &NewKeyspaces) -> Vec<Source> {
    let snapshot = inner.pipeline.nonces.take(&inner.pipeline.db);
    let rows = homes.made.iter().map(|(family, home)| {
        let row = (Slice::from([]), Slice::from([]));
        Source::Stored(Stored { iter: snapshot.iter(home), prefix: 0, family: *family, origin: Origin::New, row })
    });
    rows.collect()
}

/// Changes the placement of all tables to the new keyspaces, in one commit.
fn flip(inner: &Inner, parts: &mut [Part]) -> StoreResult<CommitNo> {
    let pipeline = &inner.pipeline;
    let mut last = pipeline.lock_to_write()?;
    let base = pipeline.publisher.newest().clone();
    let moved = || parts.iter().filter_map(|part| part.moved.as_ref().map(|moved| (part.of.table, moved)));
    moved().try_for_each(|(_, moved)| moved.fence.check(&base.tables))?;
    let newest = moved().map(|(_, moved)| moved.stamp).max_by_key(|stamp| stamp.commit);
    let Some(newest) = newest else { return Ok(base.commit) };
    let stamp = pipeline.shown_by(&last, newest)?;
    let mut batch = OwnedWriteBatch::with_capacity(pipeline.db.clone(), 4);
    let (mut dropped, mut changed) = (Dropped::default(), Vec::new());
    let mut tables = base.tables.as_ref().clone();
    for (id, Moved { homes, .. }) in moved() {
        let mut table = Table::clone(base.tables.table(id)?.as_ref());
        for family in &mut table.families {
            let Some((_, home)) = homes.made.iter().find(|(made, _)| *made == family.id) else {
                return Err(StoreError::NoSuchFamily { table: id, family: family.id });
            };
            let old = std::mem::replace(&mut family.place, Place::own(home.clone()));
            dropped.add(&mut batch, &pipeline.meta, &old)?;
        }
        meta::put_table(&mut batch, &pipeline.meta, id, &table)?;
        changed.push(table.changed.clone());
        tables.insert(id, table);
    }
    pipeline.commit(&mut last, batch, stamp, Arc::new(tables), Durability::Sync)?;
    changed.iter().for_each(|changed| changed.by(stamp.commit));
    drop(last);
    parts.iter_mut().filter_map(|part| part.moved.as_mut()).for_each(|moved| moved.homes.made.clear());
    inner.reclaim.lock().append(dropped);
    Ok(stamp.commit)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::load::bed::{FAMILY, TABLE, fragment, store};
    use store::{LoadRows, OnDuplicate};

    /// A finished load of these keys.
    async fn part(inner: &Arc<Inner>, keys: impl Iterator<Item = u32>) -> Part {
        let of = LoadTable { table: TABLE, on_duplicate: OnDuplicate::Fail, unique: None };
        let mut load = TableLoad::new(inner.clone(), of, true).unwrap();
        for key in keys {
            let mut rows = LoadRows::default();
            rows.push(&key.to_be_bytes(), &fragment());
            load.write_rows(FAMILY, rows).await.unwrap();
        }
        load.end().await.unwrap();
        Part::new(load, 1 << 20)
    }

    #[tokio::test]
    async fn however_often_others_write_meanwhile_all_rows_are_moved_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path(), 2).await;
        let inner = store.inner();
        let in_no_order = || (0..10_000_u32).map(|number| number.wrapping_mul(0x9E37_79B9));
        // All in order, the first half in order, none in order.
        let parts = [
            part(inner, 0..10_000).await,
            part(inner, (0..5_000).chain((5_000..10_000).rev())).await,
            part(inner, in_no_order()).await,
        ];
        let streamed = parts.iter().map(|part| part.streamed.is_some()).collect::<Vec<_>>();
        assert_eq!(streamed, [true, true, false]);
        for mut part in parts {
            for attempt in 0..4 {
                part = begin_to_move(inner, part, 3).await.unwrap().end().await.unwrap();
                let snapshot = inner.pipeline.nonces.take(&inner.pipeline.db);
                let moved = part.moved.as_ref().unwrap();
                assert_eq!(snapshot.iter(moved.homes.only().unwrap()).count(), 10_000, "attempt {attempt}");
                part.move_again();
            }
        }
    }
}
