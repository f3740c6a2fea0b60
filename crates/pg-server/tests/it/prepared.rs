//! SQL and the protocol share the names of prepared statements: each runs and closes those of the other.

use crate::client::{Server, Strs as _};
use crate::frames::{bind, execute, frame, parse};

/// As psycopg does, which clears its statement cache by DEALLOCATE.
#[tokio::test]
async fn what_the_protocol_prepared_is_run_and_closed_by_sql() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.extended(&[parse("s", "SELECT $1 + 1", &[23])]).await.unwrap();
    assert_eq!(client.run("EXECUTE s (41)").await.strs(), Ok("42"));
    assert_eq!(client.run("PREPARE s AS SELECT 1").await.strs(), Err("42P05"));
    let shown = "SELECT name || ' ' || statement || ' ' || parameter_types::text || ' ' || from_sql \
                 FROM pg_prepared_statements";
    assert_eq!(client.run(shown).await.strs(), Ok("s SELECT $1 + 1 {integer} false"));
    client.run("DEALLOCATE s").await.unwrap();
    assert_eq!(client.extended(&[bind("", "s", 0, &[Some(b"1")])]).await.strs(), Err("26000"));
    client.extended(&[parse("s", "SELECT 2", &[])]).await.unwrap();
    client.run("DISCARD ALL").await.unwrap();
    assert_eq!(client.extended(&[bind("", "s", 0, &[])]).await.strs(), Err("26000"));
}

#[tokio::test]
async fn what_sql_prepared_is_bound_and_closed_by_the_protocol() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("PREPARE p (integer) AS SELECT $1 * 2").await.unwrap();
    assert_eq!(client.extended(&[parse("p", "SELECT 1", &[])]).await.strs(), Err("42P05"));
    let bound = [bind("", "p", 0, &[Some(b"21")]), execute("", 0)];
    assert_eq!(client.extended(&bound).await.strs(), Ok("42"));
    client.extended(&[frame(b'C', &[b"Sp\0"])]).await.unwrap();
    assert_eq!(client.run("EXECUTE p (1)").await.strs(), Err("26000"));
}

#[tokio::test]
async fn explain_is_prepared_with_the_parameters_of_its_statement() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v integer)").await.unwrap();
    let describe = || frame(b'D', &[b"S\0"]);
    let query = parse("", "EXPLAIN SELECT v FROM t WHERE k = $1", &[]);
    let asked = [query, describe(), bind("", "", 0, &[Some(b"1")]), execute("", 0)];
    assert_eq!(client.extended(&asked).await.strs(), Ok("Point lookup on t"));
    let write = parse("", "EXPLAIN ANALYZE INSERT INTO t VALUES ($1, $2)", &[]);
    let asked = [write, describe(), bind("", "", 0, &[Some(b"1"), None]), execute("", 0)];
    assert_eq!(client.extended(&asked).await.strs(), Ok("Insert on t (actual rows=1)"));
    assert_eq!(client.run("SELECT count(*) FROM t").await.strs(), Ok("1"));
}
