//! Errors of transactions. SQLSTATEs are chosen in `engine` (the comment of each variant has its code).

use store::StoreError;

/// Result of a transaction call.
pub type TxnResult<T> = Result<T, TxnError>;

/// An error of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TxnError {
    /// 40P01: waiting would close a cycle of transactions that wait for each other. The transaction that would close it
    /// gets the error; the others continue.
    #[error("deadlock detected")]
    Deadlock {
        /// The transactions in the cycle, the failing one first.
        circle: Vec<crate::TxnId>,
    },
    /// 55P03: not granted within the lock timeout, or not immediately with NOWAIT.
    #[error("{}", if *.waited { "canceling statement due to lock timeout" } else { "could not obtain lock" })]
    LockNotAvailable {
        /// Whether it waited.
        waited: bool,
    },
    /// 53200: the writes of the transaction exceed its memory limit.
    #[error("the writes of this transaction need more than {limit} bytes of memory: commit in smaller steps")]
    TooManyWrites {
        /// The limit.
        limit: usize,
    },
    /// 40001: another process changed a row that this transaction had read for an update.
    #[error("could not serialize access due to concurrent update")]
    RowChanged {
        /// Its table.
        table: store::TableId,
        /// Its rowkey.
        key: store::Bytes,
    },
    /// 53200: not enough memory for the writes of the transaction.
    #[error("the writes of this transaction need more than {bytes} bytes of memory: commit in smaller steps")]
    NoMemory {
        /// The requested size.
        bytes: usize,
    },
    /// 53100 if the disk is full, otherwise 58030: a temporary file for the writes of the transaction could not be
    /// created or written.
    #[error("could not write a temporary file in \"{}\": {reason}", folder.display())]
    Spill {
        /// The folder.
        folder: std::path::PathBuf,
        /// The kind of failure.
        kind: std::io::ErrorKind,
        /// The message of the operating system.
        reason: String,
    },
    /// 40003: a store without atomic batches failed in the middle of a commit, or a concurrent writer conflicted.
    #[error("commit broke off after {written} of {total} rows: {source}")]
    PartlyCommitted {
        /// Rows that are written.
        written: usize,
        /// Rows of the transaction.
        total: usize,
        /// The cause.
        source: StoreError,
    },
    /// The store's failure, with its own code.
    #[error(transparent)]
    Store(#[from] StoreError),
}
