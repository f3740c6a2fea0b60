//! What a transaction has written and not committed: rows in memory, and rows that left it for files.
//!
//! ```text
//!   top      rows in memory, the only ones that change        newest
//!   layers   frozen rows in memory, runs in a file            ...
//!            frozen rows, runs                                oldest
//! ```
//! The newest layer that has a key says what the row has become. A layer never changes: a frozen one may be
//! exchanged for a run of the same rows ([`WriteSet::spill`]). So whoever reads while a statement writes holds the layers,
//! and a savepoint goes back by dropping those above it.

mod bloom;
mod cursor;
mod file;
mod large;
mod merged;
mod prefixes;
mod rows;
mod run;
mod set;
mod undo;

pub use rows::Written;
pub use undo::Savepoint;

pub(crate) use file::SpillFile;
pub(crate) use large::Spilled;
pub(crate) use merged::OwnRows;
pub(crate) use prefixes::Prefixes;
pub(crate) use set::WriteSet;
pub(crate) use undo::UndoLog;
