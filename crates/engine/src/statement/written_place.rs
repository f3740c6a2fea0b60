//! Where names stand in what a client wrote, for errors about trees that have no places.

use crate::statement::Written;
use bind::tree::Span;
use sql::{Location, ObjectName};

impl Written {
    /// The character, from 1, of a place that the parser gave; `None` for what stands nowhere.
    pub(crate) fn position_of(&self, place: Location) -> Option<usize> {
        let at = u32::try_from(sql::byte_of(&self.text, place)).ok().filter(|_| place.line > 0)?;
        self.position(Span { start: at, end: at + 1 })
    }

    /// The character at which the name of the table stands that INSERT, UPDATE or DELETE writes.
    pub(crate) fn position_of_target(&self, name: &ObjectName) -> Option<usize> {
        let schema = name.schema.as_deref();
        let spans = bind::words_in(&self.text, &name.name).map(|span| match schema {
            // It begins with its schema.
            Some(schema) => bind::words_in(&self.text, schema).rfind(|it| it.end < span.start).unwrap_or(span),
            None => span,
        });
        let is_target = |span: &Span| {
            let before = self.text.get(..span.start as usize).unwrap_or_default().trim_end();
            let word = before.rsplit(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
            ["INTO", "UPDATE", "FROM", "ONLY"].iter().any(|wanted| wanted.eq_ignore_ascii_case(word))
        };
        let mut spans = spans;
        spans.find(is_target).and_then(|span| self.position(span))
    }
}
