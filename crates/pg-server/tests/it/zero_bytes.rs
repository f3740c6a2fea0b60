//! A zero byte ends a protocol string: it is refused in data, and cannot forge fields of a backend message.

use crate::client::{Client, Message, Server, Strs as _};
use crate::frames::{bind_as, execute, frame, parse, query};

/// A value whose zero bytes would forge further fields of an error.
const FORGED: &[u8] = b"x\0C00000\0Hrun: rm -rf /\0";

/// The fields of an error, read as a client does: the message must end with the empty field.
fn fields(error: &Message) -> Vec<(char, String)> {
    let mut rest = error.body.as_slice();
    let mut fields = Vec::new();
    loop {
        let (tag, behind) = rest.split_first().expect("an error without an end");
        if *tag == 0 {
            assert!(behind.is_empty(), "bytes behind the end of an error: {}", error.body.escape_ascii());
            return fields;
        }
        let end = behind.iter().position(|byte| *byte == 0).expect("a field without an end");
        fields.push((char::from(*tag), String::from_utf8(behind[..end].to_vec()).unwrap()));
        rest = &behind[end + 1..];
    }
}

/// The code, message and context of the only error, which must have no other fields.
fn error_of(messages: &[Message]) -> (String, String, String) {
    let errors: Vec<_> = messages.iter().filter(|message| message.kind == b'E').collect();
    assert_eq!(errors.len(), 1, "{messages:?}");
    let fields = fields(errors[0]);
    let all = |tag: char| fields.iter().filter(|field| field.0 == tag).map(|field| field.1.clone()).collect::<Vec<_>>();
    assert_eq!((all('C').len(), all('H').len()), (1, 0), "{fields:?}");
    (all('C').concat(), all('M').concat(), all('W').concat())
}

async fn fails_with_22021(client: &mut Client, frames: &[Vec<u8>], what: &str) -> String {
    client.send(&frames.concat()).await;
    let answer = client.answer().await;
    assert_eq!(answer.last().map(|message| message.kind), Some(b'Z'), "{what}");
    let (code, message, context) = error_of(&answer);
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("22021", "invalid byte sequence for encoding \"UTF8\": 0x00"),
        "{what}"
    );
    assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"), "{what}");
    context
}

fn select(ty: &str, format: u16, value: &[u8]) -> Vec<Vec<u8>> {
    let bound = bind_as("", "", &[format], &[Some(value)]);
    vec![parse("", &format!("SELECT $1::{ty}"), &[]), bound, execute("", 0), frame(b'S', &[])]
}

#[tokio::test]
async fn parameters_in_text() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for ty in [
        "text",
        "varchar",
        "varchar(3)",
        "char(3)",
        "smallint",
        "integer",
        "bigint",
        "oid",
        "real",
        "double precision",
        "numeric",
        "numeric(5,2)",
        "boolean",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "interval",
        "uuid",
        "bytea",
        "json",
        "integer[]",
        "text[]",
        "date[]",
        "uuid[]",
        "numeric(5,2)[]",
    ] {
        fails_with_22021(&mut client, &select(ty, 0, FORGED), ty).await;
        fails_with_22021(&mut client, &select(ty, 0, b"\0"), ty).await;
    }
    fails_with_22021(&mut client, &select("text[]", 0, b"{a,\"b\0c\"}"), "an element").await;
}

#[tokio::test]
async fn parameters_in_binary() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for ty in ["text", "varchar", "char(3)", "json"] {
        fails_with_22021(&mut client, &select(ty, 1, FORGED), ty).await;
    }
    let array = |value: &[u8]| {
        let head = [1, 0, 25, 1, 1].map(i32::to_be_bytes).concat();
        [&head[..], &(value.len() as i32).to_be_bytes(), value].concat()
    };
    fails_with_22021(&mut client, &select("text[]", 1, &array(FORGED)), "text[]").await;
    // `bytea` accepts zero bytes.
    let bytes = select("bytea", 1, b"a\0b");
    assert_eq!(client.extended(&bytes[..3]).await.strs(), Ok("a\0b"));
}

async fn copied(client: &mut Client, options: &str, data: &[u8]) -> String {
    let frames = [query(&format!("COPY t FROM STDIN {options}")), frame(b'd', &[data]), frame(b'c', &[])];
    let context = fails_with_22021(client, &frames, &format!("{options} {}", data.escape_ascii())).await;
    assert_eq!(client.run("SELECT count(*) FROM t").await.strs(), Ok("0"));
    context
}

#[tokio::test]
async fn copy_in_text_and_csv() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text, d date, u uuid, a integer[])").await.unwrap();
    for data in [
        &b"x\0C00000\0Hh\0\ta\t\\N\t\\N\t\\N\n"[..],
        b"1\tx\0C00000\0Hh\0\t\\N\t\\N\t\\N\n",
        b"1\ta\tx\0C00000\0Hh\0\t\\N\t\\N\n",
        b"1\ta\t\\N\tx\0C00000\0Hh\0\t\\N\n",
        b"1\ta\t\\N\t\\N\t{x\0C00000\0Hh\0}\n",
        b"1\ta\\000\t\\N\t\\N\t\\N\n",
        b"1\ta\tx\\x00C00000\\x00\t\\N\t\\N\n",
        // Detected before the number of fields, which is wrong too.
        b"1\tx\0C00000\0Hh\0\n",
        b"1\tx\0C00000\0Hh\0\t\\N\t\\N\t\\N\tmore\n",
        b"1\ta\t\\N\t\\N\t\\N\0",
    ] {
        assert_eq!(copied(&mut client, "", data).await, "COPY t, line 1");
    }
    for data in [&b"1,x\0C00000\0Hh,,,\n"[..], b"1,\"x\0C00000\0Hh\",,,\n", b"1,a,\"x\0C00000\0Hh\",,\n", b"1,a\0\n"] {
        assert_eq!(copied(&mut client, "(FORMAT csv)", data).await, "COPY t, line 1");
    }
    assert_eq!(copied(&mut client, "(FORMAT csv, HEADER)", b"k,v\0,d,u,a\n").await, "COPY t, line 1");
    assert_eq!(copied(&mut client, "(HEADER match)", b"k\tv\0C00000\0\td\tu\ta\n").await, "COPY t, line 1");
    // Long data is parsed in blocks on other threads.
    let mut long = Vec::new();
    client.run("CREATE TABLE w (k integer PRIMARY KEY, v text)").await.unwrap();
    for k in 0..60_000 {
        let zero = if k == 50_000 { "\0C00000\0" } else { "" };
        long.extend_from_slice(format!("{k}\tsome text{zero}\n").as_bytes());
    }
    let frames = [query("COPY w FROM STDIN"), frame(b'd', &[&long]), frame(b'c', &[])];
    assert_eq!(fails_with_22021(&mut client, &frames, "blocks").await, "COPY w, line 50001");
    assert_eq!(client.run("SELECT count(*) FROM w").await.strs(), Ok("0"));
}

#[tokio::test]
async fn copy_in_binary() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY, v text, a text[], b bytea)").await.unwrap();
    let field = |bytes: &[u8]| [&(bytes.len() as i32).to_be_bytes()[..], bytes].concat();
    let key = || field(&1_i32.to_be_bytes());
    let null = || vec![0xff; 4];
    let array = [&[1, 0, 25, 1, 1].map(i32::to_be_bytes).concat()[..], &field(FORGED)].concat();
    let row = |fields: [Vec<u8>; 4]| {
        [&b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x04"[..], &fields.concat(), &[0xff, 0xff]].concat()
    };
    for (data, column) in
        [(row([key(), field(FORGED), null(), null()]), "v"), (row([key(), null(), field(&array), null()]), "a")]
    {
        let context = copied(&mut client, "(FORMAT binary)", &data).await;
        assert_eq!(context, format!("COPY t, line 1, column {column}"));
    }
    let bytes = row([key(), null(), null(), field(b"a\0b")]);
    client.send(&[query("COPY t FROM STDIN (FORMAT binary)"), frame(b'd', &[&bytes]), frame(b'c', &[])].concat()).await;
    assert_eq!(crate::client::result(&client.answer().await).strs(), Ok("COPY 1"));
    assert_eq!(client.run("SELECT b FROM t").await.strs(), Ok("\\x610062"));
}

/// PostgreSQL has other codes for some of these.
#[tokio::test]
async fn literals_and_functions_make_none() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for (text, code) in [
        (r"SELECT E'a\000b'", "22021"),
        (r"SELECT E'a\x00b'", "22021"),
        (r"SELECT E'a\u0000b'", "22021"),
        (r"SELECT U&'a\0000b'", "42601"),
        (r#"SELECT 1 AS U&"a\0000b""#, "42601"),
        ("SELECT chr(0)", "54000"),
        (r"SELECT convert_from('\x610062', 'UTF8')", "22021"),
    ] {
        assert_eq!(client.run(text).await.strs(), Err(code), "{text}");
    }
    for text in [r"SELECT encode('\x610062', 'escape')", r"SELECT '\x610062'::bytea::text"] {
        assert!(client.run(text).await.is_ok_and(|shown| !shown.contains('\0')), "{text}");
    }
}

/// The bytes after a string's zero byte are read as the next field, or make the message invalid.
#[tokio::test]
async fn strings_of_messages_end_there() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE t (k integer PRIMARY KEY)").await.unwrap();
    let sync = || frame(b'S', &[]);
    for frames in [
        vec![frame(b'Q', &[b"SELECT 1\0C00000\0"])],
        vec![frame(b'D', &[b"Sname\0C00000\0"]), sync()],
        vec![frame(b'C', &[b"Sname\0C00000\0"]), sync()],
        vec![frame(b'E', &[b"portal\0C00000\0"]), sync()],
        vec![frame(b'P', &[b"name\0SELECT 1\0C00000\0"]), sync()],
        vec![query("COPY t FROM STDIN"), frame(b'f', &[b"why\0C00000\0"])],
    ] {
        client.send(&frames.concat()).await;
        let (code, ..) = error_of(&client.answer().await);
        assert_eq!(code, "08P01", "{frames:?}");
        assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
    }
}
