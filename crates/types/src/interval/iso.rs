//! ISO 8601's intervals: `P1Y2M3DT4H5M6.5S`, and without letters: `P0001-02-03T04:05:06`, `P00010203T040506`.

use super::sum::{Fault, HOURS, MINUTES, Number, SECONDS, Sum, Unit};

/// PostgreSQL's limit of a number: a larger double has few fraction bits left.
const LARGEST: f64 = 1.0e15;

/// Parses the form, which must be in upper case.
///
/// # Errors
/// [`Fault::Form`] and [`Fault::Range`].
pub(super) fn iso(text: &str) -> Result<Sum, Fault> {
    let body = text.strip_prefix('P').filter(|body| !body.is_empty()).ok_or(Fault::Form)?;
    let mut reader = Reader { rest: body, sum: Sum::default() };
    let (mut in_date, mut first) = (true, true);
    while !reader.rest.is_empty() {
        if let Some(time) = reader.rest.strip_prefix('T') {
            reader.rest = time;
            (in_date, first) = (false, true);
            continue;
        }
        if in_date {
            reader.date(first)?
        } else {
            reader.time(first)?
        }
        first = false;
    }
    Ok(reader.sum)
}

struct Reader<'a> {
    rest: &'a str,
    sum: Sum,
}

impl Reader<'_> {
    /// Parses a number and its letter in the date, or the whole date without letters.
    fn date(&mut self, first: bool) -> Result<(), Fault> {
        let width = integer_width(self.rest);
        let number = self.number()?;
        match self.rest.chars().next() {
            Some('Y') => self.lettered(number, Unit::Years(1)),
            Some('M') => self.lettered(number, Unit::Months),
            Some('W') => self.lettered(number, Unit::Days(7)),
            Some('D') => self.lettered(number, Unit::Days(1)),
            None | Some('T') if width == 8 && first => {
                let parts = [(number.whole / 10_000, Unit::Years(1)), (number.whole / 100 % 100, Unit::Months)];
                self.whole_parts(&parts)?;
                self.sum.add(Number { whole: number.whole % 100, fraction: number.fraction }, Unit::Days(1))
            }
            None | Some('T' | '-') if first => {
                self.delimited(number, '-', [Unit::Years(1), Unit::Months, Unit::Days(1)])
            }
            _ => Err(Fault::Form),
        }
    }

    /// Parses a number and its letter in the time, or the whole time without letters.
    fn time(&mut self, first: bool) -> Result<(), Fault> {
        let width = integer_width(self.rest);
        let number = self.number()?;
        match self.rest.chars().next() {
            Some('H') => self.lettered(number, HOURS),
            Some('M') => self.lettered(number, MINUTES),
            Some('S') => self.lettered(number, SECONDS),
            None if width == 6 && first => {
                let whole = number.whole;
                self.whole_parts(&[(whole / 10_000, HOURS), (whole / 100 % 100, MINUTES), (whole % 100, SECONDS)])?;
                // As in PostgreSQL, the fraction is one of a microsecond.
                self.sum.add(Number { whole: 0, fraction: number.fraction }, Unit::Micros(1))
            }
            None | Some(':') if first => self.delimited(number, ':', [HOURS, MINUTES, SECONDS]),
            _ => Err(Fault::Form),
        }
    }

    fn lettered(&mut self, number: Number, unit: Unit) -> Result<(), Fault> {
        let mut rest = self.rest.chars();
        rest.next();
        self.rest = rest.as_str();
        self.sum.add(number, unit)
    }

    fn whole_parts(&mut self, parts: &[(i64, Unit)]) -> Result<(), Fault> {
        parts.iter().try_for_each(|(whole, unit)| self.sum.add(Number { whole: *whole, fraction: 0.0 }, *unit))
    }

    /// Parses up to three numbers with a delimiter between them, to the end or, for a date, to the time.
    fn delimited(&mut self, first: Number, delimiter: char, units: [Unit; 3]) -> Result<(), Fault> {
        let mut number = first;
        for (at, unit) in units.into_iter().enumerate() {
            self.sum.add(number, unit)?;
            if self.rest.is_empty() || (delimiter == '-' && self.rest.starts_with('T')) {
                return Ok(());
            }
            self.rest = self.rest.strip_prefix(delimiter).filter(|_| at < 2).ok_or(Fault::Form)?;
            number = self.number()?;
        }
        Err(Fault::Form)
    }

    /// Parses a number as C's `strtod` does, so `1e1` too.
    fn number(&mut self) -> Result<Number, Fault> {
        if !self.rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.')) {
            return Err(Fault::Form);
        }
        let (text, rest) = self.rest.split_at_checked(length_of_number(self.rest)).unwrap_or((self.rest, ""));
        let value: f64 = text.parse().map_err(|_| Fault::Form)?;
        if value.abs() > LARGEST {
            return Err(Fault::Range);
        }
        self.rest = rest;
        Ok(Number { whole: value.trunc() as i64, fraction: value.fract() })
    }
}

fn length_of_number(text: &str) -> usize {
    let digits = |at: usize| text.get(at..).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    let is = |at: usize, wanted: &[u8]| text.as_bytes().get(at).is_some_and(|byte| wanted.contains(byte));
    let mut end = usize::from(is(0, b"-"));
    end += digits(end);
    if is(end, b".") {
        end += 1 + digits(end + 1);
    }
    if is(end, b"eE") {
        let power = end + 1 + usize::from(is(end + 1, b"+-"));
        if digits(power) > 0 {
            end = power + digits(power);
        }
    }
    end
}

/// Returns the number of digits before the decimal point.
fn integer_width(text: &str) -> usize {
    text.strip_prefix('-').unwrap_or(text).bytes().take_while(u8::is_ascii_digit).count()
}
