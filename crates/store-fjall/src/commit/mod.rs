//! Commits, from the batch to durability and visibility, in the order of events:
//!
//! ```text
//!   prepared, rows               pipeline, building                     group_sync                   publish
//!   encode, check conditions ──> check, stamp, journal, memtables ──>  one sync for all waiters ──> readers see it
//!       without a lock               under the commit lock               outside of any lock
//! ```
//! Under the lock run the steps that depend on the commit number (a 16-byte stamp per row, written in place),
//! conditions on tables that changed since they were checked, and fjall's write of one batch to its journal and
//! memtables. A batch that would take fjall long becomes a large commit instead (`crate::large`).
//!
//! Helpers: `conditions` checks conditions, `lock_times` measures the lock, `thread_use` decides where to sync,
//! `journal_room` keeps syncs short, `seqnos` lets recovery verify fjall's sequence numbers.

pub(crate) mod building;
pub(crate) mod conditions;
pub(crate) mod group_sync;
pub(crate) mod journal_file;
pub(crate) mod journal_room;
pub(crate) mod lock_times;
pub(crate) mod pipeline;
pub(crate) mod prepared;
pub(crate) mod publish;
pub(crate) mod rows;
pub(crate) mod seqnos;
pub(crate) mod thread_use;
