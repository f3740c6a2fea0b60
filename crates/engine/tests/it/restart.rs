//! State after the store was closed and opened again.

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
    c.ok("CREATE TABLE a (k int PRIMARY KEY, v varchar(3)[], m numeric(4,1)[][], i interval day)").await;
    c.ok("INSERT INTO a VALUES (1, '{ab,NULL}', '{{1.25},{2}}', '1 mon 2 days 03:00'), (2, '{}', NULL, NULL)").await;
    c.ok("ALTER TABLE a ADD COLUMN later interval[] DEFAULT '{1 day}'; CREATE VIEW w AS SELECT m, i FROM a").await;
    c.ok("BEGIN; DELETE FROM t").await;
    drop(c);
    engine.close().await.unwrap();
    drop(engine);
    let mut c = Client::of(&engine_over(open()).await);
    let rows = "a|2|3.50|later\na|1|2.50|later\nb|1|~|later\nSELECT 3";
    assert_eq!(c.run("SELECT * FROM t ORDER BY k, n DESC").await, rows);
    c.ok("INSERT INTO d VALUES ('2024-01-01 00:00:00.16', '01:02:03.5')").await;
    assert_eq!(c.run("SELECT s.k, v FROM d, s").await, "2024-01-01 00:00:00.2|01:02:04\nSELECT 1");
    let arrays = "1|{ab,NULL}|{{1.3},{2.0}}|1 mon 2 days|{\"1 day\"}\n2|{}|~|~|{\"1 day\"}\nSELECT 2";
    assert_eq!(c.run("SELECT * FROM a ORDER BY k").await, arrays);
    c.ok("UPDATE a SET v[2] = 'new', m[1][1] = 7.77, i = i * 2 WHERE k = 1").await;
    assert_eq!(
        c.run("SELECT v, w.* FROM a, w WHERE k = 1 AND w.i > '40 days'").await,
        "{ab,new}|{{7.8},{2.0}}|2 mons 4 days\nSELECT 1"
    );
    assert!(c.run("UPDATE a SET v[1] = 'long'").await.contains("22001"));
    c.ok("INSERT INTO h VALUES (3)").await;
    assert_eq!(c.run("SELECT sum(x) FROM h").await, "6\nSELECT 1");
}

#[tokio::test]
async fn sequences_and_included_columns_that_were_added_survive() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FjallStore::open(folder.path(), Options::default()).unwrap();
    let engine = engine_over(open()).await;
    let mut c = Client::of(&engine);
    c.ok("CREATE TABLE t (v text); CREATE INDEX t_v ON t (v); INSERT INTO t VALUES ('a'), ('b'), ('c')").await;
    c.ok("ALTER TABLE t ADD COLUMN id serial; ALTER TABLE t ADD n integer DEFAULT 7 CASCADE INDEX t_v").await;
    assert!(
        c.run("ALTER TABLE t ADD COLUMN few integer GENERATED ALWAYS AS IDENTITY (MAXVALUE 2)").await.contains("2200H")
    );
    drop(c);
    engine.close().await.unwrap();
    drop(engine);
    let mut c = Client::of(&engine_over(open()).await);
    assert_eq!(c.run("INSERT INTO t (v) VALUES ('d') RETURNING id").await, "4\nINSERT 0 1");
    assert_eq!(c.run("SELECT v, n FROM t WHERE v > 'b' ORDER BY v").await, "c|7\nd|7\nSELECT 2");
    assert_eq!(c.run("CHECK TABLE t").await, "CHECK 0");
}
