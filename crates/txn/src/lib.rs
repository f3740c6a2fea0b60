//! Transactions over any store: own writes over a snapshot, locks, commit.
//!
//! ```text
//!   begin_statement() ──> ReadView = snapshot + writes of earlier statements        (the statement reads this)
//!   lock_row(k); get_newest(k); put(k, fragment)                                     (the statement writes this)
//!   commit() ──> one WriteBatch ──apply──> locks released ──sync──> result
//! ```
//!
//! READ COMMITTED: each statement has its own snapshot, except in REPEATABLE READ. A writer locks the row first and
//! then reads its newest state, so no update is lost; locks are held until the end of the transaction, or until a
//! rollback to a savepoint before they were acquired. Locks are released before the commit is durable: a transaction
//! that builds on the commit is later in the log, and cannot survive without it.
//!
//! Terms: a *view* is the state that one statement reads; the *write set* has the uncommitted writes in key order, in
//! memory or spilled to unnamed files (`writes`).
//!
//! Invariants:
//! - A statement never reads its own writes, so `INSERT INTO t SELECT … FROM t` terminates.
//! - A transaction without writes reads the store directly, without overhead.
//! - Locks are granted in request order, and no internal lock of this crate is held across an await.
//!
//! Read next: `engine` (which statements lock and write which rows).

mod advisory;
mod batch_load;
mod commit;
mod deadlock;
mod dual;
mod error;
mod lock_owner;
mod lock_queue;
mod lock_table;
mod overlay_scan;
mod transaction;
mod view;
mod writes;

pub use advisory::{AdvisoryKey, AdvisoryLevel, AdvisoryLocks, AdvisoryMark, SessionOwners};
pub use batch_load::load_unseen;
pub use commit::Committed;
pub use dual::{Definitions, DualStore};
pub use error::{TxnError, TxnResult};
pub use lock_owner::LockOwner;
pub use lock_table::{HeldLock, LockMode, LockTable, LockTarget, LockWait, Obtained, TxnId};
pub use transaction::{DeferredRows, DeferredWrites, Transaction, TransactionOptions, WriteMemory};
pub use view::ReadView;
pub use writes::{Savepoint, Written};
