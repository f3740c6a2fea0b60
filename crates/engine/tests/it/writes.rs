//! Statements whose rows come from a query.

use crate::client::{Client, engine};
use std::time::Duration;

async fn with_rows() -> Client {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, n integer, s text)").await;
    c.ok("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c'), (4, 40, NULL)").await;
    c
}

const ALL: &str = "SELECT * FROM t ORDER BY k";

#[tokio::test]
async fn queries_see_what_was_written() {
    let mut c = with_rows().await;
    assert_eq!(c.run("SELECT count(*), sum(n) FROM t").await, "4|100\nSELECT 1");
    assert_eq!(c.run("SELECT k FROM t WHERE n > 15 AND s IS NOT NULL ORDER BY k DESC").await, "3\n2\nSELECT 2");
    assert_eq!(c.run("SELECT 1 + 1, 'x' || 'y'").await, "2|xy\nSELECT 1");
}

#[tokio::test]
async fn updates_compute_from_the_old_row() {
    let mut c = with_rows().await;
    assert_eq!(c.run("UPDATE t SET n = n + k, s = upper(s) WHERE k = 2").await, "UPDATE 1");
    assert_eq!(c.run("UPDATE t SET n = n * 2 WHERE n >= 30 RETURNING k, n + 1 AS next").await, "3|61\n4|81\nUPDATE 2");
    assert_eq!(c.run(ALL).await, "1|10|a\n2|22|B\n3|60|c\n4|80|~\nSELECT 4");
    assert_eq!(c.run("UPDATE t SET (n, s) = (SELECT max(n), min(s) FROM t) WHERE k = 1").await, "UPDATE 1");
    assert_eq!(c.run("SELECT n, s FROM t WHERE k = 1").await, "80|B\nSELECT 1");
    assert_eq!(c.run("UPDATE t SET n = 0 WHERE 1 = 0").await, "UPDATE 0");
}

#[tokio::test]
async fn updates_join_other_tables_and_count_a_row_once() {
    let mut c = with_rows().await;
    c.ok("CREATE TABLE o (k integer PRIMARY KEY, t integer, v integer)").await;
    c.ok("INSERT INTO o VALUES (1, 1, 100), (2, 3, 300), (3, 3, 300), (4, 9, 900)").await;
    assert_eq!(c.run("UPDATE t AS a SET n = o.v FROM o WHERE o.t = a.k").await, "UPDATE 2");
    assert_eq!(c.run("SELECT k, n FROM t ORDER BY k").await, "1|100\n2|20\n3|300\n4|40\nSELECT 4");
    assert_eq!(c.run("DELETE FROM t USING o WHERE o.t = t.k AND o.v > 100").await, "DELETE 1");
    assert_eq!(c.run("SELECT k FROM t ORDER BY k").await, "1\n2\n4\nSELECT 3");
}

#[tokio::test]
async fn keys_move_together() {
    let mut c = with_rows().await;
    assert_eq!(c.run("UPDATE t SET k = k + 1").await, "UPDATE 4");
    assert_eq!(c.run(ALL).await, "2|10|a\n3|20|b\n4|30|c\n5|40|~\nSELECT 4");
    let taken = c.run("UPDATE t SET k = 5 WHERE k < 4").await;
    assert!(taken.starts_with("ERROR 23505"), "{taken}");
    assert_eq!(c.run(ALL).await, "2|10|a\n3|20|b\n4|30|c\n5|40|~\nSELECT 4");
}

#[tokio::test]
async fn deletes_keep_conditions_order_and_limit() {
    let mut c = with_rows().await;
    assert_eq!(c.run("DELETE FROM t WHERE 1 = 0").await, "DELETE 0");
    assert_eq!(c.run("DELETE FROM t WHERE k = NULL").await, "DELETE 0");
    assert_eq!(c.run("DELETE FROM t WHERE k IN (SELECT k FROM t WHERE n = 10)").await, "DELETE 1");
    assert_eq!(c.run("DELETE FROM t ORDER BY n DESC LIMIT 2 RETURNING k").await, "4\n3\nDELETE 2");
    assert_eq!(c.run("DELETE FROM t RETURNING *").await, "2|20|b\nDELETE 1");
    assert_eq!(c.run(ALL).await, "SELECT 0");
}

#[tokio::test]
async fn inserts_take_rows_of_queries() {
    let mut c = with_rows().await;
    assert_eq!(c.run("INSERT INTO t SELECT k + 10, n, s FROM t").await, "INSERT 0 4");
    assert_eq!(c.run("SELECT count(*) FROM t").await, "8\nSELECT 1");
    let duplicate = c.run("INSERT INTO t SELECT k + 9, n, s FROM t WHERE k < 5").await;
    assert!(duplicate.starts_with("ERROR 23505"), "{duplicate}");
    assert_eq!(c.run("SELECT count(*) FROM t").await, "8\nSELECT 1");
    assert_eq!(c.run("UPSERT INTO t (k, s) SELECT k, 'new' FROM t WHERE k < 3").await, "INSERT 0 2");
    assert_eq!(c.run("SELECT n, s FROM t WHERE k = 1").await, "10|new\nSELECT 1");
    assert_eq!(
        c.run("INSERT INTO t VALUES (100, (SELECT max(n) FROM t), 'x' || 'y') RETURNING n, s").await,
        "40|xy\nINSERT 0 1"
    );
}

#[tokio::test]
async fn conflicts_update_with_the_row_that_did_not_get_in() {
    let mut c = with_rows().await;
    let text = "INSERT INTO t AS old VALUES (1, 5, 'z'), (9, 9, 'i') \
                ON CONFLICT (k) DO UPDATE SET n = old.n + excluded.n, s = excluded.s RETURNING *";
    assert_eq!(c.run(text).await, "1|15|z\n9|9|i\nINSERT 0 2");
    let guarded = "INSERT INTO t VALUES (1, 0, ''), (2, 99, 'y') \
                   ON CONFLICT (k) DO UPDATE SET n = excluded.n WHERE t.n < excluded.n";
    assert_eq!(c.run(guarded).await, "INSERT 0 1");
    assert_eq!(c.run("SELECT k, n FROM t WHERE k < 3 ORDER BY k").await, "1|15\n2|99\nSELECT 2");
    let counter = "UPSERT INTO t VALUES (1, 0, ''), (1, 0, ''), (50, 1, '') ON DUPLICATE KEY UPDATE n = n + 1";
    assert_eq!(c.run(counter).await, "INSERT 0 3");
    assert_eq!(c.run("SELECT n, s FROM t WHERE k = 1").await, "17|z\nSELECT 1");
    assert_eq!(c.run("SELECT n FROM t WHERE k = 50").await, "1\nSELECT 1");
}

#[tokio::test]
async fn defaults_are_computed_for_each_row() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE d (k integer PRIMARY KEY, n integer DEFAULT 40 + 2, s text DEFAULT 'x')").await;
    c.ok("INSERT INTO d (k) VALUES (1)").await;
    c.ok("INSERT INTO d (k, n) SELECT 2, 7").await;
    c.ok("INSERT INTO d (k) SELECT 3").await;
    c.ok("UPDATE d SET s = 'y'; UPDATE d SET n = DEFAULT, s = DEFAULT WHERE k = 2").await;
    assert_eq!(c.run("SELECT * FROM d ORDER BY k").await, "1|42|y\n2|42|x\n3|42|y\nSELECT 3");
    assert!(c.run("CREATE TABLE e (a integer, b integer DEFAULT a)").await.starts_with("ERROR 0A000"));
    assert!(c.run("CREATE TABLE e (a date DEFAULT 1 + 1)").await.starts_with("ERROR 42804"));
}

#[tokio::test]
async fn parameters_stand_anywhere() {
    let mut c = with_rows().await;
    use types::Datum::{Int4, Text};
    assert_eq!(c.execute("SELECT k FROM t WHERE n > $1 ORDER BY k", &[Int4(25)]).await, "3\n4\nSELECT 2");
    let update = "UPDATE t SET n = n + $1, s = $2 WHERE k = $3 RETURNING n, s";
    assert_eq!(c.execute(update, &[Int4(5), Text("p".into()), Int4(1)]).await, "15|p\nUPDATE 1");
    let update = "UPDATE t SET n = $1 WHERE n < $2";
    assert_eq!(c.execute(update, &[Int4(0), Int4(25)]).await, "UPDATE 2");
    assert_eq!(c.execute("DELETE FROM t WHERE n = $1", &[Int4(0)]).await, "DELETE 2");
    let insert = "INSERT INTO t VALUES ($1, $2 + 1, 'x') ON CONFLICT (k) DO UPDATE SET n = t.n + $3";
    assert_eq!(c.execute(insert, &[Int4(3), Int4(1), Int4(7)]).await, "INSERT 0 1");
    assert_eq!(c.run("SELECT n FROM t WHERE k = 3").await, "37\nSELECT 1");
}

#[tokio::test]
async fn own_writes_are_in_the_rows_of_a_blocks_queries() {
    let mut c = with_rows().await;
    c.ok("BEGIN; DELETE FROM t WHERE k < 3; INSERT INTO t VALUES (7, 70, 'g')").await;
    assert_eq!(c.run("SELECT k FROM t ORDER BY k").await, "3\n4\n7\nSELECT 3");
    assert_eq!(c.run("UPDATE t SET n = n + 1 WHERE n > 35 RETURNING k, n").await, "4|41\n7|71\nUPDATE 2");
    c.ok("COMMIT").await;
    assert_eq!(c.run("SELECT k, n FROM t ORDER BY k").await, "3|30\n4|41\n7|71\nSELECT 3");
}

#[tokio::test]
async fn a_statement_whose_rows_were_changed_meanwhile_runs_again() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok("CREATE TABLE t (k integer PRIMARY KEY, n integer)").await;
    a.ok("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)").await;
    a.ok("BEGIN; UPDATE t SET n = 100 WHERE k = 1; DELETE FROM t WHERE k = 3").await;
    // The rows are read before the other session's commit and checked after it.
    let waiting = tokio::spawn(async move { b.run("UPDATE t SET n = n + 1 WHERE n >= 10 RETURNING k, n").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    a.ok("COMMIT").await;
    assert_eq!(waiting.await.unwrap(), "1|101\n2|21\nUPDATE 2");
    assert_eq!(Client::metric(&engine, "statement_retries_total"), 1);
}

#[tokio::test]
async fn no_update_is_lost_between_sessions() {
    let engine = engine().await;
    Client::of(&engine).ok("CREATE TABLE t (k integer PRIMARY KEY, n integer); INSERT INTO t VALUES (1, 0)").await;
    let writers = (0..4).map(|i| {
        let mut c = Client::of(&engine);
        // Half of the writers use the key, half a query.
        let text = if i % 2 == 0 { "UPDATE t SET n = n + 1 WHERE k = 1" } else { "UPDATE t SET n = n + 1 WHERE k < 2" };
        tokio::spawn(async move {
            for _ in 0..10 {
                c.ok(text).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(Client::of(&engine).run("SELECT n FROM t WHERE k = 1").await, "40\nSELECT 1");
}

#[tokio::test]
async fn tables_without_a_key_are_updated_and_deleted_from() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE h (a integer, b text); INSERT INTO h VALUES (1, 'x'), (1, 'x'), (2, 'y')").await;
    assert_eq!(c.run("SELECT * FROM h ORDER BY a").await, "1|x\n1|x\n2|y\nSELECT 3");
    assert_eq!(c.run("UPDATE h SET b = 'z' WHERE a = 1").await, "UPDATE 2");
    assert_eq!(c.run("DELETE FROM h WHERE b = 'z' LIMIT 1").await, "DELETE 1");
    assert_eq!(c.run("SELECT a, b FROM h ORDER BY a").await, "1|z\n2|y\nSELECT 2");
}

#[tokio::test]
async fn very_many_rows_are_loaded_at_once_and_still_all_or_nothing() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, n integer)").await;
    let digits = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let numbers = format!(
        "SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS k FROM {digits} AS a (d), {digits} AS b (d), \
         {digits} AS c (d), {digits} AS e (d), (VALUES (0), (1), (2)) AS f (d)"
    );
    assert_eq!(c.run(&format!("INSERT INTO t SELECT k, k % 7 FROM ({numbers}) AS q")).await, "INSERT 0 30000");
    assert_eq!(c.run("SELECT count(*), max(k) FROM t").await, "30000|29999\nSELECT 1");
    let again = c.run(&format!("INSERT INTO t SELECT 50000 - k, 0 FROM ({numbers}) AS q")).await;
    assert!(again.starts_with("ERROR 23505"), "{again}");
    assert_eq!(c.run("SELECT count(*), max(k) FROM t").await, "30000|29999\nSELECT 1");
}

#[tokio::test]
async fn returning_tells_columns_of_joined_tables() {
    let mut c = with_rows().await;
    c.ok("CREATE TABLE o (t integer PRIMARY KEY, v text)").await;
    c.ok("INSERT INTO o VALUES (1, 'one'), (2, 'two')").await;
    let text = "UPDATE t SET n = n + 1 FROM o WHERE o.t = t.k RETURNING t.k, o.v, n || v AS both";
    assert_eq!(c.run(text).await, "1|one|11one\n2|two|21two\nUPDATE 2");
    assert_eq!(
        c.run("DELETE FROM t USING o AS p WHERE p.t = t.k AND k = 1 RETURNING *").await,
        "1|11|a|1|one\nDELETE 1"
    );
    assert_eq!(c.run("DELETE FROM t USING o WHERE o.t = t.k RETURNING o.*, n").await, "2|two|21\nDELETE 1");
}
