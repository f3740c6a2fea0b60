//! The position of a task in the code, and its operation there.

use std::fmt;
use std::panic::Location;

/// A position in the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) kind: &'static str,
    pub(super) at: &'static Location<'static>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.kind, self.at.file(), self.at.line())
    }
}
