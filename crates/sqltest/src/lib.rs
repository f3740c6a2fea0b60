//! Runs sqllogictest files: in process, over the wire in both protocols, or against PostgreSQL itself.
//!
//! ```text
//!   sql-tests/FOLDER/FILE.slt ──> Front: library | simple | extended | an address ──> text ──> compared
//! ```
//!
//! A file's answers come from PostgreSQL 15 or are worked out by hand, never from Bennu. Records that
//! PostgreSQL cannot run stand behind `skipif postgres`, those that only it can behind `onlyif postgres`.

mod answer;
mod error;
mod front;
mod run;
mod server;

pub use error::FrontError;
pub use front::Front;
pub use run::{fill_from, run_file};
pub use server::Server;
