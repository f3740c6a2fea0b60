//! Fixed-point numbers with 117 digits after the decimal point and any number before it.
//!
//! Powers, exponentials and logarithms are computed with these. A numeric has 38 digits; an exponential with 38 digits
//! before the point and as many after it needs all digits of its argument, and guard digits.
//!
//! ```text
//!   limbs   [ …13 of the fraction, least significant first… | …the integer part… ]     nine decimal digits each
//! ```

use types::Decimal;

/// Decimal digits of a limb.
const DIGITS: u32 = 9;
const BASE: u64 = 1_000_000_000;
/// Limbs after the point.
const POINT: usize = 13;

/// A number in fixed point.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::functions) struct LongDecimal {
    negative: bool,
    /// Least significant first; the last limb is not zero.
    limbs: Vec<u32>,
}

impl LongDecimal {
    pub(in crate::functions) fn from_decimal(value: Decimal) -> Self {
        // The number of digits by which the unscaled value is shifted.
        let shift = POINT as u32 * DIGITS - u32::from(value.scale);
        let mut limbs = vec![0; (shift / DIGITS) as usize];
        let unit = u128::from(10_u32.pow(shift % DIGITS));
        let (mut rest, mut carry) = (value.unscaled.unsigned_abs(), 0);
        while rest > 0 || carry > 0 {
            let part = (rest % u128::from(BASE)) * unit + carry;
            limbs.push((part % u128::from(BASE)) as u32);
            carry = part / u128::from(BASE);
            rest /= u128::from(BASE);
        }
        Self { negative: value.unscaled < 0, limbs }.tidy()
    }

    pub(in crate::functions) fn one() -> Self {
        Self::from_decimal(Decimal::from(1))
    }

    fn tidy(mut self) -> Self {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        self.negative &= !self.limbs.is_empty();
        self
    }

    pub(in crate::functions) fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    pub(in crate::functions) fn negated(mut self) -> Self {
        self.negative = !self.negative && !self.limbs.is_empty();
        self
    }

    /// Rounds half away from zero; `None` if the result has more digits than a numeric holds.
    pub(in crate::functions) fn rounded(&self, scale: u8) -> Option<Decimal> {
        let dropped = POINT as u32 * DIGITS - u32::from(scale);
        let mut digits: i128 = 0;
        for place in (dropped..self.limbs.len() as u32 * DIGITS).rev() {
            digits = digits.checked_mul(10)?.checked_add(i128::from(self.digit(place)))?;
        }
        if dropped > 0 && self.digit(dropped - 1) >= 5 {
            digits = digits.checked_add(1)?;
        }
        Decimal::new(if self.negative { -digits } else { digits }, scale)
    }

    fn digit(&self, place: u32) -> u32 {
        let limb = self.limbs.get((place / DIGITS) as usize).copied().unwrap_or(0);
        limb / 10_u32.pow(place % DIGITS) % 10
    }

    fn is_smaller(&self, other: &Self) -> bool {
        let by_length = self.limbs.len().cmp(&other.limbs.len());
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev())).is_lt()
    }

    pub(in crate::functions) fn plus(&self, other: &Self) -> Self {
        if self.negative == other.negative {
            return Self { negative: self.negative, limbs: sum(&self.limbs, &other.limbs) }.tidy();
        }
        if self.is_smaller(other) {
            Self { negative: other.negative, limbs: difference(&other.limbs, &self.limbs) }.tidy()
        } else {
            Self { negative: self.negative, limbs: difference(&self.limbs, &other.limbs) }.tidy()
        }
    }

    pub(in crate::functions) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.clone().negated())
    }

    /// Truncates digits after the last limb.
    pub(in crate::functions) fn times(&self, other: &Self) -> Self {
        let mut product = vec![0_u64; self.limbs.len() + other.limbs.len()];
        for (at, a) in self.limbs.iter().enumerate() {
            let mut carry = 0;
            let rest = product.iter_mut().skip(at);
            for (place, b) in rest.zip(other.limbs.iter().chain(std::iter::once(&0))) {
                let part = u64::from(*a) * u64::from(*b) + *place + carry;
                *place = part % BASE;
                carry = part / BASE;
            }
        }
        let limbs = product.into_iter().skip(POINT).map(|limb| limb as u32).collect();
        Self { negative: self.negative != other.negative, limbs }.tidy()
    }

    /// Truncates as [`Self::times`] does.
    pub(in crate::functions) fn over_int(&self, divisor: u32) -> Self {
        let (mut limbs, mut rest) = (self.limbs.clone(), 0);
        for limb in limbs.iter_mut().rev() {
            let part = rest * BASE + u64::from(*limb);
            *limb = (part / u64::from(divisor)) as u32;
            rest = part % u64::from(divisor);
        }
        Self { negative: self.negative, limbs }.tidy()
    }

    /// Returns `1 / self` for a number of at least one half and less than two. Each step of Newton's method doubles the
    /// number of correct digits.
    fn inverse(&self) -> Self {
        let two = Self::from_decimal(Decimal::from(2));
        let mut guess = Self::one();
        loop {
            let next = guess.times(&two.minus(&self.times(&guess)));
            let step = next.minus(&guess);
            // Truncation errors take up to two limbs.
            if step.limbs.len() <= 2 {
                return next;
            }
            guess = next;
        }
    }

    /// Returns `self / other` for a nonzero `other`, which is halved or doubled to the range of [`Self::inverse`].
    pub(in crate::functions) fn over(&self, other: &Self) -> Self {
        let (one, two) = (Self::one(), Self::from_decimal(Decimal::from(2)));
        let (mut above, mut below) = (self.clone(), Self { negative: false, ..other.clone() });
        while !below.is_smaller(&two) {
            (above, below) = (above.over_int(2), below.over_int(2));
        }
        while below.is_smaller(&one) {
            (above, below) = (above.plus(&above), below.plus(&below));
        }
        let quotient = above.times(&below.inverse());
        if other.negative { quotient.negated() } else { quotient }
    }

    /// Returns `e^self`: halves the argument until it is small, sums the series, and squares the result as often.
    pub(in crate::functions) fn exp(&self) -> Self {
        let limit = Self::one().over_int(64);
        let (mut x, mut halvings) = (self.clone(), 0);
        while limit.is_smaller(&x) {
            x = x.over_int(2);
            halvings += 1;
        }
        let (mut term, mut total) = (Self::one(), Self::one());
        for n in 1.. {
            term = term.times(&x).over_int(n);
            if term.is_zero() {
                break;
            }
            total = total.plus(&term);
        }
        for _ in 0..halvings {
            total = total.times(&total);
        }
        total
    }

    /// Returns the natural logarithm of a positive number: factors out powers of two, and sums a series in `(x - 1) /
    /// (x + 1)` for the rest.
    pub(in crate::functions) fn ln(&self) -> Self {
        let (one, two) = (Self::one(), Self::from_decimal(Decimal::from(2)));
        let (mut rest, mut doublings) = (self.clone(), 0);
        while two.is_smaller(&rest) {
            rest = rest.over_int(2);
            doublings += 1;
        }
        while rest.is_smaller(&one) {
            rest = rest.plus(&rest);
            doublings -= 1;
        }
        let twos = Self::atanh_series(&one.over_int(3)).times(&Self::from_decimal(Decimal::from(doublings)));
        let half = Self::atanh_series(&rest.minus(&one).over(&rest.plus(&one))).plus(&twos);
        half.plus(&half)
    }

    /// Returns `x + x^3/3 + x^5/5 + ...`.
    fn atanh_series(x: &Self) -> Self {
        let square = x.times(x);
        let (mut power, mut total) = (x.clone(), x.clone());
        for n in (3..).step_by(2) {
            power = power.times(&square);
            if power.is_zero() {
                break;
            }
            total = total.plus(&power.over_int(n));
        }
        total
    }
}

fn sum(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut limbs = Vec::with_capacity(long.len() + 1);
    let mut carry = 0;
    for (x, y) in long.iter().zip(short.iter().chain(std::iter::repeat(&0))) {
        let part = u64::from(*x) + u64::from(*y) + carry;
        limbs.push((part % BASE) as u32);
        carry = part / BASE;
    }
    limbs.push(carry as u32);
    limbs
}

/// Requires `a >= b`.
fn difference(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut limbs = Vec::with_capacity(a.len());
    let mut borrowed = 0;
    for (x, y) in a.iter().zip(b.iter().chain(std::iter::repeat(&0))) {
        let wanted = u64::from(*y) + borrowed;
        borrowed = u64::from(u64::from(*x) < wanted);
        limbs.push((u64::from(*x) + borrowed * BASE - wanted) as u32);
    }
    limbs
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn long(text: &str) -> LongDecimal {
        LongDecimal::from_decimal(types::decimal::Literal::parse(text).unwrap().exact(20).unwrap())
    }

    fn shown(value: &LongDecimal) -> String {
        value.rounded(20).unwrap().to_string()
    }

    #[test]
    fn sums_products_and_quotients_are_exact() {
        for (a, b, sum, product, quotient) in [
            ("1", "3", "4.00000000000000000000", "3.00000000000000000000", "0.33333333333333333333"),
            ("-2.5", "0.5", "-2.00000000000000000000", "-1.25000000000000000000", "-5.00000000000000000000"),
            (
                "123456789012345",
                "-1000",
                "123456789011345.00000000000000000000",
                "-123456789012345000.00000000000000000000",
                "-123456789012.34500000000000000000",
            ),
        ] {
            let (a, b) = (long(a), long(b));
            assert_eq!(shown(&a.plus(&b)), sum);
            assert_eq!(shown(&a.times(&b)), product);
            assert_eq!(shown(&a.over(&b)), quotient);
        }
    }

    #[test]
    fn exponentials_and_logarithms_have_all_digits() {
        // From tables of constants.
        assert_eq!(shown(&long("1").exp()), "2.71828182845904523536");
        assert_eq!(shown(&long("2").ln()), "0.69314718055994530942");
        assert_eq!(shown(&long("10").ln()), "2.30258509299404568402");
        assert_eq!(shown(&long("0.00001").ln()), "-11.51292546497022842009");
        assert_eq!(long("50").exp().rounded(0).unwrap().to_string(), "5184705528587072464087");
        assert!(long("88").exp().rounded(1).is_none());
    }
}
