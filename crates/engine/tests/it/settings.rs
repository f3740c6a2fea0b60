//! SET, SHOW, PREPARE and other statements about the session.

use crate::client::{Client, engine};
use engine::{Engine, SessionStart};
use std::sync::Arc;
use types::Datum;

#[tokio::test]
async fn settings_are_set_shown_and_reset() {
    let mut c = Client::new().await;
    assert_eq!(c.run("SET statement_timeout = '2min'").await, "SET");
    assert_eq!(c.run("SHOW statement_timeout").await, "2min");
    assert_eq!(c.run("RESET statement_timeout").await, "RESET");
    assert_eq!(c.run("SHOW statement_timeout").await, "0");
    assert_eq!(c.run("SHOW nope").await, "ERROR 42704 unrecognized configuration parameter \"nope\"");
    let all = c.run("SHOW ALL").await;
    assert!(all.lines().any(|line| line.starts_with("search_path|\"$user\", public|")), "{all}");
}

#[tokio::test]
async fn set_local_ends_with_its_transaction() {
    let mut c = Client::new().await;
    c.ok("BEGIN; SET LOCAL application_name = 'inside'").await;
    assert_eq!(c.run("SHOW application_name").await, "inside");
    c.ok("COMMIT").await;
    assert_eq!(c.run("SHOW application_name").await, "");
    c.ok("BEGIN; SET application_name = 'gone'; ROLLBACK").await;
    assert_eq!(c.run("SHOW application_name").await, "");
}

#[tokio::test]
async fn the_start_of_a_session_is_checked() {
    let engine = engine().await;
    let start = |database: &str, parameters: &[(&str, &str)]| SessionStart {
        user: "ada".to_string(),
        database: database.to_string(),
        parameters: parameters.iter().map(|(n, v)| ((*n).to_string(), (*v).to_string())).collect(),
        client: None,
    };
    let code = |engine: &Arc<Engine>, start| engine.session(start).map(drop).unwrap_err().code();
    assert_eq!(code(&engine, start("other", &[])), "3D000");
    assert_eq!(code(&engine, start("", &[("nope", "1")])), "42704");
    assert!(engine.session(start("postgres", &[])).is_ok(), "tools connect to the maintenance database first");
    let session = engine.session(start("bennu", &[("application_name", "test"), ("search_path", "a, b")])).unwrap();
    let reported = session.reported_parameters();
    assert!(reported.contains(&("application_name", "test".to_string())));
    assert!(reported.contains(&("server_encoding", "UTF8".to_string())));
    assert!(reported.contains(&("session_authorization", "ada".to_string())));
}

#[tokio::test]
async fn prepared_statements_run_by_name() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, v text)").await;
    c.ok("PREPARE put (integer, text) AS INSERT INTO t VALUES ($1, $2)").await;
    c.ok("PREPARE get AS SELECT v FROM t WHERE k = $1").await;
    assert_eq!(c.run("EXECUTE put (1, 'one')").await, "INSERT 0 1");
    assert_eq!(c.run("EXECUTE get (1)").await, "one\nSELECT 1");
    assert_eq!(
        c.run("EXECUTE get").await,
        "ERROR 42601 wrong number of parameters for prepared statement \"get\"\nDETAIL Expected 1 parameters but got 0."
    );
    assert_eq!(c.run("PREPARE get AS SELECT 1").await, "ERROR 42P05 prepared statement \"get\" already exists");
    c.ok("DEALLOCATE get").await;
    assert_eq!(c.run("EXECUTE get (1)").await, "ERROR 26000 prepared statement \"get\" does not exist");
    assert_eq!(c.run("DISCARD ALL").await, "DISCARD ALL");
    assert_eq!(c.run("EXECUTE put (2, '')").await, "ERROR 26000 prepared statement \"put\" does not exist");
}

#[tokio::test]
async fn one_text_is_compiled_once() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("SET bennu.parameterize = off").await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, v text)").await;
    for _ in 0..5 {
        c.ok("SELECT v FROM t WHERE k = 1").await;
    }
    assert_eq!(Client::metric(&engine, "statements_planned_total"), 1);
    assert_eq!(Client::metric(&engine, "statements_point_total"), 5);
    // A second session uses the same plan; after DDL the statement is planned again.
    Client::of(&engine).ok("SELECT v FROM t WHERE k = 1").await;
    assert_eq!(Client::metric(&engine, "statements_planned_total"), 1);
    c.ok("CREATE TABLE u (k integer)").await;
    c.ok("SELECT v FROM t WHERE k = 1").await;
    assert_eq!(Client::metric(&engine, "statements_planned_total"), 2);
}

#[tokio::test]
async fn statements_of_one_shape_share_what_was_compiled() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, v text)").await;
    for k in 0..5 {
        c.ok(&format!("INSERT INTO t VALUES ({k}, 'v{k}')")).await;
    }
    for k in 0..5 {
        c.ok(&format!("SELECT v FROM t WHERE k = {k}")).await;
    }
    // The first statement of each shape runs as written, all others with parameters, in other sessions too.
    Client::of(&engine).ok("SELECT v FROM t WHERE k = 7").await;
    assert_eq!(Client::metric(&engine, "statements_parameterized_total"), 9);
    assert_eq!(Client::metric(&engine, "statements_planned_total"), 2);
    assert_eq!(Client::metric(&engine, "statements_point_total"), 6);
    // A literal of another type, and another version of the catalog, do not use the existing prepared statement.
    c.ok("SELECT v FROM t WHERE k = 3000000000").await;
    assert_eq!(Client::metric(&engine, "statements_parameterized_total"), 9);
    assert!(c.run("SELECT v FROM t WHERE k = 2").await.contains("v2"));
    c.ok("ALTER TABLE t ADD COLUMN w integer DEFAULT 5").await;
    assert!(c.run("SELECT w FROM t WHERE k = 2").await.contains('5'));
    assert!(c.run("SELECT v FROM t WHERE k = 3").await.contains("v3"));
    c.ok("DROP TABLE t").await;
    assert!(c.run("SELECT v FROM t WHERE k = 3").await.contains("42P01"));
}

#[tokio::test]
async fn explain_shows_access_paths_below_what_writes() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a integer, b text, n integer, PRIMARY KEY (a, b))").await;
    let point = c.run("EXPLAIN SELECT n FROM t WHERE b = 'x' AND a = 1").await;
    assert!(point.starts_with("Point lookup on t\n  Key ranges: [1,'x']"), "{point}");
    let update = c.run("EXPLAIN UPDATE t SET n = 4 WHERE b = 'x' AND a = 1").await;
    assert!(update.starts_with("Update on t\n  ->  Point lookup on t\n        Key ranges: [1,'x']"), "{update}");
    let plan = "Insert on t\n  Conflict Resolution: NOTHING\n  ->  Values: rows=2";
    assert_eq!(c.run("EXPLAIN INSERT INTO t VALUES (1, 'x'), (2, 'y') ON CONFLICT DO NOTHING").await, plan);
    // EXPLAIN ANALYZE runs its own statement, not a cached plan of an earlier EXPLAIN.
    let analyzed = c.run("EXPLAIN (ANALYZE, TIMING off) INSERT INTO t (a, b) VALUES (1, 'x')").await;
    assert_eq!(analyzed, "Insert on t (actual rows=1)\n  ->  Values: rows=1");
    let analyzed = c.run("EXPLAIN (ANALYZE, TIMING off) DELETE FROM t WHERE a = 1 AND b = 'x'").await;
    assert!(analyzed.starts_with("Delete on t (actual rows=1)\n  ->  Point lookup on t (actual rows=1)"), "{analyzed}");
    assert!(analyzed.contains("Store: seeks=1 rows_read=1 rows_returned=1"), "{analyzed}");
    assert_eq!(c.run("SELECT n FROM t WHERE a = 1 AND b = 'x'").await, "SELECT 0");
}

#[tokio::test]
async fn times_are_read_in_the_sessions_zone() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k timestamptz PRIMARY KEY, v integer)").await;
    c.ok("SET TimeZone = 'Europe/Berlin'").await;
    c.ok("INSERT INTO t VALUES ('2024-07-01 12:00', 1), ('2024-01-01 12:00', 2), ('2024-01-01 12:00+00', 3)").await;
    assert_eq!(c.run("SELECT v FROM t WHERE k = '2024-07-01 12:00'").await, "1\nSELECT 1");
    let shown = "2024-07-01 12:00:00+02\t1\nCOPY 1";
    assert_eq!(c.run("COPY (SELECT * FROM t WHERE v = 1) TO STDOUT").await, shown);
    c.ok("SET TimeZone = 'UTC'").await;
    // The same text now denotes another time.
    assert_eq!(c.run("SELECT v FROM t WHERE k = '2024-07-01 12:00'").await, "SELECT 0");
    assert_eq!(c.run("SELECT v FROM t WHERE k = '2024-07-01 10:00'").await, "1\nSELECT 1");
    assert_eq!(c.run("SELECT v FROM t WHERE k = '2024-01-01 11:00'").await, "2\nSELECT 1");
}

#[tokio::test]
async fn blanks_before_a_statement_do_not_move_its_literals() {
    let mut c = Client::of(&engine().await);
    c.ok("CREATE TABLE t (a integer PRIMARY KEY, b integer)").await;
    let rows = [(1, 1), (2, 1), (3, 9), (4, 8), (9, 3)];
    for (a, b) in rows {
        for blanks in ["  ", "\n\t", " \r\n "] {
            c.ok(&format!("{blanks}UPSERT INTO t VALUES ({a},{b})")).await;
            assert_eq!(c.run(&format!("{blanks}SELECT a,{b} FROM t WHERE a={a}")).await, format!("{a}|{b}\nSELECT 1"));
        }
    }
    let all: String = rows.iter().map(|(a, b)| format!("{a}|{b}\n")).collect();
    assert_eq!(c.run("SELECT * FROM t ORDER BY a").await, format!("{all}SELECT 5"));
}

#[tokio::test]
async fn parameters_keep_the_types_that_the_client_was_sent() {
    let mut c = Client::of(&engine().await);
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer); INSERT INTO t VALUES (1, 7)").await;
    let texts = [
        ("SELECT k FROM t WHERE k = 1 AND a IN ($1, $2)", vec![Datum::Int4(7), Datum::Int4(9)], "1\nSELECT 1"),
        ("SELECT greatest(a, $1) = 9 FROM t WHERE k = 1", vec![Datum::Int4(9)], "t\nSELECT 1"),
        ("SELECT max(a + $1) = 10 FROM t WHERE k = 1", vec![Datum::Int4(3)], "t\nSELECT 1"),
    ];
    let mut prepared = Vec::new();
    for (text, params, answer) in texts {
        prepared.push((c.session.prepare(text, &[]).await.unwrap(), params, answer));
    }
    for ty in ["double precision", "numeric(10, 2)", "bigint"] {
        c.ok(&format!("ALTER TABLE t ALTER COLUMN a TYPE {ty}")).await;
        for (prepared, params, answer) in &prepared {
            assert_eq!(c.run_prepared(prepared, params).await, *answer, "{ty}");
        }
    }
    c.ok("ALTER TABLE t ALTER COLUMN a TYPE text").await;
    let (first, params, _) = &prepared[0];
    assert!(c.run_prepared(first, params).await.starts_with("ERROR 42883"));
}
