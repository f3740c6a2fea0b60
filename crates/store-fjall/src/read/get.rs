//! Point reads: bloom filters keep them from runs that lack the key.

use super::ReadSource;
use bytes::Bytes;
use store::StoreResult;

/// The fragment of one row, copied: a view would pin its whole block for as long as the caller keeps it.
///
/// # Errors
/// I/O failures and damaged bytes.
pub(crate) fn get(source: &ReadSource, rowkey: &[u8]) -> StoreResult<Option<Bytes>> {
    Ok(source.get(rowkey)?.map(|fragment| Bytes::copy_from_slice(&fragment)))
}

/// As [`get`] for many keys, answers in their order.
///
/// # Errors
/// As [`get`].
pub(crate) fn get_many(source: &ReadSource, rowkeys: &[Bytes]) -> StoreResult<Vec<Option<Bytes>>> {
    rowkeys.iter().map(|rowkey| get(source, rowkey)).collect()
}
