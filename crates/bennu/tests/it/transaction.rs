//! Transactions as closures.

use crate::session;
use bennu::{Bennu, Error, Session};
use std::time::Duration;

async fn total(session: &mut Session) -> i64 {
    session.row::<(i64,)>("SELECT coalesce(sum(v), 0)::bigint FROM t", &[]).await.unwrap().unwrap().0
}

async fn table() -> (Bennu, Session) {
    let (db, mut session) = session().await;
    session.execute("CREATE TABLE t (k integer PRIMARY KEY, v bigint); INSERT INTO t VALUES (1, 10)").await.unwrap();
    (db, session)
}

#[tokio::test]
async fn ok_commits_and_an_error_of_any_type_undoes() {
    #[derive(Debug)]
    enum Mine {
        Sql(Error),
        ChangedMyMind,
    }
    impl From<Error> for Mine {
        fn from(error: Error) -> Self {
            Self::Sql(error)
        }
    }
    let (_db, mut session) = table().await;
    let kept = session.transaction(async |tx| tx.run("UPDATE t SET v = 20", &[]).await).await.unwrap();
    assert_eq!((kept, total(&mut session).await), (1, 20));
    let done: Result<(), Mine> = session
        .transaction(async |tx| {
            tx.run("UPDATE t SET v = 99", &[]).await?;
            assert_eq!(total(tx).await, 99);
            Err(Mine::ChangedMyMind)
        })
        .await;
    assert!(matches!(done, Err(Mine::ChangedMyMind)));
    let done: Result<u64, Mine> =
        session.transaction(async |tx| Ok(tx.run("INSERT INTO t VALUES (1, 1)", &[]).await?)).await;
    assert!(matches!(done, Err(Mine::Sql(error)) if error.code() == "23505"));
    assert_eq!(total(&mut session).await, 20);
}

#[tokio::test]
async fn a_statement_that_failed_unseen_fails_the_commit() {
    let (_db, mut session) = table().await;
    let done = session
        .transaction(async |tx| {
            tx.run("UPDATE t SET v = 99", &[]).await?;
            // The program ignores the error.
            assert!(tx.run("INSERT INTO t VALUES (1, 1)", &[]).await.is_err());
            Ok::<_, Error>(())
        })
        .await;
    assert_eq!(done.unwrap_err().code(), "25P02");
    assert_eq!(total(&mut session).await, 10);
}

#[tokio::test]
async fn a_query_that_fails_while_its_rows_are_read_fails_the_commit() {
    let (_db, mut session) = table().await;
    let done = session
        .transaction(async |tx| {
            tx.run("UPDATE t SET v = 99", &[]).await?;
            assert_eq!(tx.run("SELECT 1 / (v - 99) FROM t", &[]).await.unwrap_err().code(), "22012");
            assert_eq!(tx.run("SELECT 1", &[]).await.unwrap_err().code(), "25P02");
            Ok::<_, Error>(())
        })
        .await;
    assert_eq!(done.unwrap_err().code(), "25P02");
    assert_eq!(total(&mut session).await, 10);
}

#[tokio::test]
async fn a_transaction_given_up_in_the_middle_is_rolled_back_by_the_next_call() {
    let (_db, mut session) = table().await;
    let endless = session.transaction(async |tx| {
        tx.run("UPDATE t SET v = 99", &[]).await?;
        std::future::pending::<()>().await;
        Ok::<_, Error>(())
    });
    assert!(tokio::time::timeout(Duration::from_millis(200), endless).await.is_err());
    assert_eq!(total(&mut session).await, 10);
    assert_eq!(session.transaction(async |tx| tx.run("UPDATE t SET v = 5", &[]).await).await.unwrap(), 1);
}

#[tokio::test]
async fn one_inside_another_is_refused() {
    let (_db, mut session) = table().await;
    let done = session
        .transaction(async |tx| tx.transaction(async |inner| inner.run("UPDATE t SET v = 1", &[]).await).await)
        .await;
    assert_eq!(done.unwrap_err().code(), "25001");
    assert_eq!(total(&mut session).await, 10);
}

#[tokio::test]
async fn a_retryable_error_runs_the_work_again_and_others_do_not() {
    let (_db, mut session) = table().await;
    let mut runs = 0;
    let done = session
        .transaction_retrying(3, async |tx| {
            runs += 1;
            tx.run("INSERT INTO t VALUES (1, 1)", &[]).await
        })
        .await;
    assert_eq!((done.unwrap_err().code(), runs), ("23505", 1));
}

/// Concurrent writers in tasks: the future of a transaction is `Send`, and no increment is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_increments_are_not_lost() {
    let (db, mut session) = table().await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let mut session = db.session().unwrap();
        tasks.push(tokio::spawn(async move {
            for _ in 0..25 {
                let add = async |tx: &mut bennu::Transaction<'_>| {
                    let (v,): (i64,) = tx.row("UPDATE t SET v = v + 1 WHERE k = 1 RETURNING v", &[]).await?.unwrap();
                    Ok(v)
                };
                session.transaction_retrying(100, add).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(total(&mut session).await, 110);
}
