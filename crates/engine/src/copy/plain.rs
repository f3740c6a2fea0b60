//! Fast parser for the common input formats of COPY: decimal digits, and dates as year-month-day.
//!
//! All other input, valid or not, is left to the general parser `types::text`, which also reports errors.

use types::{DataType, Datum, Decimal};

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Parses a field. `None`: the general parser has to read the field.
pub(super) fn plain(ty: &DataType, bytes: &[u8]) -> Option<Datum> {
    match ty {
        DataType::SmallInt => i16::try_from(integer(bytes)?).ok().map(Datum::Int2),
        DataType::Integer => i32::try_from(integer(bytes)?).ok().map(Datum::Int4),
        DataType::BigInt => integer(bytes).map(Datum::Int8),
        DataType::Numeric(Some((precision, scale))) => {
            let value = decimal(bytes, *scale)?;
            value.fits_precision(*precision).then_some(Datum::Numeric(value))
        }
        DataType::Date => date(bytes).map(Datum::Date),
        _ => None,
    }
}

/// Parses up to 18 digits with an optional minus sign.
fn integer(bytes: &[u8]) -> Option<i64> {
    let (negative, all) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    if !(1..=18).contains(&all.len()) {
        return None;
    }
    let value = digits(all, 0)?;
    Some(if negative { -value } else { value })
}

/// Parses digits with at most `scale` digits after the decimal point.
fn decimal(bytes: &[u8], scale: u8) -> Option<Decimal> {
    let (negative, all) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, bytes),
    };
    let (whole, fraction) = match memchr::memchr(b'.', all) {
        Some(point) => (all.get(..point)?, all.get(point + 1..)?),
        None => (all, [].as_slice()),
    };
    let missing = usize::from(scale).checked_sub(fraction.len())?;
    if whole.is_empty() || whole.len() + usize::from(scale) > 18 || (fraction.is_empty() && whole.len() != all.len()) {
        return None;
    }
    let mut value = digits(fraction, digits(whole, 0)?)?;
    for _ in 0..missing {
        value *= 10;
    }
    Decimal::new(i128::from(if negative { -value } else { value }), scale)
}

/// Appends decimal digits to `value`. The caller bounds their number, because overflow wraps.
fn digits(bytes: &[u8], mut value: i64) -> Option<i64> {
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    Some(value)
}

/// Parses `2024-02-29`; years 1 to 9999.
fn date(bytes: &[u8]) -> Option<i32> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = bytes else { return None };
    let (year, month, day) = (digits(&[y0, y1, y2, y3], 0)?, digits(&[m0, m1], 0)?, digits(&[d0, d1], 0)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year == 0 || day == 0 || day > last {
        return None;
    }
    // Counts years from March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    i32::try_from(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use types::text;

    #[test]
    fn what_is_plain_is_what_the_general_reader_reads() {
        let numeric = DataType::Numeric(Some((8, 2)));
        let texts = [
            "0",
            "7",
            "-7",
            "007",
            "32767",
            "32768",
            "-32769",
            "2147483648",
            "999999999999999999",
            "1.5",
            "-0.25",
            "1.",
            ".5",
            "12.345",
            "999999.99",
            "1000000",
            "",
            "-",
            "+1",
            "1e3",
            " 1",
            "1a",
            "NaN",
            "2024-02-29",
            "2023-02-29",
            "1900-02-29",
            "2000-02-29",
            "1969-12-31",
            "1970-01-01",
            "0001-01-01",
            "9999-12-31",
            "2024-13-01",
            "2024-4-1",
        ];
        let mut known = 0;
        for ty in [DataType::SmallInt, DataType::Integer, DataType::BigInt, numeric, DataType::Date] {
            for given in texts {
                if let Some(value) = plain(&ty, given.as_bytes()) {
                    known += 1;
                    let general = text::parse(&ty, given).unwrap();
                    let (mut one, mut other) = (String::new(), String::new());
                    text::print(&ty, &value, &mut one);
                    text::print(&ty, &general, &mut other);
                    assert_eq!((one, value), (other, general), "{given} as {ty:?}");
                }
            }
        }
        assert_eq!(known, 39);
    }
}
