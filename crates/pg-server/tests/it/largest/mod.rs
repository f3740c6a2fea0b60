//! Runs every function and every kind of statement on its largest input, beside a client that measures response times.
//!
//! `BENNU_LARGEST=all` runs all functions; otherwise a sample chosen by `BENNU_SEED`.

mod functions;
mod kinds;
mod values;

use crate::client::Strs as _;
use crate::client::{Client, Server};
use crate::frames::query;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// As many as the connection threads and as the query threads.
const AT_ONCE: usize = 2;
/// The `statement_timeout` of each statement.
const TIMEOUT: Duration = Duration::from_millis(300);
/// A statement must have ended after this: far more than a busy machine needs.
const HEARD: Duration = Duration::from_secs(10);
/// The longest allowed response time of the client beside the statements.
const GAP: Duration = Duration::from_secs(10);

/// A statement, and the frames that its client sends behind it.
#[derive(Clone)]
struct Work {
    text: String,
    frames: Vec<u8>,
}

impl Work {
    fn of(text: String) -> Self {
        Self { text, frames: Vec::new() }
    }
}

/// The result of one statement.
struct Done {
    text: String,
    began: Instant,
    took: Duration,
    outcome: Result<String, String>,
}

impl Done {
    fn shown(&self) -> String {
        let text: String = self.text.chars().take(200).collect();
        format!("{:?} {:?}: {text}", self.took, self.outcome)
    }

    /// Returns whether it failed with an internal error or ended its session.
    fn is_broken(&self) -> bool {
        matches!(self.outcome.as_ref().map_err(String::as_str), Err("XX000" | "XX001" | "57P01"))
    }
}

async fn ready(server: &Server) -> Client {
    tidy(server.session().await).await
}

async fn tidy(mut client: Client) -> Client {
    client.run("ROLLBACK").await.unwrap();
    client.run(&format!("SET statement_timeout = {}", TIMEOUT.as_millis())).await.unwrap();
    client
}

/// Runs statements until none is left.
async fn work(server: Arc<Server>, left: Arc<Mutex<Vec<Work>>>, done: Arc<Mutex<Vec<Done>>>) {
    let mut client = ready(&server).await;
    loop {
        let Some(Work { text, frames }) = left.lock().pop() else { return };
        let began = Instant::now();
        client.send(&[query(&text), frames].concat()).await;
        let answer = tokio::time::timeout(HEARD * 2, client.answer()).await.unwrap_or_default();
        let alive = answer.last().is_some_and(|message| message.kind == b'Z');
        let outcome = crate::client::result(&answer).map(|shown| shown.chars().take(40).collect());
        done.lock().push(Done { text, began, took: began.elapsed(), outcome });
        // Closes the transaction and resets the settings.
        client = if alive { tidy(client).await } else { ready(&server).await };
    }
}

/// Runs short statements until `stop`. Returns when each began and ended.
async fn count_answers(mut client: Client, stop: Arc<AtomicBool>) -> Vec<(Instant, Instant)> {
    let mut waits = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        assert_eq!(client.run("SELECT 1").await.strs(), Ok("1"));
        waits.push((began, Instant::now()));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    waits
}

/// Runs all `statements` and returns their results. Fails if one ignores its timeout, delays the client beside it, or
/// fails with an internal error.
async fn all_beside_a_client(server: Server, statements: Vec<Work>) -> Vec<Done> {
    let server = Arc::new(server);
    let stop = Arc::new(AtomicBool::new(false));
    let counting = tokio::spawn(count_answers(server.session().await, Arc::clone(&stop)));
    let (left, done) = (Arc::new(Mutex::new(statements)), Arc::new(Mutex::new(Vec::new())));
    let workers = (0..AT_ONCE).map(|_| tokio::spawn(work(Arc::clone(&server), Arc::clone(&left), Arc::clone(&done))));
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    let waits = counting.await.unwrap();
    let (from, to) = waits.iter().copied().max_by_key(|(began, ended)| *ended - *began).unwrap();
    let done = std::mem::take(&mut *done.lock());
    let deaf: Vec<String> = done.iter().filter(|one| one.took > HEARD).map(Done::shown).collect();
    assert!(deaf.is_empty(), "{} do not hear their timeout:\n{}", deaf.len(), deaf.join("\n"));
    let broken: Vec<String> = done.iter().filter(|one| one.is_broken()).map(Done::shown).collect();
    assert!(broken.is_empty(), "{} fail inside:\n{}", broken.len(), broken.join("\n"));
    let beside = done.iter().filter(|one| one.began < to && one.began + one.took > from).map(Done::shown);
    let (longest, beside) = (to - from, beside.collect::<Vec<_>>().join("\n"));
    assert!(longest < GAP, "for one of {} answers a client waited {longest:?}, beside\n{beside}", waits.len());
    done
}

/// One in `part` of `all`, chosen by the seed, or all if requested.
fn share<T>(all: Vec<T>, part: usize) -> Vec<T> {
    if std::env::var("BENNU_LARGEST").is_ok_and(|share| share == "all") {
        return all;
    }
    let seed: usize = std::env::var("BENNU_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    all.into_iter().skip(seed % part).step_by(part).collect()
}
