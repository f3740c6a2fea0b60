//! Lines and columns to bytes: sqlparser counts lines and characters, we promise bytes.

use super::Piece;
use crate::error::Position;
use sqlparser::tokenizer::{Location, TokenWithSpan};

/// Walks a text forward, so that finding places in order costs one pass over it in all.
pub(crate) struct Places<'t> {
    text: &'t str,
    /// Where the walk is: its byte offset, and the line and column of that byte.
    byte: usize,
    line: u64,
    column: u64,
}

impl<'t> Places<'t> {
    /// At the start.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, byte: 0, line: 1, column: 1 }
    }

    /// The byte at a place. Places must come in order; one that lies behind is found from the start again.
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
    /// Makes lines and columns count from the statement's first token, so that places within the statement are found in its own
    /// text: in a text of many statements the statement's own part is all that is walked.
    pub(super) fn count_from_its_start(&mut self) {
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
    /// The same tokens, which stand nowhere.
    pub(crate) fn without_places(&self) -> Self {
        let nowhere = |token: &TokenWithSpan| TokenWithSpan::wrap(token.token.clone());
        let tokens = self.tokens.iter().map(nowhere).collect();
        Self { tokens, span: self.span.clone(), hints: self.hints.clone(), deep: self.deep }
    }
}

/// A place of a text as it is counted in the part of the text that begins at `first`. Line 0 is no place.
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

/// The byte at one place.
pub fn byte_of(text: &str, place: Location) -> usize {
    Places::new(text).byte_of(place)
}

/// The position of a place.
pub(crate) fn position_of(text: &str, place: Location) -> Position {
    position_at(text, byte_of(text, place))
}

/// The position of a byte.
pub(crate) fn position_at(text: &str, byte: usize) -> Position {
    let before = text.get(..byte).unwrap_or(text);
    Position { byte, character: before.chars().count() + 1 }
}

/// The position after the last byte.
pub(crate) fn end_of(text: &str) -> Position {
    position_at(text, text.len())
}
