//! Constants of stored SQL text whose meaning depends on the session: `'1/2/2003'::date`.
//!
//! PostgreSQL reads such a constant once, when the object is created. The catalog stores SQL text, so the constant is
//! stored as a text that every session reads as the same value: `'2003-01-02'::date`.
//!
//! ```text
//!   bind_with_constants ──> SessionConstants (span, text) ──fix_constants──> tree ──printed──> catalog
//! ```

use crate::binder::Binder;
use crate::position::Lines;
use crate::tree::Span;
use sql::ast::{self, Expr, ValueWithSpan};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use types::temporal::ZoneRules;
use types::{DataType, DateOrder, Datum, IntervalStyle, Style, text};

/// The constants of a statement that another session may read as other values, by their first and last byte. Each has
/// the text that every session reads as its value; `None` if it was read as several values.
#[derive(Clone, Debug, Default)]
pub struct SessionConstants {
    by_span: BTreeMap<(u32, u32), Option<String>>,
}

impl SessionConstants {
    fn insert(&mut self, span: Span, text: String) {
        let known = self.by_span.entry((span.start, span.end)).or_insert_with(|| Some(text.clone()));
        if known.as_ref() != Some(&text) {
            *known = None;
        }
    }

    /// Is there no such constant?
    pub fn is_empty(&self) -> bool {
        self.by_span.is_empty()
    }
}

impl Binder<'_> {
    /// Notes a constant at `span` that the session's settings have read as `value`. Stored texts have no spans: their
    /// constants were fixed when they were stored.
    pub(crate) fn note_session_constant(&mut self, ty: &DataType, value: &Datum, span: Span) {
        if let Some(constants) = &mut self.constants
            && !span.is_empty()
            && let Some(text) = text_of(ty, value)
        {
            constants.insert(span, text);
        }
    }
}

/// Replaces the constants in a part of the syntax tree of the statement `text`. Returns whether there were any.
pub fn fix_constants<T: ast::VisitMut>(tree: &mut T, text: &str, constants: &SessionConstants) -> bool {
    if constants.is_empty() {
        return false;
    }
    let (lines, mut fixed) = (Lines::new(text), false);
    let mut fix = |value: &mut ValueWithSpan| {
        let span = lines.span(value.span);
        if let Some(Some(text)) = constants.by_span.get(&(span.start, span.end)) {
            value.value = ast::Value::SingleQuotedString(text.clone());
            fixed = true;
        }
    };
    let _ = ast::visit_expressions_mut(tree, |expr| {
        match expr {
            Expr::Value(value) => fix(value),
            Expr::TypedString(typed) => fix(&mut typed.value),
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
    fixed
}

/// Returns a text that every session reads as this value.
fn text_of(ty: &DataType, value: &Datum) -> Option<String> {
    let printed = |value: &Datum, intervals| {
        let mut text = String::new();
        text::print_styled(ty, value, Style { intervals, ..Style::default() }, &mut text);
        text
    };
    // Different intervals may be equal, but no two print alike.
    let plain = printed(value, IntervalStyle::Postgres);
    let is_same = |read: Datum| printed(&read, IntervalStyle::Postgres) == plain;
    let fits = |text: &String| {
        [Session::A, Session::B].iter().all(|session| text::parse_in(ty, text, session).is_ok_and(is_same))
    };
    [plain.clone(), printed(value, IntervalStyle::Iso8601)].into_iter().find(fits)
}

/// Two sessions that read differently each text that depends on the session.
enum Session {
    A,
    B,
}

impl ZoneRules for Session {
    fn offset_at_local(&self, name: Option<&str>, _: i64) -> Option<i32> {
        name.is_none().then_some(match self {
            Self::A => 5 * 3600,
            Self::B => -5 * 3600,
        })
    }

    fn style(&self) -> Style {
        let (dates, intervals) = match self {
            Self::A => (DateOrder::DayMonthYear, IntervalStyle::SqlStandard),
            Self::B => (DateOrder::YearMonthDay, IntervalStyle::Postgres),
        };
        Style { dates, intervals, ..Style::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Interval;

    #[test]
    fn an_interval_has_a_text_for_all_interval_styles() {
        for (months, days, micros) in [(0, -1, 3_600_000_000), (-14, 3, -1), (0, 0, -5), (1, -1, 0), (0, 0, 0)] {
            let value = Datum::Interval(Interval { months, days, micros });
            let text = text_of(&DataType::Interval, &value).unwrap();
            for session in [Session::A, Session::B] {
                let read = text::parse_in(&DataType::Interval, &text, &session).unwrap();
                assert_eq!(read.to_string(), value.to_string(), "{text}");
            }
        }
    }

    #[test]
    fn dates_and_times_print_in_utc() {
        let date = Datum::Date(-1_000_000);
        assert!(text_of(&DataType::Date, &date).is_some());
        let moment = Datum::TimestampTz(1_577_836_800_000_001);
        assert_eq!(text_of(&DataType::TimestampTz(None), &moment).as_deref(), Some("2020-01-01 00:00:00.000001+00"));
        assert_eq!(text_of(&DataType::Timestamp(None), &Datum::Timestamp(i64::MAX)).as_deref(), Some("infinity"));
    }
}
