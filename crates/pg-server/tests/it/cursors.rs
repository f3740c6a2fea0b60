//! SQL cursors are protocol portals and the other way round; OID types; table locks.

use crate::client::{Client, Message, Server, Strs as _, result};
use crate::frames::{bind, execute, frame, parse, query};

async fn server() -> Server {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    client.run("INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 300) AS g").await.unwrap();
    server
}

/// The first field of each row.
fn rows(messages: &[Message]) -> Vec<String> {
    let rows = messages.iter().filter(|message| message.kind == b'D');
    rows.map(|row| String::from_utf8_lossy(&row.body[6..][..usize::from(row.body[5])]).into_owned()).collect()
}

async fn ask(client: &mut Client, text: &str) -> Vec<Message> {
    client.send(&query(text)).await;
    client.answer().await
}

fn kinds(messages: &[Message]) -> String {
    messages.iter().map(|message| char::from(message.kind)).collect()
}

fn sync() -> Vec<u8> {
    frame(b'S', &[])
}

/// The messages of psycopg's named cursors.
#[tokio::test]
async fn a_declared_cursor_is_described_fetched_and_closed_as_a_portal() {
    let server = server().await;
    let mut client = server.session().await;
    client.run("BEGIN").await.unwrap();
    let declare = [
        parse("", "DECLARE c CURSOR FOR SELECT k, v FROM t WHERE k > $1 ORDER BY k", &[]),
        frame(b'D', &[b"S\0"]),
        bind("", "", 0, &[Some(b"297")]),
        execute("", 0),
        sync(),
    ];
    client.send(&declare.concat()).await;
    let answer = client.answer().await;
    assert_eq!(kinds(&answer), "1tn2CZ");
    // One parameter of type integer.
    assert_eq!(answer[1].body, [0, 1, 0, 0, 0, 23]);

    client.send(&[frame(b'D', &[b"Pc\0"]), sync()].concat()).await;
    let answer = client.answer().await;
    assert_eq!(kinds(&answer), "TZ");
    assert_eq!(&answer[0].body[..2], [0, 2], "two columns");

    let fetch = [
        parse("", "FETCH FORWARD 2 FROM c", &[]),
        bind("", "", 1, &[]),
        frame(b'D', &[b"P\0"]),
        execute("", 0),
        sync(),
    ];
    client.send(&fetch.concat()).await;
    let answer = client.answer().await;
    assert_eq!(kinds(&answer), "12TDDCZ");
    assert_eq!(answer[3].body[6..10], 298_i32.to_be_bytes(), "in binary, as bound");
    assert_eq!(answer[5].body, b"FETCH 2\0");

    assert_eq!(client.extended(&[bind("c", "", 0, &[])]).await.strs(), Err("42P03"));
    client.run("ROLLBACK").await.unwrap();
    client.run("BEGIN; DECLARE c CURSOR FOR SELECT 1").await.unwrap();
    assert_eq!(client.extended(&[frame(b'C', &[b"Pc\0"])]).await.strs(), Ok(""));
    assert_eq!(client.run("FETCH c").await.strs(), Err("34000"));
}

/// The messages of asyncpg's cursors.
#[tokio::test]
async fn a_portal_is_moved_and_fetched_from_by_name() {
    let server = server().await;
    let mut client = server.session().await;
    client.run("BEGIN").await.unwrap();
    let portal = [parse("s", "SELECT k FROM t ORDER BY k", &[]), bind("p", "s", 0, &[])];
    client.extended(&portal).await.unwrap();
    assert_eq!(client.run("MOVE FORWARD 10 p").await.strs(), Ok("MOVE 10"));
    client.send(&[execute("p", 3), sync()].concat()).await;
    assert_eq!(rows(&client.answer().await), ["11", "12", "13"]);
    let answer = ask(&mut client, "FETCH 2 FROM p").await;
    assert_eq!((kinds(&answer), rows(&answer)), ("TDDCZ".to_string(), vec!["14".to_string(), "15".to_string()]));
    assert_eq!(client.run("MOVE ALL IN p").await.strs(), Ok("MOVE 285"));
    assert_eq!(client.run("FETCH p").await.strs(), Ok("FETCH 0"));
    assert_eq!(client.run("CLOSE p").await.strs(), Ok("CLOSE CURSOR"));
    assert_eq!(client.run("FETCH p").await.strs(), Err("34000"));

    // A failed block accepts no statements about portals.
    client.run("ROLLBACK; BEGIN").await.unwrap();
    client.extended(&[bind("p", "s", 0, &[])]).await.unwrap();
    assert_eq!(client.run("SELECT 1 / 0").await.strs(), Err("22012"));
    assert_eq!(client.run("MOVE p").await.strs(), Err("25P02"));
}

#[tokio::test]
async fn portals_end_with_their_savepoint_and_share_their_names_with_cursors() {
    let server = server().await;
    let mut client = server.session().await;
    client.extended(&[parse("s", "SELECT k FROM t ORDER BY k", &[])]).await.unwrap();
    client.run("BEGIN").await.unwrap();
    client.extended(&[bind("before", "s", 0, &[])]).await.unwrap();
    client.run("SAVEPOINT a").await.unwrap();
    client.extended(&[bind("after", "s", 0, &[])]).await.unwrap();
    assert_eq!(client.run("FETCH 2 FROM after").await.strs(), Ok("1"));
    assert_eq!(client.run("DECLARE after CURSOR FOR SELECT 1").await.strs(), Err("42P03"));
    client.run("ROLLBACK TO a").await.unwrap();
    assert_eq!(client.run("FETCH before").await.strs(), Ok("1"));
    assert_eq!(client.extended(&[execute("after", 1)]).await.strs(), Err("34000"));
    client.run("ROLLBACK TO a").await.unwrap();

    // The same by prepared statements.
    client.extended(&[bind("after", "s", 0, &[])]).await.unwrap();
    let declare = [parse("", "DECLARE after CURSOR FOR SELECT 1", &[]), bind("", "", 0, &[]), execute("", 0)];
    assert_eq!(client.extended(&declare).await.strs(), Err("42P03"));
    let back = [parse("", "ROLLBACK TO a", &[]), bind("", "", 0, &[]), execute("", 0)];
    client.extended(&back).await.unwrap();
    assert_eq!(client.extended(&declare).await.strs(), Ok("DECLARE CURSOR"));
    let close = [parse("", "CLOSE before", &[]), bind("", "", 0, &[]), execute("", 0)];
    assert_eq!(client.extended(&close).await.strs(), Ok("CLOSE CURSOR"));
    assert_eq!(client.run("FETCH before").await.strs(), Err("34000"));

    client.run("ROLLBACK TO a").await.unwrap();
    client.extended(&[bind("p", "s", 0, &[]), execute("p", 1)]).await.unwrap();
    assert_eq!(client.run("CLOSE ALL").await.strs(), Ok("CLOSE CURSOR ALL"));
    assert_eq!(client.run("FETCH p").await.strs(), Err("34000"));

    // An open portal does not continue in a failed block.
    client.run("ROLLBACK; BEGIN").await.unwrap();
    client.extended(&[bind("p", "s", 0, &[]), execute("p", 1)]).await.unwrap();
    assert_eq!(client.run("SELECT 1 / 0").await.strs(), Err("22012"));
    assert_eq!(client.extended(&[execute("p", 1)]).await.strs(), Err("25P02"));
}

#[tokio::test]
async fn the_timeout_of_declare_does_not_end_the_cursor_and_that_of_fetch_does() {
    let server = server().await;
    let mut client = server.session().await;
    client.run("BEGIN").await.unwrap();
    client.run("SET LOCAL statement_timeout = '500ms'").await.unwrap();
    client.run("DECLARE slow CURSOR FOR SELECT count(*) FROM t a, t b, t c, t d, t e").await.unwrap();
    client.run("DECLARE quick CURSOR FOR SELECT a.k FROM t a, t b, t c ORDER BY a.k LIMIT 90000").await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    client.run("SET LOCAL statement_timeout = '30s'").await.unwrap();
    assert_eq!(client.run("MOVE 80000 FROM quick").await.strs(), Ok("MOVE 80000"));
    client.run("SET LOCAL statement_timeout = '300ms'").await.unwrap();
    assert_eq!(client.run("FETCH slow").await.strs(), Err("57014"));
    assert_eq!(client.run("FETCH quick").await.strs(), Err("25P02"));
    assert_eq!(client.run("ROLLBACK").await.strs(), Ok("ROLLBACK"));
}

#[tokio::test]
async fn a_declared_cursor_is_executed_as_a_portal() {
    let server = server().await;
    let mut client = server.session().await;
    client.run("BEGIN; DECLARE c CURSOR FOR SELECT k FROM t WHERE k < 6 ORDER BY k").await.unwrap();
    for (limit, expected, tag) in [(2, ["1", "2"].as_slice(), "s"), (0, &["4", "5"], "SELECT 2"), (0, &[], "SELECT 0")]
    {
        client.send(&[execute("c", limit), sync()].concat()).await;
        let answer = client.answer().await;
        assert_eq!(rows(&answer), expected);
        let end = &answer[expected.len()];
        let end = if end.kind == b's' { "s" } else { std::str::from_utf8(&end.body).unwrap().trim_end_matches('\0') };
        assert_eq!(end, tag);
        if limit > 0 {
            assert_eq!(client.run("FETCH c").await.strs(), Ok("3"));
        }
    }
    assert_eq!(client.run("FETCH c").await.strs(), Ok("FETCH 0"));
    assert_eq!(client.extended(&[execute("d", 0)]).await.strs(), Err("34000"));

    client.run("ROLLBACK; BEGIN; DECLARE c CURSOR FOR SELECT 1 / (k - 3) FROM t ORDER BY k").await.unwrap();
    assert_eq!(client.extended(&[execute("c", 0)]).await.strs(), Err("22012"));
    client.run("ROLLBACK").await.unwrap();
    assert_eq!(client.extended(&[execute("c", 0)]).await.strs(), Err("34000"));
}

#[tokio::test]
async fn each_execute_of_a_portal_has_the_whole_timeout_and_none_passes_between_them() {
    let server = server().await;
    let mut client = server.session().await;
    client.run("BEGIN; SET LOCAL statement_timeout = '1500ms'").await.unwrap();
    let text = "SELECT a.k FROM t a, t b";
    client.extended(&[parse("", text, &[]), bind("p", "", 0, &[]), execute("p", 1)]).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(client.run("MOVE 2 p").await.strs(), Ok("MOVE 2"));
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    client.send(&[execute("p", 0), sync()].concat()).await;
    assert_eq!(rows(&client.answer().await).len(), 300 * 300 - 3);

    let text = "SELECT a.k FROM t a, t b UNION ALL SELECT count(*) FROM t a, t b, t c, t d, t e";
    client.extended(&[parse("", text, &[]), bind("q", "", 0, &[]), execute("q", 1)]).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    client.extended(&[execute("q", 1)]).await.unwrap();
    assert_eq!(client.extended(&[execute("q", 0)]).await.strs(), Err("57014"));
}

#[tokio::test]
async fn oids_are_parameters_and_columns_of_their_own_type() {
    let server = server().await;
    let mut client = server.session().await;
    // As sqlx does: a parameter declared as oid, four bytes.
    let oid = client.run("SELECT oid FROM pg_class WHERE relname = 't'").await.unwrap();
    let number: u32 = oid.parse().unwrap();
    let frames = [
        parse("", "SELECT relname::text FROM pg_class WHERE oid = $1", &[26]),
        bind("", "", 1, &[Some(&number.to_be_bytes())]),
        execute("", 0),
    ];
    assert_eq!(client.extended(&frames).await.strs(), Ok("t"));
    // As asyncpg does: an array of oid in binary.
    let array = [&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 26, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4][..], &number.to_be_bytes()];
    let ask = parse("", "SELECT relname::text FROM pg_class WHERE oid = any($1::oid[])", &[]);
    client
        .send(
            &[ask, frame(b'D', &[b"S\0"]), bind("", "", 1, &[Some(&array.concat())]), execute("", 0), sync()].concat(),
        )
        .await;
    let answer = client.answer().await;
    assert_eq!(answer[1].body, [0, 1, 0, 0, 4, 4], "an array of oids is wanted");
    assert_eq!(result(&answer).strs(), Ok("t"));
    // RowDescription has the type oid.
    client.send(&query("SELECT oid FROM pg_class LIMIT 0")).await;
    let answer = client.answer().await;
    assert_eq!(answer[0].body[2 + 4 + 6..][..4], 26_u32.to_be_bytes());
    for (text, found) in [
        ("SELECT 4294967295::oid", Ok("4294967295")),
        ("SELECT '-1'::oid", Ok("4294967295")),
        ("SELECT (-1)::oid", Ok("4294967295")),
        ("SELECT '7'::text::oid::integer + 1", Ok("8")),
        ("SELECT '{1,2}'::oid[]", Ok("{1,2}")),
        ("SELECT pg_typeof(1::oid)::text", Ok("oid")),
        ("SELECT 4294967296::oid", Err("22003")),
        ("SELECT 'x'::oid", Err("22P02")),
        ("CREATE TABLE o (a oid)", Err("0A000")),
    ] {
        assert_eq!(client.run(text).await.strs(), found, "{text}");
    }
}

#[tokio::test]
async fn a_locked_table_keeps_its_definition_and_a_share_lock_its_rows() {
    let server = server().await;
    let (mut holder, mut other) = (server.session().await, server.session().await);
    other.run("SET lock_timeout = '100ms'").await.unwrap();
    holder.run("BEGIN; LOCK TABLE t IN ACCESS SHARE MODE").await.unwrap();
    assert_eq!(other.run("UPDATE t SET v = 'x' WHERE k = 1").await.strs(), Ok("UPDATE 1"));
    assert_eq!(other.run("ALTER TABLE t ADD COLUMN w integer").await.strs(), Err("55P03"));
    assert_eq!(other.run("DROP TABLE t").await.strs(), Err("55P03"));
    holder.run("LOCK TABLE t IN SHARE MODE").await.unwrap();
    assert_eq!(other.run("UPDATE t SET v = 'y' WHERE k = 1").await.strs(), Err("55P03"));
    assert_eq!(other.run("SELECT v FROM t WHERE k = 1").await.strs(), Ok("x"));
    other.run("RESET lock_timeout; BEGIN").await.unwrap();
    assert_eq!(other.run("LOCK TABLE t IN ROW EXCLUSIVE MODE NOWAIT").await.strs(), Err("55P03"));
    other.run("ROLLBACK").await.unwrap();
    holder.run("COMMIT").await.unwrap();
    assert_eq!(other.run("DROP TABLE t").await.strs(), Ok("DROP TABLE"));
}

#[tokio::test]
async fn a_portal_run_to_its_end_has_no_more_rows_and_what_gives_none_runs_once() {
    let server = server().await;
    let mut client = server.session().await;
    client.run("CREATE TABLE o (a integer PRIMARY KEY)").await.unwrap();
    let tags = |messages: &[Message]| -> Vec<String> {
        let shown = messages.iter().filter(|message| matches!(message.kind, b'C' | b's' | b'I' | b'E'));
        shown
            .map(|message| match message.kind {
                b'C' => String::from_utf8_lossy(&message.body).trim_end_matches('\0').to_string(),
                b'E' if String::from_utf8_lossy(&message.body).contains("C55000\0") => "55000".to_string(),
                other => char::from(other).to_string(),
            })
            .collect()
    };
    for (text, limit, expected) in [
        ("INSERT INTO o VALUES (1)", 0, ["INSERT 0 1", "55000"].as_slice()),
        ("SET statement_timeout = '20s'", 0, &["SET", "55000"]),
        ("SELECT k FROM t WHERE k < 3 ORDER BY k", 0, &["SELECT 2", "SELECT 0", "SELECT 0"]),
        ("SELECT k FROM t WHERE k < 4 ORDER BY k", 2, &["s", "SELECT 1", "SELECT 0"]),
        ("INSERT INTO o VALUES (2), (3), (4) RETURNING a", 2, &["s", "INSERT 0 1", "INSERT 0 0"]),
        ("SHOW work_mem", 0, &["SHOW", "SHOW"]),
        ("", 0, &["I", "I"]),
    ] {
        let mut frames = vec![parse("", text, &[]), bind("", "", 0, &[])];
        frames.extend(expected.iter().map(|_| execute("", limit)));
        frames.push(sync());
        client.send(&frames.concat()).await;
        assert_eq!(tags(&client.answer().await), expected, "{text}");
    }
}

#[tokio::test]
async fn parameters_of_types_of_catalogs_are_text() {
    let server = server().await;
    let mut client = server.session().await;
    for oid in [18, 19, 1042] {
        let frames = [parse("", "SELECT $1::text || '.'", &[oid]), bind("", "", 0, &[Some(b"r")]), execute("", 0)];
        assert_eq!(client.extended(&frames).await.strs(), Ok("r."), "{oid}");
    }
}

/// Bind takes the columns of the cursor that exists then.
#[tokio::test]
async fn a_fetch_that_is_prepared_before_its_cursor_has_its_columns() {
    let server = server().await;
    let mut client = server.session().await;
    client.send(&[parse("f", "FETCH 2 FROM c", &[]), frame(b'D', &[b"Sf\0"]), sync()].concat()).await;
    assert_eq!(kinds(&client.answer().await), "1tnZ");
    client.run("BEGIN").await.unwrap();
    client.run("DECLARE c CURSOR FOR SELECT k, v FROM t ORDER BY k").await.unwrap();
    for (format, columns) in [(0_u16, ["1", "2"]), (0, ["3", "4"])] {
        let frames = [bind("", "f", format, &[]), frame(b'D', &[b"P\0"]), execute("", 0), sync()];
        client.send(&frames.concat()).await;
        let answer = client.answer().await;
        assert_eq!(kinds(&answer), "2TDDCZ");
        assert_eq!(answer[1].body[..2], [0, 2]);
        assert_eq!(rows(&answer), columns);
    }
    client.run("ROLLBACK").await.unwrap();
    let bound = [bind("", "f", 0, &[]), execute("", 0)];
    assert_eq!(client.extended(&bound).await.strs(), Err("34000"));
}
