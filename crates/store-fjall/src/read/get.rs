//! Point reads. Bloom filters exclude runs that lack the key.

use super::ReadSource;
use super::blocks::{GROUP, Points, SharedSlice};
use crate::limits::is_possible_key;
use bytes::Bytes;
use std::ops::Range;
use store::StoreResult;

/// Fewer keys are read in the given order.
const MANY: usize = 8;
/// Approximate size of a shared allocation: the memory that one fragment can keep alive.
const SHARED: usize = 16 << 10;

/// Returns the fragments of rows, in the order of `rowkeys`. Fragments are copied, because a slice of a block would
/// keep the whole block in memory. Many keys are read in key order, so that neighbours share data blocks and index
/// blocks.
///
/// # Errors
/// I/O failures and damaged bytes.
pub(crate) fn get<'a>(source: &ReadSource, rowkeys: impl Iterator<Item = &'a [u8]>) -> StoreResult<Vec<Option<Bytes>>> {
    let (view, mut points) = (source.view_of_few_rows(), Points::default());
    let mut get = |rowkey: &[u8]| match is_possible_key(rowkey) {
        true => source.get(rowkey, view.as_deref(), &mut points),
        false => Ok(None),
    };
    let rowkeys: Vec<&[u8]> = rowkeys.collect();
    if rowkeys.len() < MANY {
        let copied = |found: SharedSlice| Bytes::copy_from_slice(found.bytes());
        return rowkeys.into_iter().map(|rowkey| Ok(get(rowkey)?.map(copied))).collect();
    }
    let mut in_order: Vec<(usize, &[u8])> = rowkeys.iter().copied().enumerate().collect();
    in_order.retain(|(_, rowkey)| is_possible_key(rowkey) && source.can_hold(rowkey));
    in_order.sort_unstable_by_key(|(_, rowkey)| *rowkey);
    let mut copies = Copies { answers: vec![None; rowkeys.len()], ..Copies::default() };
    let mut left = in_order.len();
    for group in in_order.chunks(GROUP) {
        let found = source.get_group(group.iter().map(|(_, rowkey)| *rowkey), view.as_deref(), &mut points)?;
        for ((at, _), found) in group.iter().zip(found) {
            if let Some(found) = found {
                copies.add(*at, found.bytes(), left);
            }
            left -= 1;
        }
    }
    Ok(copies.finish())
}

/// Copies of many fragments, several per allocation.
#[derive(Default)]
struct Copies {
    answers: Vec<Option<Bytes>>,
    buffer: Vec<u8>,
    /// The answer index and the buffer range of each fragment in the buffer.
    places: Vec<(usize, Range<usize>)>,
}

impl Copies {
    /// Copies a fragment. `left` is the number of remaining rows, including this one.
    fn add(&mut self, at: usize, fragment: &[u8], left: usize) {
        if self.buffer.is_empty() {
            self.buffer.reserve(fragment.len().saturating_mul(left).min(SHARED + fragment.len()));
        }
        let start = self.buffer.len();
        self.buffer.extend_from_slice(fragment);
        self.places.push((at, start..self.buffer.len()));
        if self.buffer.len() >= SHARED {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let bytes = Bytes::from(std::mem::take(&mut self.buffer));
        for (at, range) in self.places.drain(..) {
            if let Some(answer) = self.answers.get_mut(at) {
                *answer = Some(bytes.slice(range));
            }
        }
    }

    fn finish(mut self) -> Vec<Option<Bytes>> {
        self.flush();
        self.answers
    }
}
