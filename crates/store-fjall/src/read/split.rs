//! Splits ranges into pieces of about equal work, at data blocks or, with many tables, at tables.

use super::ReadSource;
use super::blocks::{Run, Stretch, View};
use super::range::StoredRange;
use bytes::Bytes;
use store::{KeyRange, StoreResult};

/// With at least this many tables per piece, table borders are precise enough.
const TABLES_PER_PIECE: usize = 8;
/// Approximate number of stretches per piece: a split is off by less than one stretch.
const STRETCHES_PER_PIECE: u64 = 32;
/// Minimum number of blocks per piece, below which another task does not pay off.
const BLOCKS_PER_PIECE: u64 = 16;

/// Splits `ranges` into at most `pieces` non-empty lists, in key order, which together are exactly `ranges`.
///
/// # Errors
/// I/O failures and damaged bytes.
pub(crate) fn split(source: &ReadSource, ranges: &[KeyRange], pieces: usize) -> StoreResult<Vec<Vec<KeyRange>>> {
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        parts.push((range.clone(), stretches(source, range, pieces)?));
    }
    // Each range costs a seek, even if it has few rows.
    let total: u64 = parts.iter().map(|(_, stretches)| 1 + weight_of(stretches)).sum();
    let many_ranges = ranges.len() as u64 / BLOCKS_PER_PIECE;
    let worthwhile = usize::try_from(total / BLOCKS_PER_PIECE + many_ranges).unwrap_or(usize::MAX);
    let pieces = pieces.min(worthwhile).max(1);
    let mut cutter = Cutter { pieces: vec![Vec::new()], wanted: pieces as u64, total, done: 0 };
    for (range, stretches) in parts {
        cutter.add(source.prefix.len(), range, stretches);
    }
    Ok(cutter.pieces)
}

fn weight_of(stretches: &[Stretch]) -> u64 {
    stretches.iter().map(|stretch| stretch.weight).sum()
}

/// The stretches of one range in the run with the most entries.
fn stretches(source: &ReadSource, range: &KeyRange, pieces: usize) -> StoreResult<Vec<Stretch>> {
    let stored = match StoredRange::new(&source.prefix, range) {
        Some(stored) if range.as_point().is_none() => stored,
        _ => return Ok(Vec::new()),
    };
    let view = View::roughly(source, &stored);
    let Some(base) = view.base() else { return Ok(Vec::new()) };
    if base.within(&stored).tables().count() >= pieces.saturating_mul(TABLES_PER_PIECE) {
        return Ok(by_table(base, &stored));
    }
    let fine = base.blocks(&stored) / (pieces as u64).saturating_mul(STRETCHES_PER_PIECE).max(1);
    base.stretches(&view.files, &stored, fine.max(1))
}

fn by_table(base: &Run, range: &StoredRange) -> Vec<Stretch> {
    let within = base.within(range);
    let whole = within.tables().filter(|table| !range.is_past(table.metadata.key_range.max()));
    whole
        .map(|table| Stretch { last: table.metadata.key_range.max().to_vec(), weight: table.metadata.data_block_count })
        .collect()
}

/// Distributes ranges to pieces.
struct Cutter {
    pieces: Vec<Vec<KeyRange>>,
    wanted: u64,
    total: u64,
    done: u64,
}

impl Cutter {
    fn add(&mut self, prefix_len: usize, range: KeyRange, stretches: Vec<Stretch>) {
        let mut rest = range;
        self.done += 1;
        for stretch in stretches {
            self.done += stretch.weight;
            if !self.is_due() {
                continue;
            }
            // The split point is the immediate successor of the last key of the stretch.
            let mut cut = stretch.last;
            cut.drain(..prefix_len.min(cut.len()));
            cut.push(0);
            let cut = Bytes::from(cut);
            if cut <= rest.start || rest.end.as_ref().is_some_and(|end| cut >= *end) {
                continue;
            }
            self.push(KeyRange { start: rest.start, end: Some(cut.clone()) });
            self.pieces.push(Vec::new());
            rest.start = cut;
        }
        if self.is_due() && self.pieces.last().is_some_and(|piece| !piece.is_empty()) {
            self.pieces.push(Vec::new());
        }
        self.push(rest);
    }

    /// Returns true if the pieces so far have their share of the work.
    fn is_due(&self) -> bool {
        let begun = self.pieces.len() as u64;
        begun < self.wanted && self.done.saturating_mul(self.wanted) >= self.total.saturating_mul(begun)
    }

    fn push(&mut self, range: KeyRange) {
        if let Some(piece) = self.pieces.last_mut() {
            piece.push(range);
        }
    }
}
