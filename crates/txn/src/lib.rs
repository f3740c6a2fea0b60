//! One transaction over any store: own writes over a snapshot, locks, commit.
//!
//! ```text
//!   begin_statement() ──> ReadView = snapshot + what the statements before wrote     (the statement reads this)
//!   lock_row(k); get_newest(k); put(k, fragment)                                     (the statement writes this)
//!   commit() ──> one WriteBatch ──apply──> locks released ──sync──> answer
//! ```
//!
//! READ COMMITTED: each statement has a snapshot of its own, unless reads are repeated. A writer locks the row first and then reads
//! its newest state, so no update is lost; locks are held to the end of the transaction, or until what was done since they
//! were taken is rolled back to a savepoint. They may go before the commit is durable: who builds on it comes later in the
//! log and cannot survive without it.
//!
//! Words: a *view* is what one statement reads; the *write set* holds uncommitted writes in key order,
//! in memory and, where that is short, in files without a name (`writes`).
//!
//! Invariants:
//! - A statement never reads what it writes itself, so `INSERT INTO t SELECT … FROM t` ends.
//! - A transaction that wrote nothing reads the store directly, at no cost.
//! - Locks are granted in the order of asking, and no lock of this crate's own data is held across an await.
//!
//! Read next: `engine` (which statements lock and write what).

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
pub use transaction::{Aside, AsideRows, Transaction, TransactionOptions, WriteMemory};
pub use view::ReadView;
pub use writes::{Savepoint, Written};
