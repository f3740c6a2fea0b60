//! EXPLAIN shows the access path of each table, EXPLAIN ANALYZE shows that it was used.

use crate::fixture::Fixture;
use query::ExplainOptions;

async fn explain(db: &Fixture, query: &str, options: ExplainOptions) -> Vec<String> {
    let plan = db.plan(query, &[]).await.unwrap();
    db.planner.explain(&db.context().await, &plan, &[], options).await.unwrap().lines()
}

async fn plain(db: &Fixture, query: &str) -> Vec<String> {
    explain(db, query, ExplainOptions::default()).await
}

async fn analyze(db: &Fixture, query: &str) -> Vec<String> {
    explain(db, query, ExplainOptions { analyze: true, timing: false, ..ExplainOptions::default() }).await
}

#[tokio::test]
async fn a_point_names_its_key_and_its_bucket() {
    let db = Fixture::new().await;
    db.flights(Some(4)).await;
    let query = "select dest from flights where carrier = 'UA' and flight = 3 and departed = '2013-01-02 08:00'";
    assert_eq!(
        plain(&db, query).await,
        [
            "Point lookup on flights",
            "  Key ranges: 0:['UA',3,'2013-01-02 08:00:00']",
            "  Salt buckets: 1 of 4",
            "  Regions: 1 of 4",
            "  Key filter: carrier = 'UA' AND flight = 3 AND departed = '2013-01-02 08:00:00'",
        ]
    );
    assert_eq!(
        analyze(&db, query).await.last().unwrap(),
        "  Store: seeks=1 rows_read=1 rows_returned=1 bytes_read=65 block_rows=0"
    );
}

#[tokio::test]
async fn a_range_says_what_it_checks_and_what_stays_above() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let query = "select dest from flights where carrier = 'UA' and flight > 3 and delay > 5 and note like '%x' \
                 order by delay desc limit 2";
    assert_eq!(
        plain(&db, query).await,
        [
            "Sort: delay DESC (top 2)",
            "  ->  Filter: note LIKE '%x'",
            "        ->  Range scan on flights",
            "              Key ranges: ['UA',4 .. 'UA']",
            "              Regions: 1 of 1",
            "              Key filter: carrier = 'UA' AND flight > 3",
            "              Checked on bytes: delay > 5",
            "              Narrowed while running by the operators above",
        ]
    );
    let counters = analyze(&db, query).await.pop().unwrap();
    assert!(counters.contains("seeks=1 rows_read=63 rows_returned=44"), "{counters}");
}

#[tokio::test]
async fn orders_of_the_key_need_no_sort() {
    let db = Fixture::new().await;
    db.flights(Some(4)).await;
    let query = "select dest from flights where carrier = 'UA' order by flight desc, departed limit 5";
    assert_eq!(
        plain(&db, query).await,
        [
            "Range scan backward on flights",
            "  Key ranges: ['UA',*]",
            "  Salt buckets: 4 of 4, merged in key order",
            "  Regions: 4 of 4",
            "  Key filter: carrier = 'UA'",
            "  Limit: 5",
        ]
    );
    let counters = analyze(&db, query).await.pop().unwrap();
    assert!(counters.contains("seeks=4 rows_read=20"), "five of each bucket: {counters}");
    let sorted = plain(&db, "select dest from flights order by flight limit 5").await;
    assert_eq!(sorted[0], "Sort: flight (top 5)");
}

#[tokio::test]
async fn lists_are_skip_scans() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let query = "select flight from flights where carrier in ('AA', 'UA') and flight in (1, 3)";
    let lines = plain(&db, query).await;
    assert_eq!(lines[..2], ["Skip scan on flights", "  Key ranges: ['AA',1,*], ['AA',3,*], ['UA',1,*], ['UA',3,*]",]);
    let counters = analyze(&db, query).await.pop().unwrap();
    assert!(counters.contains("seeks=4 rows_read=12 rows_returned=12"), "{counters}");
}

#[tokio::test]
async fn a_join_on_a_key_reads_only_the_keys_it_found() {
    let db = Fixture::new().await;
    db.table("small", "id integer!, f integer", "id", None).await;
    db.insert("small", &["1|3", "2|400"]).await;
    db.table("big", "id integer!, v text", "id", None).await;
    let rows: Vec<String> = (0..500).map(|i| format!("{i}|v{i}")).collect();
    db.insert("big", &rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let query = "select s.id, b.v from small s join big b on b.id = s.f";
    assert_eq!(db.query(query).await, ["1|v3", "2|v400"]);
    assert_eq!(
        plain(&db, query).await,
        [
            "Hash join",
            "  On: f = id",
            "  ->  Full scan on small",
            "        Regions: 1 of 1",
            "  ->  Full scan on big",
            "        Regions: 1 of 1",
            "        Narrowed while running by the operators above",
        ]
    );
    let counters = analyze(&db, query).await.pop().unwrap();
    assert!(counters.contains("seeks=2 rows_read=2"), "two point reads: {counters}");
}

#[tokio::test]
async fn conditions_that_contradict_read_nothing() {
    let db = Fixture::new().await;
    db.flights(None).await;
    let lines = analyze(&db, "select * from flights where flight > 5 and flight < 3 and carrier = 'UA'").await;
    assert_eq!(lines[0], "No rows on flights (actual rows=0)");
    assert!(lines.last().unwrap().contains("seeks=0 rows_read=0"), "{lines:?}");
}

#[tokio::test]
async fn the_largest_key_is_one_row_of_a_backward_scan() {
    let db = Fixture::new().await;
    db.flights(Some(4)).await;
    for (query, answer) in [
        ("select max(flight) from flights where carrier = 'UA'", "24"),
        ("select min(carrier) from flights", "AA"),
        ("select min(departed) from flights where carrier = 'DL' and flight = 3", "2013-01-01 08:00:00"),
    ] {
        assert_eq!(db.query(query).await, [answer], "{query}");
        let counters = analyze(&db, query).await.pop().unwrap();
        let few = ["rows_read=3 ", "rows_read=4 "].iter().any(|rows| counters.contains(rows));
        assert!(counters.contains("seeks=4") && few, "a row of each bucket at most, for {query}: {counters}");
    }
    assert_eq!(db.query("select max(flight) from flights where carrier = 'XX'").await, [""]);
    assert_eq!(db.query("select max(flight) from flights").await, ["24"], "not the first part of the key");
}

#[tokio::test]
async fn joins_on_several_key_columns_read_ranges_of_their_rows() {
    let db = Fixture::new().await;
    db.flights(Some(4)).await;
    db.table("picked", "id integer!, carrier varchar, flight integer", "id", None).await;
    db.insert("picked", &["1|UA|3", "2|AA|24", "3|XX|1"]).await;
    let query = "select p.id, count(*) from picked p join flights f on f.carrier = p.carrier and f.flight = p.flight \
                 group by p.id order by p.id";
    assert_eq!(db.query(query).await, ["1|3", "2|3"]);
    let lines = analyze(&db, query).await;
    assert!(
        lines.iter().any(|line| line.contains("seeks=12 rows_read=6 ")),
        "three prefixes in four buckets: {lines:#?}"
    );
}

#[tokio::test]
async fn large_joins_in_several_tasks_read_only_the_keys_they_found() {
    let db = Fixture::new().await;
    db.table("few", "id integer!, f integer", "id", None).await;
    let few: Vec<String> = (0..40).map(|i| format!("{i}|{}", i * 1000)).collect();
    db.insert("few", &few.iter().map(String::as_str).collect::<Vec<_>>()).await;
    db.table("many", "id integer!, v integer", "id", None).await;
    for block in 0..3 {
        let rows: Vec<String> = (0..15_000).map(|i| format!("{}|{i}", block * 15_000 + i)).collect();
        db.insert("many", &rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    let query = "select count(*), sum(m.v) from few join many m on m.id = few.f where few.f >= 0";
    assert_eq!(db.query(query).await, ["40|255000"]);
    let lines = analyze(&db, query).await;
    let reads: Vec<&String> = lines.iter().filter(|line| line.contains("Store:")).collect();
    assert!(reads.iter().any(|line| line.contains("rows_read=40 rows_returned=40")), "{lines:#?}");
    assert!(reads.iter().all(|line| !line.contains("rows_read=45000")), "{lines:#?}");
}
