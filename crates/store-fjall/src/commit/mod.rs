//! From a batch to a durable, visible commit, in three files in the order of events; `building` makes what `pipeline`
//! writes, `thread_use` tells who may block,
//! `journal_room` keeps syncs short, `seqnos` lets recovery check what fjall numbers.
//!
//! ```text
//!            pipeline                          group_sync                     publish
//!   check, stamp, journal, memtables ──>  one sync for all waiting  ──>  readers see it
//!        under the commit lock              outside of any lock
//! ```

pub(crate) mod building;
pub(crate) mod group_sync;
pub(crate) mod journal_file;
pub(crate) mod journal_room;
pub(crate) mod lock_times;
pub(crate) mod pipeline;
pub(crate) mod publish;
pub(crate) mod seqnos;
pub(crate) mod thread_use;
