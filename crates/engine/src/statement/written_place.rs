//! Where names stand in what a client wrote, for errors about trees that have no places.

use crate::statement::Written;
use bind::tree::Span;
use sql::Location;

impl Written {
    /// The character, from 1, of a place that the parser gave; `None` for what stands nowhere.
    pub(crate) fn position_of(&self, place: Location) -> Option<usize> {
        let at = u32::try_from(sql::byte_of(&self.text, place)).ok().filter(|_| place.line > 0)?;
        self.position(Span { start: at, end: at + 1 })
    }
}
