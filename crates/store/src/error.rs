//! Errors of a store. Each variant carries data; `engine` chooses the SQLSTATE.

use crate::{FamilyId, TableId};
use bytes::Bytes;

/// Result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

/// A failed store call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The table was never created, or was dropped since the caller looked it up.
    #[error("table {table} does not exist in the store")]
    NoSuchTable {
        /// The missing table.
        table: TableId,
    },
    /// The table has no such family.
    #[error("table {table} has no family {family}")]
    NoSuchFamily {
        /// The table.
        table: TableId,
        /// The missing family.
        family: FamilyId,
    },
    /// A table with this id exists already.
    #[error("table {table} exists already in the store")]
    TableExists {
        /// The table.
        table: TableId,
    },
    /// A [`crate::Condition`] did not hold on the newest state; nothing was written.
    #[error("condition on a row of {table} failed")]
    ConditionFailed {
        /// The table of the row.
        table: TableId,
        /// The rowkey of the row.
        key: Bytes,
    },
    /// A bulk load has a duplicate key, or a key that the table contains already; nothing was loaded.
    #[error("duplicate rowkey in {table}")]
    DuplicateKey {
        /// The table loaded into.
        table: TableId,
        /// The rowkey.
        key: Bytes,
    },
    /// Another writer changed the table during the load; nothing was loaded.
    #[error("{table} was changed while rows were loaded into it")]
    TableChanged {
        /// The table loaded into.
        table: TableId,
    },
    /// A key or fragment exceeds a limit of [`crate::Capabilities`].
    #[error("{what} of {bytes} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// `rowkey` or `row`.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The snapshot exceeded the store's limit of age or of memory.
    #[error("snapshot too old: the state of commit {commit} is no longer kept")]
    SnapshotTooOld {
        /// The commit number of the snapshot.
        commit: u64,
    },
    /// The table was created or rewritten after the snapshot was taken.
    #[error("snapshot too old: table \"{table}\" was created or rewritten after it was taken")]
    OlderThanTable {
        /// The table's name.
        table: String,
    },
    /// The store refuses writes, because an earlier write or sync failed.
    #[error("the store is read-only since {reason}")]
    ReadOnly {
        /// The first failure.
        reason: String,
        /// Whether that failure was a full disk.
        disk_full: bool,
    },
    /// The disk or the user's quota is full.
    #[error("{action} failed: {reason}")]
    DiskFull {
        /// The failed action.
        action: String,
        /// The operating system's message.
        reason: String,
    },
    /// The memory limit does not allow the buffers of a bulk load; nothing was loaded.
    #[error(
        "the rows of this bulk load need more than {bytes} bytes of memory, and others have it: load them when fewer statements run"
    )]
    NoMemory {
        /// The requested number of bytes.
        bytes: usize,
    },
    /// Stored bytes are damaged.
    #[error("data corrupted: {detail}")]
    Corrupted {
        /// What is damaged, and where.
        detail: String,
    },
    /// The folder is in use by another process.
    #[error("data folder \"{path}\" is in use by another process")]
    Locked {
        /// The folder.
        path: String,
    },
    /// The folder is not a store of this kind, or has a format version that this build cannot read.
    #[error("\"{path}\" cannot be opened: {reason}")]
    Foreign {
        /// The folder.
        path: String,
        /// What was found in the folder.
        reason: String,
    },
    /// The operating system reported an error.
    #[error("{action} failed: {reason}")]
    Io {
        /// The failed action.
        action: String,
        /// The operating system's message.
        reason: String,
    },
    /// The backend does not support this (see [`crate::Capabilities`]).
    #[error("{what} is not supported by this store")]
    Unsupported {
        /// The unsupported operation.
        what: &'static str,
    },
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}
