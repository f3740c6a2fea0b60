//! DDL: tables and schemas.

use crate::client::{Client, engine};

#[tokio::test]
async fn tables_are_made_once_and_dropped_once() {
    let mut c = Client::new().await;
    assert_eq!(c.run("CREATE TABLE t (a integer PRIMARY KEY)").await, "CREATE TABLE");
    assert_eq!(c.run("CREATE TABLE t (a integer)").await, "ERROR 42P07 relation \"t\" already exists");
    assert_eq!(
        c.run("CREATE TABLE IF NOT EXISTS t (a integer)").await,
        "CREATE TABLE\nNOTICE 42P07 relation \"t\" already exists, skipping"
    );
    assert_eq!(c.run("DROP TABLE t").await, "DROP TABLE");
    assert_eq!(c.run("DROP TABLE t").await, "ERROR 42P01 table \"t\" does not exist");
    assert_eq!(c.run("DROP TABLE IF EXISTS t").await, "DROP TABLE\nNOTICE 00000 table \"t\" does not exist, skipping");
}

#[tokio::test]
async fn schemas_hold_tables_and_the_search_path_finds_them() {
    let mut c = Client::new().await;
    assert_eq!(c.run("CREATE SCHEMA s").await, "CREATE SCHEMA");
    assert_eq!(c.run("CREATE SCHEMA s").await, "ERROR 42P06 schema \"s\" already exists");
    c.ok("CREATE TABLE s.t (a integer PRIMARY KEY); INSERT INTO s.t VALUES (1)").await;
    assert_eq!(c.run("SELECT a FROM t WHERE a = 1").await.split(' ').next(), Some("ERROR"));
    c.ok("SET search_path = s, public").await;
    assert_eq!(c.run("SELECT a FROM t WHERE a = 1").await, "1\nSELECT 1");
    let refused = c.run("DROP SCHEMA s").await;
    assert!(refused.starts_with("ERROR 2BP01 cannot drop schema s because other objects depend on it"), "{refused}");
    assert_eq!(c.run("DROP SCHEMA s CASCADE").await, "DROP SCHEMA");
    c.ok("SET search_path = nowhere").await;
    assert!(c.run("CREATE TABLE x (a integer)").await.starts_with("ERROR 3F000"));
}

#[tokio::test]
async fn salted_and_split_tables_keep_their_rows() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE s (k text PRIMARY KEY, v integer) SALT_BUCKETS = 8").await;
    c.ok("CREATE TABLE p (k text PRIMARY KEY, v integer) SPLIT ON ('g', 'p')").await;
    for table in ["s", "p"] {
        c.ok(&format!("INSERT INTO {table} VALUES ('a', 1), ('h', 2), ('z', 3)")).await;
        assert_eq!(c.run(&format!("SELECT v FROM {table} WHERE k = 'h'")).await, "2\nSELECT 1");
    }
    let both = c.run("CREATE TABLE x (k text PRIMARY KEY) SALT_BUCKETS = 2 SPLIT ON ('g')").await;
    assert!(both.starts_with("ERROR 42P16 split points cannot be given for a salted table"), "{both}");
    assert!(c.run("CREATE TABLE x (k text PRIMARY KEY) SALT_BUCKETS = 1").await.starts_with("ERROR 22023"));
    assert!(c.run("CREATE TABLE x (k text PRIMARY KEY) WITH (no_such = 1)").await.starts_with("ERROR 22023"));
}

#[tokio::test]
async fn columns_come_and_go_without_touching_rows() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, a text)").await;
    c.ok("INSERT INTO t VALUES (1, 'x')").await;
    assert_eq!(c.run("ALTER TABLE t ADD COLUMN b integer DEFAULT 5, ADD c text").await, "ALTER TABLE");
    assert_eq!(c.run("SELECT * FROM t WHERE k = 1").await, "1|x|5|~\nSELECT 1");
    c.ok("ALTER TABLE t ALTER b SET DEFAULT 6; INSERT INTO t (k) VALUES (2)").await;
    assert_eq!(c.run("SELECT b FROM t WHERE k = 1").await, "5\nSELECT 1");
    assert_eq!(c.run("SELECT b FROM t WHERE k = 2").await, "6\nSELECT 1");
    c.ok("ALTER TABLE t DROP a; ALTER TABLE t RENAME c TO d; ALTER TABLE t RENAME TO u").await;
    assert_eq!(c.run("SELECT * FROM u WHERE k = 1").await, "1|5|~\nSELECT 1");
    assert!(c.run("ALTER TABLE u ADD COLUMN b text").await.starts_with("ERROR 42701"));
    assert_eq!(
        c.run("ALTER TABLE u ADD COLUMN IF NOT EXISTS b text").await,
        "ALTER TABLE\nNOTICE 42701 column \"b\" of relation \"u\" already exists, skipping"
    );
}

#[tokio::test]
async fn a_definition_waits_for_writers_and_writers_see_what_it_made() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok("CREATE TABLE t (k integer PRIMARY KEY, v text)").await;
    a.ok("BEGIN; INSERT INTO t VALUES (1, 'x')").await;
    let altering = tokio::spawn(async move {
        let answer = b.run("ALTER TABLE t ADD COLUMN n integer DEFAULT 3").await;
        (b, answer)
    });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!altering.is_finished());
    a.ok("COMMIT").await;
    let (mut b, answer) = altering.await.unwrap();
    assert_eq!(answer, "ALTER TABLE");
    assert_eq!(b.run("SELECT * FROM t WHERE k = 1").await, "1|x|3\nSELECT 1");
}
