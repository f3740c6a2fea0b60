//! Rows: projections, filters, orders, limits, joins, aggregates, parameters.

use crate::fixture::{Failure, Fixture};
use types::{DataType, Datum};

#[tokio::test]
async fn a_full_key_reads_one_row() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let row = db
        .query("select dest, delay, price, note from flights where carrier = 'UA' and flight = 3 and departed = '2013-01-02 08:00'")
        .await;
    assert_eq!(row, ["JFK|-4|30.50|note UA3"]);
}

#[tokio::test]
async fn a_key_prefix_is_a_range_in_key_order() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let rows = db.query("select flight, departed, delay from flights where carrier = 'B6' and flight < 2").await;
    assert_eq!(rows[0], "0|2013-01-03 08:00:00|-10");
    assert_eq!(rows.len(), 6);
}

#[tokio::test]
async fn salted_and_plain_tables_answer_alike() {
    let (plain, salted) = (Fixture::new().await, Fixture::new().await);
    plain.flights(None).await;
    salted.flights(Some(8)).await;
    for query in [
        "select * from flights order by carrier, flight, departed desc",
        "select * from flights order by carrier desc, flight desc, departed",
        "select carrier, flight, departed from flights order by carrier, flight, departed desc limit 7",
        "select carrier, flight, departed from flights order by carrier desc, flight desc, departed limit 7 offset 3",
        "select departed, dest from flights where carrier = 'UA' and flight = 5 order by departed desc limit 2",
        "select count(*), sum(delay), min(price), max(note) from flights",
        "select count(*) from flights where delay between 0 and 10 and price < 100",
        "select carrier, count(*) from flights group by carrier order by carrier",
        "select a.flight, b.flight from flights a join flights b on a.carrier = b.carrier and a.flight = b.flight \
         and a.departed = b.departed where a.carrier = 'AA' and b.flight > 20 order by 1, 2",
        "select flight from flights where (carrier, flight) > ('DL', 22) order by carrier, flight, departed",
        "select count(*) from flights where (carrier, flight) in (('AA', 1), ('UA', 2), ('XX', 3))",
        "select count(*) from flights where carrier like 'A%' or carrier = 'DL'",
        "select count(*) from flights where flight in (1, 2, 3, 4, 5) and carrier in ('AA', 'UA')",
        "select dest, count(*) from flights where delay is null group by dest order by dest",
    ] {
        let (a, b) = (plain.query(query).await, salted.query(query).await);
        assert!(!a.is_empty(), "{query}");
        assert_eq!(a, b, "{query}");
    }
}

#[tokio::test]
async fn filters_agree_with_brute_force() {
    let db = Fixture::new().await;
    db.flights(None).await;
    // Each filter with an equivalent one that cannot be pushed into the scan.
    for (pushed, plain) in [
        ("delay > 5", "delay + 0 > 5"),
        ("delay <= -7", "delay + 0 <= -7"),
        ("delay = 0", "delay + 0 = 0"),
        ("delay <> 0", "delay + 0 <> 0"),
        ("delay is null", "coalesce(delay, 1000) = 1000"),
        ("delay is not null and delay < 0", "coalesce(delay, 1000) < 0"),
        ("price = 30.5", "price + 0 = 30.5"),
        ("price > 30.49", "price + 0 > 30.49"),
        ("price between 20 and 60.505", "price + 0 between 20 and 60.505"),
        ("flight > 22.5", "flight + 0 > 22.5"),
        ("flight = 5.5", "flight + 0 = 5.5"),
        ("flight = 5.0", "flight + 0 = 5.0"),
        ("flight = 5::double precision", "flight + 0 = 5"),
        ("carrier >= 'B' and carrier < 'E'", "carrier || '' >= 'B' and carrier || '' < 'E'"),
        ("not (carrier = 'UA')", "carrier || '' <> 'UA'"),
        (
            "carrier in ('UA', 'DL') and flight not in (1, 2)",
            "carrier || '' in ('UA', 'DL') and flight + 0 not in (1, 2)",
        ),
        ("departed < '2013-01-02'", "departed + interval '0 s' < '2013-01-02'"),
        ("dest = 'LA'", "dest || '' = 'LA'"),
        ("dest = 'LA '", "dest || '' = 'LA'"),
        ("note like 'note U_1%'", "note || '' like 'note U_1%'"),
        ("carrier like 'U%' and delay > 0", "carrier || '' like 'U%' and delay + 0 > 0"),
        ("carrier = 'UA' or flight = 3", "carrier || '' = 'UA' or flight + 0 = 3"),
    ] {
        let columns = "carrier, flight, departed, dest, delay";
        let order = "order by carrier, flight, departed";
        let a = db.query(&format!("select {columns} from flights where {pushed} {order}")).await;
        let b = db.query(&format!("select {columns} from flights where {plain} {order}")).await;
        assert_eq!(a, b, "{pushed}");
        let count = db.query(&format!("select count(*) from flights where {pushed}")).await;
        assert_eq!(count, [a.len().to_string()], "{pushed}");
    }
}

#[tokio::test]
async fn nothing_comes_of_conditions_that_contradict() {
    let db = Fixture::new().await;
    db.flights(None).await;
    for filter in ["carrier = 'UA' and carrier = 'AA'", "flight = 5.5", "delay > 5 and delay < 3", "carrier = null"] {
        assert_eq!(db.query(&format!("select carrier from flights where {filter}")).await, Vec::<String>::new());
        assert_eq!(db.query(&format!("select count(*) from flights where {filter}")).await, ["0"]);
    }
}

#[tokio::test]
async fn parameters_are_typed_by_what_they_meet() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let plan = db
        .plan(
            "select departed, $4 from flights where carrier = $1 and flight = $2 and departed >= $3 \
             and dest = $6 limit $5",
            &[],
        )
        .await
        .unwrap();
    use DataType::{BigInt, Integer, Text};
    let timestamp = DataType::Timestamp(None);
    assert_eq!(plan.parameters, [Text, Integer, timestamp, Text, BigInt, Text]);
    assert!(plan.cacheable);
    let params = |flight, limit| {
        vec![
            Datum::Text("UA".into()),
            Datum::Int4(flight),
            types::text::parse(&timestamp, "2013-01-02").unwrap(),
            Datum::Text("x".into()),
            Datum::Int8(limit),
            Datum::Text("JFK ".into()),
        ]
    };
    assert_eq!(db.run(&plan, &params(3, 10)).await.unwrap(), ["2013-01-03 08:00:00|x", "2013-01-02 08:00:00|x"]);
    assert_eq!(db.run(&plan, &params(3, 1)).await.unwrap(), ["2013-01-03 08:00:00|x"]);
    assert_eq!(db.run(&plan, &params(99, 10)).await.unwrap(), Vec::<String>::new());
    let mut null = params(3, 10);
    null[1] = Datum::Null;
    assert_eq!(db.run(&plan, &null).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_clients_types_come_first() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let plan = db.plan("select count(*) from flights where flight = $1", &[Some(DataType::BigInt)]).await.unwrap();
    assert_eq!(plan.parameters, [DataType::BigInt]);
    assert_eq!(db.run(&plan, &[Datum::Int8(5)]).await.unwrap(), ["12"]);
    assert_eq!(db.run(&plan, &[Datum::Int8(1 << 40)]).await.unwrap(), ["0"]);
}

#[tokio::test]
async fn full_keys_are_point_reads_and_prefixes_one_scan() {
    let db = Fixture::new().await;
    db.flights(None).await;
    db.store.reset();
    db.query("select note from flights where carrier = 'UA' and flight = 3 and departed = '2013-01-02 08:00'").await;
    assert_eq!(db.store.scans().len(), 0, "a point is no scan");
    db.query("select note from flights where carrier = 'UA' order by flight, departed desc limit 4").await;
    let scans = db.store.scans();
    assert_eq!((scans.len(), scans[0].ranges.len(), scans[0].limit, scans[0].reverse), (1, 1, Some(4), false));
    db.store.reset();
    db.query("select note from flights where carrier = 'UA' order by flight desc, departed limit 4").await;
    let scans = db.store.scans();
    assert_eq!((scans.len(), scans[0].limit, scans[0].reverse), (1, Some(4), true));
}

#[tokio::test]
async fn counting_reads_neither_keys_nor_values() {
    let db = Fixture::new().await;
    db.flights(None).await;
    db.store.reset();
    assert_eq!(db.query("select count(*) from flights").await, ["300"]);
    let scans = db.store.scans();
    assert!(scans.iter().all(|scan| !scan.keys && !scan.values) && !scans.is_empty());
}

#[tokio::test]
async fn old_layouts_are_read_with_their_defaults() {
    let db = Fixture::new().await;
    db.table("t", "k integer!, a text", "k", None).await;
    db.insert("t", &["1|one", "2|"]).await;
    let oid = db.catalog.current().must_get_table("public", "t").unwrap().oid;
    let added = catalog::NewColumn::new("b", DataType::Integer);
    db.catalog.change(|draft| draft.add_column(oid, added, Datum::Int4(7))).await.unwrap();
    db.insert("t", &["3|three|30"]).await;
    assert_eq!(db.query("select * from t").await, ["1|one|7", "2||7", "3|three|30"]);
    assert_eq!(db.query("select k from t where b = 7").await, ["1", "2"]);
    assert_eq!(db.query("select sum(b) from t where b > 6 and k > 1").await, ["37"]);
}

/// Stops after this many checks.
#[derive(Debug)]
struct StopsAfter(std::sync::atomic::AtomicI32);

impl query::Stop for StopsAfter {
    fn is_stopped(&self) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) <= 0
    }
}

#[tokio::test]
async fn joins_that_turn_all_pairs_down_stop_with_their_statement() {
    let f = Fixture::new().await;
    let series = "generate_series(1, 100000) AS";
    for text in [
        format!("SELECT count(*) FROM {series} a (x), {series} b (x) WHERE a.x + b.x = 1"),
        format!("SELECT count(*) FROM {series} a (x) JOIN {series} b (x) ON a.x % 3 = b.x % 3 AND a.x + b.x = 1"),
        format!("SELECT count(*) FROM {series} a (x) WHERE NOT EXISTS (SELECT 1 FROM {series} b (x) WHERE b.x < -a.x)"),
    ] {
        let plan = f.plan(&text, &[]).await.unwrap();
        let mut cx = f.context().await;
        cx.stop = std::sync::Arc::new(StopsAfter(3.into()));
        let stopped = f.run_in(&cx, &plan, &[]).await;
        assert!(matches!(stopped, Err(Failure::Query(query::QueryError::Stopped))), "{text}: {stopped:?}");
    }
}
