//! The header fields of a fragment that the store writes and reads.

use fragment::header;
use store::{CommitNo, StoreError, StoreResult, Timestamp};

/// Writes the timestamp and the commit number of a fragment.
///
/// # Errors
/// [`StoreError::Corrupted`] if the bytes are not a fragment.
pub(crate) fn write(fragment: &mut [u8], at: Timestamp, commit: CommitNo) -> StoreResult<()> {
    fragment::stamp(fragment, at, commit).map_err(|error| StoreError::Corrupted { detail: error.to_string() })
}

/// Reads the commit number of a fragment.
///
/// # Errors
/// As [`write()`].
pub(crate) fn commit_of(bytes: &[u8]) -> StoreResult<CommitNo> {
    let corrupted = |detail: String| StoreError::Corrupted { detail };
    header::check(bytes).map_err(|error| corrupted(error.to_string()))?;
    header::commit_of(bytes).ok_or_else(|| corrupted("a row without a header".to_string()))
}
