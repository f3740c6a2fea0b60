//! Uncommitted writes, in key order.

use std::collections::BTreeMap;
use std::ops::Bound;
use store::{Bytes, FamilyId, KeyRange, TableId};

/// What one row has become: its fragment, or `None` when it was deleted.
pub type Written = Option<Bytes>;

/// What a write costs beside its key and fragment, about: map entry and handles.
const ENTRY_BYTES: usize = 96;

/// Writes of a transaction by table and family, then by rowkey.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    families: BTreeMap<(TableId, FamilyId), BTreeMap<Bytes, Written>>,
    bytes: usize,
    rows: usize,
}

impl Overlay {
    /// Nothing written?
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Rows written.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Memory held, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Is any row of this family written?
    pub fn writes_to(&self, table: TableId, family: FamilyId) -> bool {
        self.families.contains_key(&(table, family))
    }

    /// What the row has become; `None` when it was not written.
    pub fn get(&self, table: TableId, family: FamilyId, key: &[u8]) -> Option<&Written> {
        self.families.get(&(table, family))?.get(key)
    }

    /// Writes of one family within `ranges`, in key order.
    pub fn range<'a>(
        &'a self,
        table: TableId,
        family: FamilyId,
        ranges: &'a [KeyRange],
    ) -> impl Iterator<Item = (&'a Bytes, &'a Written)> {
        let rows = self.families.get(&(table, family));
        ranges.iter().filter(|range| !range.is_empty()).filter_map(move |range| Some((rows?, range))).flat_map(
            |(rows, range)| {
                let end = range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
                rows.range::<[u8], _>((Bound::Included(range.start.as_ref()), end))
            },
        )
    }

    /// What memory it would hold with one more write of this size.
    pub(crate) fn bytes_with(&self, key: &[u8], written: &Written) -> usize {
        self.bytes + cost(key, written)
    }

    /// Writes or overwrites one row. Returns what was written to it before.
    pub(crate) fn put(&mut self, table: TableId, family: FamilyId, key: Bytes, written: Written) -> Option<Written> {
        self.bytes += cost(&key, &written);
        let key_len = key.len();
        let old = self.families.entry((table, family)).or_default().insert(key, written);
        match &old {
            // The same key again: only the fragments differ.
            Some(old) => self.bytes -= ENTRY_BYTES + key_len + old.as_ref().map_or(0, |fragment| fragment.len()),
            None => self.rows += 1,
        }
        old
    }

    /// Forgets that a row was written.
    pub(crate) fn remove(&mut self, table: TableId, family: FamilyId, key: &[u8]) {
        let Some(rows) = self.families.get_mut(&(table, family)) else { return };
        if let Some(old) = rows.remove(key) {
            self.bytes -= cost(key, &old);
            self.rows -= 1;
        }
        // An entry says that the family is written to.
        if rows.is_empty() {
            self.families.remove(&(table, family));
        }
    }

    /// Takes the writes of `later`, which win.
    pub(crate) fn absorb(&mut self, later: &mut Overlay) {
        if self.is_empty() {
            std::mem::swap(self, later);
            return;
        }
        for (table, family, key, written) in std::mem::take(later).into_rows() {
            self.put(table, family, key, written);
        }
    }

    /// All writes, by table, family and key.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = (TableId, FamilyId, Bytes, Written)> {
        self.families.into_iter().flat_map(|((table, family), rows)| {
            rows.into_iter().map(move |(key, written)| (table, family, key, written))
        })
    }
}

fn cost(key: &[u8], written: &Written) -> usize {
    ENTRY_BYTES + key.len() + written.as_ref().map_or(0, |fragment| fragment.len())
}
