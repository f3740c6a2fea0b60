//! What can go wrong in a transaction. SQLSTATEs are chosen in `engine` (they stand in the comments).

use store::StoreError;

/// Result of a transaction's call.
pub type TxnResult<T> = Result<T, TxnError>;

/// A transaction's failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TxnError {
    /// 40P01: waiting would have closed a circle of transactions that wait for each other. The one that
    /// would have closed it is refused; the others go on.
    #[error("deadlock detected")]
    Deadlock {
        /// The transactions in the circle, the refused one first.
        circle: Vec<crate::TxnId>,
    },
    /// 55P03: not granted within the lock timeout, or not at once where waiting was not wanted.
    #[error("{}", if *.waited { "canceling statement due to lock timeout" } else { "could not obtain lock" })]
    LockNotAvailable {
        /// Was there a wait?
        waited: bool,
    },
    /// 53200: the writes of the transaction outgrew its memory.
    #[error("the writes of this transaction need more than {limit} bytes of memory: commit in smaller steps")]
    TooManyWrites {
        /// The limit.
        limit: usize,
    },
    /// 40001: another process has changed a row since this transaction read it, to write it.
    #[error("could not serialize access due to concurrent update")]
    RowChanged {
        /// Its table.
        table: store::TableId,
        /// Its rowkey.
        key: store::Bytes,
    },
    /// 53200: there is no more memory for the writes of the transaction.
    #[error("the writes of this transaction need more than {bytes} bytes of memory: commit in smaller steps")]
    NoMemory {
        /// What it asked for.
        bytes: usize,
    },
    /// 53100 where the disk is full, 58030 else: a file for the writes of the transaction could not be made or written.
    #[error("could not write a temporary file in \"{}\": {reason}", folder.display())]
    Spill {
        /// The folder.
        folder: std::path::PathBuf,
        /// What kind of failure.
        kind: std::io::ErrorKind,
        /// The system's words.
        reason: String,
    },
    /// 40003: a store without atomic batches failed in the middle of a commit, or another writer came in between.
    #[error("commit broke off after {written} of {total} rows: {source}")]
    PartlyCommitted {
        /// Rows written for good.
        written: usize,
        /// Rows of the transaction.
        total: usize,
        /// What stopped it.
        source: StoreError,
    },
    /// The store's failure, with its own code.
    #[error(transparent)]
    Store(#[from] StoreError),
}
