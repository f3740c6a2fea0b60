//! Arithmetic of numerics, with the scales that PostgreSQL chooses.

use super::{out_of_range, wrong};
use crate::{Body, EvalError};
use ethnum::I256;
use types::decimal::power_of_ten;
use types::{Datum, Decimal, NUMERIC_MAX_SCALE};

pub(super) fn find(name: &str) -> Option<Body> {
    Some(match name {
        "numeric_add" => |_, args| binary(args, added),
        "numeric_sub" => |_, args| binary(args, |a, b| sum(a, b, -1)),
        "numeric_mul" => |_, args| binary(args, product),
        "numeric_div" => |_, args| binary(args, quotient),
        "numeric_mod" => |_, args| binary(args, remainder),
        "numeric_uminus" => |_, args| unary(args, |a| Decimal { unscaled: -a.unscaled, ..a }),
        "numeric_uplus" => |_, args| unary(args, |a| a),
        "numeric_abs" => |_, args| unary(args, |a| Decimal { unscaled: a.unscaled.abs(), ..a }),
        _ => return None,
    })
}

fn binary(args: &[Datum], op: fn(Decimal, Decimal) -> Result<Decimal, EvalError>) -> Result<Datum, EvalError> {
    let [Datum::Numeric(a), Datum::Numeric(b)] = args else { return Err(wrong(args)) };
    op(*a, *b).map(Datum::Numeric)
}

fn unary(args: &[Datum], op: fn(Decimal) -> Decimal) -> Result<Datum, EvalError> {
    let [Datum::Numeric(value)] = args else { return Err(wrong(args)) };
    Ok(Datum::Numeric(op(*value)))
}

/// The error for a result with more digits than a numeric holds.
fn overflow() -> EvalError {
    out_of_range("numeric")
}

fn wide(value: Decimal, scale: u8) -> Option<I256> {
    I256::from(value.unscaled).checked_mul(I256::from(power_of_ten(scale.checked_sub(value.scale)?)?))
}

/// Returns a number of the given scale, or of a smaller scale if the number does not fit a numeric and that drops only
/// zeros.
fn ranged(unscaled: I256, scale: u8) -> Result<Decimal, EvalError> {
    let (mut unscaled, mut scale) = (unscaled, scale);
    loop {
        let fits = i128::try_from(unscaled).ok().and_then(|unscaled| Decimal::new(unscaled, scale));
        if let Some(fits) = fits.filter(|_| scale <= NUMERIC_MAX_SCALE) {
            return Ok(fits);
        }
        if scale == 0 || unscaled % I256::from(10) != I256::ZERO {
            return fits.ok_or_else(overflow);
        }
        (unscaled, scale) = (unscaled / I256::from(10), scale - 1);
    }
}

/// A sum whose intermediate values may have more digits than a numeric holds.
#[derive(Clone, Copy, Default)]
pub(crate) struct WideSum {
    unscaled: I256,
    scale: u8,
}

impl WideSum {
    /// Adds a number.
    pub(crate) fn add(&mut self, value: Decimal) -> Result<(), EvalError> {
        if value.scale > self.scale {
            let factor = power_of_ten(value.scale - self.scale).ok_or_else(overflow)?;
            self.unscaled = self.unscaled.checked_mul(I256::from(factor)).ok_or_else(overflow)?;
            self.scale = value.scale;
        }
        let value = wide(value, self.scale).ok_or_else(overflow)?;
        self.unscaled = self.unscaled.checked_add(value).ok_or_else(overflow)?;
        Ok(())
    }

    /// Returns the sum so far, if a numeric holds it.
    pub(crate) fn total(&self) -> Result<Decimal, EvalError> {
        ranged(self.unscaled, self.scale)
    }
}

/// `a + b`.
fn added(a: Decimal, b: Decimal) -> Result<Decimal, EvalError> {
    sum(a, b, 1)
}

/// `a + sign * b`.
fn sum(a: Decimal, b: Decimal, sign: i8) -> Result<Decimal, EvalError> {
    let scale = a.scale.max(b.scale);
    let (a, b) = wide(a, scale).zip(wide(b, scale)).ok_or_else(overflow)?;
    ranged(a + I256::from(sign) * b, scale)
}

fn product(a: Decimal, b: Decimal) -> Result<Decimal, EvalError> {
    ranged(I256::from(a.unscaled) * I256::from(b.unscaled), a.scale.saturating_add(b.scale))
}

fn remainder(a: Decimal, b: Decimal) -> Result<Decimal, EvalError> {
    let scale = a.scale.max(b.scale);
    if b.unscaled == 0 {
        return Err(EvalError::DivisionByZero);
    }
    let (a, b) = wide(a, scale).zip(wide(b, scale)).ok_or_else(overflow)?;
    ranged(a % b, scale)
}

/// Returns `a / b` rounded half away from zero to the scale that PostgreSQL chooses: at least 16 significant digits,
/// and at least the scale of either operand.
///
/// # Errors
/// Division by zero, and a result with more digits than a numeric holds.
pub fn quotient(a: Decimal, b: Decimal) -> Result<Decimal, EvalError> {
    if b.unscaled == 0 {
        return Err(EvalError::DivisionByZero);
    }
    let scale = quotient_scale(a, b);
    let shift = i32::from(scale) + i32::from(b.scale) - i32::from(a.scale);
    let power = I256::from(10).checked_pow(shift.unsigned_abs()).ok_or_else(overflow)?;
    let (mut above, mut below) = (I256::from(a.unscaled), I256::from(b.unscaled));
    if shift >= 0 {
        above = above.checked_mul(power).ok_or_else(overflow)?;
    } else {
        below = below.checked_mul(power).ok_or_else(overflow)?;
    }
    let (whole, rest) = (above / below, (above % below).abs());
    let away = rest >= below.abs() - rest;
    let negative = (above < I256::ZERO) != (below < I256::ZERO);
    let step = if negative { I256::MINUS_ONE } else { I256::ONE };
    ranged(if away { whole + step } else { whole }, scale)
}

/// Returns the scale of a quotient: PostgreSQL counts significant digits in groups of four.
pub fn quotient_scale(a: Decimal, b: Decimal) -> u8 {
    let ((weight_a, first_a), (weight_b, first_b)) = (leading_group(a), leading_group(b));
    let weight = weight_a - weight_b - i32::from(first_a <= first_b);
    let scale = (16 - weight * 4).max(i32::from(a.scale)).max(i32::from(b.scale)).max(0);
    u8::try_from(scale).unwrap_or(u8::MAX).min(NUMERIC_MAX_SCALE)
}

/// Returns the position of the first group of four digits, counted from the decimal point, and its value.
pub fn leading_group(value: Decimal) -> (i32, u128) {
    let digits = value.unscaled.unsigned_abs();
    let Some(log) = digits.checked_ilog10() else { return (0, 0) };
    let count = log as i32 + 1;
    let before_point = count - i32::from(value.scale);
    let weight = (before_point - 1).div_euclid(4);
    let shift = count - (before_point - weight * 4);
    let power = 10_u128.pow(shift.unsigned_abs());
    (weight, if shift >= 0 { digits / power } else { digits.saturating_mul(power) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len() as u8);
        types::decimal::Literal::parse(text).unwrap().rounded(scale).unwrap()
    }

    #[test]
    fn results_have_the_digits_of_postgresql() {
        let quotients = [
            ("1", "3.0", "0.33333333333333333333"),
            ("10.0", "3", "3.3333333333333333"),
            ("100000.0", "3", "33333.333333333333"),
            ("2", "3", "0.66666666666666666667"),
            ("-7.5", "2", "-3.7500000000000000"),
            ("1", "0.0003", "3333.3333333333333333"),
        ];
        for (a, b, wanted) in quotients {
            assert_eq!(quotient(decimal(a), decimal(b)).unwrap().to_string(), wanted, "{a} / {b}");
        }
        assert_eq!(sum(decimal("1.50"), decimal("1.5"), 1).unwrap().to_string(), "3.00");
        assert_eq!(product(decimal("-1.50"), decimal("2.0")).unwrap().to_string(), "-3.000");
        assert_eq!(remainder(decimal("-7.5"), decimal("2")).unwrap().to_string(), "-1.5");
        assert!(matches!(remainder(decimal("1"), decimal("0.0")), Err(EvalError::DivisionByZero)));
        let large = decimal("99999999999999999999999999999999999999");
        assert!(matches!(sum(large, large, 1), Err(EvalError::OutOfRange { .. })));
        assert_eq!(sum(large, large, -1).unwrap().to_string(), "0");
    }
}
