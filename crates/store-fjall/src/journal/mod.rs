//! fjall's journal: reading it, what is known to be durable of it, and which parts of it are needed.

pub(crate) mod held_journals;
pub(crate) mod new_journal;
pub(crate) mod reader;
pub(crate) mod replay_floors;
pub(crate) mod seqno_chain;
pub(crate) mod watermark;
pub(crate) mod watermark_follower;
