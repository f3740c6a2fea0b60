//! Nodes that the generated queries do not cover.

use super::functions::{COLLECT, COUNT, EQ, GT, PLUS, SUM};
use super::tree::{
    BOOL, INT4, INT8, TEXT, agg, aggregate, call, col, filter, id, in_list, int, is, key, project, query, scan, sort,
    subquery, with,
};
use super::world::{World, row};
use bind::tree::{AggCall, ApplyKind, Cte, CteBody, CteId, Rel, Rows, SetOpKind, SubqueryKind};
use std::sync::Arc;
use types::Datum;

async fn world() -> (World, Arc<catalog::Table>) {
    let world = World::new().await;
    let table = world.table("t", Some(3), false).await;
    let rows: Vec<_> =
        (0..12).map(|at| row(at / 4, ["p", "q", "r", "s"][at as usize % 4], Some(at % 3), "w")).collect();
    world.insert(&table, &rows).await;
    (world, table)
}

fn ints(values: &[i32]) -> Vec<Vec<Datum>> {
    values.iter().map(|value| vec![Datum::Int4(*value)]).collect()
}

fn values(at: usize, list: &[i32]) -> Rel {
    Rel::Values { cols: vec![id(at)], rows: Rows::Const(ints(list)) }
}

#[tokio::test]
async fn an_apply_computes_its_inner_rows_once_for_equal_outer_values() {
    let (world, table) = world().await;
    let inner = aggregate(
        filter(scan(&table, 10), vec![is(EQ, col(10, INT4), col(0, INT4))]),
        &[],
        vec![(20, agg(SUM, &[12])), (21, agg(COUNT, &[]))],
    );
    let apply = Rel::Apply {
        kind: ApplyKind::Inner,
        outer: Box::new(values(0, &[1, 2, 1, 7])),
        inner: Box::new(inner),
        on: Vec::new(),
        free: vec![id(0)],
    };
    world.store.reset();
    let rows = world.run(&query(apply, &[0, 20, 21])).await;
    let of =
        |a, sum: Option<i64>, count| vec![Datum::Int4(a), sum.map_or(Datum::Null, Datum::Int8), Datum::Int8(count)];
    assert_eq!(rows, [of(1, Some(4), 4), of(2, Some(5), 4), of(1, Some(4), 4), of(7, None, 0)]);
    assert_eq!(world.store.scans().len(), 3);
}

#[tokio::test]
async fn a_correlated_subquery_reads_by_key() {
    let (world, table) = world().await;
    let of_row = filter(scan(&table, 10), vec![is(EQ, col(10, INT4), col(0, INT4)), is(GT, col(12, INT4), int(1))]);
    let counted = aggregate(of_row.clone(), &[], vec![(20, agg(COUNT, &[]))]);
    let count = subquery(SubqueryKind::Scalar, counted, vec![id(20)], &[0], INT8);
    let exists = subquery(SubqueryKind::Exists, of_row, vec![], &[0], BOOL);
    let rel = project(filter(values(0, &[0, 2, 9]), vec![exists]), vec![(30, count)]);
    let rows = world.run(&query(rel, &[0, 30])).await;
    assert_eq!(rows, [[Datum::Int4(0), Datum::Int8(1)], [Datum::Int4(2), Datum::Int8(2)]]);
}

#[tokio::test]
async fn set_operations_count_as_all_says() {
    let (world, _) = world().await;
    let run = async |op, all| {
        let (left, right) = (Box::new(values(0, &[1, 1, 1, 2, 3])), Box::new(values(1, &[1, 1, 3, 4])));
        let rel = Rel::SetOp { op, all, left, right, cols: vec![(id(2), id(0), id(1))] };
        world.run(&query(rel, &[2])).await
    };
    assert_eq!(run(SetOpKind::Union, true).await, ints(&[1, 1, 1, 2, 3, 1, 1, 3, 4]));
    assert_eq!(run(SetOpKind::Union, false).await, ints(&[1, 2, 3, 4]));
    assert_eq!(run(SetOpKind::Intersect, true).await, ints(&[1, 1, 3]));
    assert_eq!(run(SetOpKind::Intersect, false).await, ints(&[1, 3]));
    assert_eq!(run(SetOpKind::Except, true).await, ints(&[1, 2]));
    assert_eq!(run(SetOpKind::Except, false).await, ints(&[2]));
}

#[tokio::test]
async fn a_cte_is_computed_once_or_where_it_is_read() {
    let (world, table) = world().await;
    for once in [true, false] {
        let body = filter(scan(&table, 0), vec![is(EQ, col(0, INT4), int(1))]);
        let body = if once { CteBody::Materialized(body) } else { CteBody::Inline(body) };
        let cte = Cte { id: CteId(1), cols: vec![id(2)], body };
        let read = |at: usize| Box::new(Rel::CteScan { cte: CteId(1), cols: vec![(id(2), id(at))] });
        let rel = Rel::SetOp {
            op: SetOpKind::Union,
            all: true,
            left: read(10),
            right: read(11),
            cols: vec![(id(12), id(10), id(11))],
        };
        world.store.reset();
        assert_eq!(world.run(&with(vec![cte], rel, &[12])).await.len(), 8);
        assert_eq!(world.store.scans().len(), if once { 1 } else { 2 });
    }
}

#[tokio::test]
async fn aggregates_see_distinct_filtered_and_ordered_rows() {
    let (world, table) = world().await;
    let rows = filter(scan(&table, 0), vec![in_list(col(0, INT4), vec![int(0), int(1)])]);
    let rows = project(rows, vec![(9, is(GT, col(0, INT4), int(0)))]);
    let calls = vec![
        (10, AggCall { distinct: true, ..agg(COUNT, &[2]) }),
        (11, AggCall { filter: Some(id(9)), ..agg(COUNT, &[]) }),
        (12, AggCall { order: vec![key(1, true), key(0, false)], ..agg(COLLECT, &[1]) }),
    ];
    let answer = world.run(&query(aggregate(rows, &[], calls), &[10, 11, 12])).await;
    let texts = ["s", "s", "r", "r", "q", "q", "p", "p"].map(|text| Datum::Text(text.to_owned()));
    assert_eq!(answer, [[Datum::Int8(3), Datum::Int8(4), Datum::Array(texts.to_vec())]]);
}

#[tokio::test]
async fn distinct_on_keeps_the_first_row_of_an_order() {
    let (world, table) = world().await;
    let rows = filter(scan(&table, 0), vec![in_list(col(0, INT4), vec![int(0), int(1)])]);
    let order = vec![key(2, false), key(0, true), key(1, false)];
    let distinct = Rel::Distinct { input: Box::new(rows), on: vec![id(2)], order: Some(order) };
    let rows = world.run(&query(sort(distinct, vec![key(2, true)]), &[2, 0, 1])).await;
    let of = |v, a, b: &str| vec![Datum::Int4(v), Datum::Int4(a), Datum::Text(b.to_owned())];
    assert_eq!(rows, [of(2, 1, "q"), of(1, 1, "p"), of(0, 1, "r")]);
}

#[tokio::test]
async fn a_filter_below_a_projection_is_judged_first() {
    let (world, table) = world().await;
    // The projection fails for rows that the filter drops, both in a scan and in a lookup.
    let divided = |first: usize| {
        let kept = filter(scan(&table, first), vec![is(GT, col(first + 2, INT4), int(0))]);
        project(kept, vec![(first + 5, call(super::functions::DIVIDE, int(6), col(first + 2, INT4), INT4))])
    };
    let joined = super::tree::join(
        bind::tree::JoinKind::Left,
        values(0, &[1]),
        divided(10),
        vec![is(EQ, col(10, INT4), col(0, INT4)), is(EQ, col(15, INT4), int(3))],
    );
    let joined = project(joined, vec![(30, call(PLUS, col(15, INT4), int(1), INT4))]);
    assert_eq!(world.run(&query(joined, &[11, 30])).await, [[Datum::Text("q".to_owned()), Datum::Int4(4)]]);
    let single = filter(divided(0), vec![is(EQ, col(0, INT4), int(1)), is(EQ, col(5, INT4), int(6))]);
    assert_eq!(world.run(&query(project(single, vec![(7, col(1, TEXT))]), &[7])).await.len(), 2);
}

#[tokio::test]
async fn keys_of_several_salt_buckets_come_in_the_order_that_is_asked_for() {
    let (world, table) = world().await;
    let letters = ["s", "q", "p", "r"].map(super::tree::text).to_vec();
    let keys = vec![in_list(col(0, INT4), vec![int(2), int(0), int(1)]), in_list(col(1, TEXT), letters)];
    for desc in [false, true] {
        let sorted = sort(filter(scan(&table, 0), keys.clone()), vec![key(0, desc), key(1, desc)]);
        world.store.reset();
        let rows = world.run(&query(sorted, &[0, 1])).await;
        assert!(world.store.scans().is_empty());
        let of = |at: i32| vec![Datum::Int4(at / 4), Datum::Text(["p", "q", "r", "s"][at as usize % 4].to_owned())];
        let mut expected: Vec<_> = (0..12).map(of).collect();
        if desc {
            expected.reverse();
        }
        assert_eq!(rows, expected);
    }
}
