//! Dates: numbers and month names, in the forms and orders that PostgreSQL accepts.

use super::{Fault, Order, number, plain_date};
use crate::DateOrder;
use crate::temporal::{Civil, days_from_civil, days_in_month};

/// Parses a date in any form to days since 1970.
pub(super) fn date_of(text: &str, before_christ: Option<bool>, order: Order<'_>) -> Result<i64, Fault> {
    if let (Some(days), None) = (plain_date(text.as_bytes()), before_christ) {
        return Ok(days);
    }
    if text.split(['-', '/']).any(|piece| piece.trim_matches([' ', ',']).is_empty()) {
        return Err(Fault::Form);
    }
    // `13.05.2020`: points are separators if there is no other.
    let points = text.matches('.').count() == 2 && !text.contains(['-', '/', ',', ' ']);
    let separates = |c: char| matches!(c, '-' | '/' | ',') || c.is_ascii_whitespace() || (points && c == '.');
    let parts: Vec<&str> = text.split(separates).filter(|part| !part.is_empty()).collect();
    if let ([day], None) = (parts.as_slice(), before_christ)
        && let Some(day) = day.strip_prefix(['J', 'j'])
    {
        return Ok(number(day)? - JULIAN_1970);
    }
    let years = if before_christ == Some(true) { Years::AsWritten } else { Years::InWindow };
    let (year, month, day) = match parts.as_slice() {
        [digits] => packed_date(digits, years)?,
        [a, b, c] => three_parts([a, b, c], order, years)?,
        _ => return Err(Fault::Form),
    };
    let year = match before_christ {
        _ if year <= 0 => return Err(Fault::Range),
        Some(true) => 1 - year,
        _ => year,
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Err(Fault::MonthOrDay);
    }
    if day > days_in_month(year, month) {
        return Err(Fault::Range);
    }
    Ok(days_from_civil(Civil { year, month, day }))
}

/// The Julian day of 1970-01-01.
const JULIAN_1970: i64 = 2_440_588;

type YearMonthDay = (i64, u8, u8);

/// Parses `20130131`, `130131`.
fn packed_date(digits: &str, years: Years) -> Result<YearMonthDay, Fault> {
    let at = digits.len().checked_sub(4).filter(|at| *at >= 2).ok_or(Fault::Form)?;
    let (year, rest) = digits.split_at_checked(at).ok_or(Fault::Form)?;
    let (month, day) = rest.split_at_checked(2).ok_or(Fault::Form)?;
    if at == 3 {
        return Err(Fault::Form);
    }
    Ok((years.year_of(year)?, in_date(month)?, in_date(day)?))
}

/// Parses three parts. A first part of more than two digits is the year; else the order decides. A month name can be
/// any part but the last.
fn three_parts([a, b, c]: [&str; 3], order: Order<'_>, years: Years) -> Result<YearMonthDay, Fault> {
    if let Some(month) = month_of(a) {
        let (year, day) = year_and_day(b, c, order, years)?;
        return Ok((year, month, day));
    }
    if let Some(month) = month_of(b) {
        let (year, day) = year_and_day(a, c, order, years)?;
        return Ok((year, month, day));
    }
    if a.len() > 2 && b.len() > 2 {
        return Err(Fault::Form);
    }
    let order = if a.len() > 2 { DateOrder::YearMonthDay } else { order() };
    let (year, month, day) = match order {
        DateOrder::YearMonthDay => (a, b, c),
        DateOrder::DayMonthYear => (c, b, a),
        DateOrder::MonthDayYear => (c, a, b),
    };
    Ok((years.year_of(year)?, in_date(month)?, in_date(day)?))
}

/// Parses the numbers beside a month name: the long one is the year; else the order decides.
fn year_and_day(first: &str, second: &str, order: Order<'_>, years: Years) -> Result<(i64, u8), Fault> {
    let year_first = first.len() > 2 || (second.len() <= 2 && order() == DateOrder::YearMonthDay);
    let (year, day) = if year_first { (first, second) } else { (second, first) };
    Ok((years.year_of(year)?, in_date(day)?))
}

/// The meaning of a year of two digits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Years {
    /// A year from 1970 to 2069.
    InWindow,
    /// The year as written, because the date is BC.
    AsWritten,
}

impl Years {
    fn year_of(self, text: &str) -> Result<i64, Fault> {
        let year = number(text)?;
        Ok(match text.len() {
            _ if self == Self::AsWritten => year,
            1 | 2 if year < 70 => year + 2000,
            1 | 2 => year + 1900,
            _ => year,
        })
    }
}

fn month_of(text: &str) -> Option<u8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let text = text.to_ascii_lowercase();
    let matches =
        |month: &str| month == text || month.get(..3) == Some(&text) || (text == "sept" && month == "september");
    let index = MONTHS.iter().position(|month| matches(month))?;
    u8::try_from(index + 1).ok()
}

/// Parses a month or a day.
fn in_date(text: &str) -> Result<u8, Fault> {
    u8::try_from(number(text)?).map_err(|_| Fault::MonthOrDay)
}
