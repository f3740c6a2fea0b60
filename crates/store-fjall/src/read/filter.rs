//! A [`Filter`] compiled for the hot loop: one big-endian load and one comparison per predicate.
//!
//! Equivalent to [`fragment::matches`], as a property test verifies.

use bytes::Bytes;
use fragment::Verdict;
use fragment::header::{DENSE, FORMAT, WIDE};
use store::{Filter, FixedPredicate, NullBit, NullTest};

/// A filter whose bounds are integers.
#[derive(Clone, Debug)]
pub(crate) struct CompiledFilter {
    layout: [u8; 2],
    integers: Vec<IntegerRange>,
    others: Vec<BytesRange>,
    nulls: Vec<NullTest>,
    /// Shorter fragments are evaluated with `plain`.
    min_len: usize,
    plain: Filter,
}

/// `lo <= x <= hi` of 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug)]
struct IntegerRange {
    offset: usize,
    width: u8,
    null_bit: NullBit,
    lo: u64,
    /// `hi - lo`: one compare instead of two, since `x - lo` wraps to above it when `x < lo`.
    span: u64,
}

/// As [`IntegerRange`] for all other widths and for empty ranges.
#[derive(Clone, Debug)]
struct BytesRange {
    offset: usize,
    null_bit: NullBit,
    lo: Bytes,
    hi: Bytes,
}

impl CompiledFilter {
    /// Compiles `filter`.
    pub(crate) fn new(filter: &Filter) -> Self {
        let mut compiled = Self {
            layout: filter.layout.to_be_bytes(),
            integers: Vec::new(),
            others: Vec::new(),
            nulls: filter.nulls.clone(),
            min_len: filter.nulls.iter().map(|test| test.null_bit.0 as usize + 1).max().unwrap_or(0),
            plain: filter.clone(),
        };
        for predicate in &filter.predicates {
            compiled.add(predicate);
        }
        compiled
    }

    fn add(&mut self, predicate: &FixedPredicate) {
        let FixedPredicate { offset, width, null_bit, lo, hi } = predicate;
        let (offset, null_bit, len) = (*offset as usize, *null_bit, usize::from(*width));
        if lo.len() != len || hi.len() != len {
            // Malformed bounds: every fragment is evaluated with `plain`.
            self.min_len = usize::MAX;
            return;
        }
        self.min_len = self.min_len.max(offset.saturating_add(len)).max(null_bit.0 as usize + 1);
        if matches!(width, 1 | 2 | 4 | 8) && lo <= hi {
            let lo = big_endian(lo);
            let span = big_endian(hi) - lo;
            self.integers.push(IntegerRange { offset, width: *width, null_bit, lo, span });
        } else {
            self.others.push(BytesRange { offset, null_bit, lo: lo.clone(), hi: hi.clone() });
        }
    }

    /// Evaluates the filter on one fragment.
    #[inline]
    pub(crate) fn judge(&self, fragment: &[u8]) -> Verdict {
        match fragment {
            [FORMAT, flags, a, b, ..] if flags & !WIDE == DENSE && [*a, *b] == self.layout => {}
            _ => return Verdict::Undecided,
        }
        if fragment.len() < self.min_len {
            return fragment::matches(&self.plain, fragment);
        }
        let passes = self.integers.iter().all(|range| range.holds(fragment) == Some(true))
            && self.others.iter().all(|range| range.holds(fragment) == Some(true))
            && self.nulls.iter().all(|test| is_null(fragment, test.null_bit) == Some(test.is_null));
        if passes { Verdict::Pass } else { Verdict::Fail }
    }
}

impl IntegerRange {
    #[inline]
    fn holds(&self, fragment: &[u8]) -> Option<bool> {
        let tail = fragment.get(self.offset..)?;
        let value = match self.width {
            8 => u64::from_be_bytes(*tail.first_chunk()?),
            4 => u64::from(u32::from_be_bytes(*tail.first_chunk()?)),
            2 => u64::from(u16::from_be_bytes(*tail.first_chunk()?)),
            _ => u64::from(*tail.first()?),
        };
        Some(value.wrapping_sub(self.lo) <= self.span && !is_null(fragment, self.null_bit)?)
    }
}

impl BytesRange {
    fn holds(&self, fragment: &[u8]) -> Option<bool> {
        let value = fragment.get(self.offset..)?.get(..self.lo.len())?;
        let null = is_null(fragment, self.null_bit)?;
        Some(!null && self.lo.as_ref() <= value && value <= self.hi.as_ref())
    }
}

#[inline]
fn is_null(fragment: &[u8], (offset, mask): NullBit) -> Option<bool> {
    Some(fragment.get(offset as usize)? & mask != 0)
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn predicate() -> impl Strategy<Value = FixedPredicate> {
        let width = prop_oneof![Just(1_u8), Just(2), Just(4), Just(8), Just(16), Just(3)];
        let bounds = width.prop_flat_map(|width| {
            let bytes = || vec(prop_oneof![Just(0_u8), Just(0x80), Just(0xFF), any::<u8>()], usize::from(width));
            (Just(width), bytes(), bytes(), prop::bool::weighted(0.1))
        });
        (18..32_u32, 18..24_u32, any::<u8>(), bounds).prop_map(|(offset, byte, mask, (width, lo, mut hi, cut))| {
            if cut {
                hi.pop();
            }
            FixedPredicate { offset, width, null_bit: (byte, mask), lo: lo.into(), hi: hi.into() }
        })
    }

    fn fragment() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![Just(0_u8), Just(0x80), Just(0xFF), any::<u8>()];
        let flags = prop_oneof![4 => Just(DENSE), 1 => Just(DENSE | WIDE), 1 => Just(0_u8), 1 => Just(5_u8)];
        let layout = prop_oneof![5 => Just(7_u8), 1 => Just(8_u8)];
        (flags, layout, vec(byte, 0..44)).prop_map(|(flags, layout, rest)| {
            let mut bytes = vec![FORMAT, flags, 0, layout];
            bytes.extend(rest);
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn a_compiled_filter_says_what_the_plain_one_says(
            predicates in vec(predicate(), 0..3),
            nulls in vec((18..24_u32, any::<u8>(), any::<bool>()), 0..2),
            fragment in fragment(),
        ) {
            let nulls = nulls.into_iter().map(|(byte, mask, is_null)| NullTest { null_bit: (byte, mask), is_null });
            let filter = Filter { layout: 7, predicates, nulls: nulls.collect() };
            prop_assert_eq!(CompiledFilter::new(&filter).judge(&fragment), fragment::matches(&filter, &fragment));
        }
    }
}
