//! Statements that name one full key.

use crate::client::{Client, engine};
use types::Datum;

const TABLE: &str = "CREATE TABLE t (a integer, b varchar(10), n bigint, s text DEFAULT 'none', PRIMARY KEY (a, b))";

#[tokio::test]
async fn a_row_that_was_inserted_is_found_by_its_key() {
    let mut c = Client::new().await;
    assert_eq!(c.run(TABLE).await, "CREATE TABLE");
    assert_eq!(c.run("INSERT INTO t VALUES (1, 'x', 10, 'one'), (2, 'y', -20, DEFAULT)").await, "INSERT 0 2");
    assert_eq!(c.run("SELECT * FROM t WHERE a = 1 AND b = 'x'").await, "1|x|10|one\nSELECT 1");
    assert_eq!(c.run("SELECT s, n AS number FROM t AS q WHERE q.b = 'y' AND 2 = a").await, "none|-20\nSELECT 1");
    assert_eq!(c.run("SELECT n FROM t WHERE a = 3 AND b = 'x'").await, "SELECT 0");
}

#[tokio::test]
async fn a_key_that_is_there_is_a_duplicate() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    c.ok("INSERT INTO t (a, b) VALUES (1, 'x')").await;
    let error = "ERROR 23505 duplicate key value violates unique constraint \"t_pkey\"\n\
                 DETAIL Key (a, b)=(1, x) already exists.";
    assert_eq!(c.run("INSERT INTO t (a, b) VALUES (2, 'z'), (1, 'x')").await, error);
    assert_eq!(c.run("INSERT INTO t (a, b) VALUES (1, 'x')").await, error);
    // The statement is atomic: the row before the duplicate is not inserted either.
    assert_eq!(c.run("SELECT a FROM t WHERE a = 2 AND b = 'z'").await, "SELECT 0");
    let twice = c.run("INSERT INTO t (a, b) VALUES (5, 'q'), (5, 'q')").await;
    assert!(twice.starts_with("ERROR 23505"), "{twice}");
}

#[tokio::test]
async fn conflicts_are_ignored_or_overwritten_as_asked() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    c.ok("INSERT INTO t VALUES (1, 'x', 10, 'one')").await;
    assert_eq!(c.run("INSERT INTO t VALUES (1, 'x', 11, 'two') ON CONFLICT DO NOTHING").await, "INSERT 0 0");
    assert_eq!(c.run("UPSERT INTO t (a, b, n) VALUES (1, 'x', 12) ON DUPLICATE KEY IGNORE").await, "INSERT 0 0");
    assert_eq!(c.run("SELECT n, s FROM t WHERE a = 1 AND b = 'x'").await, "10|one\nSELECT 1");
    // UPSERT keeps the columns that it does not name, and gives new rows their defaults.
    assert_eq!(c.run("UPSERT INTO t (a, b, n) VALUES (1, 'x', 12), (7, 'new', 13)").await, "INSERT 0 2");
    assert_eq!(c.run("SELECT n, s FROM t WHERE a = 1 AND b = 'x'").await, "12|one\nSELECT 1");
    assert_eq!(c.run("SELECT n, s FROM t WHERE a = 7 AND b = 'new'").await, "13|none\nSELECT 1");
    let set = "INSERT INTO t VALUES (1, 'x', 0, '') ON CONFLICT (a, b) DO UPDATE SET n = 99, s = DEFAULT RETURNING *";
    assert_eq!(c.run(set).await, "1|x|99|none\nINSERT 0 1");
}

#[tokio::test]
async fn values_made_of_the_row_itself() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE m (a integer PRIMARY KEY, n integer, s smallint, t text)").await;
    c.ok("INSERT INTO m VALUES (1, 10, 5, 'one'), (2, NULL, 5, 'two')").await;
    let upsert = |set: &str| format!("INSERT INTO m VALUES (1, 7, 2, 'new') ON CONFLICT (a) DO UPDATE SET {set}");
    c.ok(&upsert("n = excluded.n, t = m.t")).await;
    assert_eq!(c.run("SELECT n, t FROM m WHERE a = 1").await, "7|one\nSELECT 1");
    c.ok(&upsert("n = m.n + excluded.s, s = m.s - excluded.s, t = excluded.t")).await;
    assert_eq!(c.run("SELECT n, s, t FROM m WHERE a = 1").await, "9|3|new\nSELECT 1");
    let add = "UPDATE m SET n = n + $1 WHERE a = $2 RETURNING n";
    assert_eq!(c.execute(add, &[Datum::Int4(-4), Datum::Int4(1)]).await, "5\nUPDATE 1");
    // NULL stays NULL; assignments read the values before the statement.
    assert_eq!(c.execute(add, &[Datum::Int4(1), Datum::Int4(2)]).await, "~\nUPDATE 1");
    c.ok("UPDATE m SET s = (1000 + s), n = s + 1 WHERE a = 2").await;
    assert_eq!(c.run("SELECT n, s FROM m WHERE a = 2").await, "6|1005\nSELECT 1");
    assert_eq!(c.run("UPDATE m SET n = n + 2147483647 WHERE a = 1").await, "ERROR 22003 integer out of range");
    assert_eq!(c.run("UPDATE m SET s = s + 40000 WHERE a = 1").await, "ERROR 22003 smallint out of range");
    c.ok("UPDATE m SET n = m.n + 1 WHERE m.a = 1").await;
    assert_eq!(c.run("SELECT n, s FROM m WHERE a = 1").await, "6|3\nSELECT 1");
}

#[tokio::test]
async fn updates_and_deletes_by_key_tell_what_they_did() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    c.ok("INSERT INTO t VALUES (1, 'x', 10, 'one')").await;
    assert_eq!(c.run("UPDATE t SET s = 'uno' WHERE a = 1 AND b = 'x' RETURNING s, n").await, "uno|10\nUPDATE 1");
    assert_eq!(c.run("UPDATE t SET s = 'no' WHERE a = 1 AND b = 'y'").await, "UPDATE 0");
    // The row moves to its new key.
    assert_eq!(c.run("UPDATE t SET b = 'moved' WHERE a = 1 AND b = 'x'").await, "UPDATE 1");
    assert_eq!(c.run("SELECT * FROM t WHERE a = 1 AND b = 'x'").await, "SELECT 0");
    assert_eq!(c.run("SELECT s FROM t WHERE a = 1 AND b = 'moved'").await, "uno\nSELECT 1");
    c.ok("INSERT INTO t (a, b) VALUES (1, 'other')").await;
    let taken = c.run("UPDATE t SET b = 'other' WHERE a = 1 AND b = 'moved'").await;
    assert!(taken.starts_with("ERROR 23505"), "{taken}");
    assert_eq!(c.run("DELETE FROM t WHERE a = 1 AND b = 'moved' RETURNING a, b").await, "1|moved\nDELETE 1");
    assert_eq!(c.run("DELETE FROM t WHERE a = 1 AND b = 'moved'").await, "DELETE 0");
}

#[tokio::test]
async fn parameters_take_the_type_of_their_column() {
    let mut c = Client::new().await;
    c.ok(TABLE).await;
    let text = |text: &str| Datum::Text(text.to_string());
    let insert = "INSERT INTO t (a, b, n) VALUES ($1, $2, $3)";
    assert_eq!(c.execute(insert, &[Datum::Int4(1), text("x"), Datum::Int8(5)]).await, "INSERT 0 1");
    let prepared = c.session.prepare("SELECT n FROM t WHERE b = $2 AND a = $1", &[]).await.unwrap();
    let names: Vec<String> = prepared.parameters.iter().map(|ty| ty.sql_name()).collect();
    assert_eq!(names, ["integer", "text"]);
    let select = "SELECT n FROM t WHERE b = $2 AND a = $1";
    assert_eq!(c.execute(select, &[Datum::Int4(1), text("x")]).await, "5\nSELECT 1");
    assert_eq!(c.execute(select, &[Datum::Null, text("x")]).await, "SELECT 0");
    assert_eq!(c.execute(select, &[Datum::Int8(1 << 40), text("x")]).await, "SELECT 0");
}

#[tokio::test]
async fn a_statement_prepared_before_a_change_of_its_table_sees_the_new_one() {
    let engine = engine().await;
    let mut c = Client::of(&engine);
    c.ok(TABLE).await;
    c.ok("INSERT INTO t VALUES (1, 'x', 10, 'one')").await;
    let prepared = c.session.prepare("SELECT n FROM t WHERE a = 1 AND b = 'x'", &[]).await.unwrap();
    let star = c.session.prepare("SELECT * FROM t WHERE a = 1 AND b = 'x'", &[]).await.unwrap();
    Client::of(&engine).ok("TRUNCATE t").await;
    let mut other = Client::of(&engine);
    other.ok("INSERT INTO t VALUES (1, 'x', 11, 'new')").await;
    other.ok("ALTER TABLE t ADD COLUMN extra integer DEFAULT 7").await;
    let answer = c.session.execute(&prepared, &[]).await.unwrap();
    let engine::Answer::Rows(mut rows) = answer else { panic!("no rows") };
    let chunk = futures::StreamExt::next(&mut rows.chunks).await.unwrap().unwrap();
    assert!(matches!(chunk, engine::Chunk::Rows(rows) if matches!(rows[0][0], Datum::Int8(11))));
    // The result columns changed, and the client would misread them.
    let error = c.session.execute(&star, &[]).await.unwrap_err();
    assert_eq!(error.code(), "0A000");
    assert_eq!(c.run("SELECT * FROM t WHERE a = 1 AND b = 'x'").await, "1|x|11|new|7\nSELECT 1");
}

#[tokio::test]
async fn what_keys_compare_with_keeps_its_type() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE k (i smallint, c char(4), d numeric(6,2), t date, PRIMARY KEY (i, c, d, t))").await;
    c.ok("INSERT INTO k VALUES (1, 'ab', 1.5, '2024-02-29')").await;
    let found = "SELECT d FROM k WHERE i = 1 AND c = 'ab  ' AND d = 1.500 AND t = '2024-02-29'";
    assert_eq!(c.run(found).await, "1.50\nSELECT 1");
    let bad = "SELECT d FROM k WHERE i = 1 AND c = 'ab' AND d = 1.5 AND t = '2023-02-29'";
    assert!(c.run(bad).await.starts_with("ERROR 22008"), "{}", c.run(bad).await);
}

#[tokio::test]
async fn tables_without_a_key_take_equal_rows() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE h (a integer, b text)").await;
    assert_eq!(c.run("INSERT INTO h VALUES (1, 'x'), (1, 'x') RETURNING *").await, "1|x\n1|x\nINSERT 0 2");
    assert_eq!(c.run("INSERT INTO h VALUES (1, 'x')").await, "INSERT 0 1");
}

#[tokio::test]
async fn the_future_of_a_statement_is_small() {
    let mut c = Client::new().await;
    c.run("CREATE TABLE t (k integer PRIMARY KEY)").await;
    let prepared = c.session.prepare("SELECT k FROM t WHERE k = 1", &[]).await.unwrap();
    // The future is copied at each await, started or not, so whatever a short statement does not use is boxed.
    let size = size_of_val(&c.session.execute(&prepared, &[]));
    assert!(size < 6_000, "{size} bytes");
}
