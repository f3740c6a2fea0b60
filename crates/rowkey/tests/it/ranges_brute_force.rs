//! Compares the range algebra with all keys of a small table.
//!
//! Each row that satisfies the conditions must be in the ranges; each row in the ranges must satisfy the exact
//! conditions. If all conditions are exact, the ranges are exactly the result.

use proptest::prelude::*;
use rowkey::range::{Access, Condition, KeyRanges, RangeLimits, key_ranges};
use rowkey::{KeyPart, KeySchema};
use std::cmp::Ordering;
use types::{CompareOp, DataType, Datum, Decimal, compare::compare};

/// Types with few values each.
fn small_type() -> impl Strategy<Value = DataType> {
    proptest::sample::select(vec![
        DataType::Boolean,
        DataType::SmallInt,
        DataType::Integer,
        DataType::Numeric(Some((2, 1))),
        DataType::Numeric(None),
        DataType::Text,
        DataType::Char(3),
        DataType::Double,
        DataType::Bytea,
    ])
}

fn number(unscaled: i128, scale: u8) -> Datum {
    Datum::Numeric(Decimal { unscaled, scale })
}

/// The values of rows.
fn domain(ty: DataType) -> Vec<Datum> {
    let texts = |all: &[&str]| all.iter().map(|text| Datum::Text((*text).to_owned())).collect();
    match ty {
        DataType::Boolean => vec![Datum::Bool(false), Datum::Bool(true)],
        DataType::SmallInt => [i16::MIN, 0, 1, i16::MAX].map(Datum::Int2).to_vec(),
        DataType::Integer => [-1, 0, 1, 2].map(Datum::Int4).to_vec(),
        DataType::Numeric(Some(_)) => vec![number(-99, 1), number(-5, 1), number(0, 1), number(15, 1)],
        DataType::Numeric(None) => vec![number(-15, 1), number(0, 0), number(1, 20), number(2, 0)],
        DataType::Char(_) => texts(&["", "a", "a b", "b"]),
        DataType::Text => texts(&["", "a", "a ", "ab", "b"]),
        DataType::Double => [f64::NEG_INFINITY, -0.0, 1.5, f64::NAN].map(Datum::Float8).to_vec(),
        _ => vec![vec![], vec![0], vec![0, 0xFF], vec![0xFF]].into_iter().map(Datum::Bytes).collect(),
    }
}

/// The values in conditions: values of rows, and others between or beyond them.
fn operand(ty: DataType) -> BoxedStrategy<Datum> {
    let mut values = domain(ty);
    values.push(Datum::Null);
    match ty {
        DataType::SmallInt | DataType::Integer => {
            values.extend([
                Datum::Int8(1),
                Datum::Int8(-3_000_000_000),
                Datum::Int4(40_000),
                number(5, 1),
                number(-5, 1),
            ]);
        }
        DataType::Numeric(_) => values.extend([Datum::Int4(1), number(149, 2), number(-51, 2), number(10_000, 0)]),
        DataType::Text => values.push(Datum::Text("aa".into())),
        _ => {}
    }
    proptest::sample::select(values).boxed()
}

fn op() -> impl Strategy<Value = CompareOp> {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    proptest::sample::select(vec![Eq, Eq, Ne, Lt, Le, Gt, Ge])
}

fn row_of(types: Vec<DataType>) -> BoxedStrategy<Vec<Datum>> {
    types.into_iter().map(operand).collect::<Vec<_>>().boxed()
}

fn condition(schema: &KeySchema) -> BoxedStrategy<Condition> {
    let types: Vec<DataType> = schema.parts.iter().map(|part| part.ty).collect();
    let parts = types.len();
    let part = || 0..parts;
    let of = |types: &Vec<DataType>| {
        let types = types.clone();
        move |part: usize| types[part]
    };
    let (t1, t2, t3, t4, t5) = (of(&types), of(&types), of(&types), of(&types), of(&types));
    let several = || proptest::collection::vec(part(), 1..=parts);
    let leaf = prop_oneof![
        6 => (part(), op()).prop_flat_map(move |(part, op)| (Just(part), Just(op), operand(t1(part))))
            .prop_map(|(part, op, value)| Condition::Compare { part, op, value }),
        3 => part().prop_flat_map(move |part| (Just(part), proptest::collection::vec(operand(t2(part)), 0..4)))
            .prop_map(|(part, values)| Condition::In { part, values }),
        2 => part().prop_flat_map(move |part| (Just(part), proptest::collection::vec(operand(t5(part)), 1..5)))
            .prop_map(|(part, values)| none_of(part, values)),
        1 => (part(), any::<bool>()).prop_map(|(part, negated)| Condition::IsNull { part, negated }),
        1 => (part(), proptest::sample::select(vec!["", "a", "a ", "b"]))
            .prop_map(|(part, prefix)| Condition::Prefix { part, prefix: prefix.to_owned() }),
        3 => (several(), op()).prop_flat_map(move |(parts, op)| {
                let types = parts.iter().map(|part| t3(*part)).collect();
                (Just(parts), Just(op), row_of(types))
            })
            .prop_map(|(parts, op, values)| Condition::RowCompare { parts, op, values }),
        2 => several().prop_flat_map(move |parts| {
                let types: Vec<_> = parts.iter().map(|part| t4(*part)).collect();
                (Just(parts), proptest::collection::vec(row_of(types), 0..4))
            })
            .prop_map(|(parts, rows)| Condition::RowIn { parts, rows }),
        1 => Just(Condition::Unknown),
        1 => Just(Condition::False),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..3).prop_map(Condition::And),
            proptest::collection::vec(inner, 1..3).prop_map(Condition::Or),
        ]
    })
    .boxed()
}

/// `part NOT IN (values)`, as a conjunction of `<>`.
fn none_of(part: usize, values: Vec<Datum>) -> Condition {
    Condition::And(values.into_iter().map(|value| Condition::Compare { part, op: CompareOp::Ne, value }).collect())
}

/// SQL's comparison of values; `None` is unknown.
fn ordered(a: &Datum, b: &Datum) -> Option<Ordering> {
    let decimal = |value: &Datum| match value {
        Datum::Numeric(number) => Some(*number),
        _ => value.as_i64().map(Decimal::from),
    };
    match (a.is_null() || b.is_null(), decimal(a), decimal(b)) {
        (true, ..) => None,
        (_, Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => Some(compare(a, b)),
    }
}

fn and(terms: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut truth = Some(true);
    for term in terms {
        truth = match (truth, term) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
    }
    truth
}

fn or(terms: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    and(terms.map(|term| term.map(|truth| !truth))).map(|truth| !truth)
}

/// The truth of a row comparison, from left to right as in PostgreSQL's documentation.
fn row_truth(row: &[Datum], parts: &[usize], op: CompareOp, values: &[Datum]) -> Option<bool> {
    let orders: Vec<Option<Ordering>> =
        parts.iter().zip(values).map(|(part, value)| ordered(&row[*part], value)).collect();
    match op {
        CompareOp::Eq => and(orders.iter().map(|order| order.map(Ordering::is_eq))),
        CompareOp::Ne => or(orders.iter().map(|order| order.map(Ordering::is_ne))),
        _ => match orders.iter().find(|order| !matches!(order, Some(Ordering::Equal))) {
            Some(order) => order.map(|order| op.matches(order)),
            None => Some(op.matches(Ordering::Equal)),
        },
    }
}

/// The truth of a condition for a row; `Unknown` counts as true, because it may be.
fn truth(schema: &KeySchema, row: &[Datum], condition: &Condition) -> Option<bool> {
    match condition {
        Condition::And(all) => and(all.iter().map(|condition| truth(schema, row, condition))),
        Condition::Or(any) => or(any.iter().map(|condition| truth(schema, row, condition))),
        Condition::Compare { part, op, value } => row_truth(row, &[*part], *op, std::slice::from_ref(value)),
        Condition::In { part, values } => {
            or(values.iter().map(|value| row_truth(row, &[*part], CompareOp::Eq, std::slice::from_ref(value))))
        }
        Condition::IsNull { part, negated } => Some(row[*part].is_null() != *negated),
        Condition::Prefix { part, prefix } => match &row[*part] {
            Datum::Null => None,
            Datum::Text(text) => match schema.parts[*part].ty {
                DataType::Char(length) => Some(format!("{text:<0$}", length as usize).starts_with(prefix)),
                _ => Some(text.starts_with(prefix)),
            },
            _ => Some(true),
        },
        Condition::RowCompare { parts, op, values } => row_truth(row, parts, *op, values),
        Condition::RowIn { parts, rows } => or(rows.iter().map(|values| row_truth(row, parts, CompareOp::Eq, values))),
        Condition::Unknown => Some(true),
        Condition::False => Some(false),
    }
}

fn all_rows(schema: &KeySchema) -> Vec<Vec<Datum>> {
    let mut rows = vec![Vec::new()];
    for part in &schema.parts {
        let mut values = domain(part.ty);
        if part.nullable {
            values.push(Datum::Null);
        }
        let longer = |row: &Vec<Datum>| {
            values.iter().map(|value| [row.as_slice(), std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    rows
}

fn small_part() -> impl Strategy<Value = KeyPart> {
    (small_type(), any::<[bool; 3]>()).prop_map(|(ty, [descending, nullable, nulls_first])| KeyPart {
        ty,
        descending,
        nullable,
        nulls_first,
    })
}

fn schema_and_conditions() -> impl Strategy<Value = (KeySchema, Vec<Condition>)> {
    let parts = proptest::collection::vec(small_part(), 1..4);
    (parts, proptest::option::of((2_u16..5, any::<bool>()))).prop_flat_map(|(parts, salt)| {
        let (salt_buckets, salted_by_row) = (salt.map(|(buckets, _)| buckets), salt.is_some_and(|(_, by_row)| by_row));
        let schema = KeySchema { parts, salt_buckets, salted_by_row };
        let conditions = proptest::collection::vec(condition(&schema), 0..4);
        (Just(schema), conditions)
    })
}

/// The keys that a row may have: one in each bucket if its salt is not a function of the key.
fn keys_of(schema: &KeySchema, row: &[Datum]) -> Vec<Vec<u8>> {
    let mut key = Vec::new();
    if !schema.salted_by_row {
        schema.encode(row, &mut key).unwrap();
        return vec![key];
    }
    KeySchema { salt_buckets: None, ..schema.clone() }.encode(row, &mut key).unwrap();
    let buckets = 0..u8::try_from(schema.salt_buckets.unwrap()).unwrap();
    buckets.map(|bucket| [&[bucket], key.as_slice()].concat()).collect()
}

fn check_shape(schema: &KeySchema, ranges: &KeyRanges, limit: usize) -> Result<(), TestCaseError> {
    for pair in ranges.ranges.windows(2) {
        let end = pair[0].end.as_ref().expect("only the last range may be open");
        prop_assert!(*end <= pair[1].start, "not sorted or not disjoint");
        let points = pair[0].as_point().is_some() && pair[1].as_point().is_some();
        prop_assert!(points || *end != pair[1].start, "could be one range");
    }
    prop_assert!(ranges.ranges.iter().all(|range| range.end.as_ref().is_none_or(|end| *end > range.start)));
    let buckets = usize::from(schema.salt_buckets.unwrap_or(1));
    prop_assert!(ranges.ranges.len() <= limit.max(buckets), "too many");
    match ranges.access {
        Access::Empty => prop_assert!(ranges.ranges.is_empty()),
        Access::Points(count) => {
            prop_assert_eq!(count, ranges.ranges.len());
            prop_assert!(ranges.ranges.iter().all(|range| range.as_point().is_some()));
        }
        Access::Full => prop_assert_eq!(&ranges.ranges, &[rowkey::range::ByteRange::all()]),
        Access::Range => prop_assert!((1..=buckets).contains(&ranges.ranges.len())),
        Access::SkipScan => prop_assert!(ranges.ranges.len() > 1),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn ranges_hold_what_the_conditions_select(
        (schema, conditions) in schema_and_conditions(),
        max_ranges in proptest::sample::select(vec![1_usize, 2, 3, 7, 10_000, 10_000, 10_000]),
    ) {
        let ranges = key_ranges(&schema, &conditions, &RangeLimits::of(max_ranges));
        prop_assert_eq!(ranges.exact.len(), conditions.len());
        check_shape(&schema, &ranges, max_ranges)?;
        let mut equal: Option<Vec<Datum>> = None;
        let keys = all_rows(&schema).into_iter().flat_map(|row| keys_of(&schema, &row).into_iter().map(move |key| (row.clone(), key)));
        for (row, key) in keys {
            let inside = ranges.ranges.iter().any(|range| range.contains(&key));
            prop_assert_eq!(inside, ranges.contains(&key));
            let truths: Vec<bool> = conditions.iter().map(|c| truth(&schema, &row, c) == Some(true)).collect();
            prop_assert!(inside || truths.contains(&false), "{:?} is missing from {:?}", row, ranges);
            if !inside {
                continue;
            }
            for (index, exact) in ranges.exact.iter().enumerate() {
                prop_assert!(!exact || truths[index], "{:?} does not satisfy condition {} in {:?}", row, index, ranges);
            }
            prop_assert!(ranges.buckets.as_ref().is_none_or(|buckets| buckets.contains(&key[0])));
            let first = equal.get_or_insert_with(|| row.clone());
            prop_assert_eq!(&first[..ranges.equal_parts], &row[..ranges.equal_parts]);
            if schema.salt_buckets.is_some() {
                prop_assert!(ranges.in_bucket(key[0]).iter().any(|range| range.contains(&key)));
            }
        }
    }
}
