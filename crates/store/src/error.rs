//! What can go wrong in a store. Each variant carries data; SQLSTATEs are chosen in `engine`.

use crate::{FamilyId, TableId};
use bytes::Bytes;

/// Result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

/// A failed store call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The table was never made, or was dropped since the caller looked it up.
    #[error("table {table} does not exist in the store")]
    NoSuchTable {
        /// The table asked for.
        table: TableId,
    },
    /// The table has no such family.
    #[error("table {table} has no family {family}")]
    NoSuchFamily {
        /// The table asked for.
        table: TableId,
        /// The family asked for.
        family: FamilyId,
    },
    /// A table of that id exists already.
    #[error("table {table} exists already in the store")]
    TableExists {
        /// The table.
        table: TableId,
    },
    /// A [`crate::Condition`] did not hold on the newest state; nothing was written.
    #[error("condition on a row of {table} failed")]
    ConditionFailed {
        /// Its table.
        table: TableId,
        /// Its rowkey.
        key: Bytes,
    },
    /// A bulk load met a key twice, or one that the table has; nothing was loaded.
    #[error("duplicate rowkey in {table}")]
    DuplicateKey {
        /// The table loaded into.
        table: TableId,
        /// The rowkey.
        key: Bytes,
    },
    /// Somebody else wrote to the table while rows were loaded into it; nothing was loaded.
    #[error("{table} was changed while rows were loaded into it")]
    TableChanged {
        /// The table loaded into.
        table: TableId,
    },
    /// A key or fragment beyond [`crate::Capabilities`].
    #[error("{what} of {bytes} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// `rowkey` or `row`.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The snapshot was held for longer than the store allows, or held too much.
    #[error("snapshot too old: the state of commit {commit} is no longer kept")]
    SnapshotTooOld {
        /// Its commit number.
        commit: u64,
    },
    /// The snapshot was taken before the rows that the table has now were written to their place.
    #[error("snapshot too old: table \"{table}\" was created or rewritten after it was taken")]
    OlderThanTable {
        /// The table's name.
        table: String,
    },
    /// The store takes no more writes, since an earlier write or sync failed.
    #[error("the store is read-only since {reason}")]
    ReadOnly {
        /// The first failure.
        reason: String,
        /// Was it that the disk is full?
        disk_full: bool,
    },
    /// The disk, or what this user may have of it, is full.
    #[error("{action} failed: {reason}")]
    DiskFull {
        /// What was being done.
        action: String,
        /// The operating system's words.
        reason: String,
    },
    /// There is no more memory for rows that are being loaded; nothing was loaded.
    #[error(
        "the rows of this bulk load need more than {bytes} bytes of memory, and others have it: load them when fewer statements run"
    )]
    NoMemory {
        /// What it asked for.
        bytes: usize,
    },
    /// Bytes that are not what the store wrote.
    #[error("data corrupted: {detail}")]
    Corrupted {
        /// What, and where.
        detail: String,
    },
    /// The folder is in use by another process.
    #[error("data folder \"{path}\" is in use by another process")]
    Locked {
        /// The folder.
        path: String,
    },
    /// The folder is not a store of this kind, or of a version this build cannot read.
    #[error("\"{path}\" cannot be opened: {reason}")]
    Foreign {
        /// The folder.
        path: String,
        /// What was found instead.
        reason: String,
    },
    /// The operating system refused.
    #[error("{action} failed: {reason}")]
    Io {
        /// What was being done.
        action: String,
        /// Its words.
        reason: String,
    },
    /// The backend cannot do this (see [`crate::Capabilities`]).
    #[error("{what} is not supported by this store")]
    Unsupported {
        /// The call.
        what: &'static str,
    },
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}
