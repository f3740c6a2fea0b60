//! Prints floats as the shortest text that reads back as the same float, exactly as PostgreSQL does.
//!
//! The standard library finds the shortest digits, but differs from PostgreSQL in two rare cases:
//!
//! - Halfway between two large floats there may be a shorter decimal that reads back right only because ties go to the
//!   even float. PostgreSQL does not use it: 36e9 as a real prints as 3.5999998e+10.
//! - Of two decimals that are equally short and equally near, PostgreSQL takes the one with the even last digit.

use std::fmt::{LowerExp, Write};
use std::str::FromStr;

/// Appends the shortest text that reads back as the same `real`.
pub fn print_float4(value: f32, out: &mut String) {
    let shortest = format!("{value:e}");
    // 6 is FLT_DIG: with fewer digits there are no ties, and from six digits on PostgreSQL prints an exponent.
    let plain = value.abs() < 1_048_576.0 && digits_of(&shortest) < 6;
    let digits = if plain { shortest } else { strictly_shortest(value, shortest) };
    print_float(f64::from(value), &digits, 6, out);
}

/// Appends the shortest text that reads back as the same `double precision`.
pub fn print_float8(value: f64, out: &mut String) {
    let shortest = format!("{value:e}");
    // As above; 15 is DBL_DIG, and below 2^48 a midpoint has too many digits to be short.
    let plain = value.abs() < 281_474_976_710_656.0 && digits_of(&shortest) < 15;
    let digits = if plain { shortest } else { strictly_shortest(value, shortest) };
    print_float(value, &digits, 15, out);
}

/// Appends a `real` with six plus `extra` digits, for an `extra_float_digits` of at most 0.
pub(super) fn print_float4_rounded(value: f32, extra: i8, out: &mut String) {
    print_rounded(f64::from(value), 6 + i32::from(extra), out);
}

/// Appends a `double precision` with 15 plus `extra` digits.
pub(super) fn print_float8_rounded(value: f64, extra: i8, out: &mut String) {
    print_rounded(value, 15 + i32::from(extra), out);
}

/// Prints as C's `%.*g`: rounded to that many digits, without trailing zeros.
fn print_rounded(value: f64, digits: i32, out: &mut String) {
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", usize::try_from(digits - 1).unwrap_or(0));
    let short = match scientific.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => scientific,
    };
    print_float(value, &short, digits, out);
}

/// Returns the number of digits before the exponent.
fn digits_of(scientific: &str) -> usize {
    scientific.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count()
}

/// Returns the nearest of the shortest decimals (`d.ddde±x`) that lie strictly between the midpoints to both
/// neighbours.
fn strictly_shortest<T: LowerExp + FromStr + PartialEq + Copy>(value: T, shortest: String) -> String {
    let fraction = digits_of(&shortest).saturating_sub(1);
    // First the same length, nearest and with ties to even; then the shortest itself; then longer ones.
    let nearest = format!("{value:.fraction$e}");
    let longer = (fraction + 1..=17).map(|fraction| format!("{value:.fraction$e}"));
    [nearest, shortest.clone()]
        .into_iter()
        .chain(longer)
        .find(|text| is_strictly_inside(text, value))
        .unwrap_or(shortest)
}

/// Returns whether the decimal still reads as `value` after a tiny change in either direction.
fn is_strictly_inside<T: FromStr + PartialEq>(text: &str, value: T) -> bool {
    const HAIR: &str = "0000000000000000000000000001";
    let Some((mantissa, exponent)) = text.split_once('e') else { return true };
    let point = if mantissa.contains('.') { "" } else { "." };
    let above = format!("{mantissa}{point}{HAIR}e{exponent}");
    let below = one_less(mantissa).map(|less| format!("{less}{point}99999999999999999999e{exponent}"));
    let reads_as_value = |text: &str| text.parse().is_ok_and(|read: T| read == value);
    reads_as_value(&above) && below.is_some_and(|below| reads_as_value(&below))
}

/// Subtracts one from the last digit.
fn one_less(mantissa: &str) -> Option<String> {
    let mut digits: Vec<char> = mantissa.chars().collect();
    for digit in digits.iter_mut().rev() {
        match *digit {
            '0' => *digit = '9',
            '1'..='9' => {
                *digit = char::from_digit(digit.to_digit(10)? - 1, 10)?;
                return Some(digits.into_iter().collect());
            }
            _ => {}
        }
    }
    None
}

/// Prints `scientific` in PostgreSQL's layout: plain between 1e-4 and `10^plain_digits`.
fn print_float(value: f64, scientific: &str, plain_digits: i32, out: &mut String) {
    if value.is_nan() {
        return out.push_str("NaN");
    }
    if value.is_infinite() {
        return out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    out.push_str(sign);
    if !(-4..plain_digits).contains(&exponent) {
        let direction = if exponent < 0 { '-' } else { '+' };
        // Writing to a String cannot fail.
        let _ = write!(out, "{mantissa}e{direction}{:02}", exponent.unsigned_abs());
        return;
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    print_plain(&digits, exponent, out);
}

/// Prints digits with the decimal point after the first `exponent + 1` of them.
fn print_plain(digits: &str, exponent: i32, out: &mut String) {
    let Ok(integer) = usize::try_from(exponent + 1) else {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', usize::try_from(-exponent - 1).unwrap_or(0)));
        return out.push_str(digits);
    };
    match digits.split_at_checked(integer) {
        _ if integer == 0 => {
            out.push_str("0.");
            out.push_str(digits);
        }
        Some((whole, "")) => out.push_str(whole),
        Some((whole, fraction)) => {
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        None => {
            out.push_str(digits);
            out.extend(std::iter::repeat_n('0', integer - digits.len()));
        }
    }
}
