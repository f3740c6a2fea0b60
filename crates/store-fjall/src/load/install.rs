//! The end of a large load: sorted rows go into fjall's tables past the journal, and are shown by one
//! commit.
//!
//! ```text
//!   the table has one family, in a keyspace of its own:    append    ingest there
//!   otherwise:  move    ingest into new keyspaces, stored rows merged in, then flip the placement in
//!                       one batch of the meta keyspace
//!   rows were streamed:         ingest what came out of order onto them, then flip likewise
//! ```
//! Ingestion is atomic for one keyspace and not journaled, so it is only used where that suffices: in
//! an append the manifest of that keyspace decides, in a move the batch that flips the placement.
//!
//! Rows of a load carry a commit number that was taken when their writing began, and the commit that
//! shows them has that number too, unless others committed meanwhile: then it has a larger one.

use super::Load;
use super::merge::{Merge, Origin, Source};
use super::stream::Streamed;
use crate::commit::pipeline::{Dropped, Last};
use crate::commit::publish::State;
use crate::error::engine;
use crate::inner::Inner;
use crate::meta;
use crate::open::keyspace;
use crate::placement::{Family, Place, Table};
use crate::stamp;
use bytes::Bytes;
use fjall::{Keyspace, OwnedWriteBatch, Readable, Slice};
use std::sync::Arc;
use store::{CommitNo, Durability, FamilyId, KeyRange, OnDuplicate, StoreError, StoreResult, TableId};

/// Merges, ingests and applies. Blocks; the caller syncs the commit that it returns.
///
/// # Errors
/// As [`store::BulkLoad::finish`].
pub(crate) fn install(mut load: Load) -> StoreResult<CommitNo> {
    let inner = load.inner.clone();
    let state = inner.pipeline.publisher.newest().clone();
    let table = state.tables.table(load.table)?.clone();
    let streamed = load.streamed.take();
    let mut sources: Vec<Source> = load.runs.drain(..).map(Source::Run).collect();
    load.buffer.sort();
    sources.push(Source::Rows(std::mem::take(&mut load.buffer), 0));
    if let Some(Streamed { homes, stamp }) = streamed {
        let writer = Writer { table: load.table, on_duplicate: load.on_duplicate, stamp, fragment: Vec::new() };
        return extend(&inner, writer, sources, homes);
    }
    let writer = Writer::new(&inner, load.table, load.on_duplicate)?;
    match table.families.as_slice() {
        [family] if family.place.slot.is_none() => append(&inner, &state, writer, sources, &family.place.keyspace),
        _ => move_table(&inner, &state, writer, sources, &table),
    }
}

/// Adds the sources to what was streamed, and shows both.
fn extend(inner: &Arc<Inner>, mut writer: Writer, sources: Vec<Source>, homes: Homes) -> StoreResult<CommitNo> {
    let home = homes.only()?.clone();
    let merge = Merge::new(sources)?;
    if merge.is_empty() {
        let _alone = inner.admission.alone_blocking();
        return flip(inner, &writer, homes);
    }
    // Nobody else knows the keyspace, so this sees exactly what was streamed.
    let streamed = inner.pipeline.db.snapshot();
    let check = writer.on_duplicate == OnDuplicate::Fail;
    let mut ingestion = home.start_ingestion().map_err(engine("beginning an ingestion"))?;
    merge.run(|_, key, fragment, origin| {
        writer.check(key, origin)?;
        if check && streamed.contains_key(&home, key).map_err(engine("looking for a duplicate"))? {
            return Err(writer.duplicate(key));
        }
        let fragment = writer.stamped(fragment, origin)?;
        ingestion.write(key, fragment).map_err(engine("writing a run"))
    })?;
    ingestion.finish().map_err(engine("installing a run"))?;
    let _alone = inner.admission.alone_blocking();
    flip(inner, &writer, homes)
}

/// A commit number and time for the rows of this load; no commit is made by it.
fn reserve(inner: &Inner) -> StoreResult<Last> {
    let mut last = inner.pipeline.lock();
    let stamp = inner.pipeline.next_stamp(&last)?;
    *last = stamp;
    Ok(stamp)
}

fn append(
    inner: &Inner,
    state: &State,
    mut writer: Writer,
    sources: Vec<Source>,
    home: &Keyspace,
) -> StoreResult<CommitNo> {
    let mut ingestion = home.start_ingestion().map_err(engine("beginning an ingestion"))?;
    let check = writer.on_duplicate == OnDuplicate::Fail;
    Merge::new(sources)?.run(|_, key, fragment, origin| {
        writer.check(key, origin)?;
        if check && state.snapshot.contains_key(home, key).map_err(engine("looking for a duplicate"))? {
            return Err(writer.duplicate(key));
        }
        let fragment = writer.stamped(fragment, origin)?;
        ingestion.write(key, fragment).map_err(engine("writing a run"))
    })?;
    let _alone = inner.admission.alone_blocking();
    let pipeline = &inner.pipeline;
    let mut last = pipeline.lock();
    pipeline.read_only.check()?;
    // The ingestion flushes this keyspace's memtable: a commit with rows here and elsewhere must not
    // become durable by half.
    pipeline.group_sync.sync_blocking()?;
    let newest = pipeline.publisher.newest().clone();
    let at_home = |family: &Family| family.place.keyspace.id() == home.id();
    if !newest.tables.table(writer.table)?.families.iter().any(at_home) {
        // Another load moved it: the caller let two of them at one table.
        return Err(StoreError::Unsupported { what: "two bulk loads into one table at a time" });
    }
    ingestion.finish().map_err(|error| pipeline.read_only.set(&engine("installing a run")(error)))?;
    let stamp = final_stamp(inner, &last, writer.stamp)?;
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
    flip(inner, &writer, homes)
}

/// The number of the commit that shows the load.
fn final_stamp(inner: &Inner, last: &Last, reserved: Last) -> StoreResult<Last> {
    if last.commit == reserved.commit { Ok(reserved) } else { inner.pipeline.next_stamp(last) }
}

/// The rows that one family of the table has.
pub(super) fn stored_rows(state: &State, family: FamilyId, place: &Place) -> Source {
    let range = KeyRange::prefix(place.prefix.clone());
    let iter = match range.end {
        Some(end) => state.snapshot.range(&place.keyspace, range.start..end),
        None => state.snapshot.range(&place.keyspace, range.start..),
    };
    Source::Stored { iter, prefix: place.prefix.len(), family, row: (Slice::from([]), Slice::from([])) }
}

/// Lets the table be where its rows were written.
fn flip(inner: &Inner, writer: &Writer, mut homes: Homes) -> StoreResult<CommitNo> {
    let (pipeline, id) = (&inner.pipeline, writer.table);
    let mut last = pipeline.lock();
    pipeline.read_only.check()?;
    let base = pipeline.publisher.newest().clone();
    let mut moved = Table::clone(base.tables.table(id)?.as_ref());
    let stamp = final_stamp(inner, &last, writer.stamp)?;
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
    let mut tables = base.tables.as_ref().clone();
    tables.insert(id, moved);
    pipeline.commit(&mut last, batch, stamp, Arc::new(tables), Durability::Sync)?;
    drop(last);
    homes.made.clear();
    inner.reclaim.lock().append(dropped);
    Ok(stamp.commit)
}

/// New keyspaces; deleted unless the load takes them over.
pub(crate) struct Homes {
    inner: Arc<Inner>,
    made: Vec<(FamilyId, Keyspace)>,
}

impl Homes {
    pub(super) fn none(inner: &Arc<Inner>) -> Self {
        Self { inner: inner.clone(), made: Vec::new() }
    }

    /// The keyspace of a table with one family.
    ///
    /// # Errors
    /// [`StoreError::Closed`] when there is none.
    pub(super) fn only(&self) -> StoreResult<&Keyspace> {
        self.made.first().map(|(_, home)| home).ok_or(StoreError::Closed)
    }

    /// The commit number makes the name one that was never used.
    pub(super) fn make(&mut self, table: TableId, family: FamilyId, number: CommitNo) -> StoreResult<()> {
        let name = format!("{}{}-{}-{}", meta::OWN, table.0, family.0, number.0);
        let made = keyspace(&self.inner.pipeline.db, &self.inner.pipeline.watermark, &name)?;
        self.made.push((family, made));
        Ok(())
    }
}

impl Drop for Homes {
    fn drop(&mut self) {
        let unused = self.made.drain(..).map(|(_, keyspace)| keyspace);
        self.inner.reclaim.lock().keyspaces.extend(unused);
    }
}

/// Judges duplicates and stamps rows.
pub(crate) struct Writer {
    table: TableId,
    on_duplicate: OnDuplicate,
    pub(super) stamp: Last,
    fragment: Vec<u8>,
}

impl Writer {
    /// Takes a commit number and time for the rows of a load.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn new(inner: &Inner, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Self> {
        Ok(Self { table, on_duplicate, stamp: reserve(inner)?, fragment: Vec::new() })
    }

    /// Stamps a new row where it is.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] for bytes that are no fragment.
    pub(super) fn stamp(&self, fragment: &mut [u8]) -> StoreResult<()> {
        stamp::write(fragment, self.stamp.stamp, self.stamp.commit)
    }

    /// Every row into the new keyspace of its family.
    fn write_all(&mut self, merge: Merge, homes: &[(FamilyId, Keyspace)]) -> StoreResult<()> {
        let mut ingestions = Vec::with_capacity(homes.len());
        for (family, home) in homes {
            ingestions.push((*family, home.start_ingestion().map_err(engine("beginning an ingestion"))?));
        }
        merge.run(|family, key, fragment, origin| {
            self.check(key, origin)?;
            let found = ingestions.iter_mut().find(|(id, _)| *id == family);
            let (_, ingestion) = found.ok_or(StoreError::NoSuchFamily { table: self.table, family })?;
            ingestion.write(key, self.stamped(fragment, origin)?).map_err(engine("writing a run"))
        })?;
        for (_, ingestion) in ingestions {
            ingestion.finish().map_err(engine("installing a run"))?;
        }
        Ok(())
    }

    fn check(&self, key: &[u8], origin: Origin) -> StoreResult<()> {
        match (self.on_duplicate, origin) {
            (OnDuplicate::Fail, Origin::Twice) => Err(self.duplicate(key)),
            _ => Ok(()),
        }
    }

    fn duplicate(&self, key: &[u8]) -> StoreError {
        StoreError::DuplicateKey { table: self.table, key: Bytes::copy_from_slice(key) }
    }

    /// Rows that the table had keep their stamp.
    fn stamped(&mut self, fragment: &[u8], origin: Origin) -> StoreResult<&[u8]> {
        self.fragment.clear();
        self.fragment.extend_from_slice(fragment);
        if origin != Origin::Stored {
            stamp::write(&mut self.fragment, self.stamp.stamp, self.stamp.commit)?;
        }
        Ok(&self.fragment)
    }
}
