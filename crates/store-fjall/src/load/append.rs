//! Ends a load into tables with own keyspaces by appending: new files on top of the existing ones, without rewriting
//! stored rows.
//!
//! ```text
//!   one table       ingestion into its keyspace; the manifest's update is the commit
//!   several         one large commit (large/) of all rows: a staged file, and an intent that refers to it
//! ```
//! Both check for duplicates in a state before they begin, and a fence requires that nobody has written to the tables
//! since that state. A failed append deletes its files (`load/ingestion.rs`).

use super::duplicates::{Neighbours, absent};
use super::install::{MOVES, Part, rows_of, stored_rows};
use super::merge::{Merge, Origin, Source};
use super::writer::Writer;
use crate::commit::pipeline::Fence;
use crate::commit::publish::State;
use crate::inner::Inner;
use crate::large;
use crate::limits::check_own_key;
use crate::load::ingestion::Ingestion;
use crate::placement::Place;
use crate::store::blocking;
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;
use store::{
    CommitNo, Durability, FamilyId, KeyRange, LargeRow, LargeRows, LargeWrite, OnDuplicate, StoreError, StoreResult,
    TableId,
};

/// Returns true if the rows should be appended, false if the tables should be moved.
///
/// # Errors
/// [`StoreError::NoSuchTable`], I/O failures.
pub(super) fn is_wanted(inner: &Inner, parts: &[Part]) -> StoreResult<bool> {
    let state = inner.pipeline.publisher.newest().clone();
    for part in parts.iter().filter(|part| part.streamed.is_none() && !part.is_empty()) {
        let table = state.tables.table(part.of.table)?;
        let [family] = table.families.as_slice() else { continue };
        // A table without rows can be moved at no cost.
        if family.place.slot.is_none() && stored_rows(&state, family.id, &family.place, &KeyRange::all()).advance()? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Appends the rows. The caller syncs the returned commit.
///
/// # Errors
/// As [`store::BulkLoad::finish`].
pub(super) async fn append(inner: &Arc<Inner>, mut parts: Vec<Part>) -> StoreResult<CommitNo> {
    let of = inner.clone();
    if parts.len() == 1
        && let Some(part) = parts.pop()
    {
        return blocking(move || append_one(&of, &part)).await;
    }
    let _permit = inner.admission.write_large().await?;
    let place = inner.admission.large().await?;
    blocking(move || {
        let _place = place;
        append_all(&of, parts)
    })
    .await
}

fn append_one(inner: &Inner, part: &Part) -> StoreResult<CommitNo> {
    let state = inner.pipeline.publisher.newest().clone();
    let table = state.tables.table(part.of.table)?;
    let Some(home) = table.families.first().map(|family| family.place.keyspace.clone()) else {
        return Err(StoreError::NoSuchTable { table: part.of.table });
    };
    refuse_duplicates(&state, part, part.sources()?)?;
    let mut writer = Writer::new(inner, part.of.clone())?;
    let fence = Fence { table: part.of.table, since: state.commit };
    let pipeline = &inner.pipeline;
    fence.check(&pipeline.publisher.newest().tables)?;
    let mut ingestion = Ingestion::begin(&home, writer.stamp.commit)?;
    Merge::new(part.sources()?)?.run(|_, key, fragment, origin| {
        writer.check(key, origin)?;
        writer.stamp_new(fragment, origin)?;
        ingestion.write(key.into(), Some(&*fragment))
    })?;
    let _alone = inner.admission.lock_gate_exclusively();
    let mut last = pipeline.lock_to_write()?;
    let newest = pipeline.publisher.newest().clone();
    fence.check(&newest.tables)?;
    // The ingestion flushes this keyspace's memtable. A commit with rows here and in other keyspaces must not become
    // durable partly.
    pipeline.group_sync.sync_blocking()?;
    pipeline.close_journal_numbers()?;
    pipeline.group_sync.journal().sync().map_err(|error| pipeline.read_only.set(&error))?;
    ingestion.finish().map_err(|error| pipeline.read_only.set(&error))?;
    let stamp = inner.pipeline.shown_by(&last, writer.stamp)?;
    newest.tables.table(part.of.table)?.changed.by(stamp.commit);
    pipeline.applied(&mut last, stamp, newest.tables.clone(), Durability::Sync);
    Ok(stamp.commit)
}

fn append_all(inner: &Arc<Inner>, parts: Vec<Part>) -> StoreResult<CommitNo> {
    let write = RowsOfLoad { inner: inner.clone(), parts };
    let mut attempts = 0;
    loop {
        let state = inner.pipeline.publisher.newest().clone();
        let mut fences = Vec::with_capacity(write.parts.len());
        for part in &write.parts {
            refuse_duplicates(&state, part, write.sources(part)?)?;
            fences.push(Fence { table: part.of.table, since: state.commit });
        }
        drop(state);
        attempts += 1;
        match large::apply(inner, &write, &[], &fences, Durability::Sync) {
            Err(StoreError::TableChanged { .. }) if attempts < MOVES => {}
            other => return other,
        }
    }
}

/// Fails for duplicate keys, within the load or with the table, as [`store::LoadTable`] defines them.
fn refuse_duplicates(state: &State, part: &Part, sources: Vec<Source>) -> StoreResult<()> {
    let of = &part.of;
    if of.on_duplicate == OnDuplicate::Replace && of.unique.is_none() {
        return Ok(());
    }
    let table = state.tables.table(of.table)?;
    let places: Vec<(FamilyId, &Place)> = table.families.iter().map(|family| (family.id, &family.place)).collect();
    let mut neighbours = Neighbours::default();
    Merge::new(sources)?.run(|family, key, _, origin| {
        check_own_key(key)?;
        neighbours.next(of, key, origin == Origin::Twice)?;
        let place = places.iter().find(|(id, _)| *id == family).map(|(_, place)| *place);
        let place = place.ok_or(StoreError::NoSuchFamily { table: of.table, family })?;
        absent(of, &state.snapshot, place, key)
    })
}

/// The rows of several tables, written as one commit.
struct RowsOfLoad {
    inner: Arc<Inner>,
    parts: Vec<Part>,
}

impl RowsOfLoad {
    fn sources(&self, part: &Part) -> StoreResult<Vec<Source>> {
        let mut sources = match &part.streamed {
            Some(streamed) => rows_of(&self.inner, &streamed.homes),
            None => Vec::new(),
        };
        sources.extend(part.sources()?);
        Ok(sources)
    }
}

impl fmt::Debug for RowsOfLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| &part.of)).finish()
    }
}

impl LargeWrite for RowsOfLoad {
    fn families(&self) -> Vec<(TableId, FamilyId)> {
        let state = self.inner.pipeline.publisher.newest().clone();
        let mut all = Vec::new();
        for part in &self.parts {
            // A table that was dropped since is reported when its places are looked up.
            match state.tables.table(part.of.table) {
                Ok(table) => all.extend(table.families.iter().map(|family| (part.of.table, family.id))),
                Err(_) => all.push((part.of.table, FamilyId::default())),
            }
        }
        all
    }

    fn bytes(&self) -> u64 {
        // The disk space was reserved when the rows were written to the load.
        0
    }

    fn rows(&self, table: TableId, family: FamilyId) -> StoreResult<LargeRows<'_>> {
        let part = self.parts.iter().find(|part| part.of.table == table).ok_or(StoreError::NoSuchTable { table })?;
        Ok(Box::new(RowsOfFamily { merge: Merge::new(self.sources(part)?)?, family }))
    }
}

/// Iterates over the rows of one family in a merge of all families.
struct RowsOfFamily {
    merge: Merge,
    family: FamilyId,
}

impl Iterator for RowsOfFamily {
    type Item = StoreResult<LargeRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut key, mut fragment) = (Vec::new(), Vec::new());
        loop {
            match self.merge.next_row(&mut key, &mut fragment) {
                Err(error) => return Some(Err(error)),
                Ok(None) => return None,
                Ok(Some((family, _))) if family == self.family => {
                    return Some(Ok((Bytes::from(key), Some(Bytes::from(fragment)))));
                }
                Ok(Some(_)) => {}
            }
        }
    }
}
