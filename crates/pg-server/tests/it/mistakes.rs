//! Client errors in the extended protocol: PostgreSQL's SQLSTATE, and the session goes on.

use crate::client::Strs as _;
use crate::client::{Server, result};
use crate::frames::{bind, bind_as, execute, frame, parse};

#[tokio::test]
async fn names_that_do_not_exist_or_exist_twice() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let one = || parse("", "SELECT 1", &[]);
    for (frames, code) in [
        (vec![bind("", "nothing", 0, &[])], "26000"),
        (vec![frame(b'D', &[b"Snothing\0"])], "26000"),
        (vec![frame(b'D', &[b"Pnothing\0"])], "34000"),
        (vec![execute("nothing", 0)], "34000"),
        (vec![parse("s", "SELECT 1", &[]), parse("s", "SELECT 2", &[])], "42P05"),
        (vec![one(), bind("p", "", 0, &[]), bind("p", "", 0, &[])], "42P03"),
        (vec![parse("", "SELECT 1; SELECT 2", &[])], "42601"),
        (vec![parse("", "SELEC 1", &[])], "42601"),
        (vec![frame(b'D', &[b"Xname\0"])], "08P01"),
    ] {
        assert_eq!(client.extended(&frames).await.strs(), Err(code), "{frames:?}");
        assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
    }
    // Closing a missing statement or portal is not an error.
    let closed = [frame(b'C', &[b"Snothing\0"]), frame(b'C', &[b"Pnothing\0"])];
    assert_eq!(client.extended(&closed).await.strs(), Ok(""));
}

/// FunctionCall is answered at once like a simple query, without a Sync.
#[tokio::test]
async fn a_call_of_a_function_by_its_number() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let call = frame(b'F', &[&[0, 0, 5, 0xa0, 0, 0, 0, 0, 0, 0]]);
    client.send(&call).await;
    assert_eq!(result(&client.answer().await).strs(), Err("0A000"));
    assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
    client.run("BEGIN").await.unwrap();
    client.send(&call).await;
    assert_eq!(result(&client.answer().await).strs(), Err("0A000"));
    assert_eq!(client.run("SELECT 1").await.strs(), Err("25P02"));
}

#[tokio::test]
async fn parameters_that_do_not_parse() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for (ty, format, value, code) in [
        ("integer", 0, &b"x"[..], "22P02"),
        ("integer", 0, b"", "22P02"),
        ("integer", 0, b"99999999999", "22003"),
        ("integer", 1, b"\0\0\x01", "08P01"),
        ("integer", 1, b"\0\0\0\0\0\0\0\x01", "22P03"),
        ("boolean", 0, b"maybe", "22P02"),
        ("date", 0, b"2020-02-30", "22008"),
        ("date", 0, b"yesterday?", "22007"),
        ("timestamptz", 0, b"2020-01-01 25:00", "22008"),
        ("interval", 0, b"1 lightyear", "22007"),
        ("interval", 1, b"\0", "08P01"),
        ("uuid", 0, b"a0ee", "22P02"),
        ("uuid", 1, b"a0ee", "08P01"),
        ("numeric", 0, b"1.2.3", "22P02"),
        ("numeric", 1, b"\0\x01", "22P03"),
        ("bytea", 0, b"\\x0", "22023"),
        ("text", 0, b"\xff", "22021"),
        ("text", 0, b"a\0b", "22021"),
        ("integer[]", 0, b"{1,2", "22P02"),
        ("integer[]", 0, b"{1,x}", "22P02"),
        ("integer[]", 1, b"\0\0\0\x01", "22P03"),
        ("integer", 2, b"1", "22023"),
        ("json", 0, b"{", "22P02"),
        ("json", 1, b"{\"a\"}", "22P02"),
    ] {
        let frames =
            [parse("", &format!("SELECT $1::{ty}"), &[]), bind_as("", "", &[format], &[Some(value)]), execute("", 0)];
        assert_eq!(client.extended(&frames).await.strs(), Err(code), "{ty} {format} {value:?}");
        assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
    }
}

/// The value is part of the aggregate's name, by which the rest of the plan refers to it.
#[tokio::test]
async fn a_parameter_inside_of_an_aggregate() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for (text, value, answer) in [
        ("SELECT bool_and($1::boolean)", &b"t"[..], "t"),
        (
            "SELECT b FROM (SELECT g % 2 AS a, bool_or($1::boolean) AS b FROM generate_series(1, 3) AS g GROUP BY 1) AS s",
            b"f",
            "f",
        ),
        ("SELECT string_agg(pg_get_constraintdef(oid, $1::boolean), '') IS NULL FROM pg_constraint", b"t", "t"),
        ("SELECT sum(g + $1::integer) OVER () FROM generate_series(1, 3) AS g", b"1", "9"),
        (
            "SELECT count(*) FROM generate_series(1, 4) AS g GROUP BY ROLLUP (g % $1::integer) ORDER BY 1 DESC",
            b"2",
            "4",
        ),
    ] {
        let frames = [parse("", text, &[]), bind("", "", 0, &[Some(value)]), execute("", 0)];
        assert_eq!(client.extended(&frames).await.strs(), Ok(answer), "{text}");
    }
}

#[tokio::test]
async fn counts_that_do_not_fit() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for (formats, values) in [
        (&[0][..], &[][..]),
        (&[0], &[Some(&b"1"[..])]),
        (&[0], &[Some(&b"1"[..]), Some(b"2"), Some(b"3")]),
        (&[0, 0, 0], &[Some(&b"1"[..]), Some(b"2")]),
    ] {
        let frames =
            [parse("", "SELECT $1::integer + $2::integer", &[]), bind_as("", "", formats, values), execute("", 0)];
        assert_eq!(client.extended(&frames).await.strs(), Err("08P01"), "{formats:?} {values:?}");
        assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
    }
}

#[tokio::test]
async fn a_bad_line_of_copy_is_named_with_its_column() {
    use crate::client::field;
    use crate::frames::query;
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text, d date)").await.unwrap();
    for (data, code, place) in [
        (&b"1\ta\t2020-01-01\nx\tb\t\\N\n"[..], "22P02", "COPY t, line 2, column k: \"x\""),
        (b"1\ta\t2020-13-01\n", "22008", "COPY t, line 1, column d: \"2020-13-01\""),
        (b"1\ta\t\\N\n2\tb\n", "22P04", "COPY t, line 2: \"2\tb\""),
        (b"x\n", "22P02", "COPY t, line 1, column k: \"x\""),
        (b"1\ta\t\\N\t4\n", "22P04", "COPY t, line 1: \"1\ta\t\\N\t4\""),
    ] {
        client.send(&[query("COPY t FROM STDIN"), frame(b'd', &[data]), frame(b'c', &[])].concat()).await;
        let answer = client.answer().await;
        assert_eq!(result(&answer).strs(), Err(code), "{place}");
        let error = answer.iter().find(|message| message.kind == b'E').unwrap();
        assert_eq!(field(error, b'W'), place);
        assert_eq!(client.run("SELECT count(*) FROM t").await.strs(), Ok("0"));
    }
}

#[tokio::test]
async fn a_condition_of_copy_is_a_boolean() {
    use crate::frames::query;
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    for (condition, ty) in [("v", "text"), ("k", "integer"), ("k + 1", "integer")] {
        client.send(&query(&format!("COPY t FROM STDIN WHERE {condition}"))).await;
        let answer = client.answer().await;
        assert_eq!(result(&answer).strs(), Err("42804"), "{condition}");
        let wanted = format!("argument of WHERE must be type boolean, not type {ty}");
        assert_eq!(crate::client::field(&answer[0], b'M'), wanted);
    }
    for (condition, copied) in [
        ("NULL", Ok("COPY 0")),
        ("'t'", Ok("COPY 2")),
        ("k > 1", Ok("COPY 1")),
        ("false", Ok("COPY 0")),
        ("'x'", Err("22P02")),
    ] {
        let copy = query(&format!("COPY t FROM STDIN WHERE {condition}"));
        client.send(&[copy, frame(b'd', &[b"1\ta\n2\tb\n"]), frame(b'c', &[])].concat()).await;
        assert_eq!(result(&client.answer().await).strs(), copied, "{condition}");
        client.run("DELETE FROM t").await.unwrap();
    }
}
