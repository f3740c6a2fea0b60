//! Packs keys into numbers that sort like the keys: the bits in which the keys differ, concatenated.
//!
//! ```text
//!   key      80 00 00 00 00 03 0D 40   80 00 00 00 00 00 1F 90      of two bigints below 2^18 and 2^13
//!   differ                    2  8  8                       5  8    fields of 18 and 13 bits
//!   number   the 31 bits of both fields
//! ```
//! Keys of an index often begin with a few small values, so most bytes are equal in all keys. Two keys are then
//! compared by their numbers, without reading their bytes in memory. If the number contains all differing bits, the key
//! can be unpacked from it.

/// Length of the key prefix that is examined.
const MOST_BYTES: usize = 64;
/// Maximum number of bits.
const MOST_BITS: u32 = u128::BITS;

/// The bits in which some keys differ. Shorter keys count as padded with zeros.
#[derive(Clone)]
pub(super) struct Differences {
    /// The prefix of the first key.
    first: Vec<u8>,
    /// The bits in which another key differs from it.
    bits: Vec<u8>,
    /// The length of the keys, if all have the same.
    length: Option<usize>,
}

impl Differences {
    /// `None` without keys.
    pub(super) fn of<'k>(keys: impl IntoIterator<Item = &'k [u8]>) -> Option<Self> {
        let mut keys = keys.into_iter();
        let first = keys.next()?;
        let begin = first.iter().take(MOST_BYTES).copied().collect::<Vec<_>>();
        let mut all = Self { bits: vec![0; begin.len()], first: begin, length: Some(first.len()) };
        keys.for_each(|key| all.add(key));
        Some(all)
    }

    /// Returns true if `key`, of the same length as all keys, differs in no other bits.
    pub(super) fn cover(&self, key: &[u8]) -> bool {
        let is_new = |((bits, first), byte): ((&u8, &u8), &u8)| (first ^ byte) & !bits;
        self.bits.iter().zip(&self.first).zip(key).map(is_new).fold(0, |all, new| all | new) == 0
    }

    /// Adds a key.
    pub(super) fn add(&mut self, key: &[u8]) {
        self.length = self.length.filter(|length| *length == key.len());
        let key = key.get(..MOST_BYTES).unwrap_or(key);
        if self.first.len() < key.len() {
            self.first.resize(key.len(), 0);
            self.bits.resize(key.len(), 0);
        }
        let (under, behind) = self.bits.split_at_mut(key.len());
        let (first, shorter) = self.first.split_at(under.len());
        under.iter_mut().zip(first).zip(key).for_each(|((bits, first), byte)| *bits |= first ^ byte);
        behind.iter_mut().zip(shorter).for_each(|(bits, first)| *bits |= first);
    }

    /// Joins the differences of two sets of keys.
    pub(super) fn and(mut self, other: &Self) -> Self {
        let length = self.length.filter(|_| self.length == other.length);
        self.add(&other.first);
        self.bits.iter_mut().zip(&other.bits).for_each(|(bits, others)| *bits |= others);
        self.length = length;
        self
    }

    /// The packing for these keys.
    pub(super) fn packing(&self) -> Packing {
        let (mut fields, mut left): (Vec<Field>, _) = (Vec::new(), MOST_BITS);
        let differing = || self.bits.iter().enumerate().filter(|(_, bits)| **bits != 0);
        let mut taken = 0;
        for (at, bits) in differing() {
            let width = u8::BITS - bits.leading_zeros();
            let Some(rest) = left.checked_sub(width) else { break };
            (left, taken) = (rest, taken + 1);
            let next = Field::within(at, width);
            match fields.last_mut().filter(|field| field.is_followed_by(&next)) {
                Some(field) => (field.shift, field.width) = (next.shift, field.width + width),
                None => fields.push(next),
            }
        }
        let whole = taken == differing().count() && self.length.is_some_and(|length| length <= MOST_BYTES);
        Packing { first: self.first.clone(), fields, whole }
    }
}

/// Maps keys to numbers.
#[derive(Clone)]
pub(super) struct Packing {
    first: Vec<u8>,
    /// In order, the most significant bits first.
    fields: Vec<Field>,
    whole: bool,
}

/// Adjacent bits within one word of a key.
#[derive(Clone, Copy)]
struct Field {
    /// Offset of the word.
    at: usize,
    /// Number of bits of the word after these.
    shift: u32,
    width: u32,
}

/// Keys are read in big-endian words of this many bytes.
const WORD: usize = size_of::<u64>();

impl Field {
    /// The lowest `width` bits of the byte at `at`.
    fn within(at: usize, width: u32) -> Self {
        let behind = WORD - 1 - at % WORD;
        Self { at: at - at % WORD, shift: behind as u32 * u8::BITS, width }
    }

    /// Returns true if `next` is the whole following byte of the same word.
    fn is_followed_by(&self, next: &Self) -> bool {
        self.at == next.at && next.width == u8::BITS && next.shift + next.width == self.shift
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.width)
    }

    fn of(&self, key: &[u8]) -> u64 {
        word(key, self.at) >> self.shift & self.mask()
    }

    fn put(&self, bits: u64, key: &mut [u8]) {
        if let Some(bytes) = key.get_mut(self.at..).and_then(|key| key.first_chunk_mut()) {
            let others = u64::from_be_bytes(*bytes) & !(self.mask() << self.shift);
            *bytes = (others | (bits & self.mask()) << self.shift).to_be_bytes();
        }
    }
}

/// The word of a key at `at`, padded with zeros.
fn word(key: &[u8], at: usize) -> u64 {
    let rest = key.get(at..).unwrap_or_default();
    if let Some(word) = rest.first_chunk() {
        return u64::from_be_bytes(*word);
    }
    match key.last_chunk() {
        Some(last) => u64::from_be_bytes(*last).checked_shl((WORD - rest.len()) as u32 * u8::BITS).unwrap_or(0),
        None => (0..WORD).fold(0, |word, at| word << u8::BITS | u64::from(rest.get(at).copied().unwrap_or(0))),
    }
}

impl Packing {
    /// The packing for arbitrary keys: their first bytes.
    pub(super) fn of_prefixes() -> Self {
        let fields = [0, WORD].map(|at| Field { at, shift: 0, width: u64::BITS });
        Self { first: Vec::new(), fields: fields.to_vec(), whole: false }
    }

    /// The packing that makes all keys equal.
    pub(super) fn of_nothing() -> Self {
        Self { first: Vec::new(), fields: Vec::new(), whole: false }
    }

    /// Packs a key. A key with a smaller number is smaller. Zeros after a key do not change its number.
    pub(super) fn pack(&self, key: &[u8]) -> u128 {
        self.fields.iter().fold(0, |number, field| number << field.width | u128::from(field.of(key)))
    }

    /// Returns true if keys can be unpacked from their numbers.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Bytes of the largest number, at least one.
    pub(super) fn width(&self) -> usize {
        let bits: u32 = self.fields.iter().map(|field| field.width).sum();
        bits.div_ceil(u8::BITS).max(1) as usize
    }

    /// The length of the keys, if they can be unpacked.
    pub(super) fn key_len(&self) -> usize {
        self.first.len()
    }

    /// Unpacks a key, if keys can be unpacked, and pads it with zeros to a whole word.
    pub(super) fn padded_key(&self, number: u128) -> Vec<u8> {
        let mut key = self.first.clone();
        key.resize(key.len().next_multiple_of(WORD), 0);
        self.unpack(number, &mut key);
        key
    }

    /// As [`Self::padded_key`], overwriting another such key.
    pub(super) fn unpack(&self, mut number: u128, key: &mut [u8]) {
        for field in self.fields.iter().rev() {
            field.put(number as u64, key);
            number >>= field.width;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
        // Of one length or several, with few distinct bytes and many.
        let byte = prop_oneof![Just(0), Just(1), Just(0x80), any::<u8>()];
        let few = proptest::collection::vec(0..3_u8, 4..5);
        let mixed = proptest::collection::vec(byte, 0..80);
        prop_oneof![proptest::collection::vec(few, 1..40), proptest::collection::vec(mixed, 1..20)]
    }

    proptest! {
        #[test]
        fn numbers_sort_as_keys_do(keys in keys(), cut in 0..40_usize) {
            let cut = cut.min(keys.len());
            let slices = |keys: &[Vec<u8>]| Differences::of(keys.iter().map(Vec::as_slice));
            let whole = slices(&keys).unwrap();
            let joined = match (slices(&keys[..cut]), slices(&keys[cut..])) {
                (Some(some), Some(others)) => some.and(&others),
                (some, others) => some.or(others).unwrap(),
            };
            for packing in [whole.packing(), joined.packing(), Packing::of_prefixes()] {
        for a in &keys {
                    for b in &keys {
                        let (first, second) = (packing.pack(a), packing.pack(b));
                        prop_assert!(first.cmp(&second) == a.cmp(b) || first == second, "{a:?} {b:?}");
                        prop_assert!(!packing.is_whole() || (first == second) == (a == b), "{a:?} {b:?}");
                    }
                    if packing.is_whole() {
                        let key = packing.padded_key(packing.pack(a));
                        prop_assert_eq!(packing.pack(&key), packing.pack(a));
                        prop_assert_eq!(&key[..packing.key_len()], &a[..]);
                        prop_assert!(packing.pack(a) >> (8 * packing.width() - 1) <= 1);
                    }
                }
            }
        }
    }

    #[test]
    fn keys_of_one_length_are_whole_where_few_bits_differ() {
        let keys: Vec<_> = (0..1000_u64).map(|number| [number, number % 7].map(u64::to_be_bytes).concat()).collect();
        let packing = Differences::of(keys.iter().map(Vec::as_slice)).unwrap().packing();
        assert!(packing.is_whole());
        assert_eq!(packing.width(), 2);
    }
}
