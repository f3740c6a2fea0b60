//! Two databases on one single-row store, each with its own locks, catalog and sequences, as in two processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use bennu::{Bennu, Options, Session};
use store_testkit::{ModelStore, minimal_store};

async fn two() -> [Bennu; 2] {
    let store = minimal_store(ModelStore::new());
    let options = Options { query_memory_bytes: 128 << 20, query_threads: 1, ..Options::default() };
    [Bennu::with_store(store.clone(), &options).await.unwrap(), Bennu::with_store(store, &options).await.unwrap()]
}

/// DataFusion's planner recurses: debug builds need a larger stack than the default.
fn run<F: Future<Output = ()> + Send + 'static>(test: F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .thread_stack_size(32 << 20)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(runtime.spawn(test)).unwrap();
}

/// Waits until each database has loaded the others' catalog changes.
async fn heard() {
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
}

/// Runs a statement that is retried automatically on conflicts.
async fn executed(session: &mut Session, sql: &str) -> String {
    match session.execute(sql).await {
        Ok(tag) => tag,
        Err(error) => panic!("{sql}: {} {}", error.code(), error.message()),
    }
}

async fn number(session: &mut Session, sql: &str) -> i64 {
    session.row::<(i64,)>(sql, &[]).await.unwrap().unwrap().0
}

#[test]
fn statements_of_two_processes_never_lose_an_update() {
    run(async {
        let databases = two().await;
        let mut first = databases[0].session().unwrap();
        first.execute("CREATE TABLE t (k int PRIMARY KEY, n bigint, v text)").await.unwrap();
        first.execute("INSERT INTO t VALUES (1, 0, 'a'), (2, 0, 'b'), (3, 0, 'c')").await.unwrap();
        heard().await;
        let statements = [
            "UPDATE t SET n = n + 1 WHERE k = 1",
            "UPDATE t SET n = n + 1 WHERE v = 'b'",
            "INSERT INTO t VALUES (3, 1, 'x') ON CONFLICT (k) DO UPDATE SET n = t.n + 1",
        ];
        let tasks: Vec<_> = (0..4)
            .map(|task| {
                let db = databases[task % 2].clone();
                tokio::spawn(async move {
                    let mut session = db.session().unwrap();
                    for _ in 0..15 {
                        for sql in statements {
                            executed(&mut session, sql).await;
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let found: Vec<(i32, i64)> = first.rows("SELECT k, n FROM t ORDER BY k", &[]).await.unwrap();
        assert_eq!(found, [(1, 60), (2, 60), (3, 60)]);
    });
}

#[test]
fn two_processes_draw_values_of_their_own() {
    run(async {
        let databases = two().await;
        let mut first = databases[0].session().unwrap();
        first.execute("CREATE TABLE s (k serial PRIMARY KEY, who int)").await.unwrap();
        first.execute("CREATE TABLE h (who int)").await.unwrap();
        heard().await;
        let tasks: Vec<_> = (0..4)
            .map(|task| {
                let db = databases[task % 2].clone();
                tokio::spawn(async move {
                    let mut session = db.session().unwrap();
                    for _ in 0..40 {
                        session.execute(&format!("INSERT INTO s (who) VALUES ({task}), ({task})")).await.unwrap();
                        session.execute(&format!("INSERT INTO h VALUES ({task}), ({task})")).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(number(&mut first, "SELECT count(*) FROM s").await, 320);
        assert_eq!(number(&mut first, "SELECT count(*) FROM h").await, 320);
    });
}

#[test]
fn a_process_follows_the_definitions_of_the_other() {
    run(async {
        let [one, other] = two().await;
        let (mut a, mut b) = (one.session().unwrap(), other.session().unwrap());
        a.execute("CREATE TABLE t (k int PRIMARY KEY)").await.unwrap();
        heard().await;
        b.execute("INSERT INTO t VALUES (1)").await.unwrap();
        // While B's catalog is stale: its commit is refused, and the statement is retried.
        a.execute("ALTER TABLE t ADD COLUMN v text NOT NULL DEFAULT 'old'").await.unwrap();
        b.execute("INSERT INTO t VALUES (2)").await.unwrap();
        let rows: Vec<(i32, String)> = a.rows("SELECT k, v FROM t ORDER BY k", &[]).await.unwrap();
        assert_eq!(rows, [(1, "old".to_string()), (2, "old".to_string())]);
        // Writes to a table that was replaced must fail.
        b.execute("BEGIN; INSERT INTO t VALUES (3)").await.unwrap();
        a.execute("TRUNCATE t").await.unwrap();
        assert_eq!(b.execute("COMMIT").await.unwrap_err().code(), "40001");
        assert_eq!(number(&mut a, "SELECT count(*) FROM t").await, 0);
        a.execute("DROP TABLE t").await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        assert_eq!(b.execute("SELECT * FROM t").await.unwrap_err().code(), "42P01");
    });
}

#[test]
fn a_key_is_inserted_once() {
    run(async {
        let databases = two().await;
        let mut first = databases[0].session().unwrap();
        first.execute("CREATE TABLE t (k int PRIMARY KEY, who int)").await.unwrap();
        heard().await;
        let tasks: Vec<_> = (0..4)
            .map(|task| {
                let db = databases[task % 2].clone();
                tokio::spawn(async move {
                    let mut session = db.session().unwrap();
                    let mut mine = 0;
                    for k in 0..40 {
                        match session.execute(&format!("INSERT INTO t VALUES ({k}, {task})")).await {
                            Ok(_) => mine += 1,
                            Err(error) => assert_eq!(error.code(), "23505", "{}", error.message()),
                        }
                    }
                    mine
                })
            })
            .collect();
        let mut inserted = 0;
        for task in tasks {
            inserted += task.await.unwrap();
        }
        assert_eq!(inserted, 40);
        assert_eq!(number(&mut first, "SELECT count(*) FROM t").await, 40);
    });
}
