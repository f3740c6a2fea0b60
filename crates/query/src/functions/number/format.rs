//! `to_char` of numbers.

use crate::error::QueryResult;
use crate::functions::number::numerals::{ordinal_suffix, roman};
use crate::functions::number::template;
use crate::functions::sql::{arguments, wrong};
use types::{DataType, Datum, Decimal, interrupt};

/// An element of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions) enum Mark {
    Digit,
    Zero,
    Point,
    Group,
    /// `L`: a blank, because the locale has no currency symbol.
    Currency,
    /// `S`, before or after the digits.
    Sign,
    /// `MI`; the next two are `PL` and `SG`.
    Minus,
    Plus,
    PlusMinus,
    Angle,
    Exponent,
    Shift,
    Ordinal(bool),
    Roman(bool),
    Other(char),
}

pub(super) struct Pattern {
    pub(super) marks: Vec<Mark>,
    fill: bool,
    /// Digits before and after the decimal point.
    whole: usize,
    fraction: usize,
    /// Digits after `V`.
    shift: usize,
}

/// The cost of reading one mark, in steps of [`interrupt::spend`].
const STEPS_OF_A_MARK: usize = 32;

pub(super) fn compile(pattern: &str) -> QueryResult<Pattern> {
    let mut marks = Vec::new();
    let mut fill = true;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        interrupt::spend(STEPS_OF_A_MARK)?;
        let words = [
            ("EEEE", Mark::Exponent),
            ("MI", Mark::Minus),
            ("PL", Mark::Plus),
            ("SG", Mark::PlusMinus),
            ("PR", Mark::Angle),
            ("RN", Mark::Roman(true)),
            ("TH", Mark::Ordinal(true)),
        ];
        if rest.get(..2).is_some_and(|head| head.eq_ignore_ascii_case("FM")) {
            fill = false;
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let word =
            words.iter().find(|(word, _)| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)));
        if let Some((word, mark)) = word {
            let lower = first.is_ascii_lowercase();
            marks.push(match mark {
                Mark::Roman(_) => Mark::Roman(!lower),
                Mark::Ordinal(_) => Mark::Ordinal(!lower),
                mark => *mark,
            });
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        if let Some(inside) = rest.strip_prefix('"') {
            let (text, tail) = inside.split_once('"').unwrap_or((inside, ""));
            marks.extend(text.chars().map(Mark::Other));
            rest = tail;
            continue;
        }
        marks.push(match first {
            '9' => Mark::Digit,
            '0' => Mark::Zero,
            '.' | 'D' | 'd' => Mark::Point,
            ',' | 'G' | 'g' => Mark::Group,
            'L' | 'l' => Mark::Currency,
            'S' | 's' => Mark::Sign,
            'V' | 'v' => Mark::Shift,
            other => Mark::Other(other),
        });
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    let is_digit = |mark: &&Mark| matches!(mark, Mark::Digit | Mark::Zero);
    let point = marks.iter().position(|mark| *mark == Mark::Point);
    let shift_at = marks.iter().position(|mark| *mark == Mark::Shift);
    template::check(&marks, fill)?;
    let all = marks.iter().filter(is_digit).count();
    let fraction = point.map_or(0, |point| marks.iter().skip(point).filter(is_digit).count());
    let shift = shift_at.map_or(0, |at| marks.iter().skip(at).filter(is_digit).count());
    Ok(Pattern { whole: all - fraction, fraction, shift, marks, fill })
}

/// `to_char(number, pattern)`.
pub(in crate::functions) fn print(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [value, Datum::Text(pattern)]);
    let pattern = compile(pattern)?;
    if let Some(Mark::Roman(upper)) = pattern.marks.iter().find(|mark| matches!(mark, Mark::Roman(_))) {
        return Ok(Datum::Text(roman(value, *upper, pattern.fill)));
    }
    if pattern.marks.contains(&Mark::Exponent) {
        return exponent(value, &pattern).map(Datum::Text);
    }
    let digits = Digits::of(value, &pattern)?;
    Ok(Datum::Text(pattern.print(&digits)))
}

/// The digits of a number. `whole` is `None` if the digits do not fit, and prints as `#`.
struct Digits {
    negative: bool,
    whole: Option<String>,
    fraction: String,
}

impl Digits {
    fn of(value: &Datum, pattern: &Pattern) -> QueryResult<Self> {
        let text = match value {
            Datum::Float4(_) | Datum::Float8(_) => float_text(value, pattern.fraction + pattern.shift),
            value => {
                let Datum::Numeric(number) = types::coerce::assign(&DataType::Numeric(None), value.clone())? else {
                    return Err(wrong(std::slice::from_ref(value)));
                };
                exact_text(number, pattern.fraction + pattern.shift)
            }
        };
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (rest.bytes().any(|byte| matches!(byte, b'1'..=b'9')), rest.to_owned()),
            None => (false, text),
        };
        let (mut whole, mut fraction) = match text.split_once('.') {
            Some((whole, fraction)) => (whole.to_owned(), fraction.to_owned()),
            None => (text, String::new()),
        };
        if pattern.shift > 0 {
            whole.push_str(&fraction);
            fraction.clear();
        }
        let whole = whole.trim_start_matches('0').to_owned();
        let fits = whole.len() <= pattern.whole && whole.bytes().all(|byte| byte.is_ascii_digit());
        Ok(Self { negative, whole: fits.then_some(whole), fraction })
    }
}

fn exact_text(number: Decimal, fraction: usize) -> String {
    let scale = u8::try_from(fraction).unwrap_or(u8::MAX).min(38);
    match number.rescale(scale) {
        Some(rounded) => rounded.to_string(),
        // A numeric has no room for that many zeros: they are appended as text.
        None => {
            let text = number.to_string();
            let have = text.split_once('.').map_or(0, |(_, digits)| digits.len());
            let point = if have == 0 { "." } else { "" };
            format!("{text}{point}{}", "0".repeat(fraction.saturating_sub(have)))
        }
    }
}

/// Prints only digits that the float certainly has; the others are zeros.
fn float_text(value: &Datum, fraction: usize) -> String {
    let (number, sure) = match value {
        Datum::Float4(number) => (f64::from(*number), 6),
        Datum::Float8(number) => (*number, 15),
        _ => (f64::NAN, 0),
    };
    if !number.is_finite() {
        return if number.is_nan() { "NaN".to_owned() } else { number.to_string().replace("inf", "Infinity") };
    }
    let before = if number.abs() >= 1.0 { number.abs().log10().floor() as usize + 1 } else { 1 };
    let kept = fraction.min(usize::saturating_sub(sure, before));
    let text = format!("{number:.kept$}");
    let point = if kept == 0 && fraction > 0 { "." } else { "" };
    format!("{text}{point}{}", "0".repeat(fraction - kept))
}

impl Pattern {
    pub(super) fn has(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    fn print(&self, digits: &Digits) -> String {
        let first_zero = self.marks.iter().position(|mark| *mark == Mark::Zero);
        let point = self.marks.iter().position(|mark| matches!(mark, Mark::Point)).unwrap_or(self.marks.len());
        let significant = digits.whole.as_ref().map_or(self.whole, String::len);
        let overflow = digits.whole.is_none();
        // The index among the digit marks of the first `0`, from which all digits print.
        let zero_from = first_zero
            .filter(|at| *at < point)
            .map(|at| self.marks.iter().take(at).filter(|mark| matches!(mark, Mark::Digit | Mark::Zero)).count());
        let starts = (self.whole - significant).min(zero_from.unwrap_or(usize::MAX));
        let last_shown = self.last_fraction_digit(digits);
        let mut out = String::new();
        let (mut place, mut behind, mut signed) = (0, 0, false);
        let sign_in_front =
            !self.marks.iter().any(|mark| matches!(mark, Mark::Sign | Mark::Minus | Mark::PlusMinus | Mark::Angle));
        let leading_sign = self
            .marks
            .iter()
            .position(|mark| *mark == Mark::Sign)
            .is_some_and(|at| self.marks.iter().skip(at).any(|mark| matches!(mark, Mark::Digit | Mark::Zero)));
        for (at, mark) in self.marks.iter().enumerate() {
            match mark {
                Mark::Digit | Mark::Zero if at < point => {
                    let shows = place >= starts || (place + 1 == self.whole && self.fraction == 0 && significant == 0);
                    if shows {
                        self.push_sign(digits, &mut signed, sign_in_front, leading_sign, &mut out);
                        out.push(match &digits.whole {
                            None => '#',
                            Some(whole) => (place + whole.len())
                                .checked_sub(self.whole)
                                .and_then(|at| whole.as_bytes().get(at))
                                .map_or('0', |byte| char::from(*byte)),
                        });
                    } else if self.fill {
                        out.push(' ');
                    }
                    place += 1;
                }
                Mark::Digit | Mark::Zero => {
                    self.push_sign(digits, &mut signed, sign_in_front, leading_sign, &mut out);
                    let digit = digits.fraction.as_bytes().get(behind).map_or('0', |byte| char::from(*byte));
                    if behind < last_shown {
                        out.push(if overflow { '#' } else { digit });
                    }
                    behind += 1;
                }
                Mark::Point => {
                    self.push_sign(digits, &mut signed, sign_in_front, leading_sign, &mut out);
                    out.push('.');
                }
                Mark::Group => {
                    if place > starts {
                        out.push(',');
                    } else if self.fill {
                        out.push(' ');
                    }
                }
                Mark::Sign if leading_sign => {}
                mark => self.print_beside(mark, digits, &mut out),
            }
        }
        out
    }

    /// Prints a mark whose output does not depend on its position.
    fn print_beside(&self, mark: &Mark, digits: &Digits, out: &mut String) {
        match mark {
            Mark::Currency => out.push(' '),
            Mark::Sign | Mark::PlusMinus => out.push(if digits.negative { '-' } else { '+' }),
            Mark::Minus if digits.negative => out.push('-'),
            Mark::Plus if !digits.negative => out.push('+'),
            Mark::Minus | Mark::Plus if self.fill => out.push(' '),
            Mark::Ordinal(upper) if !digits.negative && self.fraction == 0 => {
                out.push_str(&ordinal_suffix(digits.whole.as_deref().unwrap_or_default(), *upper));
            }
            Mark::Other(letter) => out.push(*letter),
            Mark::Angle if self.fill => out.push(if digits.negative { '>' } else { ' ' }),
            Mark::Angle if digits.negative => out.push('>'),
            _ => {}
        }
    }

    /// Prints the sign, or a blank in its place, before the first digit.
    fn push_sign(&self, digits: &Digits, signed: &mut bool, in_front: bool, leading: bool, out: &mut String) {
        if std::mem::replace(signed, true) {
            return;
        }
        let blank = if self.fill { Some(' ') } else { None };
        if in_front {
            out.extend(if digits.negative { Some('-') } else { blank });
        } else if leading {
            out.push(if digits.negative { '-' } else { '+' });
        } else if self.has(Mark::Angle) {
            out.extend(if digits.negative { Some('<') } else { blank });
        }
    }

    /// Returns the number of fraction digits: with FM, trailing zeros print only up to the last `0` of the pattern.
    fn last_fraction_digit(&self, digits: &Digits) -> usize {
        if self.fill {
            return self.fraction;
        }
        let point = self.marks.iter().position(|mark| *mark == Mark::Point).unwrap_or(self.marks.len());
        let behind: Vec<&Mark> =
            self.marks.iter().skip(point).filter(|mark| matches!(mark, Mark::Digit | Mark::Zero)).collect();
        let asked = behind.iter().rposition(|mark| **mark == Mark::Zero).map_or(0, |at| at + 1);
        asked.max(digits.fraction.trim_end_matches('0').len())
    }
}

/// Prints `1.23e+04`.
fn exponent(value: &Datum, pattern: &Pattern) -> QueryResult<String> {
    let Some(number) = to_f64(value) else { return Err(wrong(std::slice::from_ref(value))) };
    let digits = pattern.fraction;
    let text = format!("{number:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let blank = if number >= 0.0 && pattern.fill { " " } else { "" };
    Ok(format!("{blank}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()))
}

pub(super) fn to_f64(value: &Datum) -> Option<f64> {
    match types::coerce::assign(&DataType::Double, value.clone()).ok()? {
        Datum::Float8(number) => Some(number),
        _ => None,
    }
}
