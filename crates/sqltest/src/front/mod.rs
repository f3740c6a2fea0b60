//! The ways to run a statement.

mod extended;
mod library;
mod simple;

pub(crate) use extended::Extended;
pub(crate) use library::Library;
pub(crate) use simple::Simple;

/// Which way a file is run.
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
    /// All of them.
    pub const ALL: [Front; 3] = [Front::Library, Front::Simple, Front::Extended];

    /// Its name, also the label that files can skip by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Simple => "simple",
            Self::Extended => "extended",
        }
    }
}
