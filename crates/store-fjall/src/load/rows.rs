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

/// A place, and what sorting makes of it.
const SORTED_PLACE: usize = size_of::<Place>() + size_of::<(u64, Place)>();

/// What a vector takes for `needed` values.
fn grown(capacity: usize, needed: usize) -> usize {
    if needed <= capacity { capacity } else { needed.max(2 * capacity) }
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
        if let Some(last) = self.places.last().filter(|_| !self.unsorted) {
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

    /// Adds rows of one family behind those that are there.
    pub(crate) fn append(&mut self, family: FamilyId, rows: &LoadRows) {
        let (bytes, ends) = (rows.bytes(), rows.ends());
        let base = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.places.reserve(ends.len());
        let mut start = base;
        for &(key_end, end) in ends {
            self.add(Place { family, start, key_end: base + key_end, end: base + end });
            start = base + end;
        }
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

    /// Bytes of memory that they take, without room for more.
    pub(crate) fn held(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    /// Bytes of memory that they have, with room for more and for sorting them.
    pub(crate) fn allocated(&self) -> usize {
        self.bytes.capacity() + self.places.capacity() * SORTED_PLACE
    }

    /// The same once so many rows of so many bytes are added.
    pub(crate) fn allocated_with(&self, rows: usize, bytes: usize) -> usize {
        let bytes = grown(self.bytes.capacity(), self.bytes.len() + bytes);
        bytes + grown(self.places.capacity(), self.places.len() + rows) * SORTED_PLACE
    }

    /// The same with these added.
    pub(crate) fn held_with(&self, more: &LoadRows) -> usize {
        self.held() + more.byte_len() + more.len() * size_of::<Place>()
    }

    /// Sorts by family and key. Rows of one key keep their order: the last written stays the last.
    pub(crate) fn sort(&mut self) {
        // Keys that were ascending all along need no sorting.
        if !self.unsorted {
            return;
        }
        // Most comparisons end in the first bytes that differ at all, which stand here side by side.
        let common = self.common_prefix();
        let places = std::mem::take(&mut self.places);
        let mut heads: Vec<(u64, Place)> = places.iter().map(|place| (head(self.key(place), common), *place)).collect();
        drop(places);
        heads.sort_unstable_by(|(head, a), (other, b)| {
            (a.family, head)
                .cmp(&(b.family, other))
                .then_with(|| self.key(a).cmp(self.key(b)))
                .then(a.start.cmp(&b.start))
        });
        self.places = heads.into_iter().map(|(_, place)| place).collect();
        self.unsorted = false;
    }

    /// How many bytes all keys begin with in common.
    fn common_prefix(&self) -> usize {
        let Some(first) = self.places.first().map(|place| self.key(place)) else { return 0 };
        self.places.iter().fold(first.len(), |common, place| {
            first.iter().take(common).zip(self.key(place)).take_while(|(a, b)| a == b).count()
        })
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

/// Eight bytes of a key from `at` on, as a number that sorts as they do. Where a key is shorter, zeros: it is compared whole then.
fn head(key: &[u8], at: usize) -> u64 {
    let rest = key.get(at..).unwrap_or_default();
    let mut head = [0; 8];
    head.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(head)
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

    #[test]
    fn keys_sort_as_bytes_do_whatever_they_begin_with() {
        let mut rows = Rows::default();
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for number in 0..2000_u32 {
            let mixed = number.wrapping_mul(0x9E37_79B9);
            let mut key = b"common".to_vec();
            key.extend_from_slice(&mixed.to_be_bytes()[..(mixed % 5) as usize]);
            key.extend(std::iter::repeat_n((mixed >> 8) as u8 & 1, (mixed % 13) as usize));
            rows.push(FamilyId(0), &key, &number.to_be_bytes());
            keys.push(key);
        }
        rows.sort();
        let mut sorted: Vec<_> = keys.into_iter().enumerate().collect();
        sorted.sort_by(|a, b| a.1.cmp(&b.1));
        let expected: Vec<_> = sorted.into_iter().map(|(at, key)| (key, (at as u32).to_be_bytes().to_vec())).collect();
        let found: Vec<_> = rows.iter().map(|row| (row.key.to_vec(), row.fragment.to_vec())).collect();
        assert_eq!(found, expected);
    }
}
