//! A transaction reads its own writes: by keys, by ranges and by lookups.

use super::functions::{self, EQ};
use super::tree::{INT4, TEXT, col, filter, int, is, join, query, scan, text};
use super::world::{World, env, replace, row};
use bind::tree::{Bound, JoinKind};
use rows::{Input, Limits, Options, compile};
use std::sync::Arc;
use store::{FamilyId, Mutation, Store};
use txn::{LockTable, ReadView, Transaction, TransactionOptions};
use types::Datum;

async fn run(bound: &Bound, view: &ReadView) -> Vec<Vec<Datum>> {
    let functions = functions::Table::new(false);
    let program = compile(bound, &functions, Options { full_scans: false, ..Options::default() }).unwrap();
    let input = Input { view, env: &env(), params: &[], limits: Limits::default() };
    program.run(&functions, input).await.unwrap().rows
}

#[tokio::test]
async fn own_rows_replace_and_hide_those_of_the_snapshot() {
    for salt in [None, Some(3)] {
        let world = World::new().await;
        let table = world.table("t", salt, false).await;
        world
            .insert(&table, &[row(1, "p", Some(1), "old"), row(1, "q", Some(1), "old"), row(2, "p", Some(2), "old")])
            .await;
        let store = Arc::clone(&world.store) as Arc<dyn Store>;
        let mut txn = Transaction::begin(store, &Arc::new(LockTable::new()), TransactionOptions::default());
        txn.begin_statement().await.unwrap();
        for written in [row(1, "p", Some(1), "new"), row(1, "o", Some(1), "new")] {
            let Mutation::Replace { table, family, key, fragment } = replace(&table, &written) else { panic!() };
            txn.put(table, family, key, fragment.into()).await.unwrap();
        }
        let (_, _, gone) = match replace(&table, &row(1, "q", None, "")) {
            Mutation::Replace { table, family, key, .. } => (table, family, key),
            Mutation::Delete { .. } => panic!(),
        };
        txn.delete(table.storage_id(), FamilyId(0), gone).await.unwrap();
        let view = txn.begin_statement().await.unwrap();

        let point = filter(scan(&table, 0), vec![is(EQ, col(0, INT4), int(1)), is(EQ, col(1, TEXT), text("p"))]);
        assert_eq!(run(&query(point, &[3]), &view).await, [[Datum::Text("new".to_owned())]]);
        let range = filter(scan(&table, 0), vec![is(EQ, col(0, INT4), int(1))]);
        let sorted = super::tree::sort(range, vec![super::tree::key(1, true)]);
        let texts = |list: &[&str]| list.iter().map(|text| vec![Datum::Text((*text).to_owned())]).collect::<Vec<_>>();
        assert_eq!(run(&query(sorted, &[1]), &view).await, texts(&["p", "o"]));
        let outer = filter(scan(&table, 10), vec![is(EQ, col(10, INT4), int(2)), is(EQ, col(11, TEXT), text("p"))]);
        let on = vec![is(EQ, col(0, INT4), int(1)), is(EQ, col(1, TEXT), col(11, TEXT))];
        let joined = join(JoinKind::Inner, outer, scan(&table, 0), on);
        assert_eq!(run(&query(joined, &[3]), &view).await, texts(&["new"]));
    }
}
