//! The uncommitted writes of a transaction: rows in memory, and rows spilled to files.
//!
//! ```text
//!   top      rows in memory, the only mutable ones         newest
//!   layers   frozen rows in memory, runs in a file            ...
//!            frozen rows, runs                                oldest
//! ```
//! The newest layer that has a key determines the state of the row. Layers are immutable, but a frozen layer may be
//! replaced by a run of the same rows ([`WriteSet::spill`]). So a reader keeps the layers alive while a statement
//! writes, and a rollback to a savepoint drops the layers above it.

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
