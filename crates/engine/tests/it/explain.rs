//! The times that EXPLAIN shows, and its treatment of parameters.

use crate::client::{Client, engine};
use types::{DataType, Datum};

/// A plan, a row program, and a write statement.
const STATEMENTS: [&str; 3] =
    ["SELECT b, count(*) FROM t GROUP BY b", "SELECT b + 1 FROM t WHERE a = 1", "UPDATE t SET b = 2 WHERE b > 1"];

#[tokio::test]
async fn planning_time_is_shown_where_it_is_asked_for() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    for statement in STATEMENTS {
        for (options, shown) in
            [("", false), ("(SUMMARY)", true), ("(ANALYZE)", true), ("(ANALYZE, SUMMARY off)", false)]
        {
            let lines = c.run(&format!("EXPLAIN {options} {statement}")).await;
            assert_eq!(lines.contains("Planning Time: "), shown, "{options} {lines}");
        }
    }
}

#[tokio::test]
async fn phases_of_planning_are_shown_and_counted() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    let lines = c.run("EXPLAIN (SUMMARY) SELECT b, count(*) FROM t GROUP BY b").await;
    let phases = lines.lines().find(|line| line.contains("Bind: ")).unwrap_or_else(|| panic!("{lines}"));
    for phase in ["lower", "optimize", "physical"] {
        assert!(phases.contains(&format!("{phase}: ")), "{lines}");
    }
    for phase in ["parse", "bind", "lower", "optimize", "physical"] {
        assert!(Client::metric(&engine, &format!("phase_{phase}_microseconds_total")) > 0, "{phase}");
    }
}

#[tokio::test]
async fn parameters_are_those_of_the_statement_that_is_explained() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    let prepared = c.session.prepare("EXPLAIN SELECT b FROM t WHERE a = $1", &[]).await.unwrap();
    assert_eq!(prepared.parameters, [DataType::Integer]);
    let point = c.run_prepared(&prepared, &[Datum::Int4(7)]).await;
    assert!(point.starts_with("Point lookup on t\n  Key ranges: [7]"), "{point}");
    let both = [Datum::Int4(7), Datum::Int4(5)];
    for (statement, shown) in [
        ("SELECT b + 1 FROM t WHERE a = $1 AND b + 1 > $2", "Filter: (b + 1) > 5"),
        ("SELECT b, count(*) FROM t WHERE a > $1 AND b + a > $2 GROUP BY b", "> 5"),
        ("INSERT INTO t VALUES ($1, $2)", "Values: rows=1"),
        ("INSERT INTO t SELECT a + $1, b + $2 FROM t", "Insert on t"),
        ("UPDATE t SET b = $2 WHERE a = $1", "Key ranges: [7]"),
        ("DELETE FROM t WHERE a = $1 AND b > $2", "b > 5"),
        ("SELECT b FROM t WHERE a = $1 AND b > $2 FOR UPDATE", "LockRows"),
    ] {
        let lines = c.execute(&format!("EXPLAIN {statement}"), &both).await;
        assert!(lines.contains(shown), "{statement}\n{lines}");
    }
}

#[tokio::test]
async fn analyze_runs_the_statement_with_its_parameters() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    let (one, ten) = (Datum::Int4(1), Datum::Int4(10));
    for (statement, first) in [
        ("INSERT INTO t VALUES ($1, $2)", "Insert on t (actual rows=1)"),
        ("UPDATE t SET b = b + $2 WHERE a = $1", "Update on t (actual rows=1)"),
    ] {
        let lines = c.execute(&format!("EXPLAIN (ANALYZE, TIMING off) {statement}"), &[one.clone(), ten.clone()]).await;
        assert!(lines.starts_with(first), "{lines}");
    }
    assert_eq!(c.run("SELECT b FROM t").await, "20\nSELECT 1");
    let lines = c.execute("EXPLAIN (ANALYZE, TIMING off) SELECT b + $2 FROM t WHERE a = $1", &[one, ten]).await;
    assert!(lines.contains("(actual rows=1)"), "{lines}");
}

#[tokio::test]
async fn parameters_of_explain_that_have_no_values_are_errors() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    for statement in
        ["SELECT b FROM t WHERE a = $1", "SELECT count(*) FROM t WHERE b < $1", "DELETE FROM t WHERE a = $1"]
    {
        let error = c.run(&format!("EXPLAIN {statement}")).await;
        assert!(error.starts_with("ERROR 42P02"), "{error}");
    }
}
