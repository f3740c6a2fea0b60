//! Read views: own writes over a snapshot, stores with fewer capabilities, little memory.

use crate::fixture::{Failure, Fixture};
use query::{PlannerOptions, QueryError, RowCodec};
use std::sync::Arc;
use store::{FamilyId, Store};
use store_testkit::{LimitedStore, ModelStore, Without};
use txn::{LockTable, Transaction, TransactionOptions};
use types::{Datum, text};

const FILTERS: [&str; 7] = [
    "delay > 5",
    "delay is null",
    "price between 20 and 60.505",
    "delay < 0 and carrier = 'UA'",
    "flight = 3 and delay <> 0",
    "carrier in ('AA', 'DL') and price < 50",
    "dest = 'LA'",
];

#[tokio::test]
async fn a_store_without_filters_gives_the_same_rows() {
    let full = Fixture::new().await;
    full.flights(Some(4)).await;
    let without = Without { filter: true, ..Without::default() };
    let limited = Fixture::over(Arc::new(LimitedStore::new(Arc::new(ModelStore::new()), without))).await;
    limited.flights(Some(4)).await;
    for filter in FILTERS {
        let query =
            format!("select carrier, flight, departed, delay from flights where {filter} order by 1, 2, 3 limit 40");
        assert_eq!(full.query(&query).await, limited.query(&query).await, "{filter}");
        let count = format!("select count(*) from flights where {filter}");
        assert_eq!(full.query(&count).await, limited.query(&count).await, "{filter}");
    }
}

#[tokio::test]
async fn own_writes_lie_over_the_snapshot() {
    let db = Fixture::new().await;
    db.flights(Some(4)).await;
    let table = db.catalog.current().must_get_table("public", "flights").unwrap().clone();
    let codec = RowCodec::new(&table).unwrap();
    let store: Arc<dyn Store> = db.store.clone();
    let mut transaction = Transaction::begin(store, &Arc::new(LockTable::new()), TransactionOptions::default());
    let row = |line: &str| -> Vec<Datum> {
        let values = table.columns.iter().zip(line.split('|'));
        values.map(|(column, value)| text::parse(&column.ty, value).unwrap()).collect()
    };
    let mut changes = Vec::new();
    transaction.begin_statement().await.unwrap();
    // One row is inserted, one updated, one deleted.
    for line in ["ZZ|1|2013-01-01 08:00|XXX|500|1.00|new", "UA|3|2013-01-01 08:00|YYY|600|2.00|changed"] {
        changes.push((row(line), true));
    }
    changes.push((row("AA|3|2013-01-01 08:00|JFK|0|0|gone"), false));
    for (values, put) in changes {
        let key = codec.encode_key(&values).unwrap().into();
        if put {
            let fragment = codec.encode_fragment(&values).unwrap().into();
            transaction.put(table.storage_id(), FamilyId(0), key, fragment).await.unwrap();
        } else {
            transaction.delete(table.storage_id(), FamilyId(0), key).await.unwrap();
        }
    }
    transaction.end_statement().unwrap();
    let mut cx = db.context().await;
    cx.reader = transaction.begin_statement().await.unwrap();
    for (query, expected) in [
        ("select count(*) from flights", vec!["300"]),
        ("select dest, note from flights where delay >= 500 order by delay", vec!["XXX|new", "YYY|changed"]),
        ("select count(*) from flights where flight = 3 and carrier in ('AA', 'UA')", vec!["5"]),
        ("select carrier from flights order by carrier desc, flight desc, departed limit 1", vec!["ZZ"]),
        (
            "select note from flights where carrier = 'UA' and flight = 3 and departed = '2013-01-01 08:00'",
            vec!["changed"],
        ),
        ("select note from flights where carrier = 'AA' and flight = 3 and departed = '2013-01-01 08:00'", vec![]),
        ("select count(*) from flights where delay = 600", vec!["1"]),
    ] {
        let plan = db.plan(query, &[]).await.unwrap();
        assert_eq!(db.run_in(&cx, &plan, &[]).await.unwrap(), expected, "{query}");
    }
    assert_eq!(db.query("select count(*) from flights where delay >= 500").await, ["0"], "nobody else sees them");
}

#[tokio::test]
async fn what_does_not_fit_in_memory_spills_or_says_so() {
    let db = Fixture::with(PlannerOptions { memory_bytes: 24 << 20, partitions: 1, ..PlannerOptions::default() }).await;
    let sorted = db
        .query(
            "select count(*) from (select x, repeat('x', 100) || x::text y from generate_series(1, 400000) g(x) \
                order by y offset 1) s",
        )
        .await;
    assert_eq!(sorted, ["399999"]);
    let tiny =
        Fixture::with(PlannerOptions { memory_bytes: 1 << 10, partitions: 1, ..PlannerOptions::default() }).await;
    let join = "select count(*) from generate_series(1, 9999) a(x) join generate_series(1, 9999) b(x) on a.x = b.x + 1";
    let result = tiny.try_query(join).await;
    assert!(matches!(result, Err(Failure::Query(QueryError::Resources { .. }))), "{result:?}");
}

#[tokio::test]
async fn a_hash_join_that_runs_out_of_memory_is_tried_as_a_merge_join() {
    let db = Fixture::with(PlannerOptions { memory_bytes: 64 << 20, partitions: 1, ..PlannerOptions::default() }).await;
    let query = "select count(*) from (select x, repeat('x', 200) y from generate_series(1, 300000) g(x)) a \
                 join (select x, repeat('z', 200) y from generate_series(1, 300000) g(x)) b on a.x = b.x \
                 where a.y < b.y";
    assert_eq!(db.query(query).await, ["300000"]);
}

#[tokio::test]
async fn joins_and_groups_that_spill_leave_each_other_room() {
    let options = PlannerOptions { memory_bytes: 24 << 20, partitions: 2, ..PlannerOptions::default() };
    let db = Fixture::with(options).await;
    let side = "(select x, md5(x::text) m, repeat('x', 100) y from generate_series(1, 120000) x)";
    for (query, rows) in [
        (format!("select count(*) from {side} a join {side} b on a.m = b.m and a.y <= b.y"), "120000"),
        (
            format!(
                "select count(*) from {side} a join {side} b on a.m = b.m join {side} c on c.m = md5((b.x + 1)::text)"
            ),
            "119999",
        ),
    ] {
        assert_eq!(db.query(&query).await, [rows], "{query}");
    }
}
