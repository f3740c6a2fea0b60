//! Reads of the entries of two indexes: entries that a writer left unverified in either of them are checked against
//! their rows.

use super::mode::{FAMILY, stored};
use super::{PATIENCE, Process, every_read_is_right, is_whole_after_repair, shared};
use std::sync::Arc;
use store::{Bytes, Durability, Mutation, Store, TableId, WriteBatch};

const COUNT: usize = 12;

/// Twelve rows with two distinct values of one column and three of another.
async fn filled(store: &Arc<dyn Store>) -> Process {
    let mut process = Process::on(store).await;
    process.client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer, b text, u integer UNIQUE)").await;
    process.client.ok("CREATE INDEX ta ON t (a); CREATE INDEX tb ON t (lower(b)) INCLUDE (u)").await;
    process.client.ok("CREATE INDEX td ON t (b DESC) WHERE a > 2").await;
    let rows = format!("SELECT g, 3 + g % 2, 'b' || 3 + g % 3, g FROM generate_series(1, {COUNT}) AS s (g)");
    process.client.ok(&format!("INSERT INTO t {rows}")).await;
    process
}

/// Checks that a row program and a plan read two indexes.
async fn reads_two(process: &mut Process) {
    process.client.ok("SET bennu.index_choice = intersect").await;
    for programs in ["on", "off"] {
        process.client.ok(&format!("SET bennu.row_programs = {programs}")).await;
        for (condition, indexes) in
            [("a = 3 AND lower(b) = 'b4'", ["ta", "tb"]), ("a BETWEEN 3 AND 4 AND lower(b) = 'b4'", ["ta", "tb"])]
        {
            let shown = process.client.run(&format!("EXPLAIN SELECT k, a, b, u FROM t WHERE {condition}")).await;
            let [one, other] = indexes;
            let both = [format!("using {one} and {other}"), format!("using {other} and {one}")];
            assert!(both.iter().any(|text| shown.contains(text)), "{condition}\n{shown}");
        }
    }
    process.client.ok("RESET bennu.index_choice; RESET bennu.row_programs").await;
}

async fn put(store: &Arc<dyn Store>, table: TableId, key: &Bytes, fragment: Vec<u8>) {
    let mutation = Mutation::Replace { table, family: FAMILY, key: key.clone(), fragment };
    let batch = WriteBatch { mutations: vec![mutation], ..WriteBatch::default() };
    store.apply(batch, Durability::Buffered).await.unwrap();
}

/// The entries of an index as stored.
async fn entries_of(store: &Arc<dyn Store>, name: &str) -> (TableId, Vec<(Bytes, Bytes)>) {
    let catalog = catalog::CatalogCache::open(Arc::clone(store)).await.unwrap().current();
    let storage = catalog.table("public", "t").unwrap().index(name).unwrap().storage_id();
    (storage, stored(store, storage).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unverified_entries_of_either_index_are_asked_of_their_rows() {
    for marked in [&["ta"][..], &["tb"], &["ta", "tb", "td"]] {
        let store = shared();
        let mut process = filled(&store).await;
        reads_two(&mut process).await;
        for name in marked {
            let (index, entries) = entries_of(&store, name).await;
            assert_eq!(entries.len(), COUNT);
            for (key, fragment) in &entries {
                put(&store, index, key, fragment::header::with_marks(fragment, fragment::header::UNVERIFIED)).await;
            }
        }
        // While the writer may still run, and when it counts as dead.
        every_read_is_right(&mut process.client, &format!("{marked:?} unverified")).await;
        tokio::time::sleep(2 * PATIENCE).await;
        every_read_is_right(&mut process.client, &format!("{marked:?} unverified and old")).await;
        is_whole_after_repair(&mut process.client, &format!("{marked:?}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_that_a_dead_writer_left_are_in_no_intersection() {
    let store = shared();
    let mut process = filled(&store).await;
    let mut old = Vec::new();
    for name in ["ta", "tb", "td"] {
        old.push(entries_of(&store, name).await);
    }
    // Rows lose their values; the old entries are restored, unverified, as if their writer had died before it deleted
    // them.
    process.client.ok("UPDATE t SET a = a + 2, b = 'B' || substr(b, 2)::integer + 2 WHERE k % 2 = 0").await;
    process.client.ok("DELETE FROM t WHERE k = 3").await;
    for (index, entries) in old {
        let now: Vec<Bytes> = stored(&store, index).await.into_iter().map(|(key, _)| key).collect();
        for (key, fragment) in entries.iter().filter(|(key, _)| !now.contains(key)) {
            put(&store, index, key, fragment::header::with_marks(fragment, fragment::header::UNVERIFIED)).await;
        }
    }
    reads_two(&mut process).await;
    let found = |condition: &str| format!("SELECT k FROM t WHERE {condition} ORDER BY k");
    for programs in ["on", "off"] {
        process.client.ok(&format!("SET bennu.index_choice = intersect; SET bennu.row_programs = {programs}")).await;
        // The even rows had a = 3, and every third row had b3.
        assert_eq!(process.client.run(&found("a = 3 AND lower(b) = 'b3'")).await, "SELECT 0");
        assert_eq!(process.client.run(&found("a = 4 AND lower(b) = 'b3'")).await, "9\nSELECT 1");
        assert_eq!(process.client.run(&found("a = 5 AND lower(b) = 'b5'")).await, "6\n12\nSELECT 2");
    }
    every_read_is_right(&mut process.client, "old entries").await;
    tokio::time::sleep(2 * PATIENCE).await;
    is_whole_after_repair(&mut process.client, "old entries").await;
}
