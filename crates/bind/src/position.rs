//! Converts the parser's positions, in lines and characters, to bytes.

use crate::tree::Span;
use sql::{Location, SourceSpan};

/// A text and the offsets of its lines.
#[derive(Debug, Default)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// First byte of each line but the first.
    starts: Vec<usize>,
    /// Is each character one byte?
    ascii: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect();
        Self { text, starts, ascii: text.is_ascii() }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the byte range of a source span; empty if it has no position.
    pub(crate) fn span(&self, place: SourceSpan) -> Span {
        match (self.byte(place.start), self.byte(place.end)) {
            (Some(start), Some(end)) => Span { start, end },
            _ => Span::default(),
        }
    }

    /// Lines and columns count from 1; 0 is no position.
    fn byte(&self, place: Location) -> Option<u32> {
        let line = usize::try_from(place.line).ok()?.checked_sub(1)?;
        let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
        let start = match line.checked_sub(1) {
            None => 0,
            Some(at) => *self.starts.get(at)?,
        };
        let byte = match self.ascii {
            true => start + column,
            false => {
                let line = self.text.get(start..)?;
                start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
            }
        };
        (byte <= self.text.len()).then(|| u32::try_from(byte).ok()).flatten()
    }
}

impl Span {
    /// Has it no position?
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the smallest span that covers both; an empty span does not count.
    #[must_use]
    pub(crate) fn with(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Self { start: self.start.min(other.start), end: self.end.max(other.end) },
        }
    }
}
