//! The records of the meta keyspace: tables, regions, placements, purges.
//!
//! Records are few and small, so they are JSON: readable in a dump and extensible. A record is written in the same
//! fjall batch as the rows that it describes. Format: `docs/formats/store-meta.md`.
//!
//! ```text
//!   "n"            -> {"slot":8,"region":12}                                      next ids
//!   "t" table:u32  -> {"families":[{"id":0,"slot":7}],"regions":[{"id":11,"start":""}]}
//!   "p" slot:u32   -> {}                                                         rows to be reclaimed
//!   "i"            -> {"file":"41","keyspaces":["shared","own-7-0-12"]}             an unfinished large commit
//!   "s"            -> {"previous":{"start":7,"end":9},"low":9}     a gap in the journal's sequence numbers
//! ```

use crate::error::engine;
use crate::journal::seqno_chain::SeqnoMark;
use crate::placement::{Changed, Family, NextIds, Place, Region, Table, TableMap};
use fjall::{Database, Keyspace, OwnedWriteBatch, Readable, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use store::{CommitNo, FamilyId, RegionId, StoreError, StoreResult, TableId};

/// Name of the keyspace with these records.
pub(crate) const META: &str = "meta";
/// Name of the keyspace that small tables share.
pub(crate) const SHARED: &str = "shared";
/// Prefix of the names of keyspaces that hold one (table, family).
pub(crate) const OWN: &str = "own-";

const NEXT_KEY: &[u8] = b"n";
/// Read from the journal only: `journal/seqno_chain.rs`.
pub(crate) const SEQNO_KEY: &[u8] = b"s";
const INTENT_KEY: &[u8] = b"i";
const TABLE_TAG: u8 = b't';
const PURGE_TAG: u8 = b'p';

#[derive(Serialize, Deserialize)]
struct StoredNext {
    slot: u32,
    region: u64,
}

#[derive(Serialize, Deserialize)]
struct StoredTable {
    families: Vec<StoredFamily>,
    regions: Vec<StoredRegion>,
}

#[derive(Serialize, Deserialize)]
struct StoredFamily {
    id: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slot: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keyspace: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredRegion {
    id: u64,
    /// Its first key in hexadecimal.
    start: String,
}

/// A large commit that recovery must redo: its rows are in the staged file `file` (`large/`).
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) file: String,
    pub(crate) keyspaces: Vec<String>,
}

impl Intent {
    /// The commit number that its rows carry, which is the name of the staged file.
    pub(crate) fn commit(&self) -> CommitNo {
        CommitNo(self.file.parse().unwrap_or(0))
    }
}

/// The content of the meta keyspace at open.
pub(crate) struct Meta {
    /// The tables.
    pub(crate) tables: TableMap,
    /// Slots of dropped tables whose rows are not reclaimed yet.
    pub(crate) purges: Vec<u32>,
    /// The large commit that a crash interrupted, if any.
    pub(crate) intent: Option<Intent>,
}

/// Checks that the keyspaces exist which every non-empty store has.
///
/// # Errors
/// [`StoreError::Corrupted`] if one is missing.
pub(crate) fn check_keyspaces_exist(db: &Database) -> StoreResult<()> {
    match [META, SHARED].iter().find(|name| !db.keyspace_exists(name)) {
        Some(name) => Err(StoreError::Corrupted { detail: format!("keyspace \"{name}\" is missing") }),
        None => Ok(()),
    }
}

/// Reads all records.
///
/// # Errors
/// [`StoreError::Corrupted`] for a record that cannot be read or that names a missing keyspace.
pub(crate) fn load(db: &Database, meta: &Keyspace, shared: &Keyspace, snapshot: &Snapshot) -> StoreResult<Meta> {
    let mut tables = TableMap::new(NextIds { slot: 1, region: 1 });
    let mut purges = Vec::new();
    let mut intent = None;
    for guard in snapshot.iter(meta) {
        let (key, value) = guard.into_inner().map_err(engine("reading the meta keyspace"))?;
        match key.as_ref() {
            SEQNO_KEY => {}
            INTENT_KEY => intent = Some(parse(&key, &value)?),
            NEXT_KEY => {
                let next: StoredNext = parse(&key, &value)?;
                tables.next = NextIds { slot: next.slot, region: next.region };
            }
            [TABLE_TAG, id @ ..] => {
                let id = TableId(number(&key, id)?);
                tables.insert(id, table_from_stored(db, shared, parse(&key, &value)?)?);
            }
            [PURGE_TAG, slot @ ..] => purges.push(number(&key, slot)?),
            _ => return Err(unreadable(&key, "unknown record")),
        }
    }
    Ok(Meta { tables, purges, intent })
}

/// Adds the record of `table` to a batch.
///
/// # Errors
/// None in practice: the records always serialise.
pub(crate) fn put_table(batch: &mut OwnedWriteBatch, meta: &Keyspace, id: TableId, table: &Table) -> StoreResult<()> {
    let families = table.families.iter().map(|family| StoredFamily {
        id: family.id.0,
        slot: family.place.slot,
        keyspace: family.place.slot.is_none().then(|| family.place.keyspace.name().to_string()),
    });
    let regions = table.regions.iter().map(|region| StoredRegion { id: region.id.0, start: to_hex(&region.start) });
    let stored = StoredTable { families: families.collect(), regions: regions.collect() };
    put(batch, meta, tagged(TABLE_TAG, id.0), &stored)
}

/// Removes the record of a table.
pub(crate) fn remove_table(batch: &mut OwnedWriteBatch, meta: &Keyspace, id: TableId) {
    batch.remove(meta, tagged(TABLE_TAG, id.0));
}

/// Records that the rows of `slot` are to be reclaimed.
///
/// # Errors
/// As [`put_table`].
pub(crate) fn put_purge(batch: &mut OwnedWriteBatch, meta: &Keyspace, slot: u32) -> StoreResult<()> {
    put(batch, meta, tagged(PURGE_TAG, slot), &serde_json::Map::new())
}

/// Deletes the record of [`put_purge`]: the rows are reclaimed.
pub(crate) fn remove_purge(batch: &mut OwnedWriteBatch, meta: &Keyspace, slot: u32) {
    batch.remove(meta, tagged(PURGE_TAG, slot));
}

/// Records a commit whose rows are not in all of their keyspaces yet.
///
/// # Errors
/// As [`put_table`].
pub(crate) fn put_intent(batch: &mut OwnedWriteBatch, meta: &Keyspace, intent: &Intent) -> StoreResult<()> {
    put(batch, meta, INTENT_KEY.to_vec(), intent)
}

/// Deletes the record of [`put_intent`]: the commit's rows are in their keyspaces.
pub(crate) fn remove_intent(batch: &mut OwnedWriteBatch, meta: &Keyspace) {
    batch.remove(meta, INTENT_KEY);
}

/// Adds the record of the next ids.
///
/// # Errors
/// As [`put_table`].
pub(crate) fn put_next(batch: &mut OwnedWriteBatch, meta: &Keyspace, next: NextIds) -> StoreResult<()> {
    let stored = StoredNext { slot: next.slot, region: next.region };
    put(batch, meta, NEXT_KEY.to_vec(), &stored)
}

/// Adds a sequence-number mark to a batch whose number may not follow that of the batch before.
pub(crate) fn put_seqno_mark(batch: &mut OwnedWriteBatch, meta: &Keyspace, mark: &SeqnoMark) {
    // Serialising numbers does not fail. If it did, recovery would report a gap instead of reading wrong data.
    batch.insert(meta, SEQNO_KEY, serde_json::to_vec(mark).unwrap_or_default());
}

/// Keyspaces that no table refers to: remains of a load or drop that a crash interrupted.
pub(crate) fn orphans(db: &Database, tables: &TableMap) -> Vec<String> {
    let named: HashSet<String> = tables
        .iter()
        .flat_map(|(_, table)| &table.families)
        .map(|family| family.place.keyspace.name().to_string())
        .collect();
    let names = db.list_keyspace_names().into_iter().map(|name| name.to_string());
    names.filter(|name| name.starts_with(OWN) && !named.contains(name)).collect()
}

fn table_from_stored(db: &Database, shared: &Keyspace, stored: StoredTable) -> StoreResult<Table> {
    let mut families = Vec::with_capacity(stored.families.len());
    for family in stored.families {
        let place = match (family.slot, family.keyspace) {
            (Some(slot), None) => Place::slot(shared, slot),
            (None, Some(name)) => Place::own(existing_keyspace(db, &name)?),
            _ => return Err(unreadable(META.as_bytes(), "a family has neither slot nor keyspace, or both")),
        };
        families.push(Family { id: FamilyId(family.id), place });
    }
    let mut regions = Vec::with_capacity(stored.regions.len());
    for region in stored.regions {
        let start = from_hex(&region.start).ok_or_else(|| unreadable(META.as_bytes(), "a region start is not hex"))?;
        regions.push(Region { id: RegionId(region.id), start: start.into(), load: Default::default() });
    }
    Ok(Table { families, regions, changed: Changed::default() })
}

/// Opens a keyspace that a record refers to.
///
/// # Errors
/// [`StoreError::Corrupted`] if it does not exist; I/O failures.
pub(crate) fn existing_keyspace(db: &Database, name: &str) -> StoreResult<Keyspace> {
    if !db.keyspace_exists(name) {
        return Err(StoreError::Corrupted { detail: format!("keyspace \"{name}\" of a table is missing") });
    }
    db.keyspace(name, Default::default).map_err(engine(format!("opening keyspace {name}")))
}

fn put(batch: &mut OwnedWriteBatch, meta: &Keyspace, key: Vec<u8>, record: &impl Serialize) -> StoreResult<()> {
    let value = serde_json::to_vec(record)
        .map_err(|error| StoreError::Io { action: "writing a meta record".into(), reason: error.to_string() })?;
    batch.insert(meta, key, value);
    Ok(())
}

fn parse<'a, T: Deserialize<'a>>(key: &[u8], value: &'a [u8]) -> StoreResult<T> {
    serde_json::from_slice(value).map_err(|error| unreadable(key, &error.to_string()))
}

fn tagged(tag: u8, id: u32) -> Vec<u8> {
    let mut key = vec![tag];
    key.extend_from_slice(&id.to_be_bytes());
    key
}

fn number(key: &[u8], bytes: &[u8]) -> StoreResult<u32> {
    bytes.try_into().map(u32::from_be_bytes).map_err(|_| unreadable(key, "its key is not tag and id"))
}

fn unreadable(key: &[u8], why: &str) -> StoreError {
    StoreError::Corrupted { detail: format!("meta record {}: {why}", to_hex(key)) }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_reads_back_and_refuses_the_rest() {
        assert_eq!(from_hex(&to_hex(&[0, 0x7f, 0xff])), Some(vec![0, 0x7f, 0xff]));
        assert_eq!(from_hex("abc"), None);
        assert_eq!(from_hex("zz"), None);
    }
}
