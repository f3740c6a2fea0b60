//! A [`store::Filter`] made ready for the hot loop: per predicate one big-endian load and one compare.
//!
//! The meaning is that of [`fragment::predicate::matches`]; a test holds the two against each other.

use store::{Filter, NullBit, NullTest, StoreError, StoreResult};

/// Format byte of fragments (offset 0) and the flag (offset 1) of dense ones.
const FORMAT: u8 = 1;
const DENSE: u8 = 1;

/// What a filter says of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It passes.
    Pass,
    /// It certainly fails.
    Fail,
    /// Not dense, or of another layout: the caller must check again.
    Undecided,
}

/// A filter with its bounds as integers.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompiledFilter {
    layout: [u8; 2],
    ranges: Vec<IntegerRange>,
    wide: Vec<WideRange>,
    nulls: Vec<NullTest>,
}

/// `lo <= x <= hi` of up to 8 bytes.
#[derive(Clone, Copy, Debug)]
struct IntegerRange {
    offset: usize,
    width: u8,
    null_bit: NullBit,
    lo: u64,
    /// `hi - lo`: one compare instead of two, since `x - lo` wraps to above it when `x < lo`.
    span: u64,
}

/// As [`IntegerRange`] for 16 bytes.
#[derive(Clone, Copy, Debug)]
struct WideRange {
    offset: usize,
    null_bit: NullBit,
    lo: u128,
    hi: u128,
}

impl CompiledFilter {
    /// Compiles `filter`.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] for a width that the contract does not name, or bounds of another length.
    pub(crate) fn new(filter: &Filter) -> StoreResult<Self> {
        let mut compiled = Self { layout: filter.layout.to_be_bytes(), nulls: filter.nulls.clone(), ..Self::default() };
        for predicate in &filter.predicates {
            let width = predicate.width;
            let sized = predicate.lo.len() == usize::from(width) && predicate.hi.len() == usize::from(width);
            if !sized || !matches!(width, 1 | 2 | 4 | 8 | 16) {
                return Err(StoreError::Unsupported { what: "a filter on a column of this width" });
            }
            let (offset, null_bit) = (predicate.offset as usize, predicate.null_bit);
            let (lo, hi) = (big_endian(&predicate.lo), big_endian(&predicate.hi));
            match (u64::try_from(lo), u64::try_from(hi)) {
                (Ok(lo), Ok(hi)) if width < 16 && lo <= hi => {
                    compiled.ranges.push(IntegerRange { offset, width, null_bit, lo, span: hi - lo });
                }
                _ => compiled.wide.push(WideRange { offset, null_bit, lo, hi }.aligned(width)),
            }
        }
        Ok(compiled)
    }

    /// Judges one fragment.
    #[inline]
    pub(crate) fn judge(&self, fragment: &[u8]) -> Verdict {
        match fragment {
            [FORMAT, flags, a, b, ..] if flags & DENSE != 0 && [*a, *b] == self.layout => {}
            _ => return Verdict::Undecided,
        }
        for range in &self.ranges {
            match range.holds(fragment) {
                Some(true) => {}
                Some(false) => return Verdict::Fail,
                None => return Verdict::Undecided,
            }
        }
        self.judge_rest(fragment)
    }

    #[inline]
    fn judge_rest(&self, fragment: &[u8]) -> Verdict {
        for range in &self.wide {
            match range.holds(fragment) {
                Some(true) => {}
                Some(false) => return Verdict::Fail,
                None => return Verdict::Undecided,
            }
        }
        for test in &self.nulls {
            match is_null(fragment, test.null_bit) {
                Some(null) if null == test.is_null => {}
                Some(_) => return Verdict::Fail,
                None => return Verdict::Undecided,
            }
        }
        Verdict::Pass
    }
}

impl IntegerRange {
    /// `None` when the fragment is too short to say.
    #[inline]
    fn holds(&self, fragment: &[u8]) -> Option<bool> {
        let tail = fragment.get(self.offset..)?;
        let value = match self.width {
            8 => u64::from_be_bytes(*tail.first_chunk()?),
            4 => u64::from(u32::from_be_bytes(*tail.first_chunk()?)),
            2 => u64::from(u16::from_be_bytes(*tail.first_chunk()?)),
            _ => u64::from(*tail.first()?),
        };
        // The NULL bit is looked at only by rows that pass: the bytes of a NULL are zero.
        Some(value.wrapping_sub(self.lo) <= self.span && !is_null(fragment, self.null_bit)?)
    }
}

impl WideRange {
    /// An empty range of fewer bytes fails every row; as a range of 16 bytes it must not read beyond the column.
    fn aligned(self, width: u8) -> Self {
        if width == 16 { self } else { Self { offset: 0, lo: 1, hi: 0, ..self } }
    }

    #[inline]
    fn holds(&self, fragment: &[u8]) -> Option<bool> {
        let value = u128::from_be_bytes(*fragment.get(self.offset..)?.first_chunk()?);
        Some(self.lo <= value && value <= self.hi && !is_null(fragment, self.null_bit)?)
    }
}

#[inline]
fn is_null(fragment: &[u8], (offset, mask): NullBit) -> Option<bool> {
    Some(fragment.get(offset as usize)? & mask != 0)
}

fn big_endian(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u128::from(byte))
}
