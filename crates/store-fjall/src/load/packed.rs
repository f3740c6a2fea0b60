//! Rows packed into numbers as they arrive: for index entries without included columns, which all have the same
//! fragment and keys of one length.
//!
//! ```text
//!   first rows ──PackedRows::of──> packing of the bits in which their keys differ
//!   next rows ──push──> numbers;  a key that differs in another bit widens the packing, and all rows are packed anew
//!   sort ──> numbers in key order ──Unpacked──> one row at a time
//! ```
//! An entry takes 8 or 16 bytes instead of 80 or more, so that most builds sort in memory, and its bytes are read while
//! they are in the processor's cache.

use super::packing::{Differences, Packing};
use super::rows::{Row, Rows};
use crate::seam::thread;
use std::sync::Arc;
use store::{FamilyId, KeyRange};

/// Packing rows anew may cost this many times as many steps as there are rows.
const REPACKED: usize = 8;
/// Fewer rows may be packed anew as often as needed.
const FEW: usize = 64 << 10;
/// Fewer numbers are sorted by one thread.
const SORTED_ALONE: usize = 128 << 10;

/// Packed rows, in the order of arrival or sorted.
pub(super) struct PackedRows {
    template: Arc<Template>,
    differences: Differences,
    numbers: Numbers,
    /// Number of rows that were packed anew, each time counted.
    repacked: usize,
}

/// The common properties of packed rows: family, fragment, and packing of the keys.
pub(super) struct Template {
    pub(super) family: FamilyId,
    pub(super) fragment: Box<[u8]>,
    pub(super) packing: Packing,
}

/// The packed keys, in as few bytes as they need.
enum Numbers {
    Short(Vec<u64>),
    Long(Vec<u128>),
}

impl PackedRows {
    /// Packs rows, if all have the same family, fragment and key length, and keys can be unpacked.
    pub(super) fn of(rows: &Rows) -> Option<Self> {
        let Row { family, key, fragment } = rows.iter().next()?;
        let mut is_alike = true;
        let keys = rows.iter().map_while(|row| {
            is_alike = row.family == family && row.key.len() == key.len() && row.fragment == fragment;
            is_alike.then_some(row.key)
        });
        let differences = Differences::of(keys).filter(|_| is_alike)?;
        let packing = differences.packing();
        if !packing.is_whole() {
            return None;
        }
        let mut numbers = Numbers::for_packing(&packing, rows.len());
        rows.keys().for_each(|key| numbers.push(packing.pack(key)));
        let template = Arc::new(Template { family, fragment: fragment.into(), packing });
        Some(Self { template, differences, numbers, repacked: 0 })
    }

    /// No rows, for rows like these.
    pub(super) fn emptied(&self) -> Self {
        let Self { template, differences, .. } = self;
        let numbers = Numbers::for_packing(&template.packing, 0);
        Self { template: template.clone(), differences: differences.clone(), numbers, repacked: 0 }
    }

    /// Adds a row. Returns false and does not add it if it differs in more than bits of its key, or in too many.
    pub(super) fn push(&mut self, family: FamilyId, key: &[u8], fragment: &[u8]) -> bool {
        let is_alike = family == self.template.family
            && key.len() == self.template.packing.key_len()
            && fragment == &*self.template.fragment;
        if !is_alike || !(self.differences.cover(key) || self.widen(key)) {
            return false;
        }
        self.numbers.push(self.template.packing.pack(key));
        true
    }

    /// Packs all rows anew, with the bits in which `key` differs.
    fn widen(&mut self, key: &[u8]) -> bool {
        let mut wider = self.differences.clone();
        wider.add(key);
        let packing = wider.packing();
        let repacked = self.repacked + self.len();
        if !packing.is_whole() || repacked > REPACKED * self.len() + FEW {
            return false;
        }
        let mut numbers = Numbers::for_packing(&packing, self.len());
        let mut unpacked = Unpacked::new(self.template.clone());
        for number in self.numbers.iter() {
            unpacked.set(number);
            numbers.push(unpacked.pack(&packing));
        }
        let Template { family, fragment, .. } = self.template.as_ref();
        let template = Arc::new(Template { family: *family, fragment: fragment.clone(), packing });
        *self = Self { template, differences: wider, numbers, repacked };
        true
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Used memory, excluding free capacity.
    pub(super) fn held(&self) -> usize {
        self.held_with(0)
    }

    /// [`Self::held`] after adding `rows` rows.
    pub(super) fn held_with(&self, rows: usize) -> usize {
        (self.len() + rows) * self.numbers.width()
    }

    /// Allocated memory after adding `rows` rows, with what growing takes for a while.
    pub(super) fn allocated_with(&self, rows: usize) -> usize {
        let (capacity, needed) = (self.numbers.capacity(), self.len() + rows);
        let places = if needed <= capacity { capacity } else { capacity + needed.max(2 * capacity) };
        places * self.numbers.width()
    }

    /// Sorts by key, with at most `threads` threads.
    pub(super) fn sort(&mut self, threads: usize) {
        match &mut self.numbers {
            Numbers::Short(numbers) => sort(numbers, threads),
            Numbers::Long(numbers) => sort(numbers, threads),
        }
    }

    /// The common properties of the rows.
    pub(super) fn template(&self) -> &Arc<Template> {
        &self.template
    }

    /// The bits in which the keys differ.
    pub(super) fn differences(&self) -> &Differences {
        &self.differences
    }

    /// The packed keys.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u128> {
        self.numbers.iter()
    }

    /// The packed key at `index`.
    pub(super) fn number(&self, index: usize) -> Option<u128> {
        self.numbers.get(index)
    }

    /// The key at `index`.
    pub(super) fn key(&self, index: usize) -> Option<Vec<u8>> {
        let mut unpacked = Unpacked::new(self.template.clone());
        unpacked.set(self.number(index)?);
        Some(unpacked.row().key.to_vec())
    }

    /// The indexes of the rows within `range`. The rows must be sorted.
    pub(super) fn within(&self, range: &KeyRange) -> (usize, usize) {
        let mut unpacked = Unpacked::new(self.template.clone());
        let mut below = |key: &[u8]| {
            self.numbers.partition_point(|number| {
                unpacked.set(number);
                unpacked.row().key < key
            })
        };
        let start = if range.start.is_empty() { 0 } else { below(&range.start) };
        let end = range.end.as_ref().map_or(self.len(), |end| below(end));
        (start, end)
    }
}

impl Numbers {
    fn for_packing(packing: &Packing, rows: usize) -> Self {
        match packing.width() <= size_of::<u64>() {
            true => Self::Short(Vec::with_capacity(rows)),
            false => Self::Long(Vec::with_capacity(rows)),
        }
    }

    fn push(&mut self, number: u128) {
        match self {
            Self::Short(numbers) => numbers.push(number as u64),
            Self::Long(numbers) => numbers.push(number),
        }
    }

    fn get(&self, index: usize) -> Option<u128> {
        match self {
            Self::Short(numbers) => numbers.get(index).map(|number| u128::from(*number)),
            Self::Long(numbers) => numbers.get(index).copied(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u128> {
        (0..self.len()).map_while(|index| self.get(index))
    }

    fn len(&self) -> usize {
        match self {
            Self::Short(numbers) => numbers.len(),
            Self::Long(numbers) => numbers.len(),
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Self::Short(numbers) => numbers.capacity(),
            Self::Long(numbers) => numbers.capacity(),
        }
    }

    /// Bytes per number.
    fn width(&self) -> usize {
        match self {
            Self::Short(_) => size_of::<u64>(),
            Self::Long(_) => size_of::<u128>(),
        }
    }

    fn partition_point(&self, mut is_below: impl FnMut(u128) -> bool) -> usize {
        match self {
            Self::Short(numbers) => numbers.partition_point(|number| is_below(u128::from(*number))),
            Self::Long(numbers) => numbers.partition_point(|number| is_below(*number)),
        }
    }
}

/// Sorts with at most `threads` threads, each of which sorts the numbers of a range.
fn sort<N: Copy + Ord + Send>(numbers: &mut [N], threads: usize) {
    let middle = numbers.len() / 2;
    if threads < 2 || numbers.len() < SORTED_ALONE {
        numbers.sort_unstable();
        return;
    }
    numbers.select_nth_unstable(middle);
    let (low, high) = numbers.split_at_mut(middle);
    thread::both(|| sort(low, threads / 2), || sort(high, threads - threads / 2));
}

/// An unpacker for one row at a time.
pub(super) struct Unpacked {
    template: Arc<Template>,
    /// The key, padded with zeros to a whole word.
    key: Vec<u8>,
}

impl Unpacked {
    pub(super) fn new(template: Arc<Template>) -> Self {
        Self { key: template.packing.padded_key(0), template }
    }

    /// Bytes per number.
    pub(super) fn width(&self) -> usize {
        self.template.packing.width()
    }

    /// Unpacks the row with this number.
    pub(super) fn set(&mut self, number: u128) {
        self.template.packing.unpack(number, &mut self.key);
    }

    /// As [`Self::set`] for a big-endian number of [`Self::width`] bytes.
    pub(super) fn set_bytes(&mut self, number: &[u8]) {
        self.set(number.iter().fold(0, |number, byte| number << u8::BITS | u128::from(*byte)));
    }

    /// The current row.
    pub(super) fn row(&self) -> Row<'_> {
        let key = self.key.get(..self.template.packing.key_len()).unwrap_or_default();
        Row { family: self.template.family, key, fragment: &self.template.fragment }
    }

    /// Packs the current key with another packing.
    pub(super) fn pack(&self, packing: &Packing) -> u128 {
        packing.pack(&self.key)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FAMILY: FamilyId = FamilyId(0);

    fn packed(keys: &[[u8; 9]]) -> PackedRows {
        let mut rows = Rows::default();
        keys.iter().for_each(|key| rows.push(FAMILY, key, b"same"));
        PackedRows::of(&rows).unwrap()
    }

    fn key(number: u64) -> [u8; 9] {
        let mut key = [7; 9];
        key[..8].copy_from_slice(&number.to_be_bytes());
        key
    }

    fn keys(rows: &PackedRows) -> Vec<[u8; 9]> {
        (0..rows.len()).map(|at| rows.key(at).unwrap().try_into().unwrap()).collect()
    }

    #[test]
    fn rows_that_differ_in_more_bits_are_packed_anew() {
        let mut rows = packed(&[key(1), key(2)]);
        let more = (0..63).map(|shift| key(5 << shift)).chain([key(u64::MAX), key(0)]);
        let all: Vec<_> = [key(1), key(2)].into_iter().chain(more.clone()).collect();
        assert!(more.clone().all(|key| rows.push(FAMILY, &key, b"same")));
        assert_eq!(keys(&rows), all);
        // The last byte has its eight bits beyond the 64.
        assert!(rows.push(FAMILY, &[0xFF; 9], b"same"));
        assert!(matches!(rows.numbers, Numbers::Long(_)));
        let mut sorted = all;
        sorted.push([0xFF; 9]);
        sorted.sort_unstable();
        rows.sort(1);
        assert_eq!(keys(&rows), sorted);
        let from_to = KeyRange { start: key(2).to_vec().into(), end: Some(key(20).to_vec().into()) };
        let (start, end) = rows.within(&from_to);
        assert_eq!(keys(&rows)[start..end], [key(2), key(5), key(10)]);
        assert_eq!(rows.within(&KeyRange::all()), (0, rows.len()));
    }

    #[test]
    fn rows_that_are_not_alike_are_refused() {
        let mut rows = packed(&[key(1), key(2)]);
        assert!(!rows.push(FAMILY, &key(1), b"other"));
        assert!(!rows.push(FamilyId(1), &key(1), b"same"));
        assert!(!rows.push(FAMILY, &[7; 8], b"same"));
        assert_eq!((rows.len(), rows.emptied().len()), (2, 0));
        let mut different = Rows::default();
        different.push(FAMILY, b"a", b"1");
        different.push(FAMILY, b"b", b"2");
        assert!(PackedRows::of(&different).is_none() && PackedRows::of(&Rows::default()).is_none());
    }

    #[test]
    fn rows_are_not_packed_anew_without_end() {
        let first: Vec<_> = (0..FEW as u64 * 2).map(key).collect();
        let mut rows = packed(&first);
        let pushed = (20..60).take_while(|shift| rows.push(FAMILY, &key(1 << shift), b"same")).count();
        assert_eq!((pushed, rows.len()), (REPACKED, first.len() + REPACKED));
    }

    #[test]
    fn threads_sort_as_one_does() {
        let mixed = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let numbers: Vec<u64> = (0..4 * SORTED_ALONE as u64).map(mixed).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        for threads in [1, 2, 3, 8] {
            let mut by_threads = numbers.clone();
            sort(&mut by_threads, threads);
            assert!(by_threads == sorted, "{threads} threads");
        }
    }
}
