//! CREATE TABLE AS.

use crate::client::Client;

#[tokio::test]
async fn a_table_is_made_with_its_rows() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, v varchar(5)); INSERT INTO t VALUES (1, 'a'), (2, 'b')").await;
    assert_eq!(c.run("CREATE TABLE u AS SELECT k * 10 AS ten, v FROM t").await, "SELECT 2");
    assert_eq!(c.run("SELECT * FROM u ORDER BY ten").await, "10|a\n20|b\nSELECT 2");
    assert_eq!(c.run("CREATE TABLE w (x) AS SELECT k, v FROM t WITH NO DATA").await, "SELECT 0");
    assert_eq!(c.run("SELECT x, v FROM w").await, "SELECT 0");
    assert_eq!(c.run("CREATE TABLE u AS SELECT 1").await, "ERROR 42P07 relation \"u\" already exists");
}

#[tokio::test]
async fn a_query_that_fails_leaves_no_table() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY); INSERT INTO t VALUES (1), (0)").await;
    let failed = c.run("CREATE TABLE u AS SELECT 10 / k AS q FROM t").await;
    assert!(failed.starts_with("ERROR 22012"), "{failed}");
    assert!(c.run("SELECT * FROM u").await.starts_with("ERROR 42P01"));
}
