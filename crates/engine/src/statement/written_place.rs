//! Positions of names in the client's text, for errors about trees without positions.

use crate::statement::Written;
use bind::tree::Span;
use sql::Location;

impl Written {
    /// Converts a parser location to a character position, from 1; `None` for an empty location.
    pub(crate) fn position_of(&self, place: Location) -> Option<usize> {
        let at = u32::try_from(sql::byte_of(&self.text, place)).ok().filter(|_| place.line > 0)?;
        self.position(Span { start: at, end: at + 1 })
    }
}
