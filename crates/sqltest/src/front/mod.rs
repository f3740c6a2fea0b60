//! Fronts: the ways to run a statement.

mod compared;
mod extended;
mod index_choices;
mod library;
mod simple;

use crate::FrontError;
pub use compared::Ways;
pub(crate) use compared::{Compared, Told};
pub(crate) use extended::Extended;
pub(crate) use index_choices::{Found, IndexChoices};
pub(crate) use library::Library;
pub(crate) use simple::Simple;

/// Refuses COPY FROM STDIN: a file has no data for it, and the server would wait.
fn refuse_copy_in(sql: &str) -> Result<(), FrontError> {
    let words: Vec<String> = sql.split_whitespace().map(str::to_ascii_lowercase).collect();
    let is_copy = words.first().is_some_and(|word| word == "copy");
    let from_client = |pair: &[String]| matches!(pair, [from, what] if from == "from" && what.starts_with("stdin"));
    if is_copy && words.windows(2).any(from_client) {
        let message = "COPY FROM STDIN is not run over a connection: a file has no data for it";
        return Err(FrontError::new("0A000", message));
    }
    Ok(())
}

/// How the statements of a file reach the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// In process.
    Library,
    /// Over a socket, simple protocol.
    Simple,
    /// Over a socket, extended protocol with binary results.
    Extended,
}

impl Front {
    /// All fronts.
    pub const ALL: [Front; 3] = [Front::Library, Front::Simple, Front::Extended];

    /// The front's name, which is also its `skipif` label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Simple => "simple",
            Self::Extended => "extended",
        }
    }
}
