//! Foreign keys under concurrency: no orphaned row remains.

use crate::client::{Client, engine, waiting_are};
use store_testkit::Random;

const ORPHANS: &str = "SELECT count(*) FROM c WHERE p NOT IN (SELECT id FROM p)";

#[tokio::test]
async fn who_refers_waits_for_who_deletes_and_then_fails() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE c (p integer REFERENCES p)").await;
    one.ok("INSERT INTO p VALUES (1)").await;
    one.ok("BEGIN; DELETE FROM p").await;
    let waits = tokio::spawn(async move { other.run("INSERT INTO c VALUES (1)").await });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert!(waits.await.unwrap().contains("23503"));
    assert_eq!(one.run("SELECT count(*) FROM c").await, "0\nSELECT 1");
}

#[tokio::test]
async fn who_deletes_waits_for_who_refers_and_then_fails() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE p (id integer PRIMARY KEY, u text UNIQUE); CREATE TABLE c (p text REFERENCES p (u))").await;
    one.ok("INSERT INTO p VALUES (1, 'a')").await;
    one.ok("BEGIN; INSERT INTO c VALUES ('a')").await;
    let waits = tokio::spawn(async move { other.run("UPDATE p SET u = 'b'").await });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert!(waits.await.unwrap().contains("23503"));
}

#[tokio::test]
async fn a_parent_that_gets_other_values_waits_for_who_refers_and_then_fails() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE c (p integer REFERENCES p)").await;
    one.ok("INSERT INTO p VALUES (1)").await;
    one.ok("BEGIN; INSERT INTO c VALUES (1)").await;
    let alter = "ALTER TABLE p ALTER COLUMN id TYPE bigint USING id + 10";
    let waits = tokio::spawn(async move { other.run(alter).await });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert!(waits.await.unwrap().contains("23503"));
    assert_eq!(one.run(ORPHANS).await, "0\nSELECT 1");
    one.ok("DELETE FROM c").await;
    one.ok(alter).await;
    assert!(one.run("INSERT INTO c VALUES (1)").await.contains("23503"));
    one.ok("INSERT INTO c VALUES (11)").await;
}

#[tokio::test]
async fn who_refers_with_other_values_waits_for_who_deletes_and_then_fails() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE c (p integer REFERENCES p)").await;
    one.ok("INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1)").await;
    one.ok("BEGIN; DELETE FROM p WHERE id = 2").await;
    let waits = tokio::spawn(async move { other.run("ALTER TABLE c ALTER COLUMN p TYPE bigint USING p + 1").await });
    waiting_are(&engine, 1).await;
    one.ok("COMMIT").await;
    assert!(waits.await.unwrap().contains("23503"));
    assert_eq!(one.run(ORPHANS).await, "0\nSELECT 1");
}

/// KEY SHARE does not conflict with an UPDATE of other columns, nor with itself.
#[tokio::test]
async fn who_refers_does_not_wait_for_an_update_of_other_columns() {
    let engine = engine().await;
    let (mut one, mut two, mut three) = (Client::of(&engine), Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE p (id integer PRIMARY KEY, v integer); CREATE TABLE c (p integer REFERENCES p)").await;
    one.ok("INSERT INTO p VALUES (1, 0)").await;
    one.ok("BEGIN; UPDATE p SET v = v + 1 WHERE id = 1").await;
    two.ok("SET lock_timeout = '1s'").await;
    two.ok("BEGIN; INSERT INTO c VALUES (1)").await;
    three.ok("SET lock_timeout = '1s'").await;
    three.ok("INSERT INTO c VALUES (1)").await;
    one.ok("UPDATE p SET v = v + 1; COMMIT").await;
    two.ok("COMMIT").await;
    assert_eq!(one.run(ORPHANS).await, "0\nSELECT 1");
}

#[tokio::test]
async fn who_deletes_a_parent_waits_for_who_deletes_its_child() {
    let engine = engine().await;
    let mut one = Client::of(&engine);
    one.ok("CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE c (p integer REFERENCES p)").await;
    one.ok("INSERT INTO p VALUES (1), (2), (3); INSERT INTO c VALUES (1), (1), (2)").await;
    for (statement, key) in [("DELETE FROM p WHERE id = 1", 1), ("UPDATE p SET id = 4 WHERE id = 2", 2)] {
        for (end, is_refused) in [("ROLLBACK", true), ("COMMIT", false)] {
            let mut other = Client::of(&engine);
            one.ok(&format!("BEGIN; DELETE FROM c WHERE p = {key}")).await;
            let waits = tokio::spawn(async move { other.run(statement).await });
            waiting_are(&engine, 1).await;
            one.ok(end).await;
            let answer = waits.await.unwrap();
            assert_eq!(answer.contains("23503"), is_refused, "{end}: {answer}");
        }
    }
    assert_eq!(one.run("SELECT id FROM p ORDER BY id").await, "3\n4\nSELECT 2");
}

/// A child that another transaction moves to another parent is locked FOR NO KEY UPDATE: it counts, as in PostgreSQL.
#[tokio::test]
async fn who_deletes_a_parent_does_not_wait_for_who_moves_its_child() {
    let engine = engine().await;
    let (mut one, mut other) = (Client::of(&engine), Client::of(&engine));
    one.ok("CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE c (id integer PRIMARY KEY, p integer REFERENCES p)")
        .await;
    one.ok("INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (10, 1)").await;
    one.ok("BEGIN; UPDATE c SET p = 2").await;
    other.ok("SET lock_timeout = '1s'").await;
    assert!(other.run("DELETE FROM p WHERE id = 1").await.contains("23503"));
    one.ok("COMMIT").await;
    other.ok("DELETE FROM p WHERE id = 1").await;
}

/// A parent that an UPSERT has just inserted is waited for, like one of a plain INSERT.
#[tokio::test]
async fn who_refers_waits_for_who_makes_the_parent() {
    let engine = engine().await;
    let mut one = Client::of(&engine);
    one.ok("CREATE TABLE p (id integer PRIMARY KEY, v integer); CREATE TABLE c (p integer REFERENCES p)").await;
    let makes = [
        "INSERT INTO p VALUES (1, 0)",
        "INSERT INTO p VALUES (2, 0) ON CONFLICT (id) DO UPDATE SET v = 1",
        "INSERT INTO p VALUES (3, 0) ON CONFLICT DO NOTHING",
        "UPSERT INTO p VALUES (4, 0)",
    ];
    for (key, make) in (1..).zip(makes) {
        let mut other = Client::of(&engine);
        one.ok(&format!("BEGIN; {make}")).await;
        let waits = tokio::spawn(async move { other.run(&format!("INSERT INTO c VALUES ({key})")).await });
        waiting_are(&engine, 1).await;
        one.ok("COMMIT").await;
        assert_eq!(waits.await.unwrap(), "INSERT 0 1", "{make}");
    }
}

#[tokio::test]
async fn inserts_and_deletes_at_once_leave_no_orphan() {
    let engine = engine().await;
    let mut client = Client::of(&engine);
    client.ok("CREATE TABLE p (id integer PRIMARY KEY)").await;
    client.ok("CREATE TABLE c (id bigserial PRIMARY KEY, p integer REFERENCES p)").await;
    client.ok("CREATE TABLE d (id bigserial PRIMARY KEY, p integer REFERENCES p ON DELETE CASCADE)").await;
    let writer = |seed: u64| {
        let mut client = Client::of(&engine);
        async move {
            let mut random = Random::new(seed);
            let (mut done, mut refused) = (0, 0);
            for _ in 0..150 {
                let key = random.below(8);
                let text = match random.below(6) {
                    0 | 1 => format!("INSERT INTO p VALUES ({key}) ON CONFLICT DO NOTHING"),
                    2 => format!("INSERT INTO c (p) VALUES ({key})"),
                    3 => format!("BEGIN; INSERT INTO d (p) VALUES ({key}); DELETE FROM c WHERE p = {key}; COMMIT"),
                    4 => format!("DELETE FROM p WHERE id = {key}"),
                    _ => format!("UPDATE c SET p = {key} WHERE p = {}", (key + 1) % 8),
                };
                let answer = client.run(&text).await;
                let expected = ["23503", "40P01", "40001"].iter().any(|code| answer.contains(code));
                assert!(expected || !answer.contains("ERROR"), "{text}\n{answer}");
                if expected {
                    refused += 1
                } else {
                    done += 1
                }
                client.run("ROLLBACK").await;
            }
            (done, refused)
        }
    };
    let writers: Vec<_> = (1..=6).map(|seed| tokio::spawn(writer(seed * 7919))).collect();
    let (mut done, mut refused) = (0, 0);
    for writer in writers {
        let (more, others) = writer.await.unwrap();
        (done, refused) = (done + more, refused + others);
    }
    assert!(done > 0 && refused > 0, "{done} statements done, {refused} refused");
    assert_eq!(client.run(ORPHANS).await, "0\nSELECT 1");
    assert_eq!(client.run("SELECT count(*) FROM d WHERE p NOT IN (SELECT id FROM p)").await, "0\nSELECT 1");
}
