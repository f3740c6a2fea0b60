//! Sequences: counting, functions, serial and identity columns, restarts.

use crate::client::{Client, engine_over};
use std::sync::Arc;
use store::Store;
use store_testkit::ModelStore;

#[tokio::test]
async fn functions_count() {
    let mut c = Client::new().await;
    c.ok("CREATE SEQUENCE s; CREATE SEQUENCE d AS smallint INCREMENT -2 MINVALUE -5 START 0 MAXVALUE 0").await;
    assert_eq!(
        c.run("SELECT currval('s')").await,
        "ERROR 55000 currval of sequence \"s\" is not yet defined in this session"
    );
    assert_eq!(c.run("SELECT lastval()").await, "ERROR 55000 lastval is not yet defined in this session");
    assert_eq!(c.run("SELECT nextval('s'), nextval('s')").await, "1|2\nSELECT 1");
    assert_eq!(c.run("SELECT nextval('public.s'), currval('S'), lastval()").await, "3|3|3\nSELECT 1");
    assert_eq!(c.run("SELECT nextval('d')").await, "0\nSELECT 1");
    assert_eq!(c.run("SELECT nextval('d') FROM generate_series(1, 2)").await, "-2\n-4\nSELECT 2");
    assert_eq!(c.run("SELECT nextval('d')").await, "ERROR 2200H nextval: reached minimum value of sequence \"d\" (-5)");
    assert_eq!(c.run("SELECT setval('s', 10), nextval('s')").await, "10|11\nSELECT 1");
    assert_eq!(c.run("SELECT setval('s', 20, false), nextval('s')").await, "20|20\nSELECT 1");
    assert_eq!(
        c.run("SELECT setval('s', 0)").await,
        "ERROR 22003 setval: value 0 is out of bounds for sequence \"s\" (1..9223372036854775807)"
    );
    assert_eq!(c.run("SELECT NEXT VALUE FOR s, CURRENT VALUE FOR s").await, "21|21\nSELECT 1");
    assert_eq!(c.run("SELECT nextval('none')").await, "ERROR 42P01 relation \"none\" does not exist");
    c.ok("CREATE TABLE t (k integer PRIMARY KEY)").await;
    assert_eq!(c.run("SELECT nextval('t')").await, "ERROR 42809 \"t\" is not a sequence");
    assert_eq!(
        c.run("BEGIN; SELECT nextval('s'); ROLLBACK; SELECT nextval('s')").await,
        "BEGIN\n22\nSELECT 1\nROLLBACK\n23\nSELECT 1"
    );
    c.ok("BEGIN READ ONLY").await;
    assert_eq!(c.run("SELECT nextval('s')").await, "ERROR 25006 cannot execute nextval() in a read-only transaction");
}

#[tokio::test]
async fn options_are_checked_and_changed() {
    let mut c = Client::new().await;
    for (options, message) in [
        ("INCREMENT 0", "INCREMENT must not be zero"),
        ("MINVALUE 10 MAXVALUE 5", "MINVALUE (10) must be less than MAXVALUE (5)"),
        ("START 0", "START value (0) cannot be less than MINVALUE (1)"),
        ("AS smallint MAXVALUE 40000", "MAXVALUE (40000) is out of range for sequence data type smallint"),
        ("CACHE 0", "CACHE (0) must be greater than zero"),
        ("AS text", "sequence type must be smallint, integer, or bigint"),
    ] {
        assert_eq!(c.run(&format!("CREATE SEQUENCE s {options}")).await, format!("ERROR 22023 {message}"));
    }
    c.ok("CREATE SEQUENCE s START 5 MAXVALUE 6 CYCLE MINVALUE 4").await;
    assert_eq!(c.run("SELECT nextval('s') FROM generate_series(1, 4)").await, "5\n6\n4\n5\nSELECT 4");
    c.ok("ALTER SEQUENCE s RESTART NO CYCLE MAXVALUE 7").await;
    assert_eq!(c.run("SELECT nextval('s') FROM generate_series(1, 3)").await, "5\n6\n7\nSELECT 3");
    assert!(c.run("SELECT nextval('s')").await.starts_with("ERROR 2200H"));
    c.ok("ALTER SEQUENCE s RESTART WITH 4; ALTER SEQUENCE s RENAME TO r").await;
    assert_eq!(c.run("SELECT nextval('r')").await, "4\nSELECT 1");
    assert_eq!(
        c.run("CREATE SEQUENCE IF NOT EXISTS r").await,
        "CREATE SEQUENCE\nNOTICE 42P07 relation \"r\" already exists, skipping"
    );
    assert_eq!(c.run("DROP SEQUENCE r").await, "DROP SEQUENCE");
    assert_eq!(c.run("DROP SEQUENCE r").await, "ERROR 42P01 sequence \"r\" does not exist");
}

#[tokio::test]
async fn serial_columns_count() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (id serial PRIMARY KEY, v text, b bigserial)").await;
    assert_eq!(c.run("INSERT INTO t (v) VALUES ('a'), ('b') RETURNING id, b").await, "1|1\n2|2\nINSERT 0 2");
    assert_eq!(
        c.run("INSERT INTO t VALUES (DEFAULT, 'c', DEFAULT), (50, 'd', 7) RETURNING id, b").await,
        "3|3\n50|7\nINSERT 0 2"
    );
    assert_eq!(
        c.run("INSERT INTO t (v) SELECT 'x' || i FROM generate_series(1, 2) AS g(i) RETURNING id").await,
        "4\n5\nINSERT 0 2"
    );
    assert_eq!(c.run("SELECT currval('t_id_seq'), lastval()").await, "5|5\nSELECT 1");
    assert!(c.run("INSERT INTO t (id, v) VALUES (NULL, 'n')").await.starts_with("ERROR 23502"));
    c.ok("TRUNCATE t RESTART IDENTITY").await;
    assert_eq!(c.run("INSERT INTO t (v) VALUES ('a') RETURNING id, b").await, "1|1\nINSERT 0 1");
    assert!(
        c.run("DROP SEQUENCE t_id_seq")
            .await
            .starts_with("ERROR 2BP01 cannot drop sequence t_id_seq because other objects depend on it")
    );
    c.ok("DROP TABLE t").await;
    assert_eq!(c.run("DROP SEQUENCE t_id_seq").await, "ERROR 42P01 sequence \"t_id_seq\" does not exist");
}

#[tokio::test]
async fn a_default_counts_for_each_row() {
    let mut c = Client::new().await;
    c.ok("CREATE SEQUENCE s START 100; CREATE TABLE t (k integer DEFAULT nextval('s') PRIMARY KEY, v text)").await;
    c.ok("INSERT INTO t (v) VALUES ('a'), ('b')").await;
    assert_eq!(c.run("SELECT k, v FROM t ORDER BY k").await, "100|a\n101|b\nSELECT 2");
    assert_eq!(c.run("INSERT INTO t VALUES (nextval('s') + 1000, 'c') RETURNING k").await, "1102\nINSERT 0 1");
    assert_eq!(
        c.run("INSERT INTO t SELECT nextval('s'), v FROM t WHERE k < 102 ORDER BY k RETURNING k").await,
        "103\n104\nINSERT 0 2"
    );
    c.ok("DROP SEQUENCE s CASCADE").await;
    assert!(c.run("INSERT INTO t (v) VALUES ('z')").await.starts_with("ERROR 23502"));
}

#[tokio::test]
async fn identity_columns_keep_their_rule() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE a (id integer GENERATED ALWAYS AS IDENTITY (START WITH 7) PRIMARY KEY, v text)").await;
    c.ok("CREATE TABLE b (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v text)").await;
    assert_eq!(c.run("INSERT INTO a (v) VALUES ('x') RETURNING id").await, "7\nINSERT 0 1");
    assert_eq!(
        c.run("INSERT INTO a VALUES (1, 'x')").await,
        "ERROR 428C9 cannot insert a non-DEFAULT value into column \"id\"\n\
         DETAIL Column \"id\" is an identity column defined as GENERATED ALWAYS.\n\
         HINT Use OVERRIDING SYSTEM VALUE to override."
    );
    assert_eq!(c.run("INSERT INTO a OVERRIDING SYSTEM VALUE VALUES (1, 'y') RETURNING id").await, "1\nINSERT 0 1");
    assert_eq!(c.run("INSERT INTO a OVERRIDING USER VALUE VALUES (1, 'z') RETURNING id").await, "8\nINSERT 0 1");
    assert_eq!(
        c.run("UPDATE a SET id = 5").await,
        "ERROR 428C9 column \"id\" can only be updated to DEFAULT\n\
         DETAIL Column \"id\" is an identity column defined as GENERATED ALWAYS."
    );
    assert_eq!(c.run("INSERT INTO b VALUES (5, 'x'), (DEFAULT, 'y') RETURNING id").await, "5\n1\nINSERT 0 2");
    assert!(
        c.run("DROP SEQUENCE a_id_seq")
            .await
            .starts_with("ERROR 2BP01 cannot drop sequence a_id_seq because column id of table a requires it")
    );
}

#[tokio::test]
async fn values_go_on_after_a_restart() {
    let store: Arc<dyn Store> = Arc::new(ModelStore::new());
    let mut seen = Vec::new();
    for _ in 0..3 {
        // Nothing is closed: the second engine finds the durable state.
        let mut c = Client::of(&engine_over(Arc::clone(&store)).await);
        c.ok("CREATE SEQUENCE IF NOT EXISTS s").await;
        for _ in 0..3 {
            let answer = c.run("SELECT nextval('s')").await;
            seen.push(answer.lines().next().unwrap().parse::<i64>().unwrap());
        }
    }
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
}
