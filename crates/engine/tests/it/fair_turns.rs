//! A client whose statements never wait yields to the other tasks of its thread.

use crate::client::{Client, engine};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[tokio::test(flavor = "current_thread")]
async fn others_have_their_turn_between_statements_that_never_wait() {
    let mut client = Client::of(&engine().await);
    client.ok("CREATE TABLE t (k integer PRIMARY KEY, v integer); INSERT INTO t VALUES (1, 1)").await;
    let turns = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&turns);
    let other = tokio::spawn(async move {
        loop {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    for _ in 0..2000 {
        client.ok("SELECT v FROM t WHERE k = 1").await;
    }
    other.abort();
    assert!(turns.load(Ordering::Relaxed) >= 4, "{turns:?}");
}
