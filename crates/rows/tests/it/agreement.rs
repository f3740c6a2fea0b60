//! Generated queries: keys and lookups give the same results as full scans and nested loops.

use super::functions::{COMPARISONS, COUNT, EQ, LIKE, SUM};
use super::tree::{
    INT4, TEXT, agg, aggregate, any, col, filter, id, in_list, int, is, join, key, limit, null, query, scan, sort, text,
};
use super::world::{World, row};
use bind::tree::{JoinKind, Key, Rel, Scalar};
use index::IndexChoice;
use proptest::prelude::*;
use std::cmp::Ordering;
use types::{Datum, compare};

const LETTERS: [&str; 4] = ["", "x", "xa", "y"];

/// A condition over the columns `first..first + 4` of a table.
fn condition(first: usize) -> impl Strategy<Value = Scalar> {
    let comparison =
        (0..6_usize, -1..5_i32).prop_map(move |(op, value)| is(COMPARISONS[op].0, col(first, INT4), int(value)));
    let swapped =
        (0..6_usize, -1..5_i32).prop_map(move |(op, value)| is(COMPARISONS[op].0, int(value), col(first, INT4)));
    let letters = (0..6_usize, 0..4_usize)
        .prop_map(move |(op, at)| is(COMPARISONS[op].0, col(first + 1, TEXT), text(LETTERS[at])));
    let list = prop::collection::vec(-1..5_i32, 1..4)
        .prop_map(move |values| in_list(col(first, INT4), values.into_iter().map(int).chain([null(INT4)]).collect()));
    let letter_list = prop::collection::vec(0..4_usize, 1..4)
        .prop_map(move |list| in_list(col(first + 1, TEXT), list.into_iter().map(|at| text(LETTERS[at])).collect()));
    let like = (0..4_usize).prop_map(move |at| is(LIKE, col(first + 1, TEXT), text(&format!("{}%", LETTERS[at]))));
    let value =
        (0..6_usize, -1..3_i32).prop_map(move |(op, value)| is(COMPARISONS[op].0, col(first + 2, INT4), int(value)));
    let leaf =
        prop_oneof![2 => comparison, 1 => swapped, 2 => letters, 2 => list, 2 => letter_list, 1 => like, 1 => value];
    leaf.prop_recursive(2, 6, 3, |inner| prop::collection::vec(inner, 1..3).prop_map(any))
}

fn conditions(first: usize) -> impl Strategy<Value = Vec<Scalar>> {
    prop::collection::vec(condition(first), 0..4)
}

/// Conditions of a join of columns `0..4` with `10..14`.
fn join_conditions() -> impl Strategy<Value = Vec<Scalar>> {
    let pair = (0..2_usize, 0..6_usize).prop_map(|(at, op)| {
        let (left, right, oid) = if at == 0 { (0, 10, INT4) } else { (1, 11, TEXT) };
        let func = if op < 4 { EQ } else { COMPARISONS[op].0 };
        is(func, col(left, oid), col(right, oid))
    });
    let by_value = (0..3_usize).prop_map(|at| {
        let (left, right) = [(2, 10), (0, 12), (2, 12)][at];
        is(EQ, col(right, INT4), col(left, INT4))
    });
    prop::collection::vec(prop_oneof![3 => pair, 2 => by_value, 1 => condition(10)], 0..3)
}

fn kind() -> impl Strategy<Value = JoinKind> {
    prop_oneof![
        Just(JoinKind::Inner),
        Just(JoinKind::Left),
        Just(JoinKind::Right),
        Just(JoinKind::Semi),
        Just(JoinKind::Anti),
        Just(JoinKind::Mark(id(20))),
    ]
}

fn table_rows() -> impl Strategy<Value = Vec<Vec<Datum>>> {
    let one = (0..4_i32, 0..4_usize, prop::option::of(0..3_i32)).prop_map(|(a, b, v)| row(a, LETTERS[b], v, "w"));
    prop::collection::vec(one, 0..14)
}

fn salt() -> impl Strategy<Value = Option<u16>> {
    prop::option::of(2..5_u16)
}

/// An index: its parts, each descending or not, and its included columns.
type IndexShape = (Vec<(usize, bool)>, Vec<usize>);

const COLUMNS: [&str; 4] = ["a", "b", "v", "w"];
const CHOICES: [IndexChoice; 3] = [IndexChoice::Auto, IndexChoice::Off, IndexChoice::Force];

fn indexes() -> impl Strategy<Value = Vec<IndexShape>> {
    let parts = prop::collection::vec((0..4_usize, proptest::bool::ANY), 1..3);
    prop::collection::vec((parts, prop::collection::vec(0..4_usize, 0..3)), 0..3)
}

#[derive(Clone, Debug)]
struct TableCase {
    salt: Option<u16>,
    descending: bool,
    rows: Vec<Vec<Datum>>,
    indexes: Vec<IndexShape>,
}

#[derive(Clone, Debug)]
struct Case {
    tables: [TableCase; 2],
    left: Vec<Scalar>,
    right: Vec<Scalar>,
    kind: JoinKind,
    on: Vec<Scalar>,
    above: Vec<Scalar>,
}

fn case() -> impl Strategy<Value = Case> {
    let table = || {
        let parts = (salt(), proptest::bool::ANY, table_rows(), indexes());
        parts.prop_map(|(salt, descending, rows, indexes)| TableCase { salt, descending, rows, indexes })
    };
    ((table(), table()), conditions(0), conditions(10), kind(), join_conditions(), conditions(0))
        .prop_map(|((a, b), left, right, kind, on, above)| Case { tables: [a, b], left, right, kind, on, above })
}

fn bag(mut rows: Vec<Vec<Datum>>) -> Vec<String> {
    rows.sort_by_key(|row| format!("{row:?}"));
    rows.into_iter().map(|row| format!("{row:?}")).collect()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

async fn tables(case: &Case) -> (World, Rel, Rel) {
    let world = World::new().await;
    let mut scans = Vec::new();
    for (at, TableCase { salt, descending, rows, indexes }) in case.tables.iter().enumerate() {
        let mut table = world.table(&format!("t{at}"), *salt, *descending).await;
        for (parts, include) in indexes {
            let parts: Vec<_> = parts.iter().map(|(at, descending)| (COLUMNS[*at], *descending)).collect();
            let include: Vec<_> = include.iter().map(|at| COLUMNS[*at]).collect();
            table = world.index(&table, &parts, &include, false).await;
        }
        // Only the last row of a key remains, and only it may have index entries.
        let is_last = |at: usize| rows.iter().skip(at + 1).all(|later| later[..2] != rows[at][..2]);
        let rows: Vec<_> = (0..rows.len()).filter(|at| is_last(*at)).map(|at| rows[at].clone()).collect();
        world.insert(&table, &rows).await;
        scans.push(scan(&table, at * 10));
    }
    let right = scans.pop().unwrap();
    (world, scans.pop().unwrap(), right)
}

fn outputs(kind: JoinKind) -> Vec<usize> {
    match kind {
        JoinKind::Semi | JoinKind::Anti => (0..4).collect(),
        JoinKind::Mark(_) => (0..4).chain([20]).collect(),
        _ => (0..4).chain(10..14).collect(),
    }
}

/// Compares rows by keys on the columns 0 and 1, which have no NULLs.
fn in_order(a: &[Datum], b: &[Datum], keys: &[Key]) -> Ordering {
    let one = |key: &Key| {
        let at = key.col.index();
        let order = compare::compare(&a[at], &b[at]);
        if key.desc { order.reverse() } else { order }
    };
    keys.iter().map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn joins_answer_as_nested_loops_do(case in case()) {
        block_on(async {
            let (world, left, right) = tables(&case).await;
            let joined = join(case.kind, filter(left, case.left.clone()), filter(right, case.right.clone()), case.on.clone());
            let bound = query(filter(joined, case.above.clone()), &outputs(case.kind));
            let expected = bag(world.reference(&bound).await.unwrap());
            for choice in CHOICES {
                assert_eq!(bag(world.keyed(&bound, choice).await.unwrap()), expected, "{choice:?}");
            }
        });
    }

    #[test]
    fn orders_and_limits_answer_as_sorts_do(
        case in case(),
        by_text_first in proptest::bool::ANY,
        desc in (proptest::bool::ANY, proptest::bool::ANY),
        count in 0..5_i32,
        offset in 0..3_i32,
    ) {
        block_on(async {
            let (world, left, _) = tables(&case).await;
            let keys: [Key; 2] = if by_text_first {
                [key(1, desc.0), key(0, desc.1)]
            } else {
                [key(0, desc.0), key(1, desc.1)]
            };
            let rows = filter(left, case.left.clone());
            let mut expected = world.reference(&query(rows.clone(), &[0, 1, 2])).await.unwrap();
            expected.sort_by(|a, b| in_order(a, b, &keys));
            let (skipped, taken) = (offset as usize, count as usize);
            let expected: Vec<_> = expected.into_iter().skip(skipped).take(taken).collect();
            // The sort keys are the whole key, so the result is unique.
            let bound = query(limit(sort(rows, keys.to_vec()), Some(int(offset)), Some(int(count))), &[0, 1, 2]);
            for choice in CHOICES {
                assert_eq!(world.keyed(&bound, choice).await.unwrap(), expected, "{choice:?}");
            }
        });
    }

    #[test]
    fn groups_over_lookups_answer_as_over_loops(case in case()) {
        block_on(async {
            let (world, left, right) = tables(&case).await;
            let joined = join(JoinKind::Left, filter(left, case.left.clone()), right, case.on.clone());
            let calls = vec![(30, agg(COUNT, &[])), (31, agg(SUM, &[12]))];
            let bound = query(aggregate(joined, &[0], calls), &[0, 30, 31]);
            let expected = bag(world.reference(&bound).await.unwrap());
            for choice in CHOICES {
                assert_eq!(bag(world.keyed(&bound, choice).await.unwrap()), expected, "{choice:?}");
            }
        });
    }
}
