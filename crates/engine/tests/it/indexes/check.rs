//! Tests CHECK itself: differences written behind the engine's back are found, named and repaired.

use super::{FAMILY, World};
use store::{Durability, Mutation, WriteBatch};

async fn world() -> World {
    let mut w = World::embedded().await;
    w.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer, b text, UNIQUE (a))").await;
    w.client.ok("CREATE INDEX i ON t (b) INCLUDE (a)").await;
    w.client.ok("INSERT INTO t SELECT g, g * 10, 'b' || g FROM generate_series(1, 50) AS s (g)").await;
    w
}

impl World {
    async fn plant(&self, mutation: Mutation) {
        let batch = WriteBatch { mutations: vec![mutation], ..WriteBatch::default() };
        let commit = self.store.apply(batch, Durability::Sync).await.unwrap();
        self.store.sync(commit).await.unwrap();
    }

    /// Checks that each difference is reported, repaired, and gone.
    async fn repair(&mut self, differences: &[&str]) {
        let lines = |repaired: &str| {
            let lines: String = differences.iter().map(|it| format!("{it}|{repaired}\n")).collect();
            format!("{lines}CHECK {}", differences.len())
        };
        assert_eq!(self.client.run("CHECK TABLE t").await, lines("no"));
        assert_eq!(self.client.run("CHECK TABLE t REPAIR").await, lines("yes"));
        assert_eq!(self.verify("t").await, 50);
    }
}

#[tokio::test]
async fn a_missing_entry_is_found_and_repaired() {
    let mut w = world().await;
    let table = w.table("t").await.index("i").unwrap().storage_id();
    let key = w.rows(table).await.into_keys().nth(7).unwrap();
    w.plant(Mutation::Delete { table, family: FAMILY, key }).await;
    w.repair(&["i|missing entry|(b)=(b16)"]).await;
}

#[tokio::test]
async fn an_extra_entry_is_found_and_repaired() {
    let mut w = world().await;
    let table = w.table("t").await.index("i").unwrap().storage_id();
    // The entry of a row that is deleted without it.
    let rows = w.table("t").await.storage_id();
    let key = w.rows(rows).await.into_keys().next().unwrap();
    w.plant(Mutation::Delete { table: rows, family: FAMILY, key }).await;
    let both = ["t_a_key|extra entry|(a)=(10)", "i|extra entry|(b)=(b1)"];
    let lines = |repaired: &str| format!("{}|{repaired}\n{}|{repaired}\nCHECK 2", both[0], both[1]);
    assert_eq!(w.client.run("CHECK TABLE t").await, lines("no"));
    assert_eq!(w.client.run("CHECK INDEX i").await, format!("{}|no\nCHECK 1", both[1]));
    assert_eq!(w.client.run("CHECK TABLE t REPAIR").await, lines("yes"));
    assert_eq!(w.verify("t").await, 49);
    // Bytes that are not an entry.
    let (key, fragment) = w.rows(table).await.into_iter().next().unwrap();
    let odd = [key.as_ref(), b"?"].concat().into();
    w.plant(Mutation::Replace { table, family: FAMILY, key: odd, fragment }).await;
    let found = w.client.run("CHECK INDEX i REPAIR").await;
    assert!(found.starts_with("i|extra entry|") && found.ends_with("yes\nCHECK 1"), "{found}");
    assert_eq!(w.verify("t").await, 49);
}

#[tokio::test]
async fn an_altered_entry_is_found_and_repaired() {
    let mut w = world().await;
    let table = w.table("t").await.index("i").unwrap().storage_id();
    let entries = w.rows(table).await;
    let (key, fragment) = (entries.keys().next().unwrap().clone(), entries.values().nth(3).unwrap().clone());
    w.plant(Mutation::Replace { table, family: FAMILY, key, fragment }).await;
    w.repair(&["i|altered entry|(b)=(b1)"]).await;
}

#[tokio::test]
async fn an_entry_under_another_key_is_two_differences() {
    let mut w = world().await;
    let table = w.table("t").await.index("t_a_key").unwrap().storage_id();
    // An entry with the values of another row.
    w.client.ok("INSERT INTO t VALUES (51, 510, 'b51')").await;
    let entry = |entries: &std::collections::BTreeMap<store::Bytes, Vec<u8>>| {
        entries.iter().next_back().map(|(key, fragment)| (key.clone(), fragment.clone())).unwrap()
    };
    let (key, fragment) = entry(&w.rows(table).await);
    w.client.ok("DELETE FROM t WHERE k = 51").await;
    w.plant(Mutation::Replace { table, family: FAMILY, key, fragment }).await;
    w.repair(&["t_a_key|extra entry|(a)=(510)"]).await;
}

#[tokio::test]
async fn what_it_takes() {
    let mut w = world().await;
    assert_eq!(w.client.run("CHECK INDEX i").await, "CHECK 0");
    assert!(w.client.run("CHECK INDEX nothing").await.starts_with("ERROR 42704"));
    assert!(w.client.run("CHECK TABLE nothing").await.starts_with("ERROR 42P01"));
    assert!(w.client.run("CHECK INDEX t").await.starts_with("ERROR 42809"));
    w.client.ok("BEGIN").await;
    assert!(w.client.run("CHECK INDEX i REPAIR").await.starts_with("ERROR 0A000"));
}
