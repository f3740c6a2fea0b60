//! Accepts connections and deals them to cores: a connection stays on the core that took it.
//!
//! Each worker is a runtime of one thread. Statements of the first tier run there and then; plans run on the engine's
//! query threads, and whatever else computes for long leaves the worker's thread, so that it never stalls.

use crate::connection::Connection;
use crate::idle_poll::{self, Pollers, Tide};
use crate::seats::Seats;
use crate::socket::Asked;
use crate::sockets::{Socket, Sockets};
use crate::startup::{self, Opened};
use crate::wire::Wire;
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

/// Waits after a connection that could not be accepted: twice as long each time.
const SHORTEST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// A connection for which there is no room says in this time what it wants, or is not told that.
const REFUSING: Duration = Duration::from_secs(1);

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Most sessions at a time; one more is refused with 53300.
    pub max_connections: usize,
    /// So many of them only the operator has.
    pub reserved_connections: usize,
    /// The user's name of the operator.
    pub reserved_user: String,
    /// Most sockets of clients, sessions or not; 0 is what the limit of open files leaves. One more is refused with
    /// 53300.
    pub max_sockets: usize,
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
            max_sockets: 0,
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

/// A client's connection on its way to its thread.
type Accepted = (std::net::TcpStream, Socket);

/// A thread of connections.
struct Worker {
    connections: mpsc::UnboundedSender<Accepted>,
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
    let sockets = Arc::new(Sockets::new(options.max_sockets));
    if sockets.most() < options.max_connections {
        tracing::warn!(sockets = sockets.most(), "the limit of open files allows fewer clients than max_connections");
    }
    // Silent ones leave room for those that mean to begin a session.
    let starting = STARTING.min(sockets.most() / 2);
    let shared = Arc::new(Shared {
        engine: Arc::clone(&engine),
        stop: stop.clone(),
        seats: Arc::new(Seats::new(options.max_connections, options.reserved_connections, starting)),
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
    let done = accept_all(&listener, &sockets, &workers, &stop).await;
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
    sockets: &Arc<Sockets>,
    workers: &[Worker],
    stop: &CancellationToken,
) -> io::Result<()> {
    let mut turn = workers.iter().cycle();
    let mut failures = Failures::default();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            accepted = listener.accept() => accepted,
        };
        match accepted.and_then(|(stream, _)| stream.into_std()) {
            Ok(stream) => {
                failures.end();
                if let (Some(socket), Some(worker)) = (sockets.take(), turn.next()) {
                    // Fails only when the worker is gone, which is told at the end.
                    let _ = worker.connections.send((stream, socket));
                }
            }
            Err(error) => tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(failures.wait(&error)) => {}
            },
        }
    }
}

/// Connections that could not be accepted, one after the other: most often there are no file descriptors.
#[derive(Debug, Default)]
struct Failures(u32);

impl Failures {
    /// How long to wait for some to be closed. The first is logged.
    fn wait(&mut self, error: &io::Error) -> Duration {
        if self.0 == 0 {
            tracing::warn!(%error, "connections cannot be accepted");
        }
        self.0 = self.0.saturating_add(1);
        SHORTEST_WAIT.saturating_mul(1 << self.0.min(10)).min(LONGEST_WAIT)
    }

    fn end(&mut self) {
        if self.0 > 0 {
            tracing::info!(failures = self.0, "connections are accepted again");
            self.0 = 0;
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
        while let Some(accepted) = accepted.recv().await {
            tasks.spawn(connection(accepted, Arc::clone(&shared), Arc::clone(&tide)));
        }
        tasks.close();
        tasks.wait().await;
        poller.abort();
    });
    let threads = runtime.handle().clone();
    Ok((Worker { connections, runtime: Background(Some(runtime)), done }, threads))
}

async fn connection((stream, socket): Accepted, shared: Arc<Shared>, tide: Arc<Tide>) {
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
    if socket.is_refused {
        // An error is that it says nothing.
        let _ = tokio::time::timeout(REFUSING, startup::turn_away(&mut wire, &shared.engine)).await;
        return;
    }
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
