//! Sessions that see, cancel and end each other.

use crate::client::{Client, Server, Strs as _, field, result};
use crate::frames::query;

/// Waits until `pg_stat_activity` shows `wanted`: the state may change a moment after the answer arrives.
async fn shows(of: i32, seen_by: &mut Client, wanted: &str) {
    let text = format!("SELECT state || ': ' || query FROM pg_stat_activity WHERE pid = {of}");
    for _ in 0..1_000 {
        if seen_by.run(&text).await.strs() == Ok(wanted) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{wanted} is not shown, but {:?}", seen_by.run(&text).await);
}

async fn process(client: &mut Client) -> i32 {
    client.run("SELECT pg_backend_pid()").await.unwrap().parse().unwrap()
}

#[tokio::test]
async fn sessions_see_what_the_others_do() {
    let server = Server::start(10).await;
    let (mut one, mut two) = (server.session().await, server.session().await);
    let other = process(&mut two).await;
    shows(other, &mut one, "idle: SELECT pg_backend_pid()").await;
    two.run("SET application_name = 'two'").await.unwrap();
    two.run("BEGIN").await.unwrap();
    shows(other, &mut one, "idle in transaction: BEGIN").await;
    two.run("SELECT 1/0").await.unwrap_err();
    shows(other, &mut one, "idle in transaction (aborted): SELECT 1/0").await;
    two.run("ROLLBACK").await.unwrap();
    shows(other, &mut one, "idle: ROLLBACK").await;
    let own = "SELECT state || ' ' || (xact_start = query_start) FROM pg_stat_activity WHERE pid = pg_backend_pid()";
    assert_eq!(one.run(own).await.strs(), Ok("active true"));
    let rest = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'two' AND client_addr = '127.0.0.1' \
        AND client_port > 0 AND xact_start IS NULL AND backend_start <= state_change";
    assert_eq!(one.run(rest).await.strs(), Ok("1"));
    drop(two);
    server.sessions_are(1).await;
    assert_eq!(one.run("SELECT count(*) FROM pg_stat_activity").await.strs(), Ok("1"));
}

#[tokio::test]
async fn a_session_cancels_what_another_runs_and_ends_it() {
    let server = Server::start(10).await;
    let (mut one, mut two) = (server.session().await, server.session().await);
    let other = process(&mut two).await;
    for function in ["pg_cancel_backend", "pg_terminate_backend"] {
        two.send(&query("SELECT pg_sleep(60)")).await;
        shows(other, &mut one, "active: SELECT pg_sleep(60)").await;
        assert_eq!(one.run(&format!("SELECT {function}({other})")).await.strs(), Ok("t"));
        assert_eq!(two.message().await.unwrap().kind, b'T');
        if function == "pg_cancel_backend" {
            assert_eq!(result(&two.answer().await).strs(), Err("57014"));
        }
    }
    // The statement itself reports no error.
    let last = two.message().await.unwrap();
    assert_eq!((last.kind, field(&last, b'S').as_str(), field(&last, b'C').as_str()), (b'E', "FATAL", "57P01"));
    assert!(two.message().await.is_none());
    server.sessions_are(1).await;
    assert_eq!(one.run(&format!("SELECT pg_cancel_backend({other})")).await.strs(), Ok("f"));
    // Planning does not evaluate the function; each execution of a prepared statement does.
    let mut three = server.session().await;
    let third = process(&mut three).await;
    one.run(&format!("EXPLAIN SELECT pg_terminate_backend({third})")).await.unwrap();
    one.run(&format!("PREPARE ending AS SELECT pg_terminate_backend({third})")).await.unwrap();
    assert_eq!(three.run("SELECT 'still here'").await.strs(), Ok("still here"));
    assert_eq!(one.run("EXECUTE ending").await.strs(), Ok("t"));
    assert_eq!(field(&three.message().await.unwrap(), b'C'), "57P01");
    server.sessions_are(1).await;
    assert_eq!(one.run("EXECUTE ending").await.strs(), Ok("f"));
}
