//! Views: named queries, their dependencies, and the statements that they reject.

use crate::client::{Client, engine};

async fn with_tables() -> Client {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, name varchar(10), n numeric(10, 2))").await;
    c.ok("INSERT INTO t VALUES (1, 'one', 1.5), (2, 'two', 2.5), (3, 'three', 3.5)").await;
    c
}

#[tokio::test]
async fn a_view_answers_as_its_query() {
    let mut c = with_tables().await;
    assert_eq!(c.run("CREATE VIEW v (id, label) AS SELECT k, upper(name), n FROM t WHERE k > 1").await, "CREATE VIEW");
    assert_eq!(c.run("SELECT * FROM v ORDER BY id").await, "2|TWO|2.50\n3|THREE|3.50\nSELECT 2");
    assert_eq!(
        c.run("SELECT a.label, t.name FROM v AS a JOIN t ON t.k = a.id WHERE a.n > 3").await,
        "THREE|three\nSELECT 1"
    );
    c.ok("CREATE VIEW w AS SELECT label || '!' AS loud, id FROM v WHERE id < 3").await;
    assert_eq!(c.run("SELECT loud FROM w").await, "TWO!\nSELECT 1");
    assert_eq!(c.run("WITH v AS (SELECT 9 AS x) SELECT x FROM v").await, "9\nSELECT 1");
    c.ok("CREATE VIEW c AS SELECT count(*) AS rows, max(n) AS most FROM w JOIN t ON t.k = w.id").await;
    assert_eq!(c.run("SELECT * FROM c").await, "1|2.50\nSELECT 1");
    assert_eq!(
        c.run("SELECT now() >= (SELECT at FROM a) FROM t WHERE k = 1").await.lines().next(),
        Some("ERROR 42P01 relation \"a\" does not exist")
    );
    c.ok("INSERT INTO t SELECT id + 10, label, n FROM v").await;
    assert_eq!(c.run("SELECT count(*) FROM v").await, "4\nSELECT 1");
}

#[tokio::test]
async fn a_view_keeps_its_search_path_and_its_columns() {
    let mut c = with_tables().await;
    c.ok("CREATE VIEW v AS SELECT * FROM t").await;
    c.ok("CREATE SCHEMA s; SET search_path = s; CREATE TABLE t (k integer PRIMARY KEY)").await;
    assert_eq!(c.run("SELECT count(*) FROM public.v").await, "3\nSELECT 1");
    c.ok("SET search_path = public; ALTER TABLE t ADD COLUMN later text").await;
    assert_eq!(c.run("SELECT * FROM v WHERE k = 1").await, "1|one|1.50\nSELECT 1");
}

#[tokio::test]
async fn what_a_view_reads_stays() {
    let mut c = with_tables().await;
    c.ok("CREATE VIEW v AS SELECT k FROM t; CREATE VIEW w AS SELECT k FROM v").await;
    assert_eq!(
        c.run("DROP TABLE t").await,
        "ERROR 2BP01 cannot drop table t because other objects depend on it\n\
         DETAIL view v depends on table t\nview w depends on table t\n\
         HINT Use DROP ... CASCADE to drop the dependent objects too."
    );
    assert!(
        c.run("DROP VIEW v").await.starts_with("ERROR 2BP01 cannot drop view v because other objects depend on it")
    );
    assert!(c.run("ALTER TABLE t DROP COLUMN k").await.starts_with("ERROR 2BP01"));
    assert_eq!(c.run("ALTER TABLE t DROP COLUMN n").await, "ALTER TABLE");
    c.ok("ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME COLUMN k TO id; ALTER TABLE u RENAME TO t").await;
    assert_eq!(c.run("SELECT k FROM w WHERE k > 2").await, "3\nSELECT 1");
    assert_eq!(c.run("DROP VIEW v CASCADE").await, "DROP VIEW\nNOTICE 00000 drop cascades to view w");
    assert_eq!(c.run("SELECT * FROM w").await.lines().next(), Some("ERROR 42P01 relation \"w\" does not exist"));
    c.ok("CREATE VIEW v AS SELECT id FROM t; DROP TABLE t CASCADE").await;
    assert_eq!(c.run("DROP VIEW IF EXISTS v").await, "DROP VIEW\nNOTICE 00000 view \"v\" does not exist, skipping");
    assert_eq!(c.run("DROP VIEW v").await, "ERROR 42P01 view \"v\" does not exist");
}

#[tokio::test]
async fn a_view_is_replaced_by_one_that_begins_alike() {
    let mut c = with_tables().await;
    c.ok("CREATE VIEW v AS SELECT k, name FROM t; CREATE VIEW w AS SELECT k FROM v").await;
    assert_eq!(c.run("CREATE VIEW v AS SELECT 1").await, "ERROR 42P07 relation \"v\" already exists");
    c.ok("CREATE OR REPLACE VIEW v AS SELECT k + 100 AS k, name, n FROM t").await;
    assert_eq!(c.run("SELECT max(k) FROM w").await, "103\nSELECT 1");
    assert_eq!(c.run("CREATE OR REPLACE VIEW v AS SELECT k FROM t").await, "ERROR 42P16 cannot drop columns from view");
    assert_eq!(
        c.run("CREATE OR REPLACE VIEW v AS SELECT k AS id, name, n FROM t").await,
        "ERROR 42P16 cannot change name of view column \"k\" to \"id\""
    );
    assert_eq!(
        c.run("CREATE OR REPLACE VIEW v AS SELECT name AS k, name, n FROM t").await,
        "ERROR 42P16 cannot change data type of view column \"k\" from integer to character varying(10)"
    );
    assert!(
        c.run("CREATE OR REPLACE VIEW v AS SELECT k, 'x'::varchar(10) AS name, 1.5::numeric(10,2) AS n FROM w")
            .await
            .starts_with("ERROR 42P17")
    );
    assert_eq!(c.run("CREATE OR REPLACE VIEW t AS SELECT 1").await, "ERROR 42809 \"t\" is not a view");
    assert_eq!(c.run("CREATE VIEW d AS SELECT k, k FROM t").await, "ERROR 42701 column \"k\" specified more than once");
    assert_eq!(c.run("CREATE VIEW d AS SELECT $1").await, "ERROR 42P02 there is no parameter $1");
}

#[tokio::test]
async fn a_view_is_no_table() {
    let mut c = with_tables().await;
    c.ok("CREATE VIEW v AS SELECT k FROM t").await;
    assert_eq!(c.run("INSERT INTO v VALUES (1)").await, "ERROR 0A000 writing to view \"v\" is not supported");
    assert_eq!(c.run("DELETE FROM v").await, "ERROR 0A000 writing to view \"v\" is not supported");
    assert_eq!(c.run("DROP TABLE v").await, "ERROR 42809 \"v\" is not a table\nHINT Use DROP VIEW to remove a view.");
    assert_eq!(c.run("DROP VIEW t").await, "ERROR 42809 \"t\" is not a view\nHINT Use DROP TABLE to remove a table.");
    assert_eq!(c.run("CREATE TABLE v (a int)").await, "ERROR 42P07 relation \"v\" already exists");
}

#[tokio::test]
async fn all_sessions_see_a_view_and_its_changes() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok("CREATE VIEW v AS SELECT current_user AS who, 1 AS x").await;
    assert_eq!(b.run("SELECT * FROM v").await, "ada|1\nSELECT 1");
    a.ok("CREATE OR REPLACE VIEW v AS SELECT current_user AS who, 2 AS x").await;
    assert_eq!(b.run("SELECT x FROM v").await, "2\nSELECT 1");
}
