//! Index maintenance and choice: computes the changes of index entries from the old and new row, and estimates access
//! paths.
//!
//! ```text
//!   Table, Index ──IndexCodec::new──> IndexCodec
//!   row ──IndexCodec::entry──> Entry (key, fragment), with RowExprs for expressions and predicates
//!   stored row ──EntryMaker::make──> its entries in several indexes, copied from the row's bytes
//!   old entry, new entry ──change──> Change: nothing, or a delete and a put
//!   conditions of a query, predicate of an index ──implies──> does the index have all rows of the query?
//!   conditions, statistics of columns ──Known::share──> the fraction of rows that satisfy them
//!   access paths with their estimates ──choose──> the cheapest one
//! ```
//!
//! Pure functions: this crate neither reads nor writes a store. The caller that applies the changes decides on
//! atomicity.
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
pub use expected::{EstimatorPath, TableEstimator};
pub use hints::{ScanHints, ScanRules, Scope};
pub use implication::{Clause, Says, Test, implies};
pub use maker::EntryMaker;
pub use row_exprs::{IndexError, IndexResult, RowExprs};
pub use selectivity::{Known, UNKNOWN};
