//! A history of operations chosen by a seed, and the ledger of their expected effects.
//!
//! ```text
//!   seed ──Chooser──> Step 1, Step 2, ...      step.rs     depends on the seed and the ledger alone
//!   step ──Ledger───> tables and rows          ledger.rs   what must be there, and which error is due
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
