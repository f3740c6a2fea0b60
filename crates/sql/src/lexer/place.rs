//! Locations to byte offsets: sqlparser counts lines and characters, this crate reports bytes.

use super::Piece;
use crate::error::Position;
use sqlparser::tokenizer::{Location, TokenWithSpan};

/// Walks a text forward, so that ascending locations cost one pass over it in all.
pub(crate) struct Places<'t> {
    text: &'t str,
    /// The current byte offset, and its line and column.
    byte: usize,
    line: u64,
    column: u64,
}

impl<'t> Places<'t> {
    /// Starts at the beginning.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, byte: 0, line: 1, column: 1 }
    }

    /// Returns the byte at a location. Locations should ascend: an earlier one restarts the walk.
    pub(crate) fn byte_of(&mut self, place: Location) -> usize {
        if (place.line, place.column) < (self.line, self.column) {
            *self = Self::new(self.text);
        }
        let rest = self.text.get(self.byte..).unwrap_or_default();
        for (offset, character) in rest.char_indices() {
            if (self.line, self.column) >= (place.line, place.column) {
                self.byte += offset;
                return self.byte;
            }
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.byte = self.text.len();
        self.byte
    }
}

impl Piece {
    /// Makes locations relative to the statement's first token, so that they are found in the statement's own text: in
    /// a text of many statements, only that part is walked.
    pub(super) fn make_locations_relative(&mut self) {
        let Some(first) = self.tokens.first().map(|token| token.span.start) else { return };
        if (first.line, first.column) == (1, 1) || first.line == 0 {
            return;
        }
        for token in &mut self.tokens {
            token.span.start = counted_from(first, token.span.start);
            token.span.end = counted_from(first, token.span.end);
        }
        self.hints.iter_mut().for_each(|hint| hint.move_places(|place| counted_from(first, place)));
    }
}

impl Piece {
    /// Returns the same tokens without locations.
    pub(crate) fn without_locations(&self) -> Self {
        let nowhere = |token: &TokenWithSpan| TokenWithSpan::wrap(token.token.clone());
        let tokens = self.tokens.iter().map(nowhere).collect();
        Self { tokens, span: self.span.clone(), hints: self.hints.clone(), deep: self.deep }
    }
}

/// Converts a location of a text to one in the part that begins at `first`. Line 0 is no location.
fn counted_from(first: Location, place: Location) -> Location {
    let column = match place.line == first.line {
        true => place.column.saturating_sub(first.column - 1),
        false => place.column,
    };
    match place.line {
        0 => place,
        line => Location { line: line.saturating_sub(first.line - 1), column },
    }
}

/// Returns the byte at a location.
pub fn byte_of(text: &str, place: Location) -> usize {
    Places::new(text).byte_of(place)
}

/// Returns the position of a location.
pub(crate) fn position_of(text: &str, place: Location) -> Position {
    position_at(text, byte_of(text, place))
}

/// Returns the position of a byte.
pub(crate) fn position_at(text: &str, byte: usize) -> Position {
    let before = text.get(..byte).unwrap_or(text);
    Position { byte, character: before.chars().count() + 1 }
}

/// Returns the position after the last byte.
pub(crate) fn end_of(text: &str) -> Position {
    position_at(text, text.len())
}
