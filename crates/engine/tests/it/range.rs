//! Key range programs return the same as plans.

use crate::client::{Client, engine};
use engine::Engine;
use std::sync::Arc;
use types::Datum;

const TABLES: [&str; 3] = [
    "CREATE TABLE t (a integer, b varchar(10), d date, n bigint, PRIMARY KEY (a, b, d))",
    "CREATE TABLE t (a integer, b varchar(10), d date, n bigint, CONSTRAINT t_pk PRIMARY KEY (a, b DESC, d)) \
     SALT_BUCKETS = 5",
    "CREATE TABLE t (a smallint, b char(10), d timestamp, n bigint, CONSTRAINT t_pk PRIMARY KEY (a DESC, b, d DESC)) \
     SALT_BUCKETS = 3",
];

/// Conditions, orders and limits, combined in all ways.
const CONDITIONS: [&str; 14] = [
    "",
    "WHERE a = 2",
    "WHERE a = 70000",
    "WHERE a = NULL",
    "WHERE a = 2 AND b = 'k1'",
    "WHERE a = 2 AND b >= 'k1' AND b < 'k3'",
    "WHERE 3 >= a AND a > 1 AND b = 'k2'",
    "WHERE a IN (3, 1, 3, NULL) AND b IN ('k0', 'k4  ')",
    "WHERE a IN (1, 2) AND b = 'k1' AND d IN ('2024-01-02', '2024-01-04')",
    "WHERE a BETWEEN 1 AND 2 AND d = '2024-01-03'",
    "WHERE a = 1 AND d > '2024-01-02' AND d <= '2024-01-04'",
    "WHERE a = 1 AND a = 2",
    "WHERE (a = 2 AND (b = 'k1')) AND a < 5",
    "WHERE a = 2 AND b BETWEEN 'k3' AND 'k1'",
];
const ORDERS: [&str; 8] = [
    "ORDER BY a, b, d",
    "ORDER BY a DESC, b DESC, d DESC",
    "ORDER BY b, d",
    "ORDER BY b DESC, d, a",
    "ORDER BY d, b, a",
    "ORDER BY 1, b DESC, d",
    "ORDER BY a, b, d DESC",
    "ORDER BY a DESC, b ASC, d DESC, n",
];
const LIMITS: [&str; 4] = ["", "LIMIT 0", "LIMIT 3", "LIMIT ALL"];

async fn filled(table: &str) -> Arc<Engine> {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok(table).await;
    c.ok("INSERT INTO t SELECT a, 'k' || b, date '2024-01-01' + d, a * 100 + b * 10 + d \
          FROM generate_series(1, 4) AS x(a), generate_series(0, 4) AS y(b), generate_series(1, 4) AS z(d)")
        .await;
    engine
}

#[tokio::test]
async fn key_programs_and_plans_agree() {
    for table in TABLES {
        let engine = filled(table).await;
        let (mut program, mut plan) = (Client::of(&engine), Client::of(&engine));
        plan.ok("SET bennu.point_programs = off").await;
        // With equal sort keys LIMIT may keep different rows.
        for client in [&mut program, &mut plan] {
            client.ok("SET bennu.row_programs = off").await;
        }
        for condition in CONDITIONS {
            for order in ORDERS {
                for limit in LIMITS {
                    let text = format!("SELECT a, n, d, b FROM t {condition} {order} {limit}");
                    assert_eq!(program.run(&text).await, plan.run(&text).await, "{table}\n{text}");
                }
            }
            let text = format!("SELECT n FROM t AS q {condition}");
            let sorted = |answer: String| {
                let mut lines: Vec<_> = answer.lines().map(str::to_string).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(program.run(&text).await), sorted(plan.run(&text).await), "{table}\n{text}");
        }
    }
}

#[tokio::test]
async fn they_run_without_a_plan() {
    let engine = filled(TABLES[1]).await;
    let count = |name: &str| engine.metrics().iter().find(|(n, _)| *n == name).unwrap().1;
    let mut c = Client::of(&engine);
    for text in [
        "SELECT n FROM t WHERE a = 1 AND b > 'k1' ORDER BY b DESC",
        "SELECT n FROM t WHERE a IN (1, 2) AND d IN ('2024-01-02')",
        "SELECT * FROM t WHERE a >= 2 ORDER BY a, b DESC, d LIMIT 10",
        "SELECT * FROM t ORDER BY a DESC, b, d DESC LIMIT 10",
        "SELECT * FROM t LIMIT 10",
        "SELECT a AS b, n FROM t WHERE a = 1 ORDER BY b",
    ] {
        let before = count("statements_point_total");
        c.ok(text).await;
        assert_eq!(count("statements_point_total"), before + 1, "{text}");
    }
    for text in [
        "SELECT n FROM t WHERE a > 1",
        "SELECT n FROM t WHERE a = 1 AND n = 5",
        "SELECT n FROM t WHERE a = 1 ORDER BY n",
        "SELECT n + 1 FROM t WHERE a = 1",
        "SELECT n FROM t WHERE a = 1 OFFSET 2",
    ] {
        let before = count("statements_point_total");
        c.ok(text).await;
        assert_eq!(count("statements_point_total"), before, "{text}");
    }
}

#[tokio::test]
async fn parameters_stand_for_bounds_and_limits() {
    let engine = filled(TABLES[0]).await;
    let mut c = Client::of(&engine);
    let text = "SELECT n FROM t WHERE a = $1 AND b >= $2 AND d = '2024-01-02' AND a < $3 + 1 ORDER BY b LIMIT $4";
    let prepared = c.session.prepare(text, &[]).await.unwrap();
    let names: Vec<String> = prepared.parameters.iter().map(|ty| ty.sql_name()).collect();
    assert_eq!(names, ["integer", "text", "integer", "bigint"]);
    let b = || Datum::Text("k2".to_string());
    let given = [Datum::Int4(2), b(), Datum::Int4(2), Datum::Int8(2)];
    assert_eq!(c.execute(text, &given).await, "221\n231\nSELECT 2");
    assert_eq!(c.execute(text, &[Datum::Int4(2), b(), Datum::Int4(2), Datum::Null]).await, "221\n231\n241\nSELECT 3");
    assert_eq!(c.execute(text, &[Datum::Int4(2), b(), Datum::Int4(1), Datum::Null]).await, "SELECT 0");
    assert_eq!(c.execute(text, &[Datum::Int4(2), Datum::Null, Datum::Int4(2), Datum::Null]).await, "SELECT 0");
    let over = c.execute(text, &[Datum::Int4(2), b(), Datum::Int4(i32::MAX), Datum::Null]).await;
    assert_eq!(over, "ERROR 22003 integer out of range");
    let negative = c.execute(text, &[Datum::Int4(2), b(), Datum::Int4(2), Datum::Int8(-1)]).await;
    assert_eq!(negative, "ERROR 2201W LIMIT must not be negative");
}

#[tokio::test]
async fn long_ranges_come_whole_and_own_writes_are_seen() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE l (a integer, b integer, PRIMARY KEY (a, b)) SALT_BUCKETS = 4").await;
    c.ok("INSERT INTO l SELECT 1, b FROM generate_series(1, 9000) AS g(b)").await;
    let expected: String = (1..=9000).map(|b| format!("{b}\n")).collect();
    assert_eq!(c.run("SELECT b FROM l WHERE a = 1 ORDER BY b").await, format!("{expected}SELECT 9000"));
    assert!(c.run("SELECT b FROM l WHERE a = 1").await.ends_with("SELECT 9000"));
    c.ok("BEGIN").await;
    c.ok("DELETE FROM l WHERE a = 1 AND b = 2").await;
    c.ok("INSERT INTO l VALUES (1, 0)").await;
    assert_eq!(c.run("SELECT b FROM l WHERE a = 1 ORDER BY b LIMIT 3").await, "0\n1\n3\nSELECT 3");
    assert_eq!(c.run("SELECT b FROM l WHERE a = 1 AND b IN (0, 2, 3) ORDER BY b DESC").await, "3\n0\nSELECT 2");
    c.ok("ROLLBACK").await;
    assert_eq!(c.run("SELECT b FROM l WHERE a = 1 ORDER BY b LIMIT 3").await, "1\n2\n3\nSELECT 3");
}

#[tokio::test]
async fn buckets_that_fall_short_of_their_share_are_asked_again() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE l (a integer, b integer, PRIMARY KEY (a, b)) SALT_BUCKETS = 8").await;
    c.ok("INSERT INTO l SELECT 1, b FROM generate_series(1, 500) AS g(b)").await;
    // Rows are spread unevenly over the buckets: for some of these limits a bucket has more of the first rows than
    // were requested at first.
    for limit in 1..=400 {
        let forward: String = (1..=limit).map(|b| format!("{b}\n")).collect();
        let answer = c.run(&format!("SELECT b FROM l WHERE a = 1 ORDER BY b LIMIT {limit}")).await;
        assert_eq!(answer, format!("{forward}SELECT {limit}"));
        let backward: String = (1..=limit).map(|b| format!("{}\n", 501 - b)).collect();
        let answer = c.run(&format!("SELECT b FROM l ORDER BY a DESC, b DESC LIMIT {limit}")).await;
        assert_eq!(answer, format!("{backward}SELECT {limit}"));
    }
}

#[tokio::test]
async fn an_array_of_many_numbers_is_no_deep_tree() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (7), (8)").await;
    let numbers: Vec<String> = (0..20_000).map(|n| format!("{n}.0")).collect();
    let text = format!("SELECT count(*) FROM t WHERE k = ANY (ARRAY[{}])", numbers.join(", "));
    assert_eq!(c.run(&text).await, "2\nSELECT 1");
}
