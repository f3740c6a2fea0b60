//! What is there after the store was closed and opened again.

use crate::client::{Client, engine_over};
use store_fjall::{FjallStore, Options};

#[tokio::test]
async fn definitions_and_rows_survive() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FjallStore::open(folder.path(), Options::default()).unwrap();
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (k text, n integer, v numeric(6,2), PRIMARY KEY (k, n DESC)) SALT_BUCKETS = 4").await;
    c.ok("INSERT INTO t VALUES ('a', 1, 1.5), ('a', 2, 2.5), ('b', 1, NULL)").await;
    c.ok("ALTER TABLE t ADD COLUMN s text DEFAULT 'later'; UPDATE t SET v = v + 1 WHERE k = 'a'").await;
    c.ok("CREATE TABLE h (x integer); INSERT INTO h VALUES (1), (2)").await;
    c.ok("CREATE TABLE d (k timestamp(1) PRIMARY KEY, v time(0)); CREATE VIEW s AS SELECT k FROM d").await;
    c.ok("BEGIN; DELETE FROM t").await;
    drop(c);
    engine.close().await.unwrap();
    drop(engine);
    let mut c = Client::of(&engine_over(open()).await);
    let rows = "a|2|3.50|later\na|1|2.50|later\nb|1|~|later\nSELECT 3";
    assert_eq!(c.run("SELECT * FROM t ORDER BY k, n DESC").await, rows);
    c.ok("INSERT INTO d VALUES ('2024-01-01 00:00:00.16', '01:02:03.5')").await;
    assert_eq!(c.run("SELECT s.k, v FROM d, s").await, "2024-01-01 00:00:00.2|01:02:04\nSELECT 1");
    c.ok("INSERT INTO h VALUES (3)").await;
    assert_eq!(c.run("SELECT sum(x) FROM h").await, "6\nSELECT 1");
}
