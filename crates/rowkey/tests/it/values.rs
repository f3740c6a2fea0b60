//! Random types, values and key schemas, with more edge cases than pure chance.

use proptest::prelude::*;
use rowkey::KeyPart;
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
        Just(DataType::Varchar(Some(8))),
        Just(DataType::Char(6)),
        Just(DataType::Bytea),
        Just(DataType::Varbinary(8)),
        (1_u32..5).prop_map(DataType::Binary),
        Just(DataType::Date),
        Just(DataType::Time(None)),
        Just(DataType::Timestamp(None)),
        Just(DataType::TimestampTz(None)),
        Just(DataType::Uuid),
    ]
}

/// A value of the type, never NULL.
pub(crate) fn value(ty: DataType) -> BoxedStrategy<Datum> {
    match ty {
        DataType::Boolean => any::<bool>().prop_map(Datum::Bool).boxed(),
        DataType::SmallInt => edged(vec![i16::MIN, -1, 0, 1, 255, 256, i16::MAX]).prop_map(Datum::Int2).boxed(),
        DataType::Integer => edged(vec![i32::MIN, -1, 0, 1, 255, 256, i32::MAX]).prop_map(Datum::Int4).boxed(),
        DataType::BigInt => edged(vec![i64::MIN, -1, 0, 1, 255, 256, i64::MAX]).prop_map(Datum::Int8).boxed(),
        DataType::Real => {
            let edges =
                [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, 1.0, 1e-45];
            let edge = proptest::sample::select(edges.to_vec());
            prop_oneof![edge, any::<u32>().prop_map(f32::from_bits)].prop_map(Datum::Float4).boxed()
        }
        DataType::Double => {
            let edges =
                [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1.0, 5e-324];
            let edge = proptest::sample::select(edges.to_vec());
            prop_oneof![edge, any::<u64>().prop_map(f64::from_bits)].prop_map(Datum::Float8).boxed()
        }
        DataType::Numeric(None) => (digits(38), 0_u8..=20).prop_map(|(n, scale)| number(n, scale)).boxed(),
        DataType::Numeric(Some((precision, scale))) => {
            digits(precision).prop_map(move |n| Datum::Numeric(Decimal::new(n, scale).unwrap())).boxed()
        }
        DataType::Text | DataType::Varchar(_) => {
            prop_oneof!["[ab]{0,3}", "[a-c\u{1}\u{7f}ä€\u{10FFFF} ]{0,6}"].prop_map(Datum::Text).boxed()
        }
        DataType::Char(_) => {
            "[a\u{1} b]{0,6}".prop_map(|text| Datum::Text(text.trim_end_matches(' ').to_owned())).boxed()
        }
        DataType::Bytea | DataType::Varbinary(_) => few_bytes(0..8).prop_map(Datum::Bytes).boxed(),
        DataType::Binary(length) => few_bytes(length as usize..length as usize + 1).prop_map(Datum::Bytes).boxed(),
        DataType::Date => edged(vec![i32::MIN, i32::MAX, -1, 0, 1, temporal::MIN_DATE, temporal::MAX_DATE])
            .prop_map(Datum::Date)
            .prop_filter("dates have a range", temporal::in_range)
            .boxed(),
        DataType::Time(_) => (0..=temporal::DAY).prop_map(Datum::Time).boxed(),
        DataType::Timestamp(_) => moment().prop_map(Datum::Timestamp).boxed(),
        DataType::TimestampTz(_) => moment().prop_map(Datum::TimestampTz).boxed(),
        DataType::Interval | DataType::LimitedInterval(_) => {
            (any::<i32>(), any::<i32>(), -9_000_000_000_000_000_i64..9_000_000_000_000_000)
                .prop_map(|(months, days, micros)| Datum::Interval(Interval { months, days, micros }))
                .boxed()
        }
        DataType::Array(_) | DataType::LimitedArray(_) => array(ty.item().unwrap(), ty.dimensions()),
        DataType::Oid | DataType::Json => unreachable!("no column has {ty}"),
        DataType::Uuid => {
            proptest::collection::vec(any::<u8>(), 16).prop_map(|bytes| Datum::Uuid(bytes.try_into().unwrap())).boxed()
        }
    }
}

/// Any type of a column that is not in a key.
pub(crate) fn column_type() -> impl Strategy<Value = DataType> {
    let items = data_type().prop_filter_map("its arrays have no limits", |item| DataType::array_of(&item, 1));
    let dimensions = (data_type(), 1_u8..4);
    let deep = dimensions.prop_filter_map("its arrays have no limits", |(item, many)| DataType::array_of(&item, many));
    let intervals = Just(DataType::Array(ElementType::Interval));
    prop_oneof![4 => data_type(), 1 => Just(DataType::Interval), 2 => items, 2 => deep, 1 => intervals]
}

/// An array with this number of dimensions, or an empty one.
fn array(item: DataType, dimensions: u8) -> BoxedStrategy<Datum> {
    let sizes = proptest::collection::vec(1_usize..4, usize::from(dimensions));
    let full = sizes.prop_flat_map(move |sizes| nested(item, &sizes));
    prop_oneof![1 => Just(Datum::Array(Vec::new())), 5 => full].boxed()
}

fn nested(item: DataType, sizes: &[usize]) -> BoxedStrategy<Datum> {
    match sizes.split_first() {
        None => prop_oneof![1 => Just(Datum::Null), 3 => value(item)].boxed(),
        Some((size, inner)) => proptest::collection::vec(nested(item, inner), *size).prop_map(Datum::Array).boxed(),
    }
}

/// A value of a key part, NULL if nullable.
pub(crate) fn part_value(part: &KeyPart) -> BoxedStrategy<Datum> {
    if part.nullable { prop_oneof![1 => Just(Datum::Null), 4 => value(part.ty)].boxed() } else { value(part.ty) }
}

/// A part of any type, direction and NULL order.
pub(crate) fn key_part() -> impl Strategy<Value = KeyPart> {
    (data_type(), any::<[bool; 3]>()).prop_map(|(ty, [descending, nullable, nulls_first])| KeyPart {
        ty,
        descending,
        nullable,
        nulls_first,
    })
}

fn edged<T: Arbitrary + Clone + 'static>(edges: Vec<T>) -> impl Strategy<Value = T> {
    prop_oneof![proptest::sample::select(edges), any::<T>()]
}

/// An integer of up to `precision` digits, of any length.
fn digits(precision: u8) -> impl Strategy<Value = i128> {
    (0..=precision, any::<u128>(), any::<bool>()).prop_map(|(digits, random, negative)| {
        let size = (random % 10_u128.pow(u32::from(digits))) as i128;
        if negative { -size } else { size }
    })
}

/// The value that `numeric` without precision stores: without trailing zeros.
fn number(unscaled: i128, scale: u8) -> Datum {
    Datum::Numeric(Decimal::new(unscaled, scale).unwrap().normalized())
}

fn few_bytes(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(vec![0_u8, 1, 0x61, 0xFE, 0xFF]), length)
}

fn moment() -> impl Strategy<Value = i64> {
    let edges = vec![i64::MIN, i64::MAX, -1, 0, 1, temporal::MIN_TIMESTAMP, temporal::MAX_TIMESTAMP];
    prop_oneof![proptest::sample::select(edges), temporal::MIN_TIMESTAMP..=temporal::MAX_TIMESTAMP]
}
