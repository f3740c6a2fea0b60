//! A row has changed since it was read if its commit stamp differs, whatever the order of the stamps.

use crate::client::{Client, engine_over};
use engine::Engine;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store_testkit::{LimitedStore, ModelStore, UnorderedStore, Without};

/// A store with snapshots and one without, whose commit numbers have no order.
async fn engines() -> [Arc<Engine>; 2] {
    let single_rows = LimitedStore::new(Arc::new(ModelStore::new()), Without::everything());
    let stores: [Arc<dyn Store>; 2] = [Arc::new(ModelStore::new()), Arc::new(single_rows)];
    let [one, other] = stores.map(|store| engine_over(Arc::new(UnorderedStore::new(store))));
    [one.await, other.await]
}

/// A statement that mistakes unchanged rows for changed ones would retry forever.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it does not end")
}

/// The tag, without the warning that follows it on a store that writes single rows.
fn tag(answer: &str) -> &str {
    answer.lines().next().unwrap_or_default()
}

async fn filled(engine: &Arc<Engine>) -> Client {
    let mut client = Client::of(engine);
    client.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer, n integer)").await;
    for k in 0..12 {
        // Each row in a commit of its own.
        client.ok(&format!("INSERT INTO t VALUES ({k}, 0, {k})")).await;
    }
    client
}

#[tokio::test]
async fn rows_that_nobody_changed_are_written_at_the_first_look() {
    for (engine, snapshots) in engines().await.into_iter().zip([true, false]) {
        let mut client = filled(&engine).await;
        let before = Client::metric(&engine, "statement_retries_total");
        assert_eq!(tag(&soon(client.run("UPDATE t SET v = v + 1 WHERE n >= 0")).await), "UPDATE 12");
        let locked = "BEGIN; SELECT k FROM t WHERE n < 2 ORDER BY k FOR UPDATE; COMMIT";
        assert_eq!(soon(client.run(locked)).await, "BEGIN\n0\n1\nSELECT 2\nCOMMIT");
        assert_eq!(tag(&soon(client.run("DELETE FROM t WHERE n >= 6")).await), "DELETE 6");
        // Without snapshots the first attempt only reads the stamps.
        if snapshots {
            assert_eq!(Client::metric(&engine, "statement_retries_total"), before);
        }
        assert_eq!(client.run("SELECT count(*), sum(v) FROM t").await, "6|6\nSELECT 1");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_of_several_sessions_is_lost() {
    for engine in engines().await {
        let mut client = filled(&engine).await;
        let work = |mut session: Client| async move {
            for _ in 0..8 {
                // The new value is computed from the row as it was read.
                session.ok("UPDATE t SET v = v + 1 WHERE n >= 0").await;
                session
                    .ok("BEGIN; SELECT v FROM t WHERE n = 3 FOR UPDATE; UPDATE t SET v = v + 1 WHERE n = 3; COMMIT")
                    .await;
            }
        };
        let sessions: Vec<_> = (0..4).map(|_| tokio::spawn(work(Client::of(&engine)))).collect();
        for session in sessions {
            soon(session).await.unwrap();
        }
        let found = client.run("SELECT min(v), max(v), sum(v) FROM t WHERE n <> 3").await;
        assert_eq!(found, format!("32|32|{}\nSELECT 1", 11 * 32));
        assert_eq!(client.run("SELECT v FROM t WHERE n = 3").await, "64\nSELECT 1");
    }
}
