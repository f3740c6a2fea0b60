//! Limits of connections, bytes and nesting depth: exceeding them is an error, and the process stays alive.

use crate::client::Strs as _;
use crate::client::{Server, field, result};
use crate::frames::{bind, execute, frame, parse, query, startup, startup_as};

#[tokio::test]
async fn one_connection_too_many_is_refused_until_a_seat_is_free() {
    let server = Server::start(2).await;
    let (mut first, second) = (server.session().await, server.session().await);
    let refused = server.connect().await.answer().await;
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!((field(&refused[0], b'S').as_str(), field(&refused[0], b'C').as_str()), ("FATAL", "53300"));
    // A client that sends SSLRequest first gets the error too, and a cancel request needs no slot.
    let mut refused = server.opened().await;
    refused.send(&[&8_u32.to_be_bytes()[..], &80_877_103_u32.to_be_bytes()].concat()).await;
    assert_eq!(refused.byte().await, b'N');
    refused.send(&startup()).await;
    assert_eq!(field(&refused.answer().await[0], b'C'), "53300");
    assert_eq!(first.run("SELECT 1").await.strs(), Ok("1"));
    drop(second);
    server.sessions_are(1).await;
    assert_eq!(server.session().await.run("SELECT 2").await.strs(), Ok("2"));
}

#[tokio::test]
async fn a_client_whose_message_is_refused_for_its_length_is_told_behind_its_end() {
    let server = Server::start_with_memory(4 << 20).await;
    let mut client = server.session().await;
    // More than the buffers of both sockets hold: the client can send it whole only if the server keeps reading.
    client.send(&query(&format!("SELECT length('{}')", "x".repeat(64 << 20)))).await;
    let told = client.answer().await;
    assert_eq!((field(&told[0], b'S').as_str(), field(&told[0], b'C').as_str()), ("FATAL", "53200"), "{told:?}");
    assert_eq!(server.session().await.run("SELECT 2").await.strs(), Ok("2"));
}

#[tokio::test]
async fn the_operator_has_a_seat_when_all_others_are_taken() {
    let server = Server::start_reserving(3, 1).await;
    let (mut first, _second) = (server.session().await, server.session().await);
    assert_eq!(first.run("SHOW superuser_reserved_connections").await.strs(), Ok("1"));
    let refused = server.connect().await.answer().await;
    assert_eq!(field(&refused[0], b'C'), "53300");
    assert_eq!(
        field(&refused[0], b'M'),
        "remaining connection slots are reserved for non-replication superuser connections"
    );
    let mut operator = server.opened().await;
    operator.send(&startup_as("postgres")).await;
    assert_eq!(operator.answer().await.last().unwrap().kind, b'Z');
    let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'ada'";
    assert_eq!(operator.run(ended).await.strs(), Ok("2"));
    server.sessions_are(1).await;
    assert_eq!(server.session().await.run("SELECT 2").await.strs(), Ok("2"));
}

#[tokio::test]
async fn when_a_silent_client_is_asked_is_shown_and_can_be_set() {
    let server = Server::start(5).await;
    let mut client = server.session().await;
    for (name, default) in [("idle", "60"), ("interval", "10"), ("count", "6")] {
        let name = format!("tcp_keepalives_{name}");
        assert_eq!(client.run(&format!("SHOW {name}")).await.strs(), Ok(default));
        assert_eq!(client.run(&format!("SET {name} = 33")).await.strs(), Ok("SET"));
        assert_eq!(client.run(&format!("SHOW {name}")).await.strs(), Ok("33"));
        assert_eq!(client.run(&format!("SET {name} = -1")).await.strs(), Err("22023"));
    }
    assert_eq!(client.run("SHOW tcp_user_timeout").await.strs(), Ok("0"));
    assert_eq!(client.run("SET tcp_user_timeout = 9000; SHOW tcp_user_timeout").await.strs(), Ok("9000"));
}

#[tokio::test]
async fn a_frame_that_is_too_long_ends_the_connection_before_it_is_read() {
    let server = Server::start(10).await;
    for length in [0x4000_0000_u32, 0xffff_ffff, 3] {
        let mut client = server.session().await;
        client.send(&[&b"Q"[..], &length.to_be_bytes(), b"SELECT 1\0"].concat()).await;
        let answer = client.answer().await;
        assert_eq!((answer.len(), result(&answer)), (1, Err("08P01".into())), "{length:x}");
        assert_eq!(field(&answer[0], b'S'), "FATAL");
    }
    let mut client = server.session().await;
    client.send(&0x4000_0000_u32.to_be_bytes()).await;
    drop(client);
    server.sessions_are(0).await;
}

#[tokio::test]
async fn a_parameter_of_many_bytes_comes_back_whole() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let value = vec![b'x'; 20 << 20];
    let frames = [parse("", "SELECT length($1::text)", &[]), bind("", "", 0, &[Some(&value)]), execute("", 0)];
    assert_eq!(client.extended(&frames).await, Ok((20 << 20).to_string()));
    let stored = [parse("", "INSERT INTO t VALUES (1, $1)", &[]), bind("", "", 0, &[Some(&value)]), execute("", 0)];
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    assert_eq!(client.extended(&stored).await.strs(), Ok("INSERT 0 1"));
    assert_eq!(client.run("SELECT length(v) FROM t").await, Ok((20 << 20).to_string()));
}

#[tokio::test]
async fn a_line_of_copy_that_never_ends_is_an_error() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    client.send(&query("COPY t FROM STDIN")).await;
    assert_eq!(client.message().await.unwrap().kind, b'G');
    let block = frame(b'd', &[&vec![b'1'; 4 << 20]]);
    for _ in 0..65 {
        client.send(&block).await;
    }
    client.send(&frame(b'c', &[])).await;
    let answer = client.answer().await;
    assert_eq!(result(&answer), Err("54000".into()));
    let error = answer.iter().find(|message| message.kind == b'E').unwrap();
    assert_eq!(field(error, b'W'), "COPY t, line 1");
    assert_eq!(client.run("SELECT count(*) FROM t").await.strs(), Ok("0"));
}

#[tokio::test]
async fn a_field_of_binary_copy_that_no_row_has_room_for_is_refused_before_it_comes() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    let header = [&b"PGCOPY\n\xff\r\n\0"[..], &[0; 8]].concat();
    for length in [i32::MAX, 1 << 30] {
        client.send(&query("COPY t FROM STDIN (FORMAT binary)")).await;
        assert_eq!(client.message().await.unwrap().kind, b'G');
        let tuple = [&2_i16.to_be_bytes()[..], &4_i32.to_be_bytes(), &1_i32.to_be_bytes(), &length.to_be_bytes()];
        client.send(&frame(b'd', &[&header, &tuple.concat(), b"abc"])).await;
        assert_eq!(result(&client.answer().await), Err("54000".into()), "{length}");
    }
    assert_eq!(client.run("SELECT count(*) FROM t").await.strs(), Ok("0"));
}

#[tokio::test]
async fn a_long_line_of_copy_that_ends_is_read() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text)").await.unwrap();
    for (key, options) in [("1\t", ""), ("2,", " (FORMAT csv)")] {
        client.send(&query(&format!("COPY t FROM STDIN{options}"))).await;
        assert_eq!(client.message().await.unwrap().kind, b'G');
        client.send(&frame(b'd', &[key.as_bytes()])).await;
        for _ in 0..40 {
            client.send(&frame(b'd', &[&vec![b'x'; 100_000]])).await;
        }
        client.send(&frame(b'd', &[b"\n"])).await;
        client.send(&frame(b'c', &[])).await;
        assert_eq!(result(&client.answer().await).strs(), Ok("COPY 1"));
    }
    assert_eq!(client.run("SELECT sum(length(v)) FROM t").await.strs(), Ok("8000000"));
}

/// PostgreSQL's codes for these are 54001 and 42601 (memory exhausted); it runs some of them.
#[tokio::test]
async fn statements_that_are_too_deep_or_too_long_are_refused_and_the_session_goes_on() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let nested =
        |open: &str, close: &str, depth: usize| format!("SELECT {}1{}", open.repeat(depth), close.repeat(depth));
    let chain = |item: &str, operator: &str| format!("SELECT {}", vec![item; 100_000].join(operator));
    for statement in [
        nested("(", ")", 100_000),
        nested("(SELECT ", ")", 10_000),
        nested("abs(", ")", 20_000),
        nested("CASE WHEN true THEN ", " END", 20_000),
        nested("ARRAY[", "]", 20_000),
        nested("- ", "", 100_000),
        nested("", "::integer", 100_000),
        format!("SELECT {}true", "NOT ".repeat(100_000)),
        format!("SELECT * FROM {}(SELECT 1) AS t{}", "(SELECT * FROM ".repeat(10_000), ") AS t".repeat(10_000)),
        chain("true", " AND "),
        chain("true", " OR "),
        chain("1", " + "),
        chain("'a'", " || "),
        vec!["SELECT 1"; 5_000].join(" UNION ALL "),
        format!("SELECT count(*) FROM {}", vec!["(SELECT 1) AS t"; 2_000].join(", ")),
        format!("SELECT count(*) FROM (SELECT 1) AS t{}", " CROSS JOIN (SELECT 1) AS t".repeat(2_000)),
        format!("WITH c AS (SELECT 1 AS a){} SELECT * FROM c", ", c AS (SELECT a FROM c)".repeat(2_000)),
    ] {
        let shown = statement.get(..60).unwrap_or_default();
        let found = client.run(&statement).await;
        assert!(matches!(found.strs(), Err("54001" | "54000")), "{shown}: {found:?}");
        let found = client.extended(&[parse("", &statement, &[])]).await;
        assert!(matches!(found.strs(), Err("54001" | "54000")), "{shown}: {found:?}");
    }
    assert_eq!(client.run("SELECT 1").await.strs(), Ok("1"));
    // The branches of a CASE are not nested.
    let case = format!("SELECT CASE {} ELSE 4 END", "WHEN 1 = 2 THEN 3 ".repeat(10_000));
    assert_eq!(client.run(&case).await.strs(), Ok("4"));
}

/// Each level uses the level below several times, so copied operands would double with each level, as in PostgreSQL.
#[tokio::test]
async fn operands_within_operands_do_not_fill_the_memory() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE n (k integer PRIMARY KEY, t text); INSERT INTO n VALUES (1, 'x')").await.unwrap();
    let nested = |first: &str, form: &str, depth: usize| {
        let operand = (0..depth).fold(first.to_owned(), |operand, _| form.replace("$e", &operand));
        format!("SELECT {operand} FROM n")
    };
    let case = |condition: &str| format!("(CASE WHEN {condition} THEN 1 ELSE 3 END)");
    for (first, form) in [
        ("k", case("$e BETWEEN SYMMETRIC 1 AND 2")),
        ("k", case("$e BETWEEN 1 AND 2")),
        ("k", case("$e BETWEEN 1 AND 2.5")),
        ("k", case("($e, 1) IN ((1, 2), (2, 3))")),
        ("k", case("($e, 1) < (1, 2)")),
        ("k = 1", "nullif($e, false)".to_owned()),
    ] {
        let found = client.run(&nested(first, &form, 30)).await;
        assert_eq!(found.strs(), Err("54001"), "{form}");
        assert!(client.run(&nested(first, &form, 4)).await.is_ok(), "{form}");
    }
    let like = nested("t", "($e LIKE ANY (ARRAY['x', 'y']))::text", 30);
    assert_eq!(client.run(&like).await.strs(), Ok("false"));
}

#[tokio::test]
async fn rows_of_more_columns_than_postgresql_gives_are_refused() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let ones = |count: usize| vec!["1"; count].join(", ");
    let wide = (0..900).map(|n| format!("c{n} int")).collect::<Vec<_>>().join(", ");
    assert_eq!(client.run(&format!("CREATE TABLE wide ({wide})")).await.strs(), Ok("CREATE TABLE"));
    for (statement, answer) in [
        (format!("SELECT {}", ones(1665)), Err("54011")),
        (format!("SELECT count(*) FROM (SELECT {}) AS t", ones(1665)), Err("54011")),
        (format!("SELECT {} AS last ORDER BY 1, last", ones(1664)), Ok(())),
        (format!("SELECT c0 FROM wide ORDER BY {}", vec!["c0 + 1"; 1664].join(", ")), Err("54011")),
        ("SELECT a.*, b.* FROM wide AS a, wide AS b".to_owned(), Err("54011")),
        (format!("SELECT {}", ones(1664)), Ok(())),
    ] {
        let found = client.run(&statement).await;
        let shown = statement.get(..60).unwrap_or_default();
        assert_eq!(found.strs().map(|_| ()), answer, "{shown}");
    }
}

/// The deepest allowed statements run, in a debug build too.
#[tokio::test]
async fn as_deep_as_is_allowed_is_answered() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let joins: String = (1..=100).map(|n| format!(" CROSS JOIN (SELECT 1) AS t{n}")).collect();
    assert_eq!(client.run(&format!("SELECT count(*) FROM (SELECT 1) AS t0{joins}")).await.strs(), Ok("1"));
    let queries: String = (1..150).map(|n| format!(", c{n} AS (SELECT a + 1 AS a FROM c{})", n - 1)).collect();
    let text = format!("WITH c0 AS (SELECT 1 AS a){queries} SELECT a FROM c149");
    assert_eq!(client.run(&text).await.strs(), Ok("150"));
    let text = format!("SELECT * FROM {}(SELECT 1) AS t{}", "(SELECT * FROM ".repeat(90), ") AS t".repeat(90));
    assert_eq!(client.run(&text).await.strs(), Ok("1"));
    let text = vec!["SELECT 1"; 240].join(" UNION ALL ");
    assert_eq!(client.run(&format!("SELECT count(*) FROM ({text}) AS u")).await.strs(), Ok("240"));
    let text = format!("SELECT {}", vec!["1"; 240].join(" + "));
    assert_eq!(client.run(&text).await.strs(), Ok("240"));
}

#[tokio::test]
async fn a_long_list_is_not_deep() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let list = (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    assert_eq!(client.run(&format!("SELECT 19999 IN ({list})")).await.strs(), Ok("t"));
    let pairs = (0..20_000).map(|n| format!("({n}, {})", n % 7)).collect::<Vec<_>>().join(", ");
    assert_eq!(client.run(&format!("SELECT (19999, 0) IN ({pairs})")).await.strs(), Ok("t"));
    client.run("CREATE TABLE t (a integer, b integer, v integer, PRIMARY KEY (a, b))").await.unwrap();
    client.run("INSERT INTO t SELECT g, g % 7, g FROM generate_series(1, 10) AS s (g)").await.unwrap();
    assert_eq!(client.run(&format!("SELECT count(*) FROM t WHERE (a, b) IN ({pairs})")).await.strs(), Ok("10"));
    assert_eq!(client.run(&format!("SELECT count(*) FROM t WHERE a NOT IN ({list})")).await.strs(), Ok("0"));
    let rows = (0..2_000).map(|n| format!("({n})")).collect::<Vec<_>>().join(", ");
    assert_eq!(client.run(&format!("SELECT count(*) FROM (VALUES {rows}) AS v")).await.strs(), Ok("2000"));
}
