//! Dual-write mode: index entries in a store that writes single rows and to which several processes write.
//!
//! A process is an engine over its own store handle, whose calls can fail; all handles share one store.

mod crashes;
mod intersections;
mod mode;
mod random;

use crate::client::Client;
use engine::{Engine, EngineOptions};
use std::sync::Arc;
use std::time::Duration;
use store::{Durability, Store, StoreError, WriteBatch};
use store_testkit::{FaultPlan, FaultStore, LimitedStore, ModelStore, Without};

/// A store without optional capabilities.
fn shared() -> Arc<dyn Store> {
    limited(ModelStore::new())
}

fn limited(model: ModelStore) -> Arc<dyn Store> {
    Arc::new(LimitedStore::new(Arc::new(model), Without::everything()))
}

/// A store with a table and some rows. Tests copy it, so that its indexes are built only once.
async fn filled(rows: &str) -> ModelStore {
    let model = ModelStore::new();
    let mut first = Process::on(&limited(model.clone())).await;
    made(&mut first.client).await;
    first.client.ok(&format!("INSERT INTO t VALUES {rows}")).await;
    model
}

/// The age from which entries of dead processes are repaired.
const PATIENCE: Duration = Duration::from_millis(30);

/// A process, and the faults of its store calls.
struct Process {
    engine: Arc<Engine>,
    client: Client,
    plan: FaultPlan,
}

impl Process {
    async fn on(store: &Arc<dyn Store>) -> Self {
        let plan = FaultPlan::new();
        let faulty: Arc<dyn Store> = Arc::new(FaultStore::new(Arc::clone(store), plan.clone()));
        let options = EngineOptions { query_threads: 1, entry_patience: PATIENCE, ..EngineOptions::default() };
        let engine = Engine::open(faulty, options).await.unwrap();
        let client = Client::of(&engine);
        Self { engine, client, plan }
    }
}

/// Makes the writes of a dead process durable, so that nobody waits for it to do so.
async fn written_by_the_dead(store: &Arc<dyn Store>) {
    let last = store.apply(WriteBatch::default(), Durability::Buffered).await.unwrap();
    store.sync(last).await.unwrap();
}

fn gone() -> StoreError {
    StoreError::Io { action: "write".into(), reason: "the process died".into() }
}

/// Index choices, each with row programs on or off.
const WAYS: [(&str, &str); 5] =
    [("off", "on"), ("force", "on"), ("force", "off"), ("intersect", "on"), ("intersect", "off")];

/// Checks that all access paths to the rows of `t` agree: by one index, by two indexes, and without an index.
async fn every_read_is_right(client: &mut Client, when: &str) {
    let mut queries: Vec<String> = Vec::new();
    for a in 3..7 {
        queries.push(format!("SELECT k, a, b, u FROM t WHERE a = {a} ORDER BY k"));
        queries.push(format!("SELECT k, a, b, u FROM t WHERE lower(b) = 'b{a}' ORDER BY k"));
        queries.push(format!("SELECT k, u, a FROM t WHERE u = {a}"));
        queries.push(format!("SELECT k, b, u FROM t WHERE a > 2 AND b = 'B{a}' ORDER BY k"));
        queries.push(format!("SELECT k, a, b, u FROM t WHERE a = {a} AND lower(b) = 'b{a}' ORDER BY k"));
        queries.push(format!("SELECT k, u FROM t WHERE a = {a} AND u BETWEEN 1 AND 5 ORDER BY k"));
        queries.push(format!("SELECT count(*), count(u) FROM t WHERE a BETWEEN 3 AND {a} AND b = 'b{a}'"));
    }
    queries.push("SELECT k, a, b FROM t WHERE a < 3 ORDER BY k".to_string());
    queries.push("SELECT k, a FROM t WHERE a BETWEEN 2 AND 5 ORDER BY k".to_string());
    queries.push("SELECT a, count(*) FROM t WHERE a >= 0 GROUP BY a ORDER BY a".to_string());
    queries.push("SELECT u FROM t WHERE u BETWEEN 1 AND 5 ORDER BY u".to_string());
    queries.push("SELECT min(a), max(a) FROM t".to_string());
    queries.push("SELECT k, a, b FROM t ORDER BY a DESC, k LIMIT 3".to_string());
    for query in &queries {
        let mut answers = Vec::new();
        // A query with one condition uses only one index.
        let ways = if query.contains(" AND ") { &WAYS[..] } else { &WAYS[..3] };
        for (choice, programs) in ways {
            client.ok(&format!("SET bennu.index_choice = {choice}; SET bennu.row_programs = {programs}")).await;
            answers.push(client.run(query).await);
        }
        assert!(!answers[0].contains("ERROR"), "{query} {}", answers[0]);
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{when}: {query}\n{answers:#?}");
    }
    let doubled = "SELECT u FROM t WHERE u IS NOT NULL GROUP BY u HAVING count(*) > 1";
    client.ok("SET bennu.index_choice = off").await;
    assert_eq!(client.run(doubled).await, "SELECT 0", "{when}");
    client.ok("SET bennu.index_choice = auto").await;
}

/// Creates a table with an index of each kind.
async fn made(client: &mut Client) {
    client.ok("CREATE TABLE t (k integer PRIMARY KEY, a integer, b text, u integer UNIQUE)").await;
    client.ok("CREATE INDEX ON t (a)").await;
    client.ok("CREATE INDEX ON t (lower(b)) INCLUDE (a, u)").await;
    client.ok("CREATE INDEX ON t (b) WHERE a > 2").await;
}

/// Checks that REPAIR removes everything that a writer left, and that no difference remains.
async fn is_whole_after_repair(client: &mut Client, when: &str) {
    client.ok("CHECK TABLE t REPAIR").await;
    assert_eq!(client.run("CHECK TABLE t").await, "CHECK 0", "{when}");
    every_read_is_right(client, when).await;
}
