//! Arithmetic of numerics beyond `+`, `-` and `*`: quotients, roots, logarithms with the digits that PostgreSQL shows,
//! as far as a numeric keeps them.
//!
//! Inexact functions count in fixed point, integers of 76 digits of which [`POINT`] stand after the point.

use super::sql::arguments;
use crate::error::{QueryError, QueryResult};
use arrow::datatypes::i256;
use types::decimal::power_of_ten;
use types::{Datum, Decimal, NUMERIC_MAX_SCALE};

/// The result has more digits than a numeric keeps.
pub(crate) fn overflow() -> QueryError {
    QueryError::OutOfRange { what: "numeric".to_owned() }
}

/// `round(value, digits)`, halves away from zero.
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

/// To tens, hundreds and so on.
fn at_power(value: Decimal, digits: i32, pick: fn(i128, i128, i128) -> i128) -> QueryResult<Datum> {
    let zeros = u8::try_from(digits.unsigned_abs()).ok();
    let unit = zeros.and_then(|zeros| power_of_ten(zeros.checked_add(value.scale)?));
    let Some(unit) = unit else { return Ok(Datum::Numeric(Decimal::ZERO)) };
    let back = zeros.and_then(power_of_ten).ok_or_else(overflow)?;
    let rounded = pick(value.unscaled / unit, value.unscaled % unit, unit).checked_mul(back);
    rounded.and_then(|rounded| Decimal::new(rounded, 0)).map(Datum::Numeric).ok_or_else(overflow)
}

/// `a / b` as an overload.
pub(crate) fn divide(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Numeric(a), Datum::Numeric(b)]);
    quotient(*a, *b).map(Datum::Numeric)
}

/// The quotient cut to a whole number.
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

/// Digits after the point of a quotient: at least 16 significant ones, and no fewer than either operand has
/// (PostgreSQL counts in groups of four digits).
pub(crate) fn quotient_scale(a: Decimal, b: Decimal) -> u8 {
    let (weight_a, first_a) = leading_group(a);
    let (weight_b, first_b) = leading_group(b);
    let mut weight = weight_a - weight_b;
    if first_a <= first_b {
        weight -= 1;
    }
    let scale = (16 - weight * 4).max(i32::from(a.scale)).max(i32::from(b.scale)).max(0);
    u8::try_from(scale).unwrap_or(u8::MAX).min(NUMERIC_MAX_SCALE)
}

/// The place of the first group of four digits, counted from the point, and its value.
fn leading_group(value: Decimal) -> (i32, u128) {
    let digits = value.unscaled.unsigned_abs();
    if digits == 0 {
        return (0, 0);
    }
    let count = digits.ilog10() as i32 + 1;
    let before_point = count - i32::from(value.scale);
    let weight = (before_point - 1).div_euclid(4);
    // Digits in front of the group's end.
    let kept = before_point - weight * 4;
    let shift = count - kept;
    let first = if shift >= 0 {
        digits / 10_u128.pow(shift.unsigned_abs())
    } else {
        digits * 10_u128.pow(shift.unsigned_abs())
    };
    (weight, first)
}

/// `a / b` rounded half away from zero to the digits of [`quotient_scale`].
pub(crate) fn quotient(a: Decimal, b: Decimal) -> QueryResult<Decimal> {
    if b.unscaled == 0 {
        return Err(QueryError::DivisionByZero);
    }
    let scale = quotient_scale(a, b);
    // a * 10^(scale + b.scale - a.scale) / b
    let shift = i32::from(scale) + i32::from(b.scale) - i32::from(a.scale);
    let power = ten_to(shift.unsigned_abs()).ok_or_else(overflow)?;
    let (mut above, mut below) = (i256::from_i128(a.unscaled), i256::from_i128(b.unscaled));
    if shift >= 0 {
        above = above.checked_mul(power).ok_or_else(overflow)?;
    } else {
        below = below.checked_mul(power).ok_or_else(overflow)?;
    }
    let digits = rounded_quotient(above, below).and_then(i256::to_i128).ok_or_else(overflow)?;
    let result = Decimal::new(digits, scale);
    // With fewer fraction digits there may still be room.
    result
        .or_else(|| Some(Decimal { unscaled: digits, scale }.normalized()).filter(|value| value.fits_precision(38)))
        .ok_or_else(overflow)
}

/// A power of ten.
pub(super) fn ten_to(exponent: u32) -> Option<i256> {
    let (mut power, ten) = (i256::ONE, i256::from_i128(10));
    for _ in 0..exponent {
        power = power.checked_mul(ten)?;
    }
    Some(power)
}

/// Halves away from zero.
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

/// Digits after the point in fixed point. Products need twice as many, and quotients too.
const POINT: u8 = 34;

/// A number in fixed point.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Fixed(i256);

impl Fixed {
    fn one() -> Option<i256> {
        ten_to(u32::from(POINT))
    }

    fn from_decimal(value: Decimal) -> Option<Self> {
        let digits = i256::from_i128(value.unscaled);
        if value.scale <= POINT {
            return digits.checked_mul(ten_to(u32::from(POINT - value.scale))?).map(Self);
        }
        rounded_quotient(digits, ten_to(u32::from(value.scale - POINT))?).map(Self)
    }

    fn from_int(value: i64) -> Option<Self> {
        i256::from_i128(i128::from(value)).checked_mul(Self::one()?).map(Self)
    }

    fn times(self, other: Self) -> Option<Self> {
        rounded_quotient(self.0.checked_mul(other.0)?, Self::one()?).map(Self)
    }

    fn over(self, other: Self) -> Option<Self> {
        rounded_quotient(self.0.checked_mul(Self::one()?)?, other.0).map(Self)
    }

    fn over_int(self, divisor: i64) -> Option<Self> {
        rounded_quotient(self.0, i256::from_i128(i128::from(divisor))).map(Self)
    }

    fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    fn rounded(self, scale: u8) -> Option<Decimal> {
        let digits = rounded_quotient(self.0, ten_to(u32::from(POINT.saturating_sub(scale)))?)?;
        Decimal::new(digits.to_i128()?, scale)
    }

    /// The natural logarithm of a number above zero: powers of two are taken out, the rest is a series in
    /// `(x - 1) / (x + 1)`.
    fn ln(self) -> Option<Self> {
        let (one, two) = (Self::from_int(1)?, Self::from_int(2)?);
        let (mut rest, mut doublings) = (self, 0_i64);
        while rest > two {
            rest = rest.over_int(2)?;
            doublings += 1;
        }
        while rest < one {
            rest = rest.plus(rest)?;
            doublings -= 1;
        }
        let twos = Self::atanh_series(Self::from_int(1)?.over_int(3)?)?;
        let part = Self::atanh_series(rest.plus(Self(one.0.checked_neg()?))?.over(rest.plus(one)?)?)?;
        let twos = twos.0.checked_mul(i256::from_i128(i128::from(doublings)))?;
        let half = part.0.checked_add(twos)?;
        half.checked_add(half).map(Self)
    }

    /// `x + x^3/3 + x^5/5 + ...`.
    fn atanh_series(x: Self) -> Option<Self> {
        let square = x.times(x)?;
        let (mut power, mut sum, mut divisor) = (x, x, 1);
        while power.0 != i256::ZERO {
            power = power.times(square)?;
            divisor += 2;
            sum = sum.plus(power.over_int(divisor)?)?;
        }
        Some(sum)
    }

    /// `e^x` for small x: halved until tiny, a series, and squared again.
    fn exp(self) -> Option<Self> {
        let one = Self::from_int(1)?;
        let limit = one.over_int(8)?;
        let (mut x, mut halvings) = (self, 0);
        while x.0.wrapping_abs() > limit.0 {
            x = x.over_int(2)?;
            halvings += 1;
        }
        let (mut term, mut sum, mut n) = (one, one, 0);
        while term.0 != i256::ZERO {
            n += 1;
            term = term.times(x)?.over_int(n)?;
            sum = sum.plus(term)?;
        }
        for _ in 0..halvings {
            sum = sum.times(sum)?;
        }
        Some(sum)
    }
}

/// Digits after the point for a result of about `10^weight`: 16 significant ones, no fewer than the argument has.
fn digits_for(weight: f64, argument: u8) -> u8 {
    let wanted = (16.0 - weight).max(f64::from(argument)).max(0.0);
    (wanted as u8).min(NUMERIC_MAX_SCALE)
}

/// The square root.
pub(crate) fn sqrt(value: Decimal) -> QueryResult<Decimal> {
    if value.unscaled < 0 {
        return Err(crate::Refusal::Power.because("cannot take square root of a negative number"));
    }
    if value.unscaled == 0 {
        return Ok(Decimal { unscaled: 0, scale: value.scale });
    }
    let (weight, _) = leading_group(value);
    // PostgreSQL's guess at the digits of the root before its point, from groups of four.
    let before_point = if weight >= 0 { weight * 2 + 1 } else { 1 - (1 - weight * 4) / 2 };
    root(value, digits_for(f64::from(before_point), value.scale))
}

/// The square root of a number that is not negative, to so many digits behind the point.
pub(super) fn root(value: Decimal, scale: u8) -> QueryResult<Decimal> {
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

/// `e^value`.
pub(crate) fn exp(value: Decimal) -> QueryResult<Decimal> {
    let approximate = value.to_f64();
    if approximate > 88.0 {
        return Err(overflow());
    }
    if approximate < -60.0 {
        return Ok(Decimal { unscaled: 0, scale: NUMERIC_MAX_SCALE });
    }
    let weight = approximate * std::f64::consts::LOG10_E;
    let scale = digits_for(weight.trunc(), value.scale);
    let small = approximate.abs() < 40.0;
    let result =
        if small { Fixed::from_decimal(value).and_then(Fixed::exp).and_then(|e| e.rounded(scale)) } else { None };
    match result {
        Some(result) => Ok(result),
        // More than 17 digits in front of the point leave few behind it.
        None => float_result(approximate.exp(), scale),
    }
}

/// A double as a numeric, with the digits that a double has.
pub(super) fn from_float(value: f64) -> QueryResult<Decimal> {
    float_result(value, NUMERIC_MAX_SCALE)
}

/// A double as a numeric of as many digits.
fn float_result(value: f64, scale: u8) -> QueryResult<Decimal> {
    let exact = types::decimal::Literal::parse(&format!("{value:.14e}")).and_then(|literal| literal.rounded(scale));
    exact.ok_or_else(overflow)
}

/// The natural logarithm; the argument is above zero.
pub(crate) fn ln(value: Decimal) -> QueryResult<Decimal> {
    let approximate = value.to_f64().ln();
    let scale = digits_for(logarithm_weight(approximate), value.scale);
    Fixed::from_decimal(value).and_then(Fixed::ln).and_then(|ln| ln.rounded(scale)).ok_or_else(overflow)
}

/// The place of the first digit of a logarithm.
fn logarithm_weight(approximate: f64) -> f64 {
    if approximate == 0.0 { 0.0 } else { approximate.abs().log10().trunc() }
}

/// The logarithm to base 10.
pub(crate) fn log10(value: Decimal) -> QueryResult<Decimal> {
    log(Decimal::from(10), value)
}

/// The logarithm to any base.
pub(crate) fn log(base: Decimal, value: Decimal) -> QueryResult<Decimal> {
    let approximate = value.to_f64().ln() / base.to_f64().ln();
    let scale = digits_for(logarithm_weight(approximate), base.scale.max(value.scale));
    let below = Fixed::from_decimal(base).and_then(Fixed::ln).ok_or_else(overflow)?;
    if below.0 == i256::ZERO {
        return Err(QueryError::DivisionByZero);
    }
    let above = Fixed::from_decimal(value).and_then(Fixed::ln).ok_or_else(overflow)?;
    above.over(below).and_then(|log| log.rounded(scale)).ok_or_else(overflow)
}

/// `base ^ exponent`; the caller has refused what has no real result.
pub(crate) fn power(base: Decimal, exponent: Decimal) -> QueryResult<Decimal> {
    let approximate = base.to_f64().abs().powf(exponent.to_f64());
    if !approximate.is_finite() || approximate > 1e38 {
        return Err(overflow());
    }
    let weight = if approximate > 0.0 { approximate.log10().trunc() } else { 0.0 };
    let scale = digits_for(weight, base.scale.max(exponent.scale));
    let whole = exponent.normalized();
    if base.unscaled == 0 {
        let result = if exponent.unscaled == 0 { Decimal::from(1) } else { Decimal::ZERO };
        return Ok(result);
    }
    if whole.scale == 0
        && let Ok(count) = i32::try_from(whole.unscaled)
        && let Some(result) = whole_power(base, count).and_then(|power| power.rounded(scale.max(16)))
    {
        return Ok(result);
    }
    let product = Fixed::from_decimal(Decimal { unscaled: base.unscaled.abs(), ..base })
        .and_then(Fixed::ln)
        .zip(Fixed::from_decimal(exponent))
        .and_then(|(ln, exponent)| ln.times(exponent));
    let odd = base.unscaled < 0 && whole.unscaled % 2 != 0;
    let result = match product.and_then(Fixed::exp).and_then(|power| power.rounded(scale)) {
        Some(result) => result,
        None => float_result(approximate, scale)?,
    };
    Ok(if odd { Decimal { unscaled: -result.unscaled, ..result } } else { result })
}

fn whole_power(base: Decimal, count: i32) -> Option<Fixed> {
    let base = Fixed::from_decimal(base)?;
    let mut result = Fixed::from_int(1)?;
    let (mut factor, mut rest) = (base, count.unsigned_abs());
    while rest > 0 {
        if rest % 2 == 1 {
            result = result.times(factor)?;
        }
        rest /= 2;
        if rest > 0 {
            factor = factor.times(factor)?;
        }
    }
    if count < 0 { Fixed::from_int(1)?.over(result) } else { Some(result) }
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
    fn quotients_have_the_digits_of_postgresql() {
        for (a, b, want) in [
            ("1", "3.0", "0.33333333333333333333"),
            ("10.0", "3", "3.3333333333333333"),
            ("100000.0", "3", "33333.333333333333"),
            ("2", "3", "0.66666666666666666667"),
            ("-7.5", "2", "-3.7500000000000000"),
            ("1", "0.0003", "3333.3333333333333333"),
        ] {
            assert_eq!(quotient(decimal(a), decimal(b)).unwrap().to_string(), want, "{a} / {b}");
        }
    }

    #[test]
    fn inexact_functions_have_their_digits() {
        assert_eq!(ln(decimal("2.0")).unwrap().to_string(), "0.6931471805599453");
        assert_eq!(exp(decimal("1.0")).unwrap().to_string(), "2.7182818284590452");
        assert_eq!(sqrt(decimal("2")).unwrap().to_string(), "1.414213562373095");
        assert_eq!(log10(decimal("100.0")).unwrap().to_string(), "2.0000000000000000");
        assert_eq!(power(decimal("2.0"), decimal("0.5")).unwrap().to_string(), "1.4142135623730950");
    }
}
