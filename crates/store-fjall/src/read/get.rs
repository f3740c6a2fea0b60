//! Point reads: bloom filters keep them from runs that lack the key.

use super::ReadSource;
use super::blocks::Points;
use crate::limits::is_possible_key;
use bytes::Bytes;
use store::StoreResult;

/// The fragments of rows, in the order of their keys. They are copied: a part of a block would keep the whole of it in
/// memory.
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
    rowkeys.map(&mut get).collect()
}
