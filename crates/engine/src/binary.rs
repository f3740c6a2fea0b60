//! The binary format of values, in the protocol and in COPY, as PostgreSQL's `*send` and `*recv` functions define it.
//!
//! The format counts dates and times from 2000-01-01, a [`Datum`] from 1970-01-01. A numeric is a header (digit
//! count, weight, sign, display scale: 16 bits each) and digits in base 10,000.

mod array;

use bytes::{Buf, BufMut};
use types::{DataType, Datum, Decimal, Interval, TypeError, temporal};

/// Days from 1970-01-01 to 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;
const NUMERIC_NEGATIVE: u16 = 0x4000;

/// Appends the binary form of `value`.
pub fn put(ty: &DataType, value: &Datum, out: &mut Vec<u8>) {
    match value {
        Datum::Null => {}
        Datum::Bool(v) => out.put_u8(u8::from(*v)),
        Datum::Int2(v) => out.put_i16(*v),
        Datum::Int4(v) => out.put_i32(*v),
        // An oid is not negative and fits into 32 bits.
        Datum::Int8(v) if *ty == DataType::Oid => out.put_u32(*v as u32),
        Datum::Int8(v) => out.put_i64(*v),
        Datum::Float4(v) => out.put_f32(*v),
        Datum::Float8(v) => out.put_f64(*v),
        Datum::Numeric(v) => put_numeric(v, out),
        Datum::Text(v) => {
            out.put_slice(v.as_bytes());
            if let DataType::Char(n) = ty {
                let missing = (*n as usize).saturating_sub(v.chars().count());
                out.put_bytes(b' ', missing);
            }
        }
        Datum::Bytes(v) => out.put_slice(v),
        Datum::Date(v) => out.put_i32(shift_date(*v, -EPOCH_DAYS)),
        Datum::Time(v) => out.put_i64(*v),
        Datum::Timestamp(v) | Datum::TimestampTz(v) => out.put_i64(shift_time(*v, -EPOCH_MICROS)),
        Datum::Uuid(v) => out.put_slice(v),
        Datum::Interval(v) => {
            out.put_i64(v.micros);
            out.put_i32(v.days);
            out.put_i32(v.months);
        }
        Datum::Array(items) => array::put(ty, items, out),
    }
}

/// The smallest and largest integers are the infinities in both representations.
fn shift_date(days: i32, by: i32) -> i32 {
    if days == i32::MIN || days == i32::MAX { days } else { days.saturating_add(by) }
}

fn shift_time(micros: i64, by: i64) -> i64 {
    if micros == i64::MIN || micros == i64::MAX { micros } else { micros.saturating_add(by) }
}

fn put_numeric(value: &Decimal, out: &mut Vec<u8>) {
    let mut digits = Vec::with_capacity(12);
    // Groups of four digits are aligned at the decimal point, so the fraction is padded to a multiple of four digits.
    let fill = (4 - u32::from(value.scale) % 4) % 4;
    let mut rest = value.unscaled.unsigned_abs();
    let first = 10u128.pow(4 - fill);
    let mut groups_after = i32::from(value.scale).div_euclid(4) + i32::from(fill > 0);
    if fill > 0 {
        digits.push((rest % first) as u16 * 10u16.pow(fill));
        rest /= first;
    }
    while rest > 0 {
        digits.push((rest % 10_000) as u16);
        rest /= 10_000;
    }
    while digits.first() == Some(&0) {
        digits.remove(0);
        groups_after -= 1;
    }
    let weight = if digits.is_empty() { 0 } else { digits.len() as i32 - groups_after - 1 };
    out.put_u16(digits.len() as u16);
    out.put_i16(weight as i16);
    out.put_u16(if value.unscaled < 0 { NUMERIC_NEGATIVE } else { 0 });
    out.put_u16(u16::from(value.scale));
    for digit in digits.iter().rev() {
        out.put_u16(*digit);
    }
}

/// Reads the binary form of a value of type `ty`; `None` when the bytes are not of that form (22P03).
///
/// # Errors
/// A value of the right form outside Bennu's range.
pub fn get(ty: &DataType, bytes: &[u8]) -> Result<Option<Datum>, TypeError> {
    Ok(match ty {
        DataType::Boolean => bytes.first().filter(|_| bytes.len() == 1).map(|b| Datum::Bool(*b != 0)),
        DataType::SmallInt => sized(bytes).map(|b| Datum::Int2(i16::from_be_bytes(b))),
        DataType::Integer => sized(bytes).map(|b| Datum::Int4(i32::from_be_bytes(b))),
        DataType::BigInt => sized(bytes).map(|b| Datum::Int8(i64::from_be_bytes(b))),
        DataType::Oid => sized(bytes).map(|b| Datum::Int8(i64::from(u32::from_be_bytes(b)))),
        DataType::Real => {
            sized(bytes).map(f32::from_be_bytes).map(|v| Datum::Float4(if v.is_nan() { f32::NAN } else { v }))
        }
        DataType::Double => {
            sized(bytes).map(f64::from_be_bytes).map(|v| Datum::Float8(if v.is_nan() { f64::NAN } else { v }))
        }
        DataType::Numeric(_) => return get_numeric(bytes),
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) => return text(bytes).map(Some),
        DataType::Json => match text(bytes)? {
            Datum::Text(json) => Some(types::text::parse(ty, &json)?),
            _ => None,
        },
        DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_) => Some(Datum::Bytes(bytes.to_vec())),
        DataType::Date | DataType::Time(_) | DataType::Timestamp(_) | DataType::TimestampTz(_) => {
            return moment(ty, bytes);
        }
        DataType::Uuid => sized(bytes).map(Datum::Uuid),
        DataType::Interval | DataType::LimitedInterval(_) => sized::<16>(bytes).map(|b| interval(&b)),
        DataType::Array(element) => return array::get(&element.data_type(), bytes),
        DataType::LimitedArray(limits) => return array::get(&limits.item(), bytes),
    })
}

/// Reads a date or time and counts it from 1970. The smallest and largest integers are infinities. A value that only
/// the conversion turns into one of them is out of range.
fn moment(ty: &DataType, bytes: &[u8]) -> Result<Option<Datum>, TypeError> {
    let micros = |value: i64| match value {
        i64::MIN | i64::MAX => Some(value),
        _ => value.checked_add(EPOCH_MICROS).filter(|micros| *micros != i64::MAX),
    };
    let days = |value: i32| match value {
        i32::MIN | i32::MAX => Some(value),
        _ => value.checked_add(EPOCH_DAYS),
    };
    let value = match ty {
        DataType::Date => sized(bytes).map(|b| days(i32::from_be_bytes(b)).map(Datum::Date)),
        DataType::Time(_) => sized(bytes).map(|b| Some(Datum::Time(i64::from_be_bytes(b)))),
        DataType::Timestamp(_) => sized(bytes).map(|b| micros(i64::from_be_bytes(b)).map(Datum::Timestamp)),
        _ => sized(bytes).map(|b| micros(i64::from_be_bytes(b)).map(Datum::TimestampTz)),
    };
    match value {
        None => Ok(None),
        Some(Some(value)) if temporal::in_range(&value) => Ok(Some(value)),
        Some(_) => Err(TypeError::MomentRange { what: ty.base_name().to_owned() }),
    }
}

/// Reads microseconds, days, months.
fn interval(mut bytes: &[u8]) -> Datum {
    let (micros, days, months) = (bytes.get_i64(), bytes.get_i32(), bytes.get_i32());
    Datum::Interval(Interval { months, days, micros })
}

fn sized<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn text(bytes: &[u8]) -> Result<Datum, TypeError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => types::text::check_zero_byte(text).map(|()| Datum::Text(text.into())),
        Err(error) => Err(TypeError::not_utf8(bytes, error.valid_up_to())),
    }
}

fn get_numeric(mut bytes: &[u8]) -> Result<Option<Datum>, TypeError> {
    if bytes.len() < 8 {
        return Ok(None);
    }
    let (count, weight) = (bytes.get_u16(), bytes.get_i16());
    let (sign, scale) = (bytes.get_u16(), bytes.get_u16());
    if bytes.len() != usize::from(count) * 2 || !matches!(sign, 0 | NUMERIC_NEGATIVE) {
        // A numeric has no NaN or infinities here.
        let special = sign & 0xC000 == 0xC000 && bytes.is_empty();
        return if special { Err(out_of_range()) } else { Ok(None) };
    }
    let mut unscaled: i128 = 0;
    for position in (i32::from(weight) - i32::from(count) + 1..=i32::from(weight)).rev() {
        let digit = i128::from(bytes.get_u16());
        if digit > 9_999 {
            return Ok(None);
        }
        // The power of ten of each group, in units of the last digit. Digits beyond the scale are zeros, or are
        // truncated as in PostgreSQL.
        let place = 4 * position + i32::from(scale);
        let unit = 10i128.checked_pow(place.unsigned_abs());
        let part = if place >= 0 {
            unit.and_then(|unit| digit.checked_mul(unit))
        } else {
            Some(unit.map_or(0, |unit| digit / unit))
        };
        unscaled = part.and_then(|part| unscaled.checked_add(part)).ok_or_else(out_of_range)?;
    }
    let unscaled = Some(unscaled).filter(|u| *u < 10i128.pow(38)).ok_or_else(out_of_range)?;
    let scale = u8::try_from(scale).ok().filter(|s| *s <= 38).ok_or_else(out_of_range)?;
    let unscaled = if sign == NUMERIC_NEGATIVE { -unscaled } else { unscaled };
    Ok(Some(Datum::Numeric(Decimal { unscaled, scale })))
}

fn out_of_range() -> TypeError {
    TypeError::OutOfRange { what: "numeric".into() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn numeric(unscaled: i128, scale: u8) -> Vec<u8> {
        let mut out = Vec::new();
        put_numeric(&Decimal { unscaled, scale }, &mut out);
        out
    }

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_be_bytes()).collect()
    }

    #[test]
    fn numerics_have_postgresql_form() {
        // Taken from PostgreSQL 15: select numeric_send('12345.678'), …
        assert_eq!(numeric(12_345_678, 3), words(&[3, 1, 0, 3, 1, 2345, 6780]));
        assert_eq!(numeric(-1, 0), words(&[1, 0, 0x4000, 0, 1]));
        assert_eq!(numeric(0, 2), words(&[0, 0, 0, 2]));
        assert_eq!(numeric(1, 6), words(&[1, 0xFFFE, 0, 6, 100]));
        assert_eq!(numeric(10_000, 0), words(&[1, 1, 0, 0, 1]));
    }

    #[test]
    fn numerics_come_back() {
        for (unscaled, scale) in [(0, 0), (1, 20), (-12_345_678, 3), (10i128.pow(38) - 1, 5), (120_000, 4), (5, 1)] {
            let Some(Datum::Numeric(back)) = get_numeric(&numeric(unscaled, scale)).unwrap() else { unreachable!() };
            assert_eq!((back.unscaled, back.scale), (unscaled, scale));
        }
    }

    #[test]
    fn bytes_of_a_wrong_length_are_refused() {
        assert!(get(&DataType::Integer, &[0, 0, 1]).unwrap().is_none());
        assert!(get(&DataType::Numeric(None), &words(&[2, 0, 0, 0, 1])).unwrap().is_none());
    }

    #[test]
    fn dates_count_from_2000_and_infinity_stays() {
        let mut out = Vec::new();
        put(&DataType::Date, &Datum::Date(EPOCH_DAYS + 1), &mut out);
        put(&DataType::Timestamp(None), &Datum::Timestamp(i64::MAX), &mut out);
        let mut out = out.as_slice();
        assert_eq!(out.get_i32(), 1);
        assert_eq!(out.get_i64(), i64::MAX);
    }

    #[test]
    fn moments_beyond_the_range_are_no_infinities() {
        let micros = |value: i64| get(&DataType::Timestamp(None), &value.to_be_bytes());
        let last = i64::MAX - 1 - EPOCH_MICROS;
        assert_eq!(micros(last).unwrap(), Some(Datum::Timestamp(i64::MAX - 1)));
        assert_eq!(micros(i64::MAX).unwrap(), Some(Datum::Timestamp(i64::MAX)));
        for beyond in [last + 1, last + 2, i64::MAX - 1, i64::MIN + 1] {
            assert!(micros(beyond).is_err(), "{beyond}");
        }
        assert!(get(&DataType::Date, &(i32::MAX - 1).to_be_bytes()).is_err());
        assert!(get(&DataType::Time(None), &(-1i64).to_be_bytes()).is_err());
    }
}
