//! What is refused when compiling, and what exceeds the limits when running.

use super::functions::{EQ, GT, NO_BODY};
use super::tree::{INT4, TEXT, col, in_list, int, is, join, key, limit, param, query, scan, sort, text};
use super::world::{World, row, why_not};
use bind::tree::JoinKind;
use rows::{Limits, RowsError, WhyNot};
use types::Datum;

async fn world() -> (World, std::sync::Arc<catalog::Table>) {
    let world = World::new().await;
    let table = world.table("t", None, false).await;
    let rows: Vec<_> = (0..300).map(|at| row(at / 100, &format!("b{:03}", at % 100), Some(at), "w")).collect();
    world.insert(&table, &rows).await;
    (world, table)
}

#[tokio::test]
async fn a_table_without_a_condition_on_its_key_is_a_plan() {
    let (_, table) = world().await;
    let refused = WhyNot::FullScan { table: "t".to_owned() };
    assert_eq!(why_not(&query(scan(&table, 0), &[0])), refused);
    let by_second = super::tree::filter(scan(&table, 0), vec![is(EQ, col(1, TEXT), text("b001"))]);
    assert_eq!(why_not(&query(by_second, &[0])), refused);
    // Only in key order can the first rows be found without reading all rows.
    let wrong_order = limit(sort(scan(&table, 0), vec![key(2, false)]), None, Some(int(3)));
    assert_eq!(why_not(&query(wrong_order, &[0])), refused);
    let cross = join(
        JoinKind::Inner,
        super::tree::filter(scan(&table, 0), vec![is(EQ, col(0, INT4), int(1))]),
        scan(&table, 10),
        vec![is(GT, col(12, INT4), col(2, INT4))],
    );
    assert_eq!(why_not(&query(cross, &[0])), refused);
    let unknown = super::tree::filter(scan(&table, 0), vec![super::tree::call(NO_BODY, int(1), int(1), 16)]);
    assert!(matches!(why_not(&query(unknown, &[0])), WhyNot::Function { .. }));
}

#[tokio::test]
async fn the_first_rows_in_key_order_read_no_more() {
    let (world, table) = world().await;
    for (desc, first) in [(false, 0), (true, 299)] {
        let sorted = sort(scan(&table, 0), vec![key(0, desc), key(1, desc)]);
        let bound = query(limit(sorted, None, Some(int(3))), &[2]);
        let answer = world.try_run(&bound, &[], Limits { rows: 10, bytes: 10_000 }).await.unwrap();
        assert_eq!(answer.rows[0], [Datum::Int4(first)]);
        assert!(answer.rows.len() == 3 && answer.rows_read <= 3, "{answer:?}");
    }
}

#[tokio::test]
async fn keys_in_a_list_are_read_once_each() {
    let (world, table) = world().await;
    let list = vec![text("b007"), text("b003"), text("b007"), text("none")];
    let all = vec![is(EQ, col(0, INT4), param(0, INT4)), in_list(col(1, TEXT), list)];
    let bound = query(super::tree::filter(scan(&table, 0), all), &[2]);
    world.store.reset();
    let answer = world.try_run(&bound, &[Datum::Int4(2)], Limits::default()).await.unwrap();
    assert_eq!(answer.rows, [[Datum::Int4(203)], [Datum::Int4(207)]]);
    assert_eq!(answer.rows_read, 3);
    assert!(world.store.scans().is_empty());
    assert!(world.try_run(&bound, &[Datum::Null], Limits::default()).await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn past_its_budget_a_program_gives_up() {
    let (world, table) = world().await;
    let bound = query(super::tree::filter(scan(&table, 0), vec![is(EQ, col(0, INT4), int(1))]), &[0, 1, 2, 3]);
    let with = |rows, bytes| world.try_run(&bound, &[], Limits { rows, bytes });
    assert_eq!(with(100, 1 << 20).await.unwrap().rows.len(), 100);
    assert!(matches!(with(99, 1 << 20).await, Err(RowsError::OverBudget)));
    assert!(matches!(with(100, 1000).await, Err(RowsError::OverBudget)));
}

#[tokio::test]
async fn rows_and_bytes_that_are_made_count_too() {
    let (world, table) = world().await;
    let side = |first| super::tree::filter(scan(&table, first), vec![is(EQ, col(first, INT4), int(1))]);
    // 100 rows of each side are read, and 10,000 pairs are compared.
    let pairs = join(JoinKind::Left, side(0), side(10), vec![is(GT, col(12, INT4), col(2, INT4))]);
    let bound = query(limit(sort(pairs, vec![key(2, false)]), None, Some(int(1))), &[2]);
    let with = |rows, bytes| world.try_run(&bound, &[], Limits { rows, bytes });
    assert_eq!(with(1000, 64 << 20).await.unwrap().rows.len(), 1);
    assert!(matches!(with(250, 64 << 20).await, Err(RowsError::OverBudget)));
    assert!(matches!(with(1000, 32 << 10).await, Err(RowsError::OverBudget)));
}

#[tokio::test]
async fn a_negative_limit_is_an_error_and_null_is_none() {
    let (world, table) = world().await;
    let of = |offset, count| {
        let rows = super::tree::filter(scan(&table, 0), vec![is(EQ, col(0, INT4), int(1))]);
        query(limit(rows, Some(offset), Some(count)), &[2])
    };
    let run = async |offset, count| world.try_run(&of(offset, count), &[], Limits::default()).await;
    assert!(matches!(run(int(0), int(-1)).await, Err(RowsError::NegativeLimit)));
    assert!(matches!(run(int(-1), int(1)).await, Err(RowsError::NegativeOffset)));
    assert_eq!(run(int(98), super::tree::null(INT4)).await.unwrap().rows.len(), 2);
    assert_eq!(run(int(0), int(0)).await.unwrap().rows.len(), 0);
}
