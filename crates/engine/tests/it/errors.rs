//! Errors with their codes and messages.

use crate::client::Client;

#[tokio::test]
async fn bad_values_name_themselves() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, s varchar(3), n numeric(4,2), d date NOT NULL DEFAULT '2024-01-01')")
        .await;
    let cases = [
        ("INSERT INTO t (k) VALUES ('x')", "ERROR 22P02 invalid input syntax for type integer: \"x\""),
        ("INSERT INTO t (k) VALUES (3000000000)", "ERROR 22003 integer out of range"),
        ("INSERT INTO t (k, s) VALUES (1, 'abcd')", "ERROR 22001 value too long for type character varying(3)"),
        (
            "INSERT INTO t (k, n) VALUES (1, 100)",
            "ERROR 22003 numeric field overflow\n\
             DETAIL A field with precision 4, scale 2 must round to an absolute value less than 10^2.",
        ),
        ("INSERT INTO t (k, d) VALUES (1, 'soon')", "ERROR 22007 invalid input syntax for type date: \"soon\""),
        (
            "INSERT INTO t (k, d) VALUES (1, NULL)",
            "ERROR 23502 null value in column \"d\" of relation \"t\" violates not-null constraint\n\
             DETAIL Failing row contains (1, null, null, null).",
        ),
        (
            "INSERT INTO t (s) VALUES ('x')",
            "ERROR 23502 null value in column \"k\" of relation \"t\" violates not-null constraint\n\
             DETAIL Failing row contains (null, x, null, 2024-01-01).",
        ),
        ("INSERT INTO t (k, nope) VALUES (1, 2)", "ERROR 42703 column \"nope\" of relation \"t\" does not exist"),
        ("INSERT INTO t (k, k) VALUES (1, 2)", "ERROR 42701 column \"k\" specified more than once"),
        ("INSERT INTO t (k) VALUES (1, 2)", "ERROR 42601 INSERT has more expressions than target columns"),
        ("INSERT INTO t (k, s) VALUES (1)", "ERROR 42601 INSERT has more target columns than expressions"),
        ("INSERT INTO nope VALUES (1)", "ERROR 42P01 relation \"nope\" does not exist"),
        ("UPDATE t SET k = 1, k = 2 WHERE k = 1", "ERROR 42601 multiple assignments to same column \"k\""),
        ("INSERT INTO t VALUES ($1)", "ERROR 42P02 there is no parameter $1"),
        (
            "INSERT INTO t (k, d) VALUES (1, true)",
            "ERROR 42804 column \"d\" is of type date but expression is of type boolean\n\
             HINT You will need to rewrite or cast the expression.",
        ),
    ];
    for (text, answer) in cases {
        assert_eq!(c.run(text).await, answer, "{text}");
    }
    // The session continues, and the failed statements have no effect.
    assert_eq!(c.run("SELECT k FROM t WHERE k = 1").await, "SELECT 0");
}

#[tokio::test]
async fn conflict_targets_must_be_the_key() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (a integer, b integer, n integer, PRIMARY KEY (a, b))").await;
    let no_uniqueness = "ERROR 42P10 there is no unique or exclusion constraint matching the ON CONFLICT specification\n\
                         HINT Name all columns of the primary key, or of a unique index, and no others.";
    for target in ["(a)", "(n)", "(a, b, n)"] {
        let text = format!("INSERT INTO t VALUES (1, 1, 1) ON CONFLICT {target} DO NOTHING");
        assert_eq!(c.run(&text).await, no_uniqueness);
    }
    c.ok("INSERT INTO t VALUES (1, 1, 1) ON CONFLICT (b, a) DO NOTHING").await;
    c.ok("INSERT INTO t VALUES (1, 1, 1) ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING").await;
    let unknown = c.run("INSERT INTO t VALUES (1, 1, 1) ON CONFLICT ON CONSTRAINT nope DO NOTHING").await;
    assert_eq!(unknown, "ERROR 42704 constraint \"nope\" for table \"t\" does not exist");
    let twice = "INSERT INTO t VALUES (2, 2, 1), (2, 2, 2) ON CONFLICT (a, b) DO UPDATE SET n = 0";
    assert!(
        c.run(twice).await.starts_with("ERROR 21000 ON CONFLICT DO UPDATE command cannot affect row a second time")
    );
    let key = "UPSERT INTO t VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE a = 2";
    assert!(c.run(key).await.starts_with("ERROR 428C9"));
}

#[tokio::test]
async fn text_that_is_no_statement_has_a_position() {
    let c = Client::new().await;
    let error = c.session.parse("SELECT 1; SELEKT 2").unwrap_err();
    assert_eq!((error.code(), error.position()), ("42601", Some(11)));
    assert!(c.session.parse("  ; ; ").unwrap().is_empty());
}

#[tokio::test]
async fn names_are_quoted_where_sql_wants_it() {
    let mut c = Client::new().await;
    c.ok(
        "CREATE TABLE t (\"Order Id\" integer, k integer, PRIMARY KEY (\"Order Id\", k)); INSERT INTO t VALUES (1, 2)",
    )
    .await;
    let twice = "ERROR 23505 duplicate key value violates unique constraint \"t_pkey\"\n\
                 DETAIL Key (\"Order Id\", k)=(1, 2) already exists.";
    assert_eq!(c.run("INSERT INTO t VALUES (1, 2)").await, twice);
}
