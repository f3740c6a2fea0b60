//! Literals whose value depends on the session: its time zone, DateStyle or IntervalStyle.
//!
//! Most texts of dates and times mean one thing everywhere. Those that do not are found by what their reader asks for.

use crate::binder::Binder;
use crate::tree::Span;
use std::cell::Cell;
use types::temporal::ZoneRules;
use types::{DataType, Datum, Style, TypeError, text};

impl Binder<'_> {
    /// Reads a text, and notes whether another session might read it as another value.
    pub(crate) fn parse(&mut self, ty: &DataType, text: &str, span: Span) -> Result<Datum, TypeError> {
        let rules = AskedRules { rules: self.env.rules, asked: Cell::new(false) };
        let read = text::parse_in(ty, text, &rules);
        if rules.asked.get() {
            self.facts.session_bound = true;
            if let Ok(value) = &read {
                self.note_session_constant(ty, value, span);
            }
        }
        read
    }
}

/// The session's rules, with a note of whether they were asked for.
struct AskedRules<'a> {
    rules: &'a dyn ZoneRules,
    asked: Cell<bool>,
}

impl ZoneRules for AskedRules<'_> {
    fn offset_at_local(&self, name: Option<&str>, local_micros: i64) -> Option<i32> {
        self.asked.set(self.asked.get() || name.is_none());
        self.rules.offset_at_local(name, local_micros)
    }

    fn style(&self) -> Style {
        self.asked.set(true);
        self.rules.style()
    }
}
