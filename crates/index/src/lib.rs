//! One definition of an index: from (definition, old row, new row) to what changes in its entries.
//!
//! ```text
//!   Table, Index ──IndexCodec::new──> IndexCodec
//!   row ──IndexCodec::entry──> Entry (key, fragment), with RowExprs for expressions and predicates
//!   stored row ──EntryMaker::make──> its entries in several indexes, of the row's bytes
//!   old entry, new entry ──change──> Change: nothing, or a delete and a put
//!   conditions of a query, predicate of an index ──implies──> has the index all rows that are wanted?
//!   conditions, statistics of columns ──Known::share──> the share of rows that satisfy them
//!   access paths to the rows, with what is known of them ──choose──> the one to take
//! ```
//!
//! Pure: nothing here reads or writes a store. Who applies the changes decides what they are atomic with.
//!
//! Read next: `catalog::Index::entries` (what entries look like).

mod change;
mod choice;
mod codec;
mod columns;
mod expected;
mod hints;
mod implication;
mod maker;
mod row_exprs;
mod selectivity;

pub use change::{Change, change};
pub use choice::{CandidatePath, Cost, Expected, IndexChoice, Lookups, Reach, Source, choose};
pub use codec::{Entry, IndexCodec};
pub use columns::EntryColumns;
pub use expected::{Judged, JudgedPath};
pub use hints::{ScanHints, ScanRules, Scope};
pub use implication::{Clause, Says, Test, implies};
pub use maker::EntryMaker;
pub use row_exprs::{IndexError, IndexResult, RowExprs};
pub use selectivity::{Known, UNKNOWN};
