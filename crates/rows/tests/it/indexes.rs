//! Lookups by an index, and the rows that they read.

use super::functions::EQ;
use super::tree::{INT4, TEXT, col, filter, int, is, join, key, limit, query, scan, sort, text};
use super::world::{World, row};
use bind::tree::JoinKind;
use catalog::Table;
use std::sync::Arc;
use types::Datum;

/// `t (a, b, v, w)`, key `(a, b)`, with indexes on `v` and on `w DESC INCLUDE (v)`.
async fn world() -> (World, Arc<Table>) {
    let world = World::new().await;
    let table = world.table("t", None, false).await;
    let table = world.index(&table, &[("v", false)], &[], false).await;
    let table = world.index(&table, &[("w", true)], &["v"], false).await;
    let rows: Vec<_> = (0..60).map(|at| row(at, "p", Some(at % 20), ["w", "x", "y", "z"][at as usize % 4])).collect();
    world.insert(&table, &rows).await;
    (world, table)
}

fn ints(values: &[i32]) -> Vec<Vec<Datum>> {
    values.iter().map(|value| vec![Datum::Int4(*value)]).collect()
}

#[tokio::test]
async fn rows_are_found_by_another_column() {
    let (world, table) = world().await;
    world.store.reset();
    let found = filter(scan(&table, 0), vec![is(EQ, col(2, INT4), int(7))]);
    assert_eq!(world.run(&query(found, &[0])).await, ints(&[7, 27, 47]));
    let scans = world.store.scans();
    assert_eq!(scans.len(), 1);
    assert_eq!(scans[0].table, table.indexes[0].storage_id(), "entries, and the rows by their keys");
}

#[tokio::test]
async fn the_first_rows_come_in_the_order_of_an_index() {
    let (world, table) = world().await;
    world.store.reset();
    let found = sort(filter(scan(&table, 0), vec![is(EQ, col(2, INT4), int(7))]), vec![key(0, true)]);
    assert_eq!(world.run(&query(limit(found, None, Some(int(2))), &[0])).await, ints(&[47, 27]));
    let scans = world.store.scans();
    assert_eq!((scans.len(), scans[0].reverse), (1, true));
}

#[tokio::test]
async fn joins_look_rows_up_by_an_index() {
    let (world, table) = world().await;
    let outer = filter(scan(&table, 10), vec![is(EQ, col(10, INT4), int(3)), is(EQ, col(11, TEXT), text("p"))]);
    let joined = join(JoinKind::Inner, outer, scan(&table, 0), vec![is(EQ, col(2, INT4), col(12, INT4))]);
    world.store.reset();
    assert_eq!(world.run(&query(joined, &[0])).await, ints(&[3, 23, 43]));
    assert_eq!(world.store.scans().len(), 1, "of entries");
}
