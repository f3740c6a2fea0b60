//! Expressions over written rows: SET, RETURNING, ON CONFLICT, DEFAULT, VALUES.

use crate::client::Client;
use types::Datum;

#[tokio::test]
async fn right_sides_are_computed_from_the_old_row() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, n integer, s text, p numeric(10, 2), d timestamp)").await;
    c.ok("INSERT INTO t VALUES (1, 10, 'ab', 1.50, '2024-05-17 10:20:30'), (2, NULL, NULL, NULL, NULL)").await;
    assert_eq!(
        c.run("UPDATE t SET n = (n * 3) + (n * 3), s = upper(s) || k, p = p * 2 WHERE k = 1 RETURNING *, n / 7").await,
        "1|60|AB1|3.00|2024-05-17 10:20:30|8\nUPDATE 1"
    );
    assert_eq!(
        c.run("UPDATE t SET s = CASE WHEN n IS NULL THEN 'none' ELSE s END, n = coalesce(n, 0) + 1 WHERE k = 2 RETURNING n, s, p IS NULL").await,
        "1|none|t\nUPDATE 1"
    );
    assert_eq!(
        c.run("UPDATE t AS a SET n = a.k + 1 WHERE a.k = 1 AND a.n > 59 RETURNING a.n * 2").await,
        "4\nUPDATE 1"
    );
    assert_eq!(c.run("UPDATE t SET n = n * 2 WHERE k = 1 AND n > 59").await, "UPDATE 0");
    let params = [Datum::Int4(1), Datum::Text("day".into()), Datum::Int4(5)];
    let run = c.execute("UPDATE t SET d = date_trunc($2, d), n = n * $3 WHERE k = $1 RETURNING d, n", &params);
    assert_eq!(run.await, "2024-05-17 00:00:00|10\nUPDATE 1");
    assert!(c.run("UPDATE t SET n = n * 2147483647 * 2 WHERE k = 1").await.starts_with("ERROR 22003"));
    assert!(c.run("UPDATE t SET n = n / 0 WHERE k = 1").await.starts_with("ERROR 22012"));
    assert!(c.run("UPDATE t SET n = nothing + 1 WHERE k = 1").await.starts_with("ERROR 42703"));
}

#[tokio::test]
async fn returning_is_computed_for_many_rows() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, n integer)").await;
    assert_eq!(
        c.run("INSERT INTO t SELECT i, i * 10 FROM generate_series(1, 3) AS g(i) RETURNING k + n, 'x' || k").await,
        "11|x1\n22|x2\n33|x3\nINSERT 0 3"
    );
    assert_eq!(c.run("UPDATE t SET n = n + 1 WHERE k > 1 RETURNING -n").await, "-21\n-31\nUPDATE 2");
    assert_eq!(c.run("DELETE FROM t WHERE k <> 2 RETURNING n % 10, k").await, "0|1\n1|3\nDELETE 2");
    assert_eq!(c.run("DELETE FROM t WHERE k = 2 RETURNING now() IS NOT NULL, current_user").await, "t|ada\nDELETE 1");
}

#[tokio::test]
async fn a_conflict_is_computed_over_both_rows() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, n integer, s text)").await;
    c.ok("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')").await;
    let text = "INSERT INTO t VALUES (1, 5, 'x'), (2, 50, 'y'), (3, 1, 'z') ON CONFLICT (k) DO UPDATE \
        SET n = greatest(t.n, excluded.n), s = t.s || excluded.s WHERE excluded.n < 40 OR t.s = 'b' RETURNING *";
    assert_eq!(c.run(text).await, "1|10|ax\n2|50|by\n3|1|z\nINSERT 0 3");
    let text = "INSERT INTO t VALUES (1, 5, 'q') ON CONFLICT (k) DO UPDATE \
        SET n = (SELECT max(o.n) FROM t AS o) + excluded.n RETURNING n";
    assert_eq!(c.run(text).await, "55\nINSERT 0 1");
    let text = "UPSERT INTO t (k, n) VALUES (1, 0) ON DUPLICATE KEY UPDATE n = n * 2 + k";
    c.ok(text).await;
    assert_eq!(c.run("SELECT n FROM t WHERE k = 1").await, "111\nSELECT 1");
}

#[tokio::test]
async fn values_and_defaults_are_computed() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, u text DEFAULT upper('x') || 'y', at timestamptz DEFAULT now())")
        .await;
    assert_eq!(
        c.run("INSERT INTO t (k) VALUES (1), (1 + 1) RETURNING k, u, at <= now()").await,
        "1|Xy|t\n2|Xy|t\nINSERT 0 2"
    );
    assert_eq!(
        c.run("INSERT INTO t (k) SELECT i + 2 FROM generate_series(1, 2) AS g(i) RETURNING k, u, at IS NOT NULL").await,
        "3|Xy|t\n4|Xy|t\nINSERT 0 2"
    );
    let params = [Datum::Int4(1), Datum::Text("hey".into())];
    let answer = c.execute("INSERT INTO t (k, u) VALUES ($1 + 10, $2 || '!') RETURNING k, u", &params);
    assert_eq!(answer.await, "11|hey!\nINSERT 0 1");
    assert_eq!(
        c.run("INSERT INTO t VALUES (20, (SELECT 'n=' || count(*) FROM t)) RETURNING u").await,
        "n=5\nINSERT 0 1"
    );
}
