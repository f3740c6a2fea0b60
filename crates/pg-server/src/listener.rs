//! Accepts connections and deals them to cores: a connection stays on the core that took it.
//!
//! Each worker is a runtime of one thread. Statements of the first tier run there and then; plans run on the engine's
//! query threads, and whatever else computes for long leaves the worker's thread, so that it never stalls.

use crate::connection::{Connection, Wire};
use crate::idle_poll::{self, Pollers, Tide};
use crate::seats::Seats;
use crate::socket::Asked;
use crate::startup::{self, Opened};
use engine::{Engine, Keepalive, SessionEnd};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Most connections that have not begun a session.
const STARTING: usize = 256;
/// When the server stops, connections have so long to end. What computes without asking is left behind then.
const ENDING: Duration = Duration::from_secs(5);

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Most sessions at a time; one more is refused with 53300.
    pub max_connections: usize,
    /// So many of them only the operator has.
    pub reserved_connections: usize,
    /// The user's name of the operator.
    pub reserved_user: String,
    /// Threads that hold connections; 0 is one for each core.
    pub threads: usize,
    /// A client that has not begun a session after so long is dropped.
    pub authentication_timeout: Duration,
    /// How it is found out that a silent client is gone.
    pub keepalive: Keepalive,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            max_connections: 2_000,
            reserved_connections: 3,
            reserved_user: "postgres".to_string(),
            threads: 0,
            authentication_timeout: Duration::from_secs(60),
            keepalive: Keepalive::default(),
        }
    }
}

struct Shared {
    engine: Arc<Engine>,
    stop: CancellationToken,
    seats: Arc<Seats>,
    operator: String,
    authentication_timeout: Duration,
    keepalive: Keepalive,
    pollers: Pollers,
    sessions: Sessions,
}

/// The sessions that are served, by process id. Held for one change.
#[derive(Debug, Default)]
struct Sessions(Mutex<HashMap<i32, SessionEnd>>);

impl Sessions {
    /// Ends all, also those whose task has no turn: what they compute asks.
    fn end(&self) {
        self.0.lock().values().for_each(SessionEnd::ask);
    }
}

/// A thread of connections.
struct Worker {
    connections: mpsc::UnboundedSender<std::net::TcpStream>,
    runtime: Background,
    /// Completes when all its connections have ended.
    done: JoinHandle<()>,
}

/// A runtime that is not waited for when it is dropped: that is not allowed where others run, and what is left of it
/// then has nobody to answer.
struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Serves `listener` until `stop` is cancelled, then until every session has ended, or has been left behind.
///
/// # Errors
/// When a thread or a runtime cannot be made, or the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    engine: Arc<Engine>,
    options: ServerOptions,
    stop: CancellationToken,
) -> io::Result<()> {
    engine.note_server(options.max_connections, options.reserved_connections, options.keepalive);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let shared = Arc::new(Shared {
        engine: Arc::clone(&engine),
        stop: stop.clone(),
        seats: Arc::new(Seats::new(options.max_connections, options.reserved_connections, STARTING)),
        operator: options.reserved_user.clone(),
        authentication_timeout: options.authentication_timeout,
        keepalive: options.keepalive,
        pollers: Pollers::new(cores),
        sessions: Sessions::default(),
    });
    let threads = if options.threads == 0 { cores } else { options.threads };
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut workers = Vec::with_capacity(threads);
    let mut watched = Vec::with_capacity(threads);
    for number in 0..threads {
        let (worker, threads) = start_worker(number, &options, &shared)?;
        watched.push(engine.watch_threads(format!("connection thread {number}"), threads));
        workers.push(worker);
    }
    let done = accept_all(&listener, &workers, &stop).await;
    drop(watched);
    shared.sessions.end();
    end_all(workers).await;
    done
}

/// Waits for the connections of all workers, but not for ever.
async fn end_all(workers: Vec<Worker>) {
    let deadline = Instant::now() + ENDING;
    for Worker { connections, runtime, done } in workers {
        drop(connections);
        match tokio::time::timeout_at(deadline, done).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "a connection thread failed"),
            Err(_) => tracing::warn!("a statement did not end in time and is left behind"),
        }
        drop(runtime);
    }
}

async fn accept_all(
    listener: &tokio::net::TcpListener,
    workers: &[Worker],
    stop: &CancellationToken,
) -> io::Result<()> {
    let mut turn = workers.iter().cycle();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            accepted = listener.accept() => accepted,
        };
        match accepted.and_then(|(stream, _)| stream.into_std()) {
            Ok(stream) => {
                if let Some(worker) = turn.next() {
                    // Fails only when the worker is gone, which is told at the end.
                    let _ = worker.connections.send(stream);
                }
            }
            Err(error) => {
                // Out of file descriptors, most often: wait for some to be closed.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn start_worker(number: usize, options: &ServerOptions, shared: &Arc<Shared>) -> io::Result<(Worker, Handle)> {
    // Each connection may compute apart, and somebody has to go on with the others.
    let most = options.max_connections.saturating_add(8);
    let runtime = engine::connection_runtime(&format!("bennu-wire-{number}"), most)?;
    let (connections, mut accepted) = mpsc::unbounded_channel();
    let shared = Arc::clone(shared);
    let done = runtime.spawn(async move {
        let (tasks, tide) = (TaskTracker::new(), Arc::new(Tide::default()));
        let (polled, own) = (Arc::clone(&shared), Arc::clone(&tide));
        let poller = tokio::spawn(async move { idle_poll::run(&polled.pollers, &own).await });
        while let Some(stream) = accepted.recv().await {
            tasks.spawn(connection(stream, Arc::clone(&shared), Arc::clone(&tide)));
        }
        tasks.close();
        tasks.wait().await;
        poller.abort();
    });
    let threads = runtime.handle().clone();
    Ok((Worker { connections, runtime: Background(Some(runtime)), done }, threads))
}

async fn connection(stream: std::net::TcpStream, shared: Arc<Shared>, tide: Arc<Tide>) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => return tracing::warn!(%error, "a connection could not be registered"),
    };
    let Ok(peer) = stream.peer_addr() else { return };
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "answers may wait in the system");
    }
    let asked = Asked::of(&stream, shared.keepalive);
    let mut wire = Wire::new(stream, asked, tide);
    let opened = {
        let starting = shared.seats.start();
        let opened = startup::open(&mut wire, &shared.engine, peer, &shared.seats, &shared.operator);
        tokio::select! {
            opened = tokio::time::timeout(shared.authentication_timeout, opened) => opened,
            () = starting.sent_away() => return,
            () = shared.stop.cancelled() => return,
        }
    };
    if let Ok(Opened::Session(session, _seat)) = opened {
        let process = session.process_id();
        shared.sessions.0.lock().insert(process, session.ending());
        // One of its own: waiting on one that all share, threads would wait for each other.
        let stop = shared.stop.child_token();
        let end = Connection::new(wire, *session).serve(&stop).await;
        shared.sessions.0.lock().remove(&process);
        tracing::debug!(%peer, ?end, "connection ended");
    }
}
