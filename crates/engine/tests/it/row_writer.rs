//! Every statement that writes rows uses the row writer, which counts them by kind of change.

use crate::client::{Client, engine};
use crate::copy::copy;

/// Rows inserted, upserted, updated and deleted.
type Counts = [u64; 4];

struct Counted {
    client: Client,
    engine: std::sync::Arc<engine::Engine>,
}

impl Counted {
    async fn new() -> Self {
        let engine = engine().await;
        let mut client = Client::of(&engine);
        client.ok("CREATE TABLE t (k integer PRIMARY KEY, n integer)").await;
        Self { client, engine }
    }

    fn counts(&self) -> Counts {
        ["inserted", "upserted", "updated", "deleted"]
            .map(|kind| Client::metric(&self.engine, &format!("statement_rows_{kind}_total")))
    }

    async fn counts_of(&mut self, statement: &str) -> Counts {
        let before = self.counts();
        self.client.ok(statement).await;
        let after = self.counts();
        std::array::from_fn(|kind| after[kind] - before[kind])
    }
}

#[tokio::test]
async fn each_kind_of_statement_writes_by_the_row_writer() {
    let mut c = Counted::new().await;
    let kinds: [(&str, Counts); 14] = [
        ("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)", [3, 0, 0, 0]),
        ("UPSERT INTO t VALUES (4, 40)", [0, 1, 0, 0]),
        ("UPSERT INTO t (k) VALUES (4)", [0, 0, 1, 0]),
        ("UPSERT INTO t (k) VALUES (5)", [1, 0, 0, 0]),
        ("INSERT INTO t VALUES (1, 0), (6, 60) ON CONFLICT DO NOTHING", [1, 0, 0, 0]),
        ("INSERT INTO t VALUES (1, 0), (7, 70) ON CONFLICT (k) DO UPDATE SET n = excluded.n", [1, 0, 1, 0]),
        ("UPDATE t SET n = n + 1 WHERE k = 1", [0, 0, 1, 0]),
        ("UPDATE t SET n = 0 WHERE n > 25", [0, 0, 4, 0]),
        ("UPDATE t SET k = k + 100 WHERE k < 3", [0, 0, 2, 0]),
        ("DELETE FROM t WHERE k = 101", [0, 0, 0, 1]),
        ("DELETE FROM t WHERE k > 101", [0, 0, 0, 1]),
        ("INSERT INTO t SELECT k + 1000, n FROM t", [5, 0, 0, 0]),
        ("INSERT INTO t SELECT g, g FROM generate_series(10001, 40000) AS s (g)", [30_000, 0, 0, 0]),
        ("CREATE TABLE u AS SELECT k FROM t WHERE k < 10", [5, 0, 0, 0]),
    ];
    for (statement, expected) in kinds {
        assert_eq!(c.counts_of(statement).await, expected, "{statement}");
    }
}

#[tokio::test]
async fn copy_writes_by_the_row_writer_alone_and_in_a_block() {
    let mut c = Counted::new().await;
    copy(&mut c.client, "COPY t FROM STDIN (FORMAT csv)", "1,10\n2,20\n", 100).await.unwrap();
    assert_eq!(c.counts(), [2, 0, 0, 0]);
    c.client.ok("BEGIN").await;
    copy(&mut c.client, "COPY t FROM STDIN (FORMAT csv)", "3,30\n", 100).await.unwrap();
    let again = copy(&mut c.client, "COPY t FROM STDIN (FORMAT csv)", "4,40\n3,30\n", 100).await.unwrap_err();
    assert_eq!((again.code(), again.context()), ("23505", Some("COPY t, line 2")));
    assert_eq!(c.counts(), [3, 0, 0, 0]);
}

#[tokio::test]
async fn rows_of_statements_that_fail_are_not_counted() {
    let mut c = Counted::new().await;
    c.client.ok("INSERT INTO t VALUES (1, 10)").await;
    let before = c.counts();
    assert!(c.client.run("INSERT INTO t VALUES (2, 20), (1, 0)").await.starts_with("ERROR 23505"));
    assert!(c.client.run("UPDATE t SET k = NULL").await.starts_with("ERROR 23502"));
    assert_eq!(c.counts(), before);
}
