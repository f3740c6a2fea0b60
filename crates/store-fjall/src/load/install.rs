//! The end of a large load: sorted rows go into fjall's tables past the journal, and are shown by one
//! commit.
//!
//! ```text
//!   one table of one family, in a keyspace of its own:   append    ingest there                          append.rs
//!   several tables, one of them in such a keyspace       append    all of them, by an intent             append.rs
//!     with rows:
//!   otherwise:  move    ingest into new keyspaces, stored rows merged in, each table on a thread of its own,
//!                       then flip the placement of all in one batch of the meta keyspace
//!   rows were streamed:         ingest what came out of order onto them, then flip likewise
//!   a table has rows by now:    move them too, with what was streamed
//! ```
//! Ingestion is atomic for one keyspace and not journaled. In a move the batch that flips the placements decides.
//!
//! - Each way ends under the commit lock behind fences: if somebody wrote to a table since it was read, the
//!   result would hide that. It is moved again then.
//! - What is in a new keyspace goes with it.
//!
//! Rows of a load carry a commit number that was taken when their writing began, and the commit that
//! shows them has the largest of those numbers too, unless others committed meanwhile: then it has a larger one.

use super::append;
use super::duplicates::absent;
use super::merge::{Merge, Origin, Source, Stored};
use super::rows::Rows;
use super::run::RunFile;
use super::stream::Streamed;
use super::table::{RunFolder, TableLoad};
use super::writer::{Homes, Writer};
use crate::commit::pipeline::{Dropped, Fence, Last};
use crate::commit::publish::State;
use crate::error::engine;
use crate::inner::Inner;
use crate::meta;
use crate::placement::{Place, Table};
use crate::seam::task;
use crate::store::{blocking, joined};
use fjall::{OwnedWriteBatch, Readable, Slice};
use std::sync::Arc;
use store::{CommitNo, Durability, FamilyId, KeyRange, LoadTable, OnDuplicate, StoreError, StoreResult};

/// How often tables are moved before a load gives up against those who write to them.
pub(super) const MOVES: usize = 4;

/// The rows of one table of a load.
pub(super) struct Part {
    pub(super) of: LoadTable,
    runs: Vec<RunFile>,
    rows: Arc<Rows>,
    /// What reading the runs may take.
    memory: usize,
    pub(super) streamed: Option<Streamed>,
    /// Keyspaces that have all rows of the load, where there is nothing else of them: what was streamed and added to.
    all_in: Option<Homes>,
    moved: Option<Moved>,
    _folder: Arc<RunFolder>,
}

/// Rows where they will be, which nobody sees yet.
struct Moved {
    stamp: Last,
    homes: Homes,
    fence: Fence,
    /// Are they the rows of the load alone, without those that the table had?
    alone: bool,
}

impl Part {
    /// Of a table whose rows have come to an end. Its runs are read into so many bytes, if these are enough.
    pub(super) fn new(load: TableLoad, memory: usize) -> Self {
        let TableLoad { of, mut buffer, runs, streamed, folder, .. } = load;
        buffer.sort();
        Self { of, runs, rows: Arc::new(buffer), memory, streamed, all_in: None, moved: None, _folder: folder }
    }

    /// All rows that were not streamed, from the start.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn sources(&self) -> StoreResult<Vec<Source>> {
        let share = self.memory / self.runs.len().max(1);
        let runs = self.runs.iter().map(|run| run.open(share).map(Source::Run));
        let mut sources = runs.collect::<StoreResult<Vec<_>>>()?;
        sources.push(Source::Rows(self.rows.clone(), 0));
        Ok(sources)
    }

    /// Has it no rows at all?
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.rows.bytes() == 0 && self.streamed.is_none()
    }

    /// Writes the rows where they will be.
    fn move_rows(&mut self, inner: &Arc<Inner>) -> StoreResult<()> {
        if let Some(Streamed { homes, stamp, empty_at }) = self.streamed.take() {
            let mut writer = Writer::with_stamp(self.of.clone(), stamp);
            self.extend(inner, &mut writer, &homes)?;
            let fence = Fence { table: self.of.table, since: empty_at };
            self.moved = Some(Moved { stamp, homes, fence, alone: true });
            return Ok(());
        }
        let state = inner.pipeline.publisher.newest().clone();
        let table = state.tables.table(self.of.table)?.clone();
        let sources = match &self.all_in {
            Some(homes) => rows_of(inner, homes),
            None => self.sources()?,
        };
        let mut writer = Writer::new(inner, self.of.clone())?;
        let homes = move_table(inner, &state, &mut writer, sources, &table)?;
        let fence = Fence { table: self.of.table, since: state.commit };
        self.moved = Some(Moved { stamp: writer.stamp, homes, fence, alone: false });
        Ok(())
    }

    /// Adds the rows to what was streamed.
    fn extend(&self, inner: &Inner, writer: &mut Writer, homes: &Homes) -> StoreResult<()> {
        let merge = Merge::new(self.sources()?)?;
        if merge.is_empty() {
            return Ok(());
        }
        let home = homes.only()?;
        // Nobody else knows the keyspace, so this sees exactly what was streamed.
        let looks = writer.of.on_duplicate == OnDuplicate::Fail || writer.of.unique.is_some();
        let before = looks.then(|| inner.pipeline.nonces.take(&inner.pipeline.db));
        let place = Place::own(home.clone());
        let mut ingestion = home.start_ingestion().map_err(engine("beginning an ingestion"))?;
        merge.run(|_, key, fragment, origin| {
            writer.check(key, origin)?;
            if let Some(before) = &before {
                absent(&writer.of, before, &place, key)?;
            }
            ingestion.write(key, writer.stamped(fragment, origin)?).map_err(engine("writing a run"))
        })?;
        ingestion.finish().map_err(engine("installing a run"))
    }

    /// Somebody wrote to the table meanwhile: its rows are not where they will be.
    fn move_again(&mut self) {
        if let Some(Moved { homes, alone: true, .. }) = self.moved.take() {
            self.all_in = Some(homes);
        }
    }
}

/// Merges, ingests and shows. The caller syncs the commit that it returns.
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
            let _alone = of.admission.alone_blocking();
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

/// Moves the rows of all that are not moved, side by side.
async fn move_all(inner: &Arc<Inner>, parts: Vec<Part>) -> StoreResult<Vec<Part>> {
    let work = parts.into_iter().map(|mut part| {
        let inner = inner.clone();
        task::spawn_blocking(move || {
            if part.moved.is_none() && !(part.is_empty() && part.all_in.is_none()) {
                part.move_rows(&inner)?;
            }
            Ok(part)
        })
    });
    let mut moved = Vec::new();
    let mut failed = None;
    // Each is waited for, whatever becomes of the others: the first error, in the order of the tables, is that of all.
    for work in work.collect::<Vec<_>>() {
        match joined(work.await) {
            Ok(part) => moved.push(part),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(moved), Err)
}

fn move_table(
    inner: &Arc<Inner>,
    state: &State,
    writer: &mut Writer,
    mut sources: Vec<Source>,
    table: &Table,
) -> StoreResult<Homes> {
    // In front: what the load brings wins over what is there.
    sources.splice(0..0, table.families.iter().map(|family| stored_rows(state, family.id, &family.place)));
    let mut homes = Homes::none(inner);
    for family in &table.families {
        homes.make(writer.of.table, family.id, writer.stamp.commit)?;
    }
    writer.write_all(Merge::new(sources)?, &homes.made)?;
    Ok(homes)
}

/// The rows that one family of the table has.
pub(super) fn stored_rows(state: &State, family: FamilyId, place: &Place) -> Source {
    let range = KeyRange::prefix(place.prefix.clone());
    let iter = match range.end {
        Some(end) => state.snapshot.range(&place.keyspace, range.start..end),
        None => state.snapshot.range(&place.keyspace, range.start..),
    };
    let row = (Slice::from([]), Slice::from([]));
    Source::Stored(Stored { iter, prefix: place.prefix.len(), family, origin: Origin::Stored, row })
}

/// The rows of a load that are in keyspaces already.
pub(super) fn rows_of(inner: &Inner, homes: &Homes) -> Vec<Source> {
    let snapshot = inner.pipeline.nonces.take(&inner.pipeline.db);
    let rows = homes.made.iter().map(|(family, home)| {
        let row = (Slice::from([]), Slice::from([]));
        Source::Stored(Stored { iter: snapshot.iter(home), prefix: 0, family: *family, origin: Origin::New, row })
    });
    rows.collect()
}

/// Lets the tables be where their rows were written, all in one commit.
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
