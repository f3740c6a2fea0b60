//! From a batch to a durable, visible commit, in the order of events:
//!
//! ```text
//!   prepared, rows               pipeline, building                     group_sync                   publish
//!   encode, judge conditions ──> check, stamp, journal, memtables ──>  one sync for all waiting ──> readers see it
//!       without a lock               under the commit lock               outside of any lock
//! ```
//! Under the lock are: what depends on the commit number (16 bytes of stamp a row, written in place), conditions on tables
//! that were written to since they were judged, and what fjall does in one go: one batch of its journal and its
//! memtables. A batch that would take fjall long is no such batch, but a large commit (`crate::large`).
//!
//! Beside them: `conditions` judges, `lock_times` tells how long the lock is held, `thread_use` who may block,
//! `journal_room` keeps syncs short, `seqnos` lets recovery check what fjall numbers.

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
