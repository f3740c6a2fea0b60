//! Functions of numbers.

pub(super) mod checked;
pub(super) mod format;
pub(super) mod long_decimal;
pub(super) mod numerals;
pub(super) mod numeric;
pub(super) mod parse;
pub(super) mod template;
mod width_bucket;

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::sql::{Definition, Overload, arguments, define, define_any, strict, wrong};
use types::DataType::{BigInt, Double, Integer, Numeric, Real, SmallInt};
use types::{DataType, Datum, Decimal};

const NUMERIC: DataType = Numeric(None);

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define("abs", ABS),
    define("sign", SIGN),
    define("ceil", CEIL),
    define("ceiling", CEIL),
    define("floor", FLOOR),
    define("round", ROUND),
    define("trunc", TRUNC),
    define("sqrt", SQRT),
    define("cbrt", &[strict(&[Double], Double, |args| float(args, |x| Ok(x.cbrt())))]),
    define("exp", EXP),
    define("ln", LN),
    define("log", LOG),
    define("log10", LOG10),
    define("power", POWER),
    define("pow", POWER),
    define("div", &[strict(&[NUMERIC, NUMERIC], NUMERIC, div)]),
    define("gcd", GCD),
    define("lcm", LCM),
    define("factorial", &[strict(&[BigInt], NUMERIC, factorial)]),
    define("scale", &[strict(&[NUMERIC], Integer, |args| Ok(Datum::Int4(i32::from(decimal(args)?.scale))))]),
    define(
        "min_scale",
        &[strict(&[NUMERIC], Integer, |args| Ok(Datum::Int4(i32::from(decimal(args)?.normalized().scale))))],
    ),
    define("trim_scale", &[strict(&[NUMERIC], NUMERIC, |args| Ok(Datum::Numeric(decimal(args)?.normalized())))]),
    define("pi", &[strict(&[], Double, |_| Ok(Datum::Float8(std::f64::consts::PI)))]),
    define("degrees", &[strict(&[Double], Double, |args| float(args, |x| finite(x, x.to_degrees())))]),
    define("radians", &[strict(&[Double], Double, |args| float(args, |x| Ok(x.to_radians())))]),
    define("sin", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, f64::sin)))]),
    define("cos", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, f64::cos)))]),
    define("tan", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, f64::tan)))]),
    define("cot", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, |x| 1.0 / x.tan())))]),
    define("asin", &[strict(&[Double], Double, |args| float(args, |x| of_unit(x, f64::asin)))]),
    define("acos", &[strict(&[Double], Double, |args| float(args, |x| of_unit(x, f64::acos)))]),
    define("atan", &[strict(&[Double], Double, |args| float(args, |x| Ok(x.atan())))]),
    define("atan2", &[strict(&[Double, Double], Double, |args| floats(args, |y, x| Ok(y.atan2(x))))]),
    define("sinh", &[strict(&[Double], Double, |args| float(args, |x| Ok(x.sinh())))]),
    define("cosh", &[strict(&[Double], Double, |args| float(args, |x| Ok(x.cosh())))]),
    define("tanh", &[strict(&[Double], Double, |args| float(args, |x| Ok(x.tanh())))]),
    define("asinh", &[strict(&[Double], Double, |args| float(args, |x| Ok(x.asinh())))]),
    define(
        "acosh",
        &[strict(&[Double], Double, |args| {
            float(args, |x| if x < 1.0 { Err(out_of_domain()) } else { Ok(x.acosh()) })
        })],
    ),
    define(
        "atanh",
        &[strict(&[Double], Double, |args| {
            float(args, |x| if x.abs() > 1.0 { Err(out_of_domain()) } else { Ok(x.atanh()) })
        })],
    ),
    define("sind", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, sind)))]),
    define("cosd", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, |x| sind(x + 90.0))))]),
    define("tand", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, tand)))]),
    define("cotd", &[strict(&[Double], Double, |args| float(args, |x| of_finite(x, |x| 1.0 / tand(x))))]),
    define("asind", &[strict(&[Double], Double, |args| float(args, |x| of_unit(x, |x| tidy(x.asin().to_degrees()))))]),
    define("acosd", &[strict(&[Double], Double, |args| float(args, |x| of_unit(x, |x| tidy(x.acos().to_degrees()))))]),
    define(
        "atand",
        &[strict(&[Double], Double, |args| float(args, |x| Ok(x.atan() / std::f64::consts::FRAC_PI_4 * 45.0)))],
    ),
    define(
        "atan2d",
        &[strict(&[Double, Double], Double, |args| {
            floats(args, |y, x| Ok(y.atan2(x) / std::f64::consts::FRAC_PI_4 * 45.0))
        })],
    ),
    define_any("width_bucket", width_bucket::width_bucket),
];

const ABS: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| Ok(x.abs()))),
    strict(&[Integer], Integer, abs),
    strict(&[SmallInt], SmallInt, abs),
    strict(&[BigInt], BigInt, abs),
    strict(&[NUMERIC], NUMERIC, abs),
    strict(&[Real], Real, abs),
];

fn abs(args: &[Datum]) -> QueryResult<Datum> {
    let out = |what: &str| QueryError::OutOfRange { what: what.to_owned() };
    match args {
        [Datum::Int2(n)] => n.checked_abs().map(Datum::Int2).ok_or_else(|| out("smallint")),
        [Datum::Int4(n)] => n.checked_abs().map(Datum::Int4).ok_or_else(|| out("integer")),
        [Datum::Int8(n)] => n.checked_abs().map(Datum::Int8).ok_or_else(|| out("bigint")),
        [Datum::Float4(x)] => Ok(Datum::Float4(x.abs())),
        [Datum::Numeric(n)] => Ok(Datum::Numeric(Decimal { unscaled: n.unscaled.abs(), scale: n.scale })),
        other => Err(wrong(other)),
    }
}

const SIGN: &[Overload] = &[
    strict(&[Double], Double, |args| {
        float(args, |x| {
            Ok(if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                0.0
            })
        })
    }),
    strict(&[NUMERIC], NUMERIC, |args| {
        Ok(Datum::Numeric(Decimal { unscaled: decimal(args)?.unscaled.signum(), scale: 0 }))
    }),
];

const CEIL: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| Ok(x.ceil()))),
    strict(&[NUMERIC], NUMERIC, |args| to_whole(decimal(args)?, |floor, exact| if exact { floor } else { floor + 1 })),
];

const FLOOR: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| Ok(x.floor()))),
    strict(&[NUMERIC], NUMERIC, |args| to_whole(decimal(args)?, |floor, _| floor)),
];

fn to_whole(value: Decimal, pick: fn(i128, bool) -> i128) -> QueryResult<Datum> {
    let (floor, exact) = value.floor_to(0).ok_or_else(numeric::overflow)?;
    Decimal::new(pick(floor.unscaled, exact), 0).map(Datum::Numeric).ok_or_else(numeric::overflow)
}

const ROUND: &[Overload] = &[
    // Rounds half to even, as PostgreSQL does for floats.
    strict(&[Double], Double, |args| float(args, |x| Ok(x.round_ties_even()))),
    strict(&[NUMERIC], NUMERIC, |args| numeric::round(decimal(args)?, 0)),
    strict(&[NUMERIC, Integer], NUMERIC, |args| {
        arguments!(args, [Datum::Numeric(value), Datum::Int4(digits)]);
        numeric::round(*value, *digits)
    }),
];

const TRUNC: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| Ok(x.trunc()))),
    strict(&[NUMERIC], NUMERIC, |args| numeric::trunc(decimal(args)?, 0)),
    strict(&[NUMERIC, Integer], NUMERIC, |args| {
        arguments!(args, [Datum::Numeric(value), Datum::Int4(digits)]);
        numeric::trunc(*value, *digits)
    }),
];

fn negative_root() -> QueryError {
    Refusal::Power.because("cannot take square root of a negative number")
}

pub(in crate::functions) const SQRT: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| if x < 0.0 { Err(negative_root()) } else { Ok(x.sqrt()) })),
    strict(&[NUMERIC], NUMERIC, |args| numeric::sqrt(decimal(args)?).map(Datum::Numeric)),
];

const EXP: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| in_range(x.exp(), x.is_infinite(), x == f64::NEG_INFINITY))),
    strict(&[NUMERIC], NUMERIC, |args| numeric::exp(decimal(args)?).map(Datum::Numeric)),
];

fn no_logarithm(negative: bool) -> QueryError {
    let what = if negative { "a negative number" } else { "zero" };
    Refusal::Logarithm.because(format!("cannot take logarithm of {what}"))
}

fn logarithm(x: f64, log: fn(f64) -> f64) -> QueryResult<f64> {
    if x <= 0.0 { Err(no_logarithm(x < 0.0)) } else { Ok(log(x)) }
}

fn numeric_logarithm(value: Decimal, log: fn(Decimal) -> QueryResult<Decimal>) -> QueryResult<Datum> {
    if value.unscaled <= 0 { Err(no_logarithm(value.unscaled < 0)) } else { log(value).map(Datum::Numeric) }
}

const LN: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| logarithm(x, f64::ln))),
    strict(&[NUMERIC], NUMERIC, |args| numeric_logarithm(decimal(args)?, numeric::ln)),
];

const LOG10: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| logarithm(x, f64::log10))),
    strict(&[NUMERIC], NUMERIC, |args| numeric_logarithm(decimal(args)?, numeric::log10)),
];

const LOG: &[Overload] = &[
    strict(&[Double], Double, |args| float(args, |x| logarithm(x, f64::log10))),
    strict(&[NUMERIC], NUMERIC, |args| numeric_logarithm(decimal(args)?, numeric::log10)),
    strict(&[NUMERIC, NUMERIC], NUMERIC, |args| {
        arguments!(args, [Datum::Numeric(base), Datum::Numeric(value)]);
        for number in [base, value] {
            if number.unscaled <= 0 {
                return Err(no_logarithm(number.unscaled < 0));
            }
        }
        numeric::log(*base, *value).map(Datum::Numeric)
    }),
];

pub(in crate::functions) const POWER: &[Overload] = &[
    strict(&[Double, Double], Double, |args| floats(args, power)),
    strict(&[NUMERIC, NUMERIC], NUMERIC, |args| {
        arguments!(args, [Datum::Numeric(base), Datum::Numeric(exponent)]);
        let whole = exponent.normalized().scale == 0;
        if base.unscaled == 0 && exponent.unscaled < 0 {
            return Err(zero_to_negative());
        }
        if base.unscaled < 0 && !whole {
            return Err(no_real_power());
        }
        numeric::power(*base, *exponent).map(Datum::Numeric)
    }),
];

fn zero_to_negative() -> QueryError {
    Refusal::Power.because("zero raised to a negative power is undefined")
}

fn no_real_power() -> QueryError {
    Refusal::Power.because("a negative number raised to a non-integer power yields a complex result")
}

fn power(x: f64, y: f64) -> QueryResult<f64> {
    if x == 0.0 && y < 0.0 {
        return Err(zero_to_negative());
    }
    if x < 0.0 && y.is_finite() && y.fract() != 0.0 {
        return Err(no_real_power());
    }
    in_range(x.powf(y), x.is_infinite() || y.is_infinite(), x == 0.0 || x.is_infinite() || y.is_infinite())
}

fn div(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Numeric(a), Datum::Numeric(b)]);
    numeric::whole_quotient(*a, *b).map(Datum::Numeric)
}

const GCD: &[Overload] = &[
    strict(&[Integer, Integer], Integer, |args| integers(args, |a, b| Some(gcd(a, b)))),
    strict(&[BigInt, BigInt], BigInt, |args| integers(args, |a, b| Some(gcd(a, b)))),
    strict(&[NUMERIC, NUMERIC], NUMERIC, |args| numerics(args, |a, b| Some(gcd(a, b)))),
];

const LCM: &[Overload] = &[
    strict(&[Integer, Integer], Integer, |args| integers(args, lcm)),
    strict(&[BigInt, BigInt], BigInt, |args| integers(args, lcm)),
    strict(&[NUMERIC, NUMERIC], NUMERIC, |args| numerics(args, lcm)),
];

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: i128, b: i128) -> Option<i128> {
    if a == 0 || b == 0 { Some(0) } else { (a / gcd(a, b)).checked_mul(b).map(i128::abs) }
}

fn integers(args: &[Datum], op: fn(i128, i128) -> Option<i128>) -> QueryResult<Datum> {
    let out = |what: &str| QueryError::OutOfRange { what: what.to_owned() };
    match args {
        [Datum::Int4(a), Datum::Int4(b)] => {
            let result = op(i128::from(*a), i128::from(*b)).and_then(|n| i32::try_from(n).ok());
            result.map(Datum::Int4).ok_or_else(|| out("integer"))
        }
        [Datum::Int8(a), Datum::Int8(b)] => {
            let result = op(i128::from(*a), i128::from(*b)).and_then(|n| i64::try_from(n).ok());
            result.map(Datum::Int8).ok_or_else(|| out("bigint"))
        }
        other => Err(wrong(other)),
    }
}

/// With a common scale the unscaled values are integers.
fn numerics(args: &[Datum], op: fn(i128, i128) -> Option<i128>) -> QueryResult<Datum> {
    arguments!(args, [Datum::Numeric(a), Datum::Numeric(b)]);
    let scale = a.scale.max(b.scale);
    let at = |value: &Decimal| value.rescale(scale).map(|value| value.unscaled);
    let result = at(a).zip(at(b)).and_then(|(a, b)| op(a, b)).and_then(|n| Decimal::new(n, scale));
    result.map(Datum::Numeric).ok_or_else(numeric::overflow)
}

fn factorial(args: &[Datum]) -> QueryResult<Datum> {
    arguments!(args, [Datum::Int8(n)]);
    if *n < 0 {
        return Err(Refusal::Range.because("factorial of a negative number is undefined"));
    }
    let product = (1..=i128::from(*n).min(40)).try_fold(1_i128, |product, n| product.checked_mul(n));
    let product = product.filter(|_| *n <= 40).and_then(|product| Decimal::new(product, 0));
    product.map(Datum::Numeric).ok_or_else(numeric::overflow)
}

fn decimal(args: &[Datum]) -> QueryResult<Decimal> {
    match args {
        [Datum::Numeric(value), ..] => Ok(*value),
        other => Err(wrong(other)),
    }
}

fn float(args: &[Datum], op: impl Fn(f64) -> QueryResult<f64>) -> QueryResult<Datum> {
    arguments!(args, [Datum::Float8(x)]);
    op(*x).map(Datum::Float8)
}

fn floats(args: &[Datum], op: impl Fn(f64, f64) -> QueryResult<f64>) -> QueryResult<Datum> {
    arguments!(args, [Datum::Float8(x), Datum::Float8(y)]);
    op(*x, *y).map(Datum::Float8)
}

/// An infinity or zero that the arguments do not explain is an overflow or underflow.
fn in_range(result: f64, may_be_infinite: bool, may_be_zero: bool) -> QueryResult<f64> {
    if result.is_infinite() && !may_be_infinite {
        return Err(Refusal::Range.because("value out of range: overflow"));
    }
    if result == 0.0 && !may_be_zero {
        return Err(Refusal::Range.because("value out of range: underflow"));
    }
    Ok(result)
}

fn finite(x: f64, result: f64) -> QueryResult<f64> {
    in_range(result, x.is_infinite(), true)
}

fn out_of_domain() -> QueryError {
    Refusal::Range.because("input is out of range")
}

fn of_finite(x: f64, function: fn(f64) -> f64) -> QueryResult<f64> {
    if x.is_infinite() { Err(out_of_domain()) } else { Ok(function(x)) }
}

fn of_unit(x: f64, function: fn(f64) -> f64) -> QueryResult<f64> {
    if x.abs() > 1.0 { Err(out_of_domain()) } else { Ok(function(x)) }
}

/// The sine of an angle in degrees, exact where the result is 0, 0.5 or 1, or their negative.
fn sind(degrees: f64) -> f64 {
    let angle = degrees.rem_euclid(360.0);
    let (angle, sign) = if angle >= 180.0 { (angle - 180.0, -1.0) } else { (angle, 1.0) };
    let angle = if angle > 90.0 { 180.0 - angle } else { angle };
    let sine = if angle == 0.0 {
        0.0
    } else if angle == 30.0 {
        0.5
    } else if angle == 90.0 {
        1.0
    } else if angle <= 45.0 {
        angle.to_radians().sin()
    } else {
        (90.0 - angle).to_radians().cos()
    };
    sine * sign + 0.0
}

fn tand(degrees: f64) -> f64 {
    let cosine = sind(degrees + 90.0);
    match degrees.rem_euclid(180.0) {
        45.0 => 1.0,
        135.0 => -1.0,
        _ => sind(degrees) / cosine + 0.0,
    }
}

/// Rounds to whole degrees if only the last bits differ.
fn tidy(degrees: f64) -> f64 {
    let whole = degrees.round();
    if (degrees - whole).abs() < 1e-13 * whole.abs().max(1.0) { whole } else { degrees }
}
