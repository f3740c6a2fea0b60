//! COPY from and to the client.

use crate::client::{Client, engine};
use engine::{Answer, EngineError};

/// Runs a COPY with `data` in pieces of this size.
pub async fn copy(c: &mut Client, text: &str, data: &str, piece: usize) -> Result<String, EngineError> {
    let statements = c.session.parse(text)?;
    let Answer::CopyIn(mut copy) = c.session.run(&statements[0]).await? else { panic!("not a COPY: {text}") };
    for piece in data.as_bytes().chunks(piece) {
        copy.feed(piece).await?;
    }
    copy.finish(&mut c.session).await
}

async fn table() -> Client {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE t (k integer PRIMARY KEY, d date NOT NULL, s varchar(5) DEFAULT 'none', n numeric(6,2))").await;
    c
}

const ALL: &str = "SELECT * FROM t ORDER BY k";

#[tokio::test]
async fn csv_and_text_are_read_wherever_they_are_cut() {
    for piece in [1, 7, 1000] {
        let mut c = table().await;
        let csv = "k,d,s,n\n1,2024-02-29,\"a,b\",1.5\n2,2024-01-01,,\n";
        let done = copy(&mut c, "COPY t FROM STDIN (FORMAT csv, HEADER)", csv, piece).await.unwrap();
        assert_eq!(done, "COPY 2");
        let text = "3\t2024-01-03\tx\\ty\n4\t2024-01-04\t\\N\n\\.\n";
        assert_eq!(copy(&mut c, "COPY t (k, d, s) FROM STDIN", text, piece).await.unwrap(), "COPY 2");
        let rows = "1|2024-02-29|a,b|1.50\n2|2024-01-01|~|~\n3|2024-01-03|x\ty|~\n4|2024-01-04|~|~\nSELECT 4";
        assert_eq!(c.run(ALL).await, rows);
    }
}

#[tokio::test]
async fn times_are_rounded_to_their_columns_digits() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE d (k timestamp(1) PRIMARY KEY, z timestamptz(0), t time(3))").await;
    let text = "2024-01-01 00:00:00.06\t2024-01-01 00:00:00.5+00\t00:00:00.0004\n\
                2024-01-01 00:00:00.14\t\\N\t23:59:59.9996\n";
    let duplicate = copy(&mut c, "COPY d FROM STDIN", text, 1000).await.unwrap_err();
    assert_eq!(duplicate.code(), "23505");
    copy(&mut c, "COPY d FROM STDIN", &text.replace(".14", ".16"), 1000).await.unwrap();
    let rows = "2024-01-01 00:00:00.1|2024-01-01 00:00:01+00|00:00:00\n2024-01-01 00:00:00.2|~|24:00:00\nSELECT 2";
    assert_eq!(c.run("SELECT * FROM d ORDER BY k").await, rows);
}

#[tokio::test]
async fn arrays_and_intervals_are_read_and_limited() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE a (k int PRIMARY KEY, t text[], n numeric(4,1)[], m int[][], d interval minute)").await;
    let text = "1\t{a,\"b c\",NULL,\"x\\\\\\\\y\"}\t{1.25,2}\t{{1,2},{3,4}}\t1 day 00:01:59\n2\t{}\t\\N\t{}\t\\N\n";
    for piece in [1, 1000] {
        c.ok("TRUNCATE a").await;
        assert_eq!(copy(&mut c, "COPY a FROM STDIN", text, piece).await.unwrap(), "COPY 2");
        let rows = "1|{a,\"b c\",NULL,\"x\\\\y\"}|{1.3,2.0}|{{1,2},{3,4}}|1 day 00:01:00\n2|{}|~|{}|~\nSELECT 2";
        assert_eq!(c.run("SELECT * FROM a ORDER BY k").await, rows);
    }
    let csv = "3,\"{\"\"p q\"\",r}\",\"{7,8}\",,-1 day\n";
    copy(&mut c, "COPY a FROM STDIN (FORMAT csv)", csv, 1000).await.unwrap();
    assert_eq!(c.run("SELECT t[1], n, d FROM a WHERE k = 3").await, "p q|{7.0,8.0}|-1 days\nSELECT 1");
    for (line, code) in
        [("4\t{a", "22P02"), ("4\t{}\t{12345}", "22003"), ("4\t{{a}}", "0A000"), ("4\t{}\t{}\t{1}", "0A000")]
    {
        let columns = ["k", "t", "n", "m"][..line.split('\t').count()].join(", ");
        let text = format!("COPY a ({columns}) FROM STDIN");
        assert_eq!(copy(&mut c, &text, &format!("{line}\n"), 1000).await.unwrap_err().code(), code, "{line}");
    }
}

#[tokio::test]
async fn columns_that_are_left_out_get_their_defaults() {
    let mut c = table().await;
    c.ok("ALTER TABLE t ADD COLUMN e integer DEFAULT 40 + 2").await;
    copy(&mut c, "COPY t (d, k) FROM STDIN", "2024-01-01\t1\n", 100).await.unwrap();
    assert_eq!(c.run(ALL).await, "1|2024-01-01|none|~|42\nSELECT 1");
    copy(&mut c, "COPY t (d, k) FROM STDIN WHERE k > 5", "2024-01-01\t2\n2024-01-01\t9\n", 100).await.unwrap();
    assert_eq!(c.run("SELECT k FROM t ORDER BY k").await, "1\n9\nSELECT 2");
}

#[tokio::test]
async fn a_bad_line_is_named_and_nothing_is_left() {
    let cases = [
        ("1\t2024-01-01\tx\t1\n2\tsoon\tx\t1\n", "22007", "COPY t, line 2, column d: \"soon\""),
        ("1\t2024-01-01\tx\n", "22P04", "COPY t, line 1: \"1\t2024-01-01\tx\""),
        ("1\t2024-01-01\tx\t1\t\n", "22P04", "COPY t, line 1: \"1\t2024-01-01\tx\t1\t\""),
        ("1\t2024-01-01\tsixsix\t1\n", "22001", "COPY t, line 1, column s: \"sixsix\""),
        ("1\t\\N\tx\t1\n", "23502", "COPY t, line 1: \"1\t\\N\tx\t1\""),
    ];
    for (data, code, context) in cases {
        let mut c = table().await;
        let error = copy(&mut c, "COPY t FROM STDIN", data, 1000).await.unwrap_err();
        assert_eq!((error.code(), error.context()), (code, Some(context)), "{data:?}");
        assert_eq!(c.run(ALL).await, "SELECT 0");
    }
}

#[tokio::test]
async fn the_line_of_an_error_is_one_of_the_file_also_behind_records_of_several_lines() {
    let cases = [
        ("k,s\n1,\"x\ny\nz\"\n2,ok\nbad,row\n", "COPY q, line 6, column k: \"bad\""),
        ("k,s\n1,ok\nbad,\"x\ny\"\n3,n\n", "COPY q, line 4, column k: \"bad\""),
        ("k,\"s\nt\"\n1,ok\nbad,row\n", "COPY q, line 4, column k: \"bad\""),
        ("k,s\r\n1,\"x\r\ny\"\r\nbad,row\r\n", "COPY q, line 4, column k: \"bad\""),
        ("k,s\n1,ok\n2,\"x\n\ny\"\n3\n", "COPY q, line 6: \"3\""),
        ("k,s\n1,\"x\ny\n", "COPY q, line 4: \"1,\"x\ny\n\""),
    ];
    for (data, context) in cases {
        for piece in [1, 5, 1000] {
            let mut c = Client::new().await;
            c.ok("CREATE TABLE q (k integer PRIMARY KEY, s text)").await;
            let error = copy(&mut c, "COPY q FROM STDIN CSV HEADER", data, piece).await.unwrap_err();
            assert_eq!(error.context(), Some(context), "{data:?}");
        }
    }
    let mut c = Client::new().await;
    c.ok("CREATE TABLE q (k integer PRIMARY KEY, s text)").await;
    // An escaped line end does not count as a line, as in PostgreSQL.
    let error = copy(&mut c, "COPY q FROM STDIN", "1\tx\\\ny\nbad\trow\n", 1000).await.unwrap_err();
    assert_eq!(error.context(), Some("COPY q, line 2, column k: \"bad\""));
}

#[tokio::test]
async fn a_duplicate_key_fails_all_of_it() {
    let mut c = table().await;
    c.ok("INSERT INTO t VALUES (2, '2024-01-01', 'old', 0)").await;
    let data = "1\t2024-01-01\tx\t1\n2\t2024-01-01\tx\t1\n";
    let error = copy(&mut c, "COPY t FROM STDIN", data, 1000).await.unwrap_err();
    assert_eq!((error.code(), error.detail()), ("23505", Some("Key (k)=(2) already exists.")));
    assert!(error.context().is_some_and(|context| context.starts_with("COPY t")), "{:?}", error.context());
    assert_eq!(c.run("SELECT k FROM t").await, "2\nSELECT 1");
    let error = copy(&mut c, "COPY t FROM STDIN", "5\t2024-01-01\tx\t1\n5\t2024-01-01\tx\t1\n", 9).await.unwrap_err();
    assert_eq!(error.code(), "23505");
    c.ok("BEGIN").await;
    let error = copy(&mut c, "COPY t FROM STDIN", data, 1000).await.unwrap_err();
    assert_eq!((error.code(), error.context()), ("23505", Some("COPY t, line 2")));
}

#[tokio::test]
async fn bytes_of_another_encoding_have_a_hint() {
    let mut c = table().await;
    let statements = c.session.parse("COPY t FROM STDIN").unwrap();
    let Answer::CopyIn(mut copy) = c.session.run(&statements[0]).await.unwrap() else { panic!("not a COPY") };
    let error = match copy.feed(b"1\t2024-01-01\t\xe9\t1\n").await {
        Ok(()) => copy.finish(&mut c.session).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!((error.code(), error.hint().map(|hint| hint.contains("iconv"))), ("22021", Some(true)));
}

#[tokio::test]
async fn in_a_block_rows_are_the_blocks_own() {
    let engine = engine().await;
    let (mut a, mut b) = (Client::of(&engine), Client::of(&engine));
    a.ok("CREATE TABLE t (k integer PRIMARY KEY, v text)").await;
    a.ok("BEGIN").await;
    assert_eq!(copy(&mut a, "COPY t FROM STDIN CSV", "1,x\n2,y\n", 5).await.unwrap(), "COPY 2");
    assert_eq!(a.run("SELECT count(*) FROM t").await, "2\nSELECT 1");
    assert_eq!(b.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
    let error = copy(&mut a, "COPY t FROM STDIN CSV", "3,x\n1,y\n", 5).await.unwrap_err();
    assert_eq!(error.code(), "23505");
    assert_eq!(a.session.status(), engine::TransactionStatus::Failed);
    a.ok("ROLLBACK").await;
    assert_eq!(b.run("SELECT count(*) FROM t").await, "0\nSELECT 1");
}

#[tokio::test]
async fn a_copy_that_is_given_up_leaves_nothing_and_frees_its_table() {
    let mut c = table().await;
    let statements = c.session.parse("COPY t FROM STDIN").unwrap();
    let Answer::CopyIn(mut copy) = c.session.run(&statements[0]).await.unwrap() else { panic!("not a COPY") };
    copy.feed(b"1\t2024-01-01\tx\t1\n").await.unwrap();
    let error = copy.abort(&mut c.session, "no more");
    assert_eq!((error.code(), error.message()), ("57014", "COPY from stdin failed: no more"));
    c.ok("INSERT INTO t VALUES (1, '2024-01-01', 'x', 0)").await;
}

#[tokio::test]
async fn rows_are_written_as_they_would_be_read() {
    let mut c = table().await;
    c.ok(
        "INSERT INTO t VALUES (1, '2024-02-29', 'a,\"b', 1.5), (2, '2024-01-01', NULL, NULL), (3, '2024-01-01', '', 0)",
    )
    .await;
    let csv = "k,d,s,n\n1,2024-02-29,\"a,\"\"b\",1.50\n2,2024-01-01,,\n3,2024-01-01,\"\",0.00\nCOPY 3";
    assert_eq!(c.run("COPY (SELECT * FROM t ORDER BY k) TO STDOUT (FORMAT csv, HEADER)").await, csv);
    let text = "1\ta,\"b\n2\t\\N\n3\t\nCOPY 3";
    assert_eq!(c.run("COPY (SELECT k, s FROM t ORDER BY k) TO STDOUT").await, text);
    assert_eq!(c.run("COPY t (s) TO STDOUT (FORMAT csv, FORCE_QUOTE *)").await.lines().count(), 4);
}

#[tokio::test]
async fn what_a_write_returns_is_copied() {
    let mut c = table().await;
    let insert = "COPY (INSERT INTO t VALUES (1, '2024-02-29', 'a'), (2, '2024-03-01', 'b') RETURNING k, s AS name) \
                  TO STDOUT (FORMAT csv, HEADER)";
    assert_eq!(c.run(insert).await, "k,name\n1,a\n2,b\nCOPY 2");
    let update =
        "COPY (WITH w AS (SELECT 2 AS k) UPDATE t SET s = 'c' FROM w WHERE t.k = w.k RETURNING t.k, s) TO STDOUT";
    // The plan is not cached by the text of COPY.
    assert_eq!(c.run(update).await, "2\tc\nCOPY 1");
    assert_eq!(c.run(update).await, "2\tc\nCOPY 1");
    assert_eq!(c.run("COPY (SELECT k FROM t ORDER BY k FOR UPDATE) TO STDOUT").await, "1\n2\nCOPY 2");
    c.ok("BEGIN").await;
    assert_eq!(c.run("COPY (DELETE FROM t RETURNING k) TO STDOUT").await.lines().count(), 3);
    c.ok("ROLLBACK").await;
    assert_eq!(c.run("SELECT count(*) FROM t").await, "2\nSELECT 1");
    let without = "COPY (DELETE FROM t) TO STDOUT";
    let statements = c.session.parse(without).unwrap();
    assert_eq!(c.session.run(&statements[0]).await.unwrap_err().code(), "0A000");
    assert_eq!(c.run("SELECT count(*) FROM t").await, "2\nSELECT 1");
}

#[tokio::test]
async fn tables_without_a_key_are_copied_into() {
    let mut c = Client::new().await;
    c.ok("CREATE TABLE h (a integer, b text)").await;
    assert_eq!(copy(&mut c, "COPY h FROM STDIN CSV", "1,x\n1,x\n", 5).await.unwrap(), "COPY 2");
    assert_eq!(c.run("SELECT count(*) FROM h WHERE a = 1").await, "2\nSELECT 1");
}

#[tokio::test]
async fn options_and_names_are_checked() {
    let mut c = table().await;
    let cases = [
        ("COPY t (k, nope) FROM STDIN", "42703"),
        ("COPY t (k, k) FROM STDIN", "42701"),
        ("COPY nope FROM STDIN", "42P01"),
        ("COPY t FROM STDIN (FORMAT csv, DELIMITER '\"')", "22023"),
    ];
    for (text, code) in cases {
        let answer = c.run(text).await;
        assert!(answer.starts_with(&format!("ERROR {code}")), "{text}: {answer}");
    }
    let header = copy(&mut c, "COPY t FROM STDIN (FORMAT csv, HEADER match)", "k,x,s,n\n", 100).await.unwrap_err();
    assert_eq!(header.code(), "22P04");
    assert!(header.message().contains("got \"x\", expected \"d\""), "{}", header.message());
    // Every failed COPY has released its table.
    c.ok("DROP TABLE t").await;
}
