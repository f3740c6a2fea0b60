//! Rows of a load in memory: one buffer of bytes, and where each row is in it.

use std::cmp::Ordering;
use store::{FamilyId, LoadRows, StoreResult};

/// A row that is lent out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) family: FamilyId,
    pub(crate) key: &'a [u8],
    pub(crate) fragment: &'a [u8],
}

/// Rows in the order of arrival, or sorted.
#[derive(Default)]
pub(crate) struct Rows {
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// Was some key below the one before it?
    unsorted: bool,
    /// Was some key that of the row before it?
    repeated: bool,
}

#[derive(Clone, Copy)]
struct Place {
    family: FamilyId,
    start: u32,
    key_end: u32,
    end: u32,
}

impl Rows {
    /// Adds a row. The caller keeps [`Self::bytes`] below 4 GiB.
    pub(crate) fn push(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len() as u32;
        self.bytes.extend_from_slice(fragment);
        self.add(Place { family, start, key_end, end: self.bytes.len() as u32 });
    }

    fn add(&mut self, place: Place) {
        if let Some(last) = self.places.last() {
            match (last.family, self.key(last)).cmp(&(place.family, self.key(&place))) {
                Ordering::Less => {}
                Ordering::Equal => self.repeated = true,
                Ordering::Greater => self.unsorted = true,
            }
        }
        self.places.push(place);
    }

    /// Takes over rows of one family.
    pub(crate) fn of(family: FamilyId, rows: LoadRows) -> Self {
        let (bytes, ends) = rows.into_parts();
        let mut taken = Self { bytes, places: Vec::with_capacity(ends.len()), ..Self::default() };
        let mut start = 0;
        for (key_end, end) in ends {
            taken.add(Place { family, start, key_end, end });
            start = end;
        }
        taken
    }

    /// Are the keys ascending, and none twice?
    pub(crate) fn is_strictly_sorted(&self) -> bool {
        !self.unsorted && !self.repeated
    }

    /// The first and the last key.
    pub(crate) fn first_and_last(&self) -> Option<(&[u8], &[u8])> {
        Some((self.key(self.places.first()?), self.key(self.places.last()?)))
    }

    /// Calls `each` with every key and fragment in order. The fragment may be changed, not its length.
    ///
    /// # Errors
    /// Those of `each`.
    pub(crate) fn try_for_each_mut(
        &mut self,
        mut each: impl FnMut(&[u8], &mut [u8]) -> StoreResult<()>,
    ) -> StoreResult<()> {
        for place in &self.places {
            let row = self.bytes.get_mut(place.start as usize..place.end as usize).unwrap_or_default();
            if let Some((key, fragment)) = row.split_at_mut_checked((place.key_end - place.start) as usize) {
                each(key, fragment)?;
            }
        }
        Ok(())
    }

    /// Bytes of keys and fragments.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Sorts by family and key. Rows of one key keep their order: the last written stays the last.
    pub(crate) fn sort(&mut self) {
        // Keys that were ascending all along need no sorting.
        if !self.unsorted {
            return;
        }
        let mut places = std::mem::take(&mut self.places);
        places.sort_by(|a, b| (a.family, self.key(a)).cmp(&(b.family, self.key(b))));
        self.places = places;
        self.unsorted = false;
    }

    /// The rows in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.places.iter().map(|place| Row {
            family: place.family,
            key: self.key(place),
            fragment: self.bytes.get(place.key_end as usize..place.end as usize).unwrap_or_default(),
        })
    }

    /// The row at `index`.
    pub(crate) fn get(&self, index: usize) -> Option<Row<'_>> {
        self.places.get(index).map(|place| Row {
            family: place.family,
            key: self.key(place),
            fragment: self.bytes.get(place.key_end as usize..place.end as usize).unwrap_or_default(),
        })
    }

    fn key(&self, place: &Place) -> &[u8] {
        self.bytes.get(place.start as usize..place.key_end as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_keeps_the_order_of_equal_keys_and_groups_families() {
        let mut rows = Rows::default();
        for (family, key, fragment) in [(1, "a", "1"), (0, "b", "2"), (0, "a", "3"), (0, "b", "4")] {
            rows.push(FamilyId(family), key.as_bytes(), fragment.as_bytes());
        }
        rows.sort();
        let sorted: Vec<_> = rows.iter().map(|row| (row.family.0, row.key, row.fragment)).collect();
        let expected: [(u16, &[u8], &[u8]); 4] = [(0, b"a", b"3"), (0, b"b", b"2"), (0, b"b", b"4"), (1, b"a", b"1")];
        assert_eq!(sorted, expected);
    }
}
