//! A history of operations on a store, chosen by a seed, and the ledger of what they must have left.
//!
//! ```text
//!   seed ──Chooser──> Step 1, Step 2, ...      step.rs     depends on the seed and the ledger alone
//!   step ──Ledger───> tables and rows          ledger.rs   what must be there, and which error is due
//!   step ──perform──> FjallStore               perform.rs
//!   FjallStore ──contents──> tables and rows   contents.rs compared with the ledger
//! ```
//! Anybody who knows the seed can compute the ledger after each step without a store: that is how a test
//! checks what a process did that is gone.

mod contents;
mod ledger;
mod perform;
pub(crate) mod row;
mod step;

pub(crate) use contents::{Contents, difference, of_store};
pub(crate) use ledger::{Due, Ledger, Table};
pub(crate) use perform::{begin_load, create_tables, options, perform, put_rows};
pub(crate) use step::{Chooser, Ending, Rows, Step};
