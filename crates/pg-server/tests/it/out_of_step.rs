//! Messages that break the protocol or its order: PostgreSQL 15's responses, and no client waits forever.

use crate::client::Strs as _;
use crate::client::{Client, Message, Server, field};
use crate::frames::{bind, execute, frame, parse, query};

/// Formats messages: the type letter, an error with its code, ReadyForQuery with its status.
fn told(messages: &[Message]) -> String {
    let one = |message: &Message| match message.kind {
        b'E' => format!("{} {}", field(message, b'S'), field(message, b'C')),
        b'Z' => format!("Z{}", char::from(message.body[0])),
        kind => char::from(kind).to_string(),
    };
    messages.iter().map(one).collect::<Vec<_>>().join(",")
}

async fn ask(client: &mut Client, frames: &[Vec<u8>]) -> String {
    client.send(&frames.concat()).await;
    told(&client.answer().await)
}

fn sync() -> Vec<u8> {
    frame(b'S', &[])
}

#[tokio::test]
async fn a_simple_query_that_cannot_be_read_ends_its_round() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for (body, code) in
        [(&b"select '\xff'\0"[..], "22021"), (b"select 1", "08P01"), (b"", "08P01"), (b"select 1\0junk", "08P01")]
    {
        assert_eq!(ask(&mut client, &[frame(b'Q', &[body])]).await, format!("ERROR {code},ZI"), "{body:?}");
        assert_eq!(client.run("SELECT 'goes on'").await.strs(), Ok("goes on"));
    }
    client.run("BEGIN").await.unwrap();
    assert_eq!(ask(&mut client, &[frame(b'Q', &[b""])]).await, "ERROR 08P01,ZE");
    client.run("ROLLBACK").await.unwrap();
    assert_eq!(ask(&mut client, &[frame(b'S', &[b"x"])]).await, "ERROR 08P01,ZI");
    // After the other messages ReadyForQuery waits for Sync.
    let bad = frame(b'P', &[b"\0select 1\0\0\0x"]);
    assert_eq!(ask(&mut client, &[bad, query("SELECT 2"), frame(b'Q', &[b""]), sync()]).await, "ERROR 08P01,ZI");
}

#[tokio::test]
async fn after_an_error_all_but_sync_is_skipped() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let call = frame(b'F', &[&[0, 0, 5, 0xa0, 0, 0, 0, 0, 0, 0]]);
    let frames = [parse("", "SELEC", &[]), query("CREATE TABLE made (k integer PRIMARY KEY)"), call, sync()];
    assert_eq!(ask(&mut client, &frames).await, "ERROR 42601,ZI");
    assert_eq!(client.run("SELECT to_regclass('made') IS NULL").await.strs(), Ok("t"));
}

#[tokio::test]
async fn a_portal_ends_with_its_transaction() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    for (end, status) in [("COMMIT", "I"), ("ROLLBACK", "I")] {
        client.run("BEGIN").await.unwrap();
        let open = [parse("", "SELECT generate_series(1, 5)", &[]), bind("p", "", 0, &[]), execute("p", 1)];
        let ends = [parse("end", end, &[]), bind("x", "end", 0, &[]), execute("x", 0)];
        let frames = [open.concat(), ends.concat(), execute("p", 1), sync()];
        assert_eq!(ask(&mut client, &frames).await, format!("1,2,D,s,1,2,C,ERROR 34000,Z{status}"), "{end}");
        client.run("BEGIN").await.unwrap();
        let again = [bind("", "end", 0, &[]), execute("", 0), execute("", 0), sync()];
        assert_eq!(ask(&mut client, &again).await, format!("2,C,ERROR 34000,Z{status}"), "{end}");
        client.run("DEALLOCATE ALL").await.unwrap();
    }
}

#[tokio::test]
async fn a_failed_block_binds_and_describes_only_what_leads_out_of_it() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    let statements = [("sel", "SELECT 1"), ("emp", ""), ("set", "SET work_mem = '4MB'"), ("rb", "ROLLBACK")];
    let parses: Vec<_> = statements.iter().map(|(name, text)| parse(name, text, &[])).chain([sync()]).collect();
    assert_eq!(ask(&mut client, &parses).await, "1,1,1,1,ZI");
    let describe = |what: &str| frame(b'D', &[what.as_bytes(), b"\0"]);
    client.run("BEGIN").await.unwrap();
    let portals = [bind("ps", "sel", 0, &[]), bind("pe", "emp", 0, &[]), sync()];
    assert_eq!(ask(&mut client, &portals).await, "2,2,ZT");
    assert_eq!(client.run("SELECT 1/0").await.strs(), Err("22012"));
    for (frame, told) in [
        (bind("", "sel", 0, &[]), "ERROR 25P02,ZE"),
        (bind("", "emp", 0, &[]), "ERROR 25P02,ZE"),
        (bind("", "set", 0, &[]), "ERROR 25P02,ZE"),
        (describe("Ssel"), "ERROR 25P02,ZE"),
        (describe("Semp"), "t,n,ZE"),
        (describe("Sset"), "t,n,ZE"),
        (describe("Pps"), "ERROR 25P02,ZE"),
        (describe("Ppe"), "n,ZE"),
        (execute("pe", 0), "I,ZE"),
        (query(""), "I,ZE"),
    ] {
        let round = if frame[0] == b'Q' { vec![frame.clone()] } else { vec![frame.clone(), sync()] };
        assert_eq!(ask(&mut client, &round).await, told, "{}", String::from_utf8_lossy(&frame));
    }
    assert_eq!(ask(&mut client, &[bind("", "rb", 0, &[]), execute("", 0), sync()]).await, "2,C,ZI");
}

#[tokio::test]
async fn what_has_no_place_in_a_copy_ends_the_connection_in_words() {
    let server = Server::start(10).await;
    server.session().await.run("CREATE TABLE u (a integer, b text)").await.unwrap();
    for stray in [query("SELECT 1"), parse("", "SELECT 1", &[]), b"\x01\0\0\0\x04".to_vec(), b"d\0\0\0\x03".to_vec()] {
        let mut client = server.session().await;
        client.send(&query("COPY u FROM STDIN")).await;
        assert_eq!(client.message().await.unwrap().kind, b'G');
        client.send(&stray).await;
        let answer = client.answer().await;
        assert_eq!(told(&answer), "ERROR 08P01,FATAL 08P01", "{stray:?}");
        assert_eq!(field(&answer[0], b'W'), "COPY u, line 1");
        let lost = "terminating connection because protocol synchronization was lost";
        assert_eq!(field(&answer[1], b'M'), lost);
    }
}

#[tokio::test]
async fn a_copy_that_the_client_gives_up_names_its_line() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE u (a integer, b text)").await.unwrap();
    for (data, place) in
        [(&b""[..], "COPY u, line 1"), (b"1\tx\n2\ty\n", "COPY u, line 3"), (b"1\tx\n2\t", "COPY u, line 2")]
    {
        client.send(&[query("COPY u FROM STDIN"), frame(b'd', &[data]), frame(b'f', &[b"why\0"])].concat()).await;
        let answer = client.answer().await;
        assert_eq!(told(&answer), "G,ERROR 57014,ZI");
        assert_eq!(field(&answer[1], b'M'), "COPY from stdin failed: why");
        assert_eq!(field(&answer[1], b'W'), place);
    }
}

#[tokio::test]
async fn an_error_of_binary_data_names_its_column() {
    let server = Server::start(10).await;
    let mut client = server.session().await;
    client.run("CREATE TABLE u (a integer, b text)").await.unwrap();
    let head = [&b"PGCOPY\n\xff\r\n\0"[..], &[0; 8]].concat();
    let row = |a: &[u8], b: &[u8]| {
        let length = |field: &[u8]| (field.len() as u32).to_be_bytes();
        [&[0, 2][..], &length(a), a, &length(b), b].concat()
    };
    let good = row(&[0, 0, 0, 1], b"x");
    for (data, code, place) in [
        ([&good[..], &row(&[0, 0], b"x")].concat(), "08P01", "COPY u, line 2, column a"),
        (row(&[0; 5], b"x"), "22P03", "COPY u, line 1, column a"),
        (row(&[0; 4], b"\xff"), "22021", "COPY u, line 1, column b"),
        ([&good[..], &[0, 1, 0, 0, 0, 0]].concat(), "22P04", "COPY u, line 2"),
        (good[..8].to_vec(), "22P04", "COPY u, line 1, column a"),
        (good[..good.len() - 1].to_vec(), "22P04", "COPY u, line 1, column b"),
        (vec![0, 2, 0xff, 0xff, 0xff, 0xf0], "22P04", "COPY u, line 1, column a"),
        ([&good[..], &[0xff, 0xff], b"more"].concat(), "22P04", "COPY u, line 2"),
    ] {
        let copy = query("COPY u FROM STDIN (FORMAT binary)");
        client.send(&[copy, frame(b'd', &[&head, &data]), frame(b'c', &[])].concat()).await;
        let answer = client.answer().await;
        assert_eq!(told(&answer), format!("G,ERROR {code},ZI"), "{place}");
        assert_eq!(field(&answer[1], b'W'), place);
    }
}

#[tokio::test]
async fn an_older_version_of_the_protocol_is_offered_as_a_whole_number() {
    let server = Server::start(10).await;
    let open = |version: u32, rest: &[u8]| {
        let body = [&version.to_be_bytes()[..], b"user\0ada\0database\0bennu\0", rest, b"\0"].concat();
        [&(body.len() as u32 + 4).to_be_bytes()[..], &body].concat()
    };
    for (packet, told) in [
        (open(196_610, b""), Some([&196_608_u32.to_be_bytes()[..], &[0; 4]].concat())),
        (open(196_608, b"_pq_.x\0on\0"), Some([&196_608_u32.to_be_bytes()[..], &[0, 0, 0, 1], b"_pq_.x\0"].concat())),
        (open(196_608, b""), None),
    ] {
        let mut client = server.opened().await;
        client.send(&packet).await;
        let answer = client.answer().await;
        let offered = answer.iter().find(|message| message.kind == b'v').map(|message| message.body.clone());
        assert_eq!(offered, told);
        assert_eq!(answer.last().unwrap().kind, b'Z');
        assert_eq!(client.run("SELECT 1").await.strs(), Ok("1"));
    }
}
