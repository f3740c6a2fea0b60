//! Written rows in memory, in key order.

use std::collections::BTreeMap;
use std::ops::Bound;
use store::{Bytes, FamilyId, TableId};

/// The written state of a row: its fragment, or `None` if deleted.
pub type Written = Option<Bytes>;

/// A layer's entry of a row. `None`: the transaction has not written the row, regardless of older layers.
pub(crate) type Entry = Option<Written>;

/// Approximate memory of a write besides its key and fragment: map entry and handles.
const ENTRY_BYTES: usize = 96;

/// The rows of one family.
pub(crate) type FamilyRows = BTreeMap<Bytes, Entry>;

/// Rows by table and family, then by rowkey.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    families: BTreeMap<(TableId, FamilyId), FamilyRows>,
    bytes: usize,
    rows: usize,
}

impl Rows {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Approximate memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn families(&self) -> impl Iterator<Item = (&(TableId, FamilyId), &FamilyRows)> {
        self.families.iter()
    }

    pub(crate) fn family(&self, table: TableId, family: FamilyId) -> Option<&FamilyRows> {
        self.families.get(&(table, family))
    }

    /// The entry of a row; `None` if the layer has none.
    pub(crate) fn get(&self, table: TableId, family: FamilyId, key: &[u8]) -> Option<&Entry> {
        self.families.get(&(table, family))?.get(key)
    }

    /// Up to `count` rows of a family between two bounds, in key order or reverse.
    pub(crate) fn some(
        &self,
        (table, family): (TableId, FamilyId),
        (start, end): (Bound<&[u8]>, Bound<&[u8]>),
        reverse: bool,
        count: usize,
    ) -> Vec<(Bytes, Entry)> {
        let Some(rows) = self.families.get(&(table, family)) else { return Vec::new() };
        if is_empty(start, end) {
            return Vec::new();
        }
        let rows = rows.range::<[u8], _>((start, end)).map(|(key, entry)| (key.clone(), entry.clone()));
        if reverse { rows.rev().take(count).collect() } else { rows.take(count).collect() }
    }

    /// Memory that one more row of this size needs.
    pub(crate) fn cost(key: &[u8], written: &Written) -> usize {
        ENTRY_BYTES + key.len() + written.as_ref().map_or(0, |fragment| fragment.len())
    }

    /// Inserts or replaces an entry. Returns the previous one.
    pub(crate) fn put(&mut self, table: TableId, family: FamilyId, key: Bytes, entry: Entry) -> Option<Entry> {
        self.bytes += cost(&key, &entry);
        let key_len = key.len();
        let old = self.families.entry((table, family)).or_default().insert(key, entry);
        match &old {
            // The key is counted once: only the fragments differ.
            Some(old) => self.bytes -= ENTRY_BYTES + key_len + length(old),
            None => self.rows += 1,
        }
        old
    }

    /// Removes the entry of a row.
    pub(crate) fn remove(&mut self, table: TableId, family: FamilyId, key: &[u8]) {
        let Some(rows) = self.families.get_mut(&(table, family)) else { return };
        if let Some(old) = rows.remove(key) {
            self.bytes -= cost(key, &old);
            self.rows -= 1;
        }
        // An empty map would count as a written family.
        if rows.is_empty() {
            self.families.remove(&(table, family));
        }
    }

    /// All rows, by table, family and key.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = (TableId, FamilyId, Bytes, Entry)> {
        self.families
            .into_iter()
            .flat_map(|((table, family), rows)| rows.into_iter().map(move |(key, entry)| (table, family, key, entry)))
    }
}

/// `BTreeMap::range` panics if `start` is after `end`.
fn is_empty(start: Bound<&[u8]>, end: Bound<&[u8]>) -> bool {
    match (start, end) {
        (Bound::Included(start), Bound::Included(end)) => start > end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Excluded(end))
        | (Bound::Excluded(start), Bound::Included(end)) => start >= end,
        _ => false,
    }
}

fn length(entry: &Entry) -> usize {
    entry.as_ref().and_then(Option::as_ref).map_or(0, |fragment| fragment.len())
}

fn cost(key: &[u8], entry: &Entry) -> usize {
    ENTRY_BYTES + key.len() + length(entry)
}
