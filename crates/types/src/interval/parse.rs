//! Parses intervals: `1 year 2 mons -3 days 04:05:06.5`, `@ 1 minute ago`, `1-2` (years and months), `P1Y2M3DT4H5M6S`.
//!
//! Tokens are read from the right, so that a unit is known before its number; a number to the left of a time is days:
//!
//! ```text
//!   - 3 04:05:06      clock 04:05:06, then -3 of days
//! ```

use super::iso::iso;
use super::sum::{Fault, HOURS, Number, Sum, Unit};
use super::tokens::{Token, tokens};
use super::{Interval, IntervalFields};
use crate::{IntervalStyle, TypeError};

/// Parses an interval of some fields (`5:06` of MINUTE TO SECOND, `7` of DAY) in any form that PostgreSQL accepts. In
/// the style of the SQL standard, a leading sign applies to all parts if no other part has a sign: `-1 2:03` is -1 day
/// and -2:03 hours.
///
/// # Errors
/// [`TypeError::InvalidText`], and [`TypeError::IntervalRange`], [`TypeError::IntervalOverflow`] for parts out of
/// range.
pub(crate) fn parse_styled(
    text: &str,
    fields: IntervalFields,
    style: impl Fn() -> IntervalStyle,
) -> Result<Interval, TypeError> {
    let read = match traditional(text, fields, style) {
        Err(Fault::Form) => iso(text),
        read => read,
    };
    read.and_then(Sum::interval).map(|interval| fields.limit(interval)).map_err(|fault| match fault {
        Fault::Form => TypeError::InvalidText { ty: "interval".to_owned(), input: text.to_owned() },
        Fault::Range => TypeError::IntervalRange { input: text.to_owned() },
        Fault::Sum => TypeError::IntervalOverflow { input: text.to_owned() },
    })
}

/// Parses PostgreSQL's own form and that of the SQL standard.
fn traditional(text: &str, fields: IntervalFields, style: impl Fn() -> IntervalStyle) -> Result<Sum, Fault> {
    let tokens = tokens(text)?;
    let mut signs = tokens.iter().map(Token::sign);
    let leads = signs.next().flatten() == Some('-') && signs.all(|sign| sign.is_none());
    let mut reader = Reader {
        sum: Sum::default(),
        next: Next::Last,
        ago: false,
        all_negative: leads && style() == IntervalStyle::SqlStandard,
        fields,
    };
    tokens.iter().rev().try_for_each(|token| reader.read(token))?;
    if reader.sum.is_empty() {
        return Err(Fault::Form);
    }
    if reader.ago {
        reader.sum.negate()?;
    }
    Ok(reader.sum)
}

/// The unit of a number to the left of the tokens that were read.
#[derive(Clone, Copy)]
enum Next {
    /// No token was read: the last of the interval's fields.
    Last,
    Unit(Unit),
}

struct Reader {
    sum: Sum,
    next: Next,
    ago: bool,
    /// Whether the leading sign applies to every part.
    all_negative: bool,
    fields: IntervalFields,
}

impl Reader {
    fn read(&mut self, token: &Token) -> Result<(), Fault> {
        match token {
            Token::Clock(text) => self.clock(text, false),
            Token::Signed(text) if text.contains(':') => {
                self.clock(text.get(1..).unwrap_or_default(), text.starts_with('-'))
            }
            Token::Number(text) | Token::Signed(text) => self.number(text),
            Token::Word(word) if word == "ago" => {
                self.ago = true;
                self.next = Next::Unit(Unit::Useless);
                Ok(())
            }
            Token::Word(word) => {
                self.next = Next::Unit(Unit::named(word).ok_or(Fault::Form)?);
                Ok(())
            }
        }
    }

    fn clock(&mut self, text: &str, negative: bool) -> Result<(), Fault> {
        let micros = clock(text, self.fields.begins_with_minutes())?;
        self.sum.set_clock(if negative || self.all_negative { -micros } else { micros })?;
        self.next = Next::Unit(Unit::Days(1));
        Ok(())
    }

    fn number(&mut self, text: &str) -> Result<(), Fault> {
        let mut unit = match self.next {
            Next::Last => Unit::of(self.fields.last()),
            Next::Unit(unit) => unit,
        };
        let (whole, rest) = integer(text)?;
        let negative = text.starts_with('-');
        let mut number = Number { whole, fraction: 0.0 };
        match rest.chars().next() {
            None => {}
            Some('-') => {
                number.whole = years_and_months(whole, rest, negative)?;
                unit = Unit::Months;
            }
            Some('.') => number.fraction = if negative { -fraction(rest)? } else { fraction(rest)? },
            Some(_) => return Err(Fault::Form),
        }
        if self.all_negative {
            number = Number { whole: -number.whole.abs(), fraction: -number.fraction.abs() };
        }
        self.sum.add_once(number, unit)?;
        let is_hours = matches!((unit, HOURS), (Unit::Micros(unit), Unit::Micros(hours)) if unit == hours);
        // `1 2` DAY TO HOUR is days and hours.
        self.next = Next::Unit(if is_hours { Unit::Days(1) } else { unit });
        Ok(())
    }
}

/// Returns the integer that a text begins with, 0 if there is none, and the rest of the text.
fn integer(text: &str) -> Result<(i64, &str), Fault> {
    let signs = usize::from(text.starts_with(['+', '-']));
    let digits = text.get(signs..).unwrap_or_default();
    let end = signs + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (number, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    if end == signs {
        return Ok((0, rest));
    }
    Ok((number.parse().map_err(|_| Fault::Range)?, rest))
}

/// Parses the fraction after the decimal point, which may have no digits.
fn fraction(text: &str) -> Result<f64, Fault> {
    let digits = text.strip_prefix('.').unwrap_or(text);
    match digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true if digits.is_empty() => Ok(0.0),
        true => format!("0.{digits}").parse().map_err(|_| Fault::Form),
        false => Err(Fault::Form),
    }
}

/// Returns `1-2`, one year and two months, in months.
fn years_and_months(years: i64, rest: &str, negative: bool) -> Result<i64, Fault> {
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let (months, rest) = integer(rest)?;
    if !(0..12).contains(&months) {
        return Err(Fault::Range);
    }
    if !rest.is_empty() {
        return Err(Fault::Form);
    }
    let months = if negative { -months } else { months };
    years.checked_mul(12).and_then(|years| years.checked_add(months)).ok_or(Fault::Range)
}

/// Parses `hh:mm`, `hh:mm:ss.fff`, `mm:ss.fff` without a sign.
fn clock(text: &str, from_minutes: bool) -> Result<i64, Fault> {
    let (first, rest) = integer(text)?;
    let (second, rest) = integer(rest.strip_prefix(':').ok_or(Fault::Form)?)?;
    let (hours, minutes, seconds, part) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (seconds, rest) = integer(rest)?;
            (first, second, seconds, rest)
        }
        None if rest.is_empty() && !from_minutes => (first, second, 0, rest),
        // Only seconds can have a fraction.
        None => (0, first, second, rest),
    };
    let part = match part.chars().next() {
        None => 0.0,
        Some('.') => fraction(part)?,
        Some(_) => return Err(Fault::Form),
    };
    if hours < 0 || !(0..60).contains(&minutes) || !(0..=60).contains(&seconds) {
        return Err(Fault::Range);
    }
    let whole = hours.checked_mul(3_600).and_then(|all| all.checked_add(minutes * 60 + seconds));
    let whole = whole.and_then(|whole| whole.checked_mul(1_000_000));
    whole.and_then(|whole| whole.checked_add((part * 1e6).round_ties_even() as i64)).ok_or(Fault::Range)
}
