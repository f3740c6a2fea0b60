//! Arithmetic of numerics beyond `+`, `-` and `*`: quotients, roots and logarithms with the digits that PostgreSQL
//! shows, as far as a numeric holds them.

use crate::error::{QueryError, QueryResult};
use crate::functions::number::long_decimal::LongDecimal;
use crate::functions::sql::arguments;
use arrow::datatypes::i256;
use builtins::bodies::numerics::{self, leading_group};
use types::decimal::power_of_ten;
use types::{Datum, Decimal, NUMERIC_MAX_SCALE};

/// The error for a result with more digits than a numeric holds.
pub(crate) fn overflow() -> QueryError {
    QueryError::OutOfRange { what: "numeric".to_owned() }
}

/// `round(value, digits)`, half away from zero.
pub(crate) fn round(value: Decimal, digits: i32) -> QueryResult<Datum> {
    if digits >= i32::from(value.scale) {
        return Ok(Datum::Numeric(value));
    }
    match u8::try_from(digits) {
        Ok(scale) => value.rescale(scale).map(Datum::Numeric).ok_or_else(overflow),
        Err(_) => {
            at_power(
                value,
                digits,
                |quotient, rest, unit| {
                    if rest.abs() >= unit - rest.abs() { quotient + rest.signum() } else { quotient }
                },
            )
        }
    }
}

/// `trunc(value, digits)`.
pub(crate) fn trunc(value: Decimal, digits: i32) -> QueryResult<Datum> {
    if digits >= i32::from(value.scale) {
        return Ok(Datum::Numeric(value));
    }
    match u8::try_from(digits) {
        Ok(scale) => {
            let unit = power_of_ten(value.scale - scale).ok_or_else(overflow)?;
            Ok(Datum::Numeric(Decimal { unscaled: value.unscaled / unit, scale }))
        }
        Err(_) => at_power(value, digits, |quotient, _, _| quotient),
    }
}

/// Rounds to tens, hundreds and so on.
fn at_power(value: Decimal, digits: i32, pick: fn(i128, i128, i128) -> i128) -> QueryResult<Datum> {
    let zeros = u8::try_from(digits.unsigned_abs()).ok();
    let unit = zeros.and_then(|zeros| power_of_ten(zeros.checked_add(value.scale)?));
    let Some(unit) = unit else { return Ok(Datum::Numeric(Decimal::ZERO)) };
    let back = zeros.and_then(power_of_ten).ok_or_else(overflow)?;
    let rounded = pick(value.unscaled / unit, value.unscaled % unit, unit).checked_mul(back);
    rounded.and_then(|rounded| Decimal::new(rounded, 0)).map(Datum::Numeric).ok_or_else(overflow)
}

/// `a / b`, as the body of an overload.
pub(crate) fn divide(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Numeric(a), Datum::Numeric(b)]);
    quotient(*a, *b).map(Datum::Numeric)
}

/// Returns the quotient truncated to an integer.
pub(crate) fn whole_quotient(a: Decimal, b: Decimal) -> QueryResult<Decimal> {
    if b.unscaled == 0 {
        return Err(QueryError::DivisionByZero);
    }
    let scale = a.scale.max(b.scale);
    let wide = |value: Decimal| {
        let factor = power_of_ten(scale - value.scale)?;
        i256::from_i128(value.unscaled).checked_mul(i256::from_i128(factor))
    };
    let quotient = wide(a).zip(wide(b)).and_then(|(a, b)| a.checked_div(b)).and_then(i256::to_i128);
    quotient.and_then(|quotient| Decimal::new(quotient, 0)).ok_or_else(overflow)
}

/// Returns `a / b` rounded half away from zero to the scale that PostgreSQL chooses.
pub(crate) fn quotient(a: Decimal, b: Decimal) -> QueryResult<Decimal> {
    Ok(numerics::quotient(a, b)?)
}

/// Returns a power of ten; `None` on overflow.
pub(in crate::functions) fn ten_to(exponent: u32) -> Option<i256> {
    let (mut power, ten) = (i256::ONE, i256::from_i128(10));
    for _ in 0..exponent {
        power = power.checked_mul(ten)?;
    }
    Some(power)
}

/// Returns the quotient rounded half away from zero.
pub(crate) fn rounded_quotient(above: i256, below: i256) -> Option<i256> {
    let quotient = above.checked_div(below)?;
    let rest = above.checked_rem(below)?.wrapping_abs();
    let away = rest >= below.wrapping_abs().checked_sub(rest)?;
    let negative = (above < i256::ZERO) != (below < i256::ZERO);
    if away && rest != i256::ZERO {
        quotient.checked_add(if negative { i256::MINUS_ONE } else { i256::ONE })
    } else {
        Some(quotient)
    }
}

/// Returns the scale of a result of about `10^weight`: 16 significant digits, and at least the argument's scale.
fn digits_for(weight: f64, argument: u8) -> u8 {
    let wanted = (16.0 - weight).max(f64::from(argument)).max(0.0);
    (wanted as u8).min(NUMERIC_MAX_SCALE)
}

/// Returns the square root.
pub(crate) fn sqrt(value: Decimal) -> QueryResult<Decimal> {
    if value.unscaled < 0 {
        return Err(crate::Refusal::Power.because("cannot take square root of a negative number"));
    }
    if value.unscaled == 0 {
        return Ok(Decimal { unscaled: 0, scale: value.scale });
    }
    let (weight, _) = leading_group(value);
    // PostgreSQL's estimate of the digits before the root's decimal point, from groups of four digits.
    let before_point = if weight >= 0 { weight * 2 + 1 } else { 1 - (1 - weight * 4) / 2 };
    root(value, digits_for(f64::from(before_point), value.scale))
}

/// Returns the square root of a number that is not negative, rounded to the given scale.
pub(in crate::functions) fn root(value: Decimal, scale: u8) -> QueryResult<Decimal> {
    let shift = 2 * u32::from(scale) + 2;
    let scaled = if shift >= u32::from(value.scale) {
        i256::from_i128(value.unscaled).checked_mul(ten_to(shift - u32::from(value.scale)).ok_or_else(overflow)?)
    } else {
        None
    };
    let root = integer_sqrt(scaled.ok_or_else(overflow)?).ok_or_else(overflow)?;
    let digits = rounded_quotient(root, i256::from_i128(10)).and_then(i256::to_i128).ok_or_else(overflow)?;
    Decimal::new(digits, scale).ok_or_else(overflow)
}

/// Newton's method from above.
fn integer_sqrt(value: i256) -> Option<i256> {
    let two = i256::from_i128(2);
    let mut guess = value.checked_add(i256::ONE)?;
    let mut next =
        i256::from_f64(value.to_string().parse::<f64>().ok()?.sqrt() * 1.000_000_1)?.checked_add(i256::ONE)?;
    while next < guess {
        guess = next;
        next = guess.checked_add(value.checked_div(guess)?)?.checked_div(two)?;
    }
    Some(guess)
}

/// Returns `e^value`.
pub(crate) fn exp(value: Decimal) -> QueryResult<Decimal> {
    exponential(value.to_f64(), &LongDecimal::from_decimal(value), value.scale)
}

/// Returns `e^value` with a scale of at least `digits`; `approximate` is `value` as a double.
fn exponential(approximate: f64, value: &LongDecimal, digits: u8) -> QueryResult<Decimal> {
    if approximate > 88.0 {
        return Err(overflow());
    }
    if approximate < -60.0 {
        return Ok(Decimal { unscaled: 0, scale: NUMERIC_MAX_SCALE });
    }
    let scale = digits_for((approximate * std::f64::consts::LOG10_E).trunc(), digits);
    rounded(&value.exp(), scale)
}

/// Rounds to the scale, or to a smaller one if that drops only zeros.
fn rounded(value: &LongDecimal, scale: u8) -> QueryResult<Decimal> {
    if let Some(result) = value.rounded(scale) {
        return Ok(result);
    }
    let fewer = (0..scale).rev().find_map(|scale| value.rounded(scale));
    let exact = fewer.filter(|fewer| value.minus(&LongDecimal::from_decimal(*fewer)).is_zero());
    exact.ok_or_else(overflow)
}

/// Converts a double to a numeric of 15 significant digits.
pub(in crate::functions) fn from_float(value: f64) -> QueryResult<Decimal> {
    let literal = types::decimal::Literal::parse(&format!("{value:.14e}"));
    literal.and_then(|literal| literal.rounded(NUMERIC_MAX_SCALE)).ok_or_else(overflow)
}

/// Returns the natural logarithm of a positive number.
pub(crate) fn ln(value: Decimal) -> QueryResult<Decimal> {
    let scale = digits_for(logarithm_weight(value), value.scale);
    rounded(&LongDecimal::from_decimal(value).ln(), scale)
}

/// Returns the decimal weight of a natural logarithm's first digit, as PostgreSQL estimates it.
fn logarithm_weight(value: Decimal) -> f64 {
    let float = value.to_f64();
    if !(0.9..=1.1).contains(&float) {
        return float.ln().abs().log10().trunc();
    }
    let from_one = Decimal::from(1).rescale(value.scale).map_or(0, |one| value.unscaled - one.unscaled);
    if from_one == 0 {
        return 0.0;
    }
    let (weight, first) = leading_group(Decimal { unscaled: from_one, scale: value.scale });
    f64::from(weight * 4) + (first as f64).log10().trunc()
}

/// Returns the logarithm to base 10.
pub(crate) fn log10(value: Decimal) -> QueryResult<Decimal> {
    log(Decimal::from(10), value)
}

/// Returns the logarithm to any base.
pub(crate) fn log(base: Decimal, value: Decimal) -> QueryResult<Decimal> {
    let weight = logarithm_weight(value) - logarithm_weight(base);
    let scale = digits_for(weight, base.scale.max(value.scale));
    let below = LongDecimal::from_decimal(base).ln();
    if below.is_zero() {
        return Err(QueryError::DivisionByZero);
    }
    rounded(&LongDecimal::from_decimal(value).ln().over(&below), scale)
}

/// Returns `base ^ exponent`; the caller has refused powers without a real result.
pub(crate) fn power(base: Decimal, exponent: Decimal) -> QueryResult<Decimal> {
    let whole = exponent.normalized();
    if base.unscaled == 0 {
        let result = if exponent.unscaled == 0 { Decimal::from(1) } else { Decimal::ZERO };
        return Ok(result);
    }
    if whole.scale == 0
        && let Ok(count) = i32::try_from(whole.unscaled)
    {
        return whole_power(base, count);
    }
    let size = LongDecimal::from_decimal(Decimal { unscaled: base.unscaled.abs(), ..base });
    let product = size.ln().times(&LongDecimal::from_decimal(exponent));
    let approximate = base.to_f64().abs().ln() * exponent.to_f64();
    let result = exponential(approximate, &product, base.scale.max(exponent.scale))?;
    let odd = base.unscaled < 0 && whole.unscaled % 2 != 0;
    Ok(if odd { Decimal { unscaled: -result.unscaled, ..result } } else { result })
}

/// Computes a power by squaring.
fn whole_power(base: Decimal, count: i32) -> QueryResult<Decimal> {
    let weight = base.to_f64().abs().log10() * f64::from(count);
    let scale = base.scale.clamp(16, NUMERIC_MAX_SCALE);
    if weight > 38.5 {
        return Err(overflow());
    }
    if weight < -f64::from(scale) - 1.0 {
        return Ok(Decimal { unscaled: 0, scale });
    }
    let mut factor = LongDecimal::from_decimal(base);
    let (mut result, mut rest) = (LongDecimal::one(), count.unsigned_abs());
    while rest > 0 {
        if rest % 2 == 1 {
            result = result.times(&factor);
        }
        rest /= 2;
        if rest > 0 {
            factor = factor.times(&factor);
        }
    }
    if count < 0 {
        result = LongDecimal::one().over(&result);
    }
    rounded(&result, scale)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        types::decimal::Literal::parse(text)
            .unwrap()
            .rounded(text.split_once('.').map_or(0, |(_, f)| f.len() as u8))
            .unwrap()
    }

    #[test]
    fn inexact_functions_have_their_digits() {
        assert_eq!(ln(decimal("2.0")).unwrap().to_string(), "0.6931471805599453");
        assert_eq!(exp(decimal("1.0")).unwrap().to_string(), "2.7182818284590452");
        assert_eq!(sqrt(decimal("2")).unwrap().to_string(), "1.414213562373095");
        assert_eq!(log10(decimal("100.0")).unwrap().to_string(), "2.0000000000000000");
        assert_eq!(power(decimal("2.0"), decimal("0.5")).unwrap().to_string(), "1.4142135623730950");
        assert_eq!(power(decimal("2.0"), decimal("-1")).unwrap().to_string(), "0.5000000000000000");
        assert_eq!(power(decimal("-4.0"), decimal("-3")).unwrap().to_string(), "-0.0156250000000000");
    }
}
