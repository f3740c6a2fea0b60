//! Random types and values, in which edge cases are more frequent than by chance.

use proptest::prelude::*;
use types::{DataType, Datum, Decimal, ElementType, Interval, temporal};

/// Any type.
pub(crate) fn data_type() -> impl Strategy<Value = DataType> {
    prop_oneof![
        Just(DataType::Boolean),
        Just(DataType::SmallInt),
        Just(DataType::Integer),
        Just(DataType::BigInt),
        Just(DataType::Real),
        Just(DataType::Double),
        Just(DataType::Numeric(None)),
        (1_u8..=38).prop_flat_map(|p| (Just(p), 0..=p)).prop_map(|(p, s)| DataType::Numeric(Some((p, s)))),
        Just(DataType::Text),
        Just(DataType::Varchar(Some(6))),
        Just(DataType::Char(6)),
        Just(DataType::Bytea),
        Just(DataType::Varbinary(6)),
        Just(DataType::Binary(6)),
        Just(DataType::Date),
        Just(DataType::Time(None)),
        Just(DataType::Timestamp(None)),
        Just(DataType::TimestampTz(None)),
        Just(DataType::Uuid),
        Just(DataType::Interval),
        Just(DataType::Oid),
        Just(DataType::Array(ElementType::Integer)),
        Just(DataType::Array(ElementType::Text)),
    ]
}

/// A value that a column of the type can hold, never NULL.
pub(crate) fn value(ty: DataType) -> BoxedStrategy<Datum> {
    match ty {
        DataType::Boolean => any::<bool>().prop_map(Datum::Bool).boxed(),
        DataType::SmallInt => any::<i16>().prop_map(Datum::Int2).boxed(),
        DataType::Integer => any::<i32>().prop_map(Datum::Int4).boxed(),
        DataType::BigInt => any::<i64>().prop_map(Datum::Int8).boxed(),
        DataType::Real => prop_oneof![
            any::<u32>().prop_map(f32::from_bits),
            (any::<i32>(), -12..12).prop_map(|(n, e)| n as f32 * 10_f32.powi(e)),
        ]
        .prop_map(Datum::Float4)
        .boxed(),
        DataType::Double => prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            (any::<i64>(), -25..25).prop_map(|(n, e)| n as f64 * 10_f64.powi(e)),
        ]
        .prop_map(Datum::Float8)
        .boxed(),
        DataType::Numeric(None) => {
            (digits(38), 0_u8..=20).prop_map(|(n, s)| Datum::Numeric(Decimal::new(n, s).unwrap().normalized())).boxed()
        }
        DataType::Numeric(Some((precision, scale))) => {
            digits(precision).prop_map(move |n| Datum::Numeric(Decimal::new(n, scale).unwrap())).boxed()
        }
        DataType::Char(_) => "[ab ä]{0,6}".prop_map(|text| Datum::Text(text.trim_end_matches(' ').to_owned())).boxed(),
        DataType::Text | DataType::Varchar(_) => "[^\u{0}]{0,6}".prop_map(Datum::Text).boxed(),
        DataType::Binary(_) => proptest::collection::vec(any::<u8>(), 6).prop_map(Datum::Bytes).boxed(),
        DataType::Bytea | DataType::Varbinary(_) => {
            proptest::collection::vec(any::<u8>(), 0..6).prop_map(Datum::Bytes).boxed()
        }
        DataType::Date => {
            prop_oneof![Just(i32::MIN), Just(i32::MAX), temporal::MIN_DATE..=temporal::MAX_DATE, -800_000..800_000]
                .prop_map(Datum::Date)
                .boxed()
        }
        DataType::Time(_) => {
            prop_oneof![Just(temporal::DAY), 0..temporal::DAY, (0_i64..1440).prop_map(|m| m * 60_000_000)]
                .prop_map(Datum::Time)
                .boxed()
        }
        DataType::Timestamp(_) => moment().prop_map(Datum::Timestamp).boxed(),
        DataType::TimestampTz(_) => moment().prop_map(Datum::TimestampTz).boxed(),
        DataType::Uuid => any::<[u8; 16]>().prop_map(Datum::Uuid).boxed(),
        DataType::Json => "[0-9]{1,5}".prop_map(|digits| Datum::Text(format!("[{}]", digits.len()))).boxed(),
        DataType::Oid => any::<u32>().prop_map(|oid| Datum::Int8(i64::from(oid))).boxed(),
        DataType::Interval | DataType::LimitedInterval(_) => (any::<i32>(), any::<i32>(), any::<i32>())
            .prop_map(|(months, days, micros)| Datum::Interval(Interval { months, days, micros: i64::from(micros) }))
            .boxed(),
        DataType::Array(_) | DataType::LimitedArray(_) => {
            let item = ty.item().unwrap_or(DataType::Text);
            proptest::collection::vec(value(item), 0..4).prop_map(Datum::Array).boxed()
        }
    }
}

/// A whole number of up to `precision` digits, of any length.
fn digits(precision: u8) -> impl Strategy<Value = i128> {
    (0..=precision, any::<u128>(), any::<bool>()).prop_map(|(digits, random, negative)| {
        let size = (random % 10_u128.pow(u32::from(digits))) as i128;
        if negative { -size } else { size }
    })
}

fn moment() -> impl Strategy<Value = i64> {
    let seconds = (-100_000_000_000_i64..100_000_000_000).prop_map(|second| second * temporal::SECOND);
    prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(temporal::MIN_TIMESTAMP),
        Just(temporal::MAX_TIMESTAMP),
        temporal::MIN_TIMESTAMP..=temporal::MAX_TIMESTAMP,
        seconds,
    ]
}
