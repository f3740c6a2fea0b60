//! Point reads: bloom filters keep them from runs that lack the key.

use super::ReadSource;
use super::blocks::Points;
use crate::limits::is_possible_key;
use bytes::Bytes;
use store::StoreResult;

/// Fewer keys are read in the order in which they come.
const MANY: usize = 8;

/// The fragments of rows, in the order of their keys. They are copied: a part of a block would keep the whole of it in
/// memory. Many keys are read in key order: neighbours lie in one block, and under one block of the index.
///
/// # Errors
/// I/O failures and damaged bytes.
pub(crate) fn get<'a>(source: &ReadSource, rowkeys: impl Iterator<Item = &'a [u8]>) -> StoreResult<Vec<Option<Bytes>>> {
    let (view, mut points) = (source.settled_view(), Points::default());
    let mut get = |rowkey: &[u8]| {
        if !is_possible_key(rowkey) {
            return Ok(None);
        }
        let found = source.get(rowkey, view.as_deref(), &mut points)?;
        Ok(found.map(|fragment| Bytes::copy_from_slice(fragment.bytes())))
    };
    let rowkeys: Vec<&[u8]> = rowkeys.collect();
    if rowkeys.len() < MANY {
        return rowkeys.into_iter().map(&mut get).collect();
    }
    let mut in_order: Vec<(usize, &[u8])> = rowkeys.iter().copied().enumerate().collect();
    in_order.sort_unstable_by_key(|(_, rowkey)| *rowkey);
    let mut answers = vec![None; rowkeys.len()];
    for (at, rowkey) in in_order {
        if let Some(answer) = answers.get_mut(at) {
            *answer = get(rowkey)?;
        }
    }
    Ok(answers)
}
