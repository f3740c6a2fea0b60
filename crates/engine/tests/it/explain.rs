//! What EXPLAIN says of time.

use crate::client::{Client, engine};

/// A plan, a row program, and a statement that writes.
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
