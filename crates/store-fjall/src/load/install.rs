//! The end of a large load: sorted rows go into fjall's tables past the journal, and are shown by one
//! commit.
//!
//! ```text
//!   the table has one family, in a keyspace of its own:    append    ingest there
//!   otherwise:  move    ingest into new keyspaces, stored rows merged in, then flip the placement in
//!                       one batch of the meta keyspace
//!   rows were streamed:         ingest what came out of order onto them, then flip likewise
//!   the table has rows by now:  move them too, with what was streamed
//! ```
//! Ingestion is atomic for one keyspace and not journaled, so it is only used where that suffices: in
//! an append the manifest of that keyspace decides, in a move the batch that flips the placement.
//!
//! - Each way ends under the commit lock behind a fence: if somebody wrote to the table since it was read, the
//!   result would hide that. A move is tried again then.
//! - An append writes to a keyspace that stays: it looks for duplicates before it begins, and takes its files away when
//!   it fails (`ingestion.rs`). What is in a new keyspace goes with it.
//!
//! Rows of a load carry a commit number that was taken when their writing began, and the commit that
//! shows them has that number too, unless others committed meanwhile: then it has a larger one.

use super::Load;
use super::merge::{Merge, Origin, Source, Stored};
use super::rows::Rows;
use super::run::RunFile;
use super::stream::Streamed;
use super::writer::{Homes, Writer};
use crate::commit::pipeline::{Dropped, Fence};
use crate::commit::publish::State;
use crate::error::engine;
use crate::ingestion::Ingestion;
use crate::inner::Inner;
use crate::meta;
use crate::placement::{Place, Table};
use fjall::{Keyspace, OwnedWriteBatch, Readable, Slice, Snapshot};
use std::sync::Arc;
use store::{CommitNo, Durability, FamilyId, KeyRange, OnDuplicate, StoreError, StoreResult};

/// How often a table is moved before a load gives up against those who write to it.
const MOVES: usize = 3;

/// The rows of a load that were not streamed.
struct Loaded {
    runs: Vec<RunFile>,
    rows: Arc<Rows>,
}

impl Loaded {
    /// All of them from the start.
    fn sources(&self) -> StoreResult<Vec<Source>> {
        let mut sources = self.runs.iter().map(|run| run.open().map(Source::Run)).collect::<StoreResult<Vec<_>>>()?;
        sources.push(Source::Rows(self.rows.clone(), 0));
        Ok(sources)
    }
}

/// Merges, ingests and applies. Blocks; the caller syncs the commit that it returns.
///
/// # Errors
/// As [`store::BulkLoad::finish`].
pub(crate) fn install(mut load: Load) -> StoreResult<CommitNo> {
    let inner = load.inner.clone();
    load.buffer.sort();
    let loaded = Loaded { runs: std::mem::take(&mut load.runs), rows: Arc::new(std::mem::take(&mut load.buffer)) };
    let mut streamed = None;
    if let Some(Streamed { homes, stamp, empty_at }) = load.streamed.take() {
        let writer = Writer::with_stamp(load.table, load.on_duplicate, stamp);
        let fence = Fence { table: load.table, since: empty_at };
        let (homes, shown) = extend(&inner, writer, &loaded, homes, fence)?;
        match shown {
            Err(StoreError::TableChanged { .. }) => streamed = Some(homes),
            other => return other,
        }
    }
    let mut moves = 0;
    loop {
        let state = inner.pipeline.publisher.newest().clone();
        let table = state.tables.table(load.table)?.clone();
        let writer = Writer::new(&inner, load.table, load.on_duplicate)?;
        let shown = match (table.families.as_slice(), &streamed) {
            ([family], None) if family.place.slot.is_none() => {
                return append(&inner, &state, writer, &loaded, &family.place.keyspace);
            }
            (_, None) => move_table(&inner, &state, writer, loaded.sources()?, &table),
            (_, Some(homes)) => move_table(&inner, &state, writer, streamed_rows(&inner, homes)?, &table),
        };
        moves += 1;
        match shown {
            Err(StoreError::TableChanged { .. }) if moves < MOVES => {}
            other => return other,
        }
    }
}

/// Adds the rows to what was streamed, and shows both. The keyspace with both comes back unless it was shown.
fn extend(
    inner: &Arc<Inner>,
    mut writer: Writer,
    loaded: &Loaded,
    mut homes: Homes,
    fence: Fence,
) -> StoreResult<(Homes, StoreResult<CommitNo>)> {
    let home = homes.only()?.clone();
    let merge = Merge::new(loaded.sources()?)?;
    if !merge.is_empty() {
        // Nobody else knows the keyspace, so this sees exactly what was streamed.
        let before = (writer.on_duplicate == OnDuplicate::Fail).then(|| inner.pipeline.nonces.take(&inner.pipeline.db));
        let mut ingestion = home.start_ingestion().map_err(engine("beginning an ingestion"))?;
        fill(&home, &mut writer, merge, before.as_deref(), |key, fragment| {
            ingestion.write(key, fragment).map_err(engine("writing a run"))
        })?;
        ingestion.finish().map_err(engine("installing a run"))?;
    }
    let _alone = inner.admission.alone_blocking();
    let shown = flip(inner, &writer, &mut homes, fence);
    Ok((homes, shown))
}

/// Hands the rows of a merge to `write`. A key that is there in `before` is a duplicate.
fn fill(
    home: &Keyspace,
    writer: &mut Writer,
    merge: Merge,
    before: Option<&Snapshot>,
    mut write: impl FnMut(&[u8], &[u8]) -> StoreResult<()>,
) -> StoreResult<()> {
    merge.run(|_, key, fragment, origin| {
        writer.check(key, origin)?;
        if let Some(before) = before {
            absent(writer, before, home, key)?;
        }
        write(key, writer.stamped(fragment, origin)?)
    })
}

fn absent(writer: &Writer, before: &Snapshot, home: &Keyspace, key: &[u8]) -> StoreResult<()> {
    match before.contains_key(home, key).map_err(engine("looking for a duplicate"))? {
        true => Err(writer.duplicate(key)),
        false => Ok(()),
    }
}

fn append(inner: &Inner, state: &State, mut writer: Writer, loaded: &Loaded, home: &Keyspace) -> StoreResult<CommitNo> {
    if writer.on_duplicate == OnDuplicate::Fail {
        Merge::new(loaded.sources()?)?.run(|_, key, _, origin| {
            writer.check(key, origin)?;
            absent(&writer, &state.snapshot, home, key)
        })?;
    }
    let fence = Fence { table: writer.table, since: state.commit };
    let pipeline = &inner.pipeline;
    fence.check(&pipeline.publisher.newest().tables)?;
    let mut ingestion = Ingestion::begin(home, writer.stamp.commit)?;
    let merge = Merge::new(loaded.sources()?)?;
    fill(home, &mut writer, merge, None, |key, fragment| ingestion.write(key.into(), Some(fragment)))?;
    let _alone = inner.admission.alone_blocking();
    let mut last = pipeline.lock_to_write()?;
    let newest = pipeline.publisher.newest().clone();
    fence.check(&newest.tables)?;
    // The ingestion flushes this keyspace's memtable: a commit with rows here and elsewhere must not
    // become durable by half.
    pipeline.close_journal_numbers()?;
    pipeline.group_sync.sync_blocking()?;
    ingestion.finish().map_err(|error| pipeline.read_only.set(&error))?;
    let stamp = inner.pipeline.shown_by(&last, writer.stamp)?;
    newest.tables.table(writer.table)?.changed.by(stamp.commit);
    pipeline.applied(&mut last, stamp, newest.tables.clone(), Durability::Sync);
    Ok(stamp.commit)
}

fn move_table(
    inner: &Arc<Inner>,
    state: &State,
    mut writer: Writer,
    mut sources: Vec<Source>,
    table: &Table,
) -> StoreResult<CommitNo> {
    // In front: what the load brings wins over what is there.
    sources.splice(0..0, table.families.iter().map(|family| stored_rows(state, family.id, &family.place)));
    let mut homes = Homes::none(inner);
    for family in &table.families {
        homes.make(writer.table, family.id, writer.stamp.commit)?;
    }
    writer.write_all(Merge::new(sources)?, &homes.made)?;
    let _alone = inner.admission.alone_blocking();
    let fence = Fence { table: writer.table, since: state.commit };
    flip(inner, &writer, &mut homes, fence)
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

/// The rows that a load has streamed and added to them.
fn streamed_rows(inner: &Inner, homes: &Homes) -> StoreResult<Vec<Source>> {
    let snapshot = inner.pipeline.nonces.take(&inner.pipeline.db);
    let rows = homes.made.iter().map(|(family, home)| {
        let row = (Slice::from([]), Slice::from([]));
        Source::Stored(Stored { iter: snapshot.iter(home), prefix: 0, family: *family, origin: Origin::New, row })
    });
    Ok(rows.collect())
}

/// Lets the table be where its rows were written.
fn flip(inner: &Inner, writer: &Writer, homes: &mut Homes, fence: Fence) -> StoreResult<CommitNo> {
    let (pipeline, id) = (&inner.pipeline, writer.table);
    let mut last = pipeline.lock_to_write()?;
    let base = pipeline.publisher.newest().clone();
    fence.check(&base.tables)?;
    let mut moved = Table::clone(base.tables.table(id)?.as_ref());
    let stamp = inner.pipeline.shown_by(&last, writer.stamp)?;
    let mut batch = OwnedWriteBatch::with_capacity(pipeline.db.clone(), 4);
    let mut dropped = Dropped::default();
    for family in &mut moved.families {
        let Some((_, home)) = homes.made.iter().find(|(made, _)| *made == family.id) else {
            return Err(StoreError::NoSuchFamily { table: id, family: family.id });
        };
        let old = std::mem::replace(&mut family.place, Place::own(home.clone()));
        dropped.add(&mut batch, &pipeline.meta, &old)?;
    }
    meta::put_table(&mut batch, &pipeline.meta, id, &moved)?;
    let changed = moved.changed.clone();
    let mut tables = base.tables.as_ref().clone();
    tables.insert(id, moved);
    pipeline.commit(&mut last, batch, stamp, Arc::new(tables), Durability::Sync)?;
    changed.by(stamp.commit);
    drop(last);
    homes.made.clear();
    inner.reclaim.lock().append(dropped);
    Ok(stamp.commit)
}
