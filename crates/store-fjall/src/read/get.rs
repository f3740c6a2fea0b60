//! Point reads: bloom filters keep them from runs that lack the key.

use super::ReadSource;
use super::blocks::Points;
use bytes::Bytes;
use store::StoreResult;

/// The fragment of one row, copied: a part of a block would keep the whole of it in memory.
///
/// # Errors
/// I/O failures and damaged bytes.
pub(crate) fn get(source: &ReadSource, rowkey: &[u8]) -> StoreResult<Option<Bytes>> {
    let found = source.get(rowkey, source.settled_view().as_deref(), &mut Points::default())?;
    Ok(found.map(|fragment| Bytes::copy_from_slice(fragment.bytes())))
}

/// As [`get`] for many keys, answers in their order.
///
/// # Errors
/// As [`get`].
pub(crate) fn get_many(source: &ReadSource, rowkeys: &[Bytes]) -> StoreResult<Vec<Option<Bytes>>> {
    let (view, mut points) = (source.settled_view(), Points::default());
    let mut get = |rowkey: &Bytes| source.get(rowkey, view.as_deref(), &mut points);
    rowkeys.iter().map(|key| Ok(get(key)?.map(|fragment| Bytes::copy_from_slice(fragment.bytes())))).collect()
}
