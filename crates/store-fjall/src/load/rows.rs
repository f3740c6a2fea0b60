//! Rows of a load in memory: blocks of bytes, and the position of each row.

use super::packing::Differences;
use std::cmp::Ordering;
use store::{FamilyId, LoadRows, StoreResult};

/// A borrowed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'a> {
    pub(crate) family: FamilyId,
    pub(crate) key: &'a [u8],
    pub(crate) fragment: &'a [u8],
}

/// Rows in the order of arrival, or sorted.
#[derive(Default)]
pub(crate) struct Rows {
    /// Bytes of keys and fragments.
    blocks: Vec<Vec<u8>>,
    /// Total length and capacity of the blocks.
    bytes: usize,
    capacity: usize,
    places: Vec<Place>,
    /// Whether some key is smaller than the one before it.
    unsorted: bool,
    /// Whether some key equals the one before it.
    repeated: bool,
    /// The bits in which the keys differ, once the rows are sorted.
    differences: Option<Differences>,
}

#[derive(Clone, Copy)]
struct Place {
    family: FamilyId,
    key_len: u16,
    block: u32,
    start: u32,
    end: u32,
}

/// Family, packed key and index of a row.
type Numbered = (FamilyId, u128, u32);

/// Memory of a place, including the temporary memory of sorting.
const SORTED_PLACE: usize = 2 * size_of::<Place>() + size_of::<Numbered>();
/// Block size for rows that come one by one or in small groups.
const BLOCK: usize = 64 << 10;
/// Smaller groups are copied to a shared block; larger ones keep their own buffer.
const FEW: usize = BLOCK / 4;

/// Capacity of a vector with `capacity` after growing to `needed` values.
fn grown(capacity: usize, needed: usize) -> usize {
    if needed <= capacity { capacity } else { needed.max(2 * capacity) }
}

impl Rows {
    /// Adds a row. The caller keeps [`Self::bytes`] below 4 GiB, and keys no longer than the store allows.
    pub(crate) fn push(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) {
        let bytes = key.len() + fragment.len();
        if self.room() < bytes {
            let block = Vec::with_capacity(BLOCK.max(bytes));
            self.capacity += block.capacity();
            self.blocks.push(block);
        }
        let number = self.blocks.len().saturating_sub(1);
        let Some(block) = self.blocks.get_mut(number) else { return };
        let start = block.len() as u32;
        block.extend_from_slice(key);
        block.extend_from_slice(fragment);
        let end = block.len() as u32;
        self.bytes += bytes;
        self.add(Place { family, key_len: key.len() as u16, block: number as u32, start, end });
    }

    /// Appends rows of one family.
    pub(crate) fn append(&mut self, family: FamilyId, rows: LoadRows) {
        if rows.byte_len() < FEW {
            rows.iter().for_each(|(key, fragment)| self.push(family, key, fragment));
            return;
        }
        let (bytes, ends) = rows.into_parts();
        let block = self.blocks.len() as u32;
        (self.bytes, self.capacity) = (self.bytes + bytes.len(), self.capacity + bytes.capacity());
        self.blocks.push(bytes);
        self.places.reserve(ends.len());
        let mut start = 0;
        for (key_end, end) in ends {
            self.add(Place { family, key_len: (key_end - start) as u16, block, start, end });
            start = end;
        }
    }

    /// Free capacity of the last block.
    fn room(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.capacity() - block.len())
    }

    fn add(&mut self, place: Place) {
        self.differences = None;
        if let Some(last) = self.places.last().filter(|_| !self.unsorted) {
            match (last.family, self.key(last)).cmp(&(place.family, self.key(&place))) {
                Ordering::Less => {}
                Ordering::Equal => self.repeated = true,
                Ordering::Greater => self.unsorted = true,
            }
        }
        self.places.push(place);
    }

    /// Returns true if the keys ascend strictly.
    pub(crate) fn is_strictly_sorted(&self) -> bool {
        !self.unsorted && !self.repeated
    }

    /// The first and the last key.
    pub(crate) fn first_and_last(&self) -> Option<(&[u8], &[u8])> {
        Some((self.key(self.places.first()?), self.key(self.places.last()?)))
    }

    /// Calls `each` for every row in order. The fragment may be changed, but not its length.
    ///
    /// # Errors
    /// Errors of `each`.
    pub(crate) fn try_for_each_mut(
        &mut self,
        mut each: impl FnMut(&[u8], &mut [u8]) -> StoreResult<()>,
    ) -> StoreResult<()> {
        for place in &self.places {
            let block = self.blocks.get_mut(place.block as usize);
            let row = block.and_then(|block| block.get_mut(place.start as usize..place.end as usize));
            if let Some((key, fragment)) = row.and_then(|row| row.split_at_mut_checked(place.key_len.into())) {
                each(key, fragment)?;
            }
        }
        Ok(())
    }

    /// Total length of keys and fragments.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Used memory, excluding free capacity.
    pub(crate) fn held(&self) -> usize {
        self.bytes + self.places.len() * size_of::<Place>()
    }

    /// Allocated memory, including free capacity and the memory for sorting.
    pub(crate) fn allocated(&self) -> usize {
        self.capacity + self.places.capacity() * SORTED_PLACE
    }

    /// [`Self::allocated`] after adding `rows` rows of `bytes` bytes.
    pub(crate) fn allocated_with(&self, rows: usize, bytes: usize) -> usize {
        let fits = bytes < FEW && bytes <= self.room();
        let more = if fits { 0 } else { bytes.max(BLOCK) };
        self.capacity + more + grown(self.places.capacity(), self.places.len() + rows) * SORTED_PLACE
    }

    /// [`Self::held`] after adding `more`.
    pub(crate) fn held_with(&self, more: &LoadRows) -> usize {
        self.held() + more.byte_len() + more.len() * size_of::<Place>()
    }

    /// Sorts by family and key. Stable: of equal keys the last written stays last.
    pub(crate) fn sort(&mut self) {
        let Some(differences) = Differences::of(self.keys()) else { return };
        // Skipped if the keys came in ascending order.
        if self.unsorted {
            self.sort_by(&differences);
        }
        self.differences = Some(differences);
    }

    fn sort_by(&mut self, differences: &Differences) {
        let packing = differences.packing();
        let places = self.places.iter().zip(0_u32..);
        let mut numbers: Vec<Numbered> =
            places.map(|(place, at)| (place.family, packing.pack(self.key(place)), at)).collect();
        let key = |at: u32| self.places.get(at as usize).map(|place| self.key(place));
        match packing.is_whole() {
            true => numbers.sort_unstable(),
            false => numbers.sort_unstable_by(|(family, number, a), (other_family, other, b)| {
                (family, number).cmp(&(other_family, other)).then_with(|| key(*a).cmp(&key(*b))).then(a.cmp(b))
            }),
        }
        let sorted = numbers.into_iter().filter_map(|(_, _, at)| self.places.get(at as usize).copied());
        self.places = sorted.collect();
        self.unsorted = false;
    }

    /// The bits in which the keys differ, once the rows are sorted.
    pub(super) fn differences(&self) -> Option<&Differences> {
        self.differences.as_ref()
    }

    /// The keys in the order of the rows.
    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| self.key(place))
    }

    /// The rows in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.places.iter().map(|place| self.row(place))
    }

    /// The row at `index`.
    pub(crate) fn get(&self, index: usize) -> Option<Row<'_>> {
        self.places.get(index).map(|place| self.row(place))
    }

    /// The number of rows with keys below `key`. The rows must be sorted and of one family.
    pub(crate) fn below(&self, key: &[u8]) -> usize {
        self.places.partition_point(|place| self.key(place) < key)
    }

    fn row(&self, place: &Place) -> Row<'_> {
        let (key, fragment) = self.bytes_of(place).split_at_checked(place.key_len.into()).unwrap_or_default();
        Row { family: place.family, key, fragment }
    }

    fn key(&self, place: &Place) -> &[u8] {
        self.bytes_of(place).get(..place.key_len.into()).unwrap_or_default()
    }

    fn bytes_of(&self, place: &Place) -> &[u8] {
        let block = self.blocks.get(place.block as usize).map(Vec::as_slice).unwrap_or_default();
        block.get(place.start as usize..place.end as usize).unwrap_or_default()
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
