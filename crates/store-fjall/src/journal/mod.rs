//! fjall's journal: reading it, the durable part of it, and which journals are still needed.

pub(crate) mod held_journals;
pub(crate) mod new_journal;
pub(crate) mod reader;
pub(crate) mod replay_floors;
pub(crate) mod seqno_chain;
pub(crate) mod watermark;
pub(crate) mod watermark_follower;
