//! Rows of a load in memory: one buffer of bytes, and where each row is in it.

use store::FamilyId;

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
    /// Were all keys ascending so far? Then there is nothing to sort.
    unsorted: bool,
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
        let place = Place { family, start, key_end, end: self.bytes.len() as u32 };
        if let Some(last) = self.places.last() {
            self.unsorted |= (last.family, self.key(last)) > (family, key);
        }
        self.places.push(place);
    }

    /// Bytes of keys and fragments.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Sorts by family and key. Rows of one key keep their order: the last written stays the last.
    pub(crate) fn sort(&mut self) {
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
