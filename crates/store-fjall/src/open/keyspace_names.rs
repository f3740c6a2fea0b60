//! Reads and repairs fjall's records of keyspaces (an LSM tree, keyspace 0) before fjall opens the database.
//!
//! ```text
//!   "n" id:u64        -> name                       written when a keyspace is created, a tombstone when it is deleted
//!   "c" id:u64 option -> value                      likewise, one for each option
//! ```
//! fjall 3.1.13 trusts these records when it opens: it deletes the folder of a keyspace without a name record and
//! panics on missing options (which poisons a lock and then aborts the process). But it derives neither its next
//! sequence number nor its next keyspace id from them. So after a restart the records of a keyspace that reuses the id
//! of a deleted one may be hidden by the tombstones or records of the deleted one. All versions of a record are kept
//! (fjall compacts this tree with a watermark of 0), so hidden records can be found.

use crate::error::storage;
use lsm_tree::{AbstractTree, AnyTree, Config, SequenceNumberCounter, Slice, UserKey, ValueType};
use std::collections::BTreeMap;
use std::path::Path;
use store::{StoreError, StoreResult};

const NAME_TAG: u8 = b'n';
const OPTION_TAG: u8 = b'c';
/// The option records that fjall requires for each keyspace.
const OPTIONS: [&str; 18] = [
    "compaction_strategy",
    "data_block_compression_policy",
    "data_block_hash_ratio_policy",
    "data_block_restart_interval_policy",
    "data_block_size_policy",
    "expect_point_read_hits",
    "filter_block_partitioning_policy",
    "filter_block_pinning_policy",
    "filter_policy",
    "index_block_compression_policy",
    "index_block_partitioning_policy",
    "index_block_pinning_policy",
    "index_block_restart_interval_policy",
    "leveled_l0_threshold",
    "leveled_level_ratio_policy",
    "leveled_target_size",
    "manual_journal_persist",
    "max_memtable_size",
];

/// The records of a database that is not open.
pub(crate) struct Names {
    tree: AnyTree,
    seqno: SequenceNumberCounter,
}

/// The state of a keyspace's records.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// fjall reads the correct name and options.
    Sound,
    /// fjall would read no records, or those of an earlier keyspace with this id.
    Hidden { name: String },
    /// No name record exists.
    None,
}

impl Names {
    /// Opens the tree in its folder.
    ///
    /// # Errors
    /// I/O failures and damage.
    pub(crate) fn open(folder: &Path) -> StoreResult<Self> {
        let seqno = SequenceNumberCounter::default();
        let tree = Config::new(folder, seqno.clone(), SequenceNumberCounter::default()).open();
        let tree = tree.map_err(|error| storage(format!("opening {}", folder.display()))(&error))?;
        let highest = tree.get_highest_persisted_seqno();
        seqno.set(highest.map_or(0, |highest| highest + 1));
        Ok(Self { tree, seqno })
    }

    /// The sequence number after the largest in the tree.
    pub(crate) fn next_seqno(&self) -> u64 {
        self.seqno.get()
    }

    /// The largest keyspace id in the tree, including deleted keyspaces.
    pub(crate) fn highest_id(&self) -> u64 {
        let version = self.tree.current_version();
        version.iter_tables().filter_map(|table| id_of(table.metadata.key_range.max())).max().unwrap_or(0)
    }

    /// Compares what fjall would read for a keyspace with the newest records.
    ///
    /// # Errors
    /// I/O failures and damage.
    pub(crate) fn record(&self, id: u64) -> StoreResult<Record> {
        let Some(name) = self.newest_name(id)? else { return Ok(Record::None) };
        let mut sound = self.finds(&key(NAME_TAG, id, ""))?.is_some_and(|found| *found == *name.as_bytes());
        for option in OPTIONS {
            sound = sound && self.finds(&key(OPTION_TAG, id, option))?.is_some();
        }
        Ok(if sound { Record::Sound } else { Record::Hidden { name } })
    }

    /// Writes the records of a keyspace again, with a sequence number above those that hide them.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] if an option record does not exist; I/O failures.
    pub(crate) fn restore(&self, id: u64, name: &str) -> StoreResult<()> {
        let mut records = BTreeMap::new();
        for option in OPTIONS {
            let key = key(OPTION_TAG, id, option);
            let newest = self.values(&key)?.into_iter().max_by_key(|(seqno, _)| *seqno);
            let Some((_, value)) = newest else {
                let detail = format!("keyspace {id} (\"{name}\") has no record of its option {option}");
                return Err(StoreError::Corrupted { detail });
            };
            records.insert(key, value);
        }
        records.insert(key(NAME_TAG, id, ""), Slice::from(name.as_bytes()));
        let written = self.tree.ingestion().and_then(|mut ingestion| {
            records.into_iter().try_for_each(|(key, value)| ingestion.write(key, value))?;
            ingestion.finish()
        });
        written.map_err(|error| storage(format!("restoring the records of keyspace {id}"))(&error))
    }

    /// The newest name. Names end with a growing number; sequence numbers may not have grown.
    ///
    /// # Errors
    /// I/O failures and damage.
    pub(crate) fn newest_name(&self, id: u64) -> StoreResult<Option<String>> {
        let names = self.values(&key(NAME_TAG, id, ""))?;
        let names = names.into_iter().map(|(seqno, name)| (String::from_utf8_lossy(&name).into_owned(), seqno));
        Ok(names.max_by_key(|(name, seqno)| (number_at_the_end(name), *seqno)).map(|(name, _)| name))
    }

    /// The value that fjall reads, provided that compaction keeps it: reads return the value of the table that was
    /// installed last, compactions keep the version with the highest sequence number.
    fn finds(&self, key: &UserKey) -> StoreResult<Option<Slice>> {
        let highest = self.versions(key)?.into_iter().max_by_key(|version| version.seqno);
        let highest = highest.and_then(|version| version.value);
        let found = self.tree.get(key, lsm_tree::SeqNo::MAX).map_err(|error| reading(&error))?;
        Ok(found.filter(|found| Some(found) == highest.as_ref()))
    }

    /// All values of a key with their sequence numbers.
    fn values(&self, key: &UserKey) -> StoreResult<Vec<(u64, Slice)>> {
        let versions = self.versions(key)?.into_iter();
        Ok(versions.filter_map(|version| version.value.map(|value| (version.seqno, value))).collect())
    }

    fn versions(&self, key: &UserKey) -> StoreResult<Vec<Version>> {
        let mut versions = Vec::new();
        for table in self.tree.current_version().iter_tables() {
            for item in table.range(key.clone()..=key.clone()) {
                let item = item.map_err(|error| reading(&error))?;
                let value = (item.key.value_type == ValueType::Value).then_some(item.value);
                versions.push(Version { seqno: item.key.seqno, value });
            }
        }
        Ok(versions)
    }
}

/// One version of a record; a tombstone has no value.
struct Version {
    seqno: u64,
    value: Option<Slice>,
}

fn reading(error: &lsm_tree::Error) -> StoreError {
    storage("reading the names of keyspaces")(error)
}

fn key(tag: u8, id: u64, option: &str) -> UserKey {
    let mut key = vec![tag];
    key.extend_from_slice(&id.to_be_bytes());
    key.extend_from_slice(option.as_bytes());
    key.into()
}

fn id_of(key: &[u8]) -> Option<u64> {
    let (_tag, rest) = key.split_first()?;
    rest.first_chunk().copied().map(u64::from_be_bytes)
}

fn number_at_the_end(name: &str) -> u64 {
    name.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use fjall::Database;

    fn names(folder: &Path) -> Names {
        Names::open(&folder.join("keyspaces/0")).unwrap()
    }

    /// Creates keyspaces with these names, and deletes each but the last.
    fn make(folder: &Path, made: &[&str]) -> u64 {
        let db = Database::builder(folder).open().unwrap();
        let mut id = 0;
        for (index, name) in made.iter().enumerate() {
            let keyspace = db.keyspace(name, Default::default).unwrap();
            id = keyspace.id();
            if index + 1 < made.len() {
                db.delete_keyspace(keyspace).unwrap();
            }
        }
        id
    }

    #[test]
    fn fjall_writes_the_options_that_it_demands_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["a-1"]);
        let names = names(folder.path());
        assert_eq!(names.record(1).unwrap(), Record::Sound);
        let mut options = Vec::new();
        for table in names.tree.current_version().iter_tables() {
            for item in table.iter() {
                let key = item.unwrap().key.user_key;
                if key[0] == OPTION_TAG {
                    options.push(String::from_utf8(key[9..].to_vec()).unwrap());
                }
            }
        }
        // fjall writes these, but does not read them.
        options.retain(|option| !["level_count", "version"].contains(&option.as_str()));
        assert_eq!(options, OPTIONS);
    }

    #[test]
    fn ids_and_sequence_numbers_of_deleted_keyspaces_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let last = make(folder.path(), &["a-1", "b-2", "c-3", "d-4", "e-5"]);
        let names = names(folder.path());
        assert_eq!((names.highest_id(), last), (5, 5));
        assert!(names.next_seqno() >= 9, "{}", names.next_seqno());
        assert_eq!(names.record(77).unwrap(), Record::None);
    }

    #[test]
    fn a_keyspace_below_the_tombstones_of_an_earlier_one_is_found_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["a-1", "b-2", "c-3"]);
        // fjall starts with sequence number 0 again, and the folders of 1 and 2 are gone.
        std::fs::remove_dir_all(folder.path().join("keyspaces/3")).unwrap();
        assert_eq!(make(folder.path(), &["d-4"]), 2, "fjall gives an id twice");
        let hidden = names(folder.path());
        assert_eq!(hidden.record(2).unwrap(), Record::Hidden { name: "d-4".into() });
        hidden.restore(2, "d-4").unwrap();
        drop(hidden);
        assert_eq!(names(folder.path()).record(2).unwrap(), Record::Sound);
        let db = Database::builder(folder.path()).open().unwrap();
        assert!(db.keyspace_exists("d-4"));
    }
}
