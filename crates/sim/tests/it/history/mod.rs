//! A history of operations chosen by a seed, and the ledger of their expected effects.
//!
//! ```text
//!   seed ──Chooser──> Step 1, Step 2, ...      step.rs     depends only on the seed and the ledger
//!   step ──Ledger───> tables and rows          ledger.rs   expected content, and expected error
//!   step ──perform──> FjallStore               perform.rs
//!   FjallStore ──contents──> tables and rows   contents.rs compared with the ledger
//! ```
//! The ledger after each step follows from the seed without a store, so a test can check the work of a process that has
//! ended.

mod contents;
mod ledger;
mod perform;
pub(crate) mod row;
mod step;

pub(crate) use contents::{Contents, difference, of_store};
pub(crate) use ledger::{Due, Ledger, Table};
pub(crate) use perform::{begin_load, create_tables, options, perform, put_rows};
pub(crate) use step::{Chooser, Ending, Rows, Step};
