//! Checks for duplicate keys and duplicate unique prefixes in a loaded table.

use crate::error::engine;
use crate::placement::Place;
use bytes::Bytes;
use fjall::{Readable, Snapshot};
use store::{KeyRange, LoadTable, OnDuplicate, StoreError, StoreResult};

/// Checks the keys of a load, which come in order, so that keys with the same prefix are neighbours.
#[derive(Default)]
pub(super) struct Neighbours {
    key: Vec<u8>,
    /// Length of the unique prefix of `key`.
    prefix: usize,
}

impl Neighbours {
    /// Checks the next key. `again`: the key occurred before.
    ///
    /// # Errors
    /// [`StoreError::DuplicateKey`]; errors of the prefix function.
    pub(super) fn next(&mut self, of: &LoadTable, key: &[u8], again: bool) -> StoreResult<()> {
        if again && of.on_duplicate == OnDuplicate::Fail {
            return Err(duplicate(of, key));
        }
        let Some(prefix) = prefix_of(of, key)? else { return Ok(()) };
        let before = self.key.get(..self.prefix).unwrap_or_default();
        if !before.is_empty() && before == prefix && self.key != key {
            return Err(duplicate(of, key));
        }
        self.prefix = prefix.len();
        self.key.clear();
        self.key.extend_from_slice(key);
        Ok(())
    }
}

/// Checks that neither the key nor another key with its unique prefix exists in `before`.
///
/// # Errors
/// [`StoreError::DuplicateKey`]; errors of the prefix function and read errors.
pub(super) fn absent(of: &LoadTable, before: &Snapshot, place: &Place, key: &[u8]) -> StoreResult<()> {
    let looking = || engine("looking for a duplicate");
    let fails = of.on_duplicate == OnDuplicate::Fail;
    if fails && place.with_key(key, |key| before.contains_key(&place.keyspace, key)).map_err(looking())? {
        return Err(duplicate(of, key));
    }
    let Some(prefix) = prefix_of(of, key)? else { return Ok(()) };
    let range = KeyRange::prefix(Bytes::copy_from_slice(&place.key(prefix)));
    let rows = match range.end {
        Some(end) => before.range(&place.keyspace, range.start..end),
        None => before.range(&place.keyspace, range.start..),
    };
    for row in rows {
        let found = row.key().map_err(looking())?;
        if found.get(place.prefix.len()..) != Some(key) {
            return Err(duplicate(of, key));
        }
    }
    Ok(())
}

/// The error for a duplicate key.
pub(super) fn duplicate(of: &LoadTable, key: &[u8]) -> StoreError {
    StoreError::DuplicateKey { table: of.table, key: Bytes::copy_from_slice(key) }
}

/// The unique prefix of a key, if it has one.
///
/// # Errors
/// [`StoreError::Corrupted`] if the bytes are not a key of the table.
pub(super) fn prefix_of<'k>(of: &LoadTable, key: &'k [u8]) -> StoreResult<Option<&'k [u8]>> {
    match &of.unique {
        None => Ok(None),
        Some(unique) => Ok(unique(key)?.and_then(|prefix| key.get(..prefix))),
    }
}
