//! Exact decimal numbers of up to 38 digits.
//!
//! PostgreSQL rounds a numeric only when it is assigned to `numeric(p,s)` (half away from zero). Here too, only
//! [`Decimal::rescale`] and [`Literal::rounded`] round, to a given scale.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Maximum digits of a decimal.
pub const MAX_DIGITS: u8 = 38;
/// `10^38`, the least absolute value with too many digits.
pub const LIMIT: i128 = 10_i128.pow(38);

/// `unscaled * 10^-scale`, with `|unscaled| < 10^38`. PostgreSQL's `NaN` and infinities of numeric are refused (22003).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Decimal {
    /// All digits as one integer.
    pub unscaled: i128,
    /// The number of digits after the decimal point, 0 to 38.
    pub scale: u8,
}

/// Returns `10^exponent`, up to `10^38`.
pub fn power_of_ten(exponent: u8) -> Option<i128> {
    POWERS_OF_TEN.get(usize::from(exponent)).copied()
}

const POWERS_OF_TEN: [i128; 39] = {
    let mut powers = [1_i128; 39];
    let mut power = 1;
    // Constant evaluation has no iterators; a wrong index would not compile.
    #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
    while power < powers.len() {
        powers[power] = powers[power - 1] * 10;
        power += 1;
    }
    powers
};

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { unscaled: 0, scale: 0 };

    /// Returns `None` for more than 38 digits, or for a scale of more than 38.
    pub fn new(unscaled: i128, scale: u8) -> Option<Self> {
        (unscaled.unsigned_abs() < LIMIT.unsigned_abs() && scale <= MAX_DIGITS).then_some(Self { unscaled, scale })
    }

    /// Removes trailing zeros of the fraction: 1.50 becomes 1.5, 3.00 becomes 3.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        while self.scale > 0 && self.unscaled % 10 == 0 {
            self.unscaled /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Returns the same number with `scale` fraction digits, rounded half away from zero if digits are dropped. `None`
    /// if it needs more than 38 digits.
    pub fn rescale(self, scale: u8) -> Option<Self> {
        if scale == self.scale {
            return Some(self);
        }
        if scale >= self.scale {
            let factor = power_of_ten(scale - self.scale)?;
            return Self::new(self.unscaled.checked_mul(factor)?, scale);
        }
        let divisor = power_of_ten(self.scale - scale)?;
        let (quotient, rest) = (self.unscaled / divisor, self.unscaled % divisor);
        let away = if rest.abs() >= divisor - rest.abs() { rest.signum() } else { 0 };
        Self::new(quotient + away, scale)
    }

    /// Returns the largest number with `scale` fraction digits that is not greater, and whether it is equal. `None` if
    /// it needs more than 38 digits.
    pub fn floor_to(self, scale: u8) -> Option<(Self, bool)> {
        if scale >= self.scale {
            return Some((self.rescale(scale)?, true));
        }
        let divisor = power_of_ten(self.scale - scale)?;
        let floor = Self::new(self.unscaled.div_euclid(divisor), scale)?;
        Some((floor, self.unscaled.rem_euclid(divisor) == 0))
    }

    /// Returns whether it fits `numeric(precision, scale)` with its own scale.
    pub fn fits_precision(self, precision: u8) -> bool {
        power_of_ten(precision).is_none_or(|limit| self.unscaled.unsigned_abs() < limit.unsigned_abs())
    }

    /// Returns the nearest integer, rounded half away from zero.
    pub fn round(self) -> i128 {
        self.rescale(0).map_or(0, |integer| integer.unscaled)
    }

    /// Returns the nearest double.
    pub fn to_f64(self) -> f64 {
        // The standard library's parser rounds 38 digits correctly.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Returns the nearest single, rounded once (not by way of a double).
    pub fn to_f32(self) -> f32 {
        self.to_string().parse().unwrap_or(f32::NAN)
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self { unscaled: i128::from(value), scale: 0 }
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.cmp(&other.unscaled);
        }
        split(*self).cmp(&split(*other))
    }
}

impl std::hash::Hash for Decimal {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let plain = self.normalized();
        plain.unscaled.hash(state);
        plain.scale.hash(state);
    }
}

/// Returns the integer part, and the fraction in units of `10^-38`; both fit, while a common scale would not.
fn split(value: Decimal) -> (i128, i128) {
    let one = power_of_ten(value.scale).unwrap_or(LIMIT);
    let unit = power_of_ten(MAX_DIGITS.saturating_sub(value.scale)).unwrap_or(1);
    (value.unscaled.div_euclid(one), value.unscaled.rem_euclid(one) * unit)
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        match digits.split_at_checked(digits.len() - scale) {
            Some((integer, fraction)) if scale > 0 => write!(f, "{sign}{integer}.{fraction}"),
            _ => write!(f, "{sign}{digits}"),
        }
    }
}

/// Parses the short plain numbers that most data consists of, `[-]digits[.digits]` with at most 18 digits, without
/// allocating. Returns `None` also for other valid numbers, which [`Literal::parse`] accepts.
pub fn parse_short(text: &str) -> Option<Decimal> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut unscaled, mut seen, mut point) = (0_i64, 0_u8, None);
    for byte in digits {
        match byte {
            b'0'..=b'9' if seen < 18 => {
                unscaled = unscaled * 10 + i64::from(byte - b'0');
                seen += 1;
            }
            b'.' if point.is_none() => point = Some(seen),
            _ => return None,
        }
    }
    let scale = seen - point.unwrap_or(seen);
    (seen > 0).then(|| Decimal { unscaled: i128::from(if negative { -unscaled } else { unscaled }), scale })
}

/// A number as written, before its precision and scale are known: `digits * 10^-scale`.
#[derive(Clone, Debug)]
pub struct Literal {
    negative: bool,
    /// Decimal digits (0 to 9 each), without leading zeros.
    digits: Vec<u8>,
    scale: i64,
}

impl Literal {
    /// Parses `[+-] digits [. digits] [e [+-] digits]`, with optional blanks around it. `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
            None => (text, 0),
        };
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written = integer.bytes().chain(fraction.bytes());
        if integer.len() + fraction.len() == 0 || !written.clone().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits: Vec<u8> = written.map(|byte| byte - b'0').skip_while(|&digit| digit == 0).collect();
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        Some(Self { negative, digits, scale })
    }

    /// Returns the exact number; `None` if it needs more than 38 digits, or more than `max_scale` fraction digits.
    /// Trailing zeros of the fraction do not count and are dropped.
    pub fn exact(&self, max_scale: u8) -> Option<Decimal> {
        let zeros = self.digits.iter().rev().take_while(|&&digit| digit == 0).count();
        let kept = self.digits.len() - zeros;
        if kept == 0 {
            return Some(Decimal::ZERO);
        }
        let scale = self.scale.checked_sub(i64::try_from(zeros).ok()?)?;
        let unscaled = fold(self.digits.iter().take(kept))?;
        let value = if scale < 0 {
            let factor = power_of_ten(u8::try_from(-scale).ok()?)?;
            Decimal::new(unscaled.checked_mul(factor)?, 0)?
        } else {
            Decimal::new(unscaled, u8::try_from(scale).ok().filter(|scale| *scale <= max_scale)?)?
        };
        Some(self.signed(value))
    }

    /// Returns the number with exactly `scale` fraction digits, rounded half away from zero. `None` above 38 digits.
    pub fn rounded(&self, scale: u8) -> Option<Decimal> {
        let dropped = self.scale - i64::from(scale);
        let value = if dropped <= 0 {
            let factor = match (self.digits.is_empty(), u8::try_from(-dropped)) {
                (true, _) => 1,
                (false, zeros) => power_of_ten(zeros.ok()?)?,
            };
            fold(self.digits.iter())?.checked_mul(factor)?
        } else {
            let kept = i64::try_from(self.digits.len()).ok()? - dropped;
            let first_dropped = usize::try_from(kept).ok().and_then(|kept| self.digits.get(kept));
            let up = i128::from(first_dropped.is_some_and(|&digit| digit >= 5));
            fold(self.digits.iter().take(usize::try_from(kept).unwrap_or(0)))? + up
        };
        Some(self.signed(Decimal::new(value, scale)?))
    }

    fn signed(&self, value: Decimal) -> Decimal {
        Decimal { unscaled: if self.negative { -value.unscaled } else { value.unscaled }, scale: value.scale }
    }
}

/// Parses the digits after the `e`. An exponent beyond a billion is limited to it: the number is out of range or zero
/// anyway.
fn exponent_of(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(i64::MAX).min(1_000_000_000);
    Some(if negative { -size } else { size })
}

fn fold<'a>(mut digits: impl Iterator<Item = &'a u8>) -> Option<i128> {
    digits.try_fold(0_i128, |sum, &digit| sum.checked_mul(10)?.checked_add(i128::from(digit)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Option<String> {
        Literal::parse(text)?.exact(20).map(|value| value.to_string())
    }

    fn rounded(text: &str, scale: u8) -> Option<String> {
        Literal::parse(text)?.rounded(scale).map(|value| value.to_string())
    }

    #[test]
    fn literals_keep_every_digit_or_are_refused() {
        for (text, want) in [
            ("1.50", Some("1.5")),
            (" -0.000 ", Some("0")),
            ("+.5", Some("0.5")),
            ("5.", Some("5")),
            ("1e3", Some("1000")),
            ("12.5E-1", Some("1.25")),
            ("99999999999999999999999999999999999999", Some("99999999999999999999999999999999999999")),
            ("100000000000000000000000000000000000000", None),
            ("0.00000000000000000001", Some("0.00000000000000000001")),
            ("0.000000000000000000001", None),
            ("1e-999999999999", None),
            ("0e999999999999", Some("0")),
            ("1e999999999999", None),
            ("", None),
            (".", None),
            ("1e", None),
            ("1 2", None),
            ("0x10", None),
            ("--1", None),
        ] {
            assert_eq!(exact(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn assignment_rounds_half_away_from_zero() {
        for (text, scale, want) in [
            ("1.005", 2, Some("1.01")),
            ("-1.005", 2, Some("-1.01")),
            ("1.0049999999999999999999999999999999999999999", 2, Some("1.00")),
            ("0.5", 0, Some("1")),
            ("-0.4", 0, Some("0")),
            ("0.05", 0, Some("0")),
            ("9.995", 2, Some("10.00")),
            ("1e-50", 3, Some("0.000")),
            ("1e37", 0, Some("10000000000000000000000000000000000000")),
            ("1e38", 0, None),
            ("0e60", 5, Some("0.00000")),
        ] {
            assert_eq!(rounded(text, scale).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn equal_numbers_of_different_scale_are_equal() {
        let number = |unscaled, scale| Decimal::new(unscaled, scale).unwrap();
        assert_eq!(number(10, 1), number(1, 0));
        assert!(number(LIMIT - 1, 0) > number(LIMIT - 1, 1));
        assert!(number(-(LIMIT - 1), 0) < number(LIMIT - 1, 38));
        assert!(number(-15, 1) < number(-1, 0) && number(-15, 1) > number(-2, 0));
    }

    #[test]
    fn a_floor_goes_down_also_below_zero() {
        let floor = |unscaled, scale, to| Decimal::new(unscaled, scale).unwrap().floor_to(to).unwrap();
        assert_eq!(floor(-15, 1, 0), (Decimal::from(-2), false));
        assert_eq!(floor(15, 1, 0), (Decimal::from(1), false));
        assert_eq!(floor(20, 1, 0), (Decimal::from(2), true));
    }
}
