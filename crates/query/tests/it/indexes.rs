//! Scans by an index: the chosen index, the rows read, and their EXPLAIN.

use crate::fixture::Fixture;
use query::ExplainOptions;

async fn explain(db: &Fixture, choice: &'static str, query: &str, options: ExplainOptions) -> Vec<String> {
    let plan = db.plan(query, &[]).await.unwrap();
    db.planner.explain(&db.context_that(choice).await, &plan, &[], options).await.unwrap().lines()
}

async fn plain(db: &Fixture, query: &str) -> Vec<String> {
    explain(db, "auto", query, ExplainOptions::default()).await
}

async fn analyze(db: &Fixture, query: &str) -> Vec<String> {
    let options = ExplainOptions { analyze: true, timing: false, ..ExplainOptions::default() };
    explain(db, "auto", query, options).await
}

async fn indexed_flights() -> Fixture {
    let db = Fixture::new().await;
    db.flights(Some(4)).await;
    db.index("flights", "by_dest", "dest,delay desc", &[], None).await;
    db.index("flights", "by_note", "note", &["delay"], None).await;
    db
}

#[tokio::test]
async fn rows_of_a_few_entries_are_fetched() {
    let db = indexed_flights().await;
    let query = "select carrier, price from flights where note = 'note UA3' and price > 20 order by departed";
    assert_eq!(
        plain(&db, query).await,
        [
            "Sort: departed",
            "  ->  Index scan using by_note on flights",
            "        Index ranges: ['note UA3',*]",
            "        Regions: 1 of 1",
            "        Index filter: note = 'note UA3'",
            "        Checked on bytes: price > 20.00",
        ]
    );
    assert_eq!(db.query(query).await, ["UA|30.50"; 3]);
    let counters = analyze(&db, query).await.pop().unwrap();
    assert!(counters.contains("seeks=4 rows_read=6"), "a scan, and three rows of three entries: {counters}");
}

#[tokio::test]
async fn an_index_that_has_all_columns_is_all_that_is_read() {
    let db = indexed_flights().await;
    let query = "select delay, carrier from flights where note between 'note DL2' and 'note DL21' and delay > 9";
    assert_eq!(
        plain(&db, query).await,
        [
            "Index only scan using by_note on flights",
            "  Index ranges: ['note DL2' .. 'note DL21']",
            "  Regions: 1 of 1",
            "  Index filter: note >= 'note DL2' AND note <= 'note DL21'",
            "  Checked on bytes of entries: delay > 9",
        ]
    );
    assert_eq!(db.query(query).await.len(), 6);
}

#[tokio::test]
async fn the_choice_can_be_forced_and_forbidden() {
    let db = indexed_flights().await;
    let query = "select carrier from flights where dest >= 'A' and price > 3";
    let first = |lines: Vec<String>| lines[0].clone();
    for (choice, title) in [
        ("auto", "Full scan on flights"),
        ("off", "Full scan on flights"),
        ("force", "Index scan using by_dest on flights"),
    ] {
        assert_eq!(first(explain(&db, choice, query, ExplainOptions::default()).await), title);
    }
    let point = "select note from flights where carrier = 'UA' and flight = 3 and departed = '2013-01-02 08:00' \
                 and note = 'note UA3'";
    assert_eq!(first(plain(&db, point).await), "Point lookup on flights");
    let forced = first(explain(&db, "force", point, ExplainOptions::default()).await);
    assert_eq!(forced, "Index only scan using by_note on flights");
}

#[tokio::test]
async fn the_first_rows_come_in_the_order_of_an_index() {
    let db = indexed_flights().await;
    let query = "select note, price from flights order by note desc nulls first limit 2";
    let lines = plain(&db, query).await;
    assert_eq!(lines[0], "Index scan backward using by_note on flights", "{lines:?}");
    assert_eq!(db.query(query).await, ["note UA9|90.50"; 2]);
    // For all rows, a lookup per entry costs more than a sort.
    let all = "select note, price from flights order by note desc nulls first";
    assert_eq!(plain(&db, all).await[0], "Sort: note DESC");
}

#[tokio::test]
async fn the_least_and_the_largest_of_an_index_are_one_entry() {
    let db = indexed_flights().await;
    for (query, answer) in [
        ("select max(delay) from flights where dest = 'JFK'", "62"),
        ("select min(delay) from flights where dest = 'ORD'", "-10"),
        ("select min(note) from flights", "note AA0"),
    ] {
        let lines = analyze(&db, query).await;
        assert!(lines.iter().any(|line| line.contains("Index only scan")), "{lines:?}");
        assert!(lines.last().unwrap().contains("rows_read=1 "), "{lines:?}");
        assert_eq!(db.query(query).await, [answer], "{query}");
    }
}

#[tokio::test]
async fn counting_reads_the_narrowest_entries() {
    let db = indexed_flights().await;
    let lines = plain(&db, "select count(*) from flights where delay > 5").await;
    assert!(lines.iter().any(|line| line.contains("Index only scan using by_dest")), "{lines:?}");
}

#[tokio::test]
async fn a_parameter_decides_when_it_is_known() {
    let db = indexed_flights().await;
    let plan = db.plan("select count(price) from flights where note < $1", &[]).await.unwrap();
    let cx = db.context().await;
    for (bound, title) in [("note AA1", "Index scan using by_note"), ("z", "Full scan")] {
        let params = [types::Datum::Text(bound.to_owned())];
        let lines = db.planner.explain(&cx, &plan, &params, ExplainOptions::default()).await.unwrap().lines();
        assert!(lines.iter().any(|line| line.contains(title)), "{bound}: {lines:?}");
    }
}

#[tokio::test]
async fn a_join_finds_its_rows_by_an_index() {
    let db = indexed_flights().await;
    let query = "select f.carrier, f.price from (values ('note UA3'), ('note DL5'), ('none')) v(n) \
                 join flights f on f.note = v.n order by 1, 2";
    let found = ["DL|50.50", "DL|50.50", "DL|50.50", "UA|30.50", "UA|30.50", "UA|30.50"];
    assert_eq!(db.query(query).await, found);
    let lines = analyze(&db, query).await;
    let read = lines.iter().filter(|line| line.contains("rows_read=6 ")).count();
    assert_eq!(read, 1, "the rows of six entries, by their keys: {lines:?}");
    let off = db.run_in(&db.context_that("off").await, &db.plan(query, &[]).await.unwrap(), &[]).await.unwrap();
    assert_eq!(off, found);
}
