//! Runs sqllogictest files: in process, over the wire in both protocols, or against PostgreSQL itself.
//!
//! ```text
//!   sql-tests/FOLDER/FILE.slt ──> Front: library | simple | extended | an address ──> text ──> compared
//! ```
//!
//! `bennu sqllogictest` and this project's own tests (`tests/slt.rs`) both use this crate.
//!
//! A file's results come from PostgreSQL 15 or are derived by hand, never from Bennu. Records that PostgreSQL cannot
//! run
//! are marked `skipif postgres`, those that only PostgreSQL can run `onlyif postgres`.

mod answer;
mod error;
mod front;
mod records;
mod run;
mod server;

pub use error::FrontError;
pub use front::{Front, Ways};
pub use run::{Compare, Report, compare_file, compare_index_choices, fill_from, run_file, run_file_at, run_file_on};
pub use server::Server;
