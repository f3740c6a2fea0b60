//! Which mode a store gets, and the statements that are rejected in dual-write mode.

use super::{PATIENCE, Process, every_read_is_right, is_whole_after_repair, made, shared};
use crate::client::Client;
use engine::{Engine, EngineOptions};
use std::sync::Arc;
use store::{FamilyId, KeyRange, Mutation, ScanRequest, Store, TableId, WriteBatch};

pub(super) const FAMILY: FamilyId = FamilyId(0);

/// The embedded store in dual-write mode, which it does not need.
async fn forced() -> Arc<Engine> {
    let options = store_fjall::Options { temporary: true, ..store_fjall::Options::default() };
    let store = store_fjall::FjallStore::open(tempfile::tempdir().unwrap().keep(), options).unwrap();
    Engine::open(store, EngineOptions { query_threads: 2, dual_write: true, ..EngineOptions::default() }).await.unwrap()
}

const WORK: [&str; 8] = [
    "INSERT INTO t SELECT g, g % 7, 'B' || g % 5, g + 100 FROM generate_series(10, 60) AS s (g)",
    "UPDATE t SET a = a + 1 WHERE k % 3 = 0",
    "UPDATE t SET u = u + 1",
    "DELETE FROM t WHERE k % 4 = 0",
    "INSERT INTO t VALUES (11, 1, 'x', 7) ON CONFLICT (k) DO UPDATE SET b = 'b1', u = 3",
    "UPDATE t SET k = k + 1000 WHERE a = 2",
    "BEGIN; INSERT INTO t VALUES (1, 1, 'b1', 1); UPDATE t SET u = 2 WHERE k = 1; DELETE FROM t WHERE k = 1; COMMIT",
    "UPSERT INTO t (k, a) VALUES (12, 6)",
];

async fn works(client: &mut Client) {
    made(client).await;
    for statement in WORK {
        client.ok(statement).await;
        assert_eq!(client.run("CHECK TABLE t").await, "CHECK 0", "{statement}");
    }
    every_read_is_right(client, "written").await;
    let doubled = client.run("INSERT INTO t VALUES (2000, 1, 'b', 3)").await;
    assert!(doubled.starts_with("ERROR 23505 duplicate key value violates unique constraint \"t_u_key\""), "{doubled}");
    client.ok("CREATE INDEX later ON t (b DESC, a) INCLUDE (u); REINDEX TABLE t").await;
    is_whole_after_repair(client, "the end").await;
    let failed = client.run("CREATE UNIQUE INDEX doubled ON t (a)").await;
    assert!(failed.starts_with("ERROR 23505 could not create unique index \"doubled\""), "{failed}");
    client.ok("DROP INDEX later; TRUNCATE t; INSERT INTO t VALUES (1, 1, 'b1', 3)").await;
    is_whole_after_repair(client, "truncated").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_of_single_rows_has_indexes() {
    let mut process = Process::on(&shared()).await;
    works(&mut process.client).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mode_can_be_forced() {
    let engine = forced().await;
    works(&mut Client::of(&engine)).await;
    let mut client = Client::of(&engine);
    client.ok("CREATE INDEX CONCURRENTLY ON t (u, a)").await;
    is_whole_after_repair(&mut client, "built by a job").await;
}

#[tokio::test]
async fn rows_that_exchange_unique_values_are_refused() {
    let mut process = Process::on(&shared()).await;
    made(&mut process.client).await;
    process.client.ok("INSERT INTO t VALUES (1, 1, 'b', 1), (2, 2, 'b', 2)").await;
    let refused = process.client.run("UPDATE t SET u = 3 - u").await;
    assert!(
        refused.starts_with("ERROR 0A000 an exchange of unique values between rows of one transaction"),
        "{refused}"
    );
    assert_eq!(process.client.run("SELECT k, u FROM t ORDER BY k").await, "1|1\n2|2\nSELECT 2");
}

#[tokio::test]
async fn what_needs_more_than_single_rows_is_refused_by_name() {
    let mut process = Process::on(&shared()).await;
    made(&mut process.client).await;
    for (statement, feature) in [
        ("CREATE TABLE c (t integer REFERENCES t (u))", "a foreign key in a store that writes single rows only"),
        ("CREATE INDEX i ON t (a, b) ASYNC", "CREATE INDEX ... ASYNC in a store that other processes write to"),
        ("REINDEX INDEX CONCURRENTLY t_a_idx", "REINDEX CONCURRENTLY in a store that other processes write to"),
        ("DROP INDEX CONCURRENTLY t_a_idx", "DROP INDEX CONCURRENTLY in a store that other processes write to"),
    ] {
        assert_eq!(process.client.run(statement).await, format!("ERROR 0A000 {feature} is not supported"));
    }
}

/// The rows of a table as stored.
pub(super) async fn stored(store: &Arc<dyn Store>, table: TableId) -> Vec<(store::Bytes, store::Bytes)> {
    let snapshot = store.snapshot(store::CommitNo(0)).await.unwrap();
    let request = ScanRequest::new(table, FAMILY, vec![KeyRange::all()]);
    let mut scan = store.scan(request, &snapshot).await.unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = scan.next().await.unwrap() {
        let pairs = batch.keys().zip(batch.fragments());
        rows.extend(pairs.map(|(k, f)| (store::Bytes::copy_from_slice(k), store::Bytes::copy_from_slice(f))));
    }
    rows
}

/// Tests CHECK itself: differences written behind the engine's back are reported and repaired.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planted_differences_are_told_and_repaired() {
    let store = shared();
    let mut process = Process::on(&store).await;
    process.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer, b text, u integer UNIQUE)").await;
    process.client.ok("CREATE INDEX i ON t (a) INCLUDE (b)").await;
    process.client.ok("INSERT INTO t SELECT g, g, 'b' || g, g FROM generate_series(1, 5) AS s (g)").await;
    let catalog = catalog::CatalogCache::open(Arc::clone(&store)).await.unwrap().current();
    let table = catalog.table("public", "t").unwrap();
    let index = table.index("i").unwrap().storage_id();
    let unique = table.index("t_u_key").unwrap().storage_id();
    let entries = stored(&store, index).await;
    let reserved = stored(&store, unique).await;
    assert_eq!((entries.len(), reserved.len()), (5, 10));
    let is_reservation = |fragment: &[u8]| fragment::header::marks_of(fragment) == fragment::header::RESERVED;
    let reservation = reserved.iter().find(|(_, fragment)| is_reservation(fragment)).unwrap().0.clone();
    let delete = |table, key: &store::Bytes| Mutation::Delete { table, family: FAMILY, key: key.clone() };
    let unverified = fragment::header::with_marks(&entries[1].1, fragment::header::UNVERIFIED);
    let replace = |key: &store::Bytes, fragment: Vec<u8>| Mutation::Replace {
        table: index,
        family: FAMILY,
        key: key.clone(),
        fragment,
    };
    for (mutation, told) in [
        (delete(index, &entries[0].0), "i|missing entry|(a)=(1)"),
        (replace(&entries[2].0, entries[3].1.to_vec()), "i|altered entry|(a)=(3)"),
        (replace(&entries[1].0, unverified), "i|unverified entry|(a)=(2)"),
        (delete(unique, &reservation), "t_u_key|missing reservation|(u)=(1)"),
    ] {
        store
            .apply(WriteBatch { mutations: vec![mutation], ..WriteBatch::default() }, store::Durability::Buffered)
            .await
            .unwrap();
        tokio::time::sleep(2 * PATIENCE).await;
        // Reading an unverified entry repairs it.
        if !told.contains("unverified") {
            assert_eq!(process.client.run("CHECK TABLE t").await, format!("{told}|no\nCHECK 1"));
        }
        assert_eq!(process.client.run("CHECK TABLE t REPAIR").await, format!("{told}|yes\nCHECK 1"));
        assert_eq!(process.client.run("CHECK TABLE t").await, "CHECK 0");
    }
}
