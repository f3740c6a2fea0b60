//! Accepts connections and assigns them to worker threads; a connection stays on its worker.
//!
//! Each worker is a runtime with one thread. Key and row programs run on that thread; DataFusion plans run on the
//! engine's query threads, and other long computations are moved off the thread too, so that it never stalls.

use crate::connection::Connection;
use crate::idle_poll::{self, MessagePace, Pollers};
use crate::seats::ConnectionSlots;
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

/// Most connections without a session.
const STARTING: usize = 256;
/// How long connections have to end when the server stops. Computations that do not check for it are then abandoned.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Waits after a failed accept; the wait doubles each time.
const SHORTEST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long a connection over the socket limit has to send its startup packet and receive the error.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// Options of [`serve`].
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Most sessions at a time; further ones are refused with 53300.
    pub max_connections: usize,
    /// How many of these sessions are reserved for the operator.
    pub reserved_connections: usize,
    /// The operator's user name.
    pub reserved_user: String,
    /// Most client sockets, with or without a session; 0 derives the number from the limit of open files. Further ones
    /// are
    /// refused with 53300.
    pub max_sockets: usize,
    /// Worker threads for connections; 0 is one per core.
    pub threads: usize,
    /// How long a client has to begin a session before it is disconnected.
    pub authentication_timeout: Duration,
    /// TCP keepalive options, which detect clients that are gone.
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
    seats: Arc<ConnectionSlots>,
    operator: String,
    authentication_timeout: Duration,
    keepalive: Keepalive,
    pollers: Pollers,
    sessions: Sessions,
}

/// The served sessions by process id. Locked for one change only.
#[derive(Debug, Default)]
struct Sessions(Mutex<HashMap<i32, SessionEnd>>);

impl Sessions {
    /// Asks all sessions to end, also those whose task is not polled: running computations check for it.
    fn end(&self) {
        self.0.lock().values().for_each(SessionEnd::ask);
    }
}

/// An accepted connection on its way to a worker.
type Accepted = (std::net::TcpStream, Socket);

/// A worker thread for connections.
struct Worker {
    connections: mpsc::UnboundedSender<Accepted>,
    runtime: Background,
    /// Completes when all its connections have ended.
    done: JoinHandle<()>,
}

/// A runtime whose drop does not block: blocking is not allowed within another runtime, and abandoned tasks have no
/// client left.
struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Serves `listener` until `stop` is cancelled, then waits until every session has ended or is abandoned.
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
    // Silent connections leave sockets for clients that begin a session.
    let starting = STARTING.min(sockets.most() / 2);
    let shared = Arc::new(Shared {
        engine: Arc::clone(&engine),
        stop: stop.clone(),
        seats: Arc::new(ConnectionSlots::new(options.max_connections, options.reserved_connections, starting)),
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

/// Waits for the connections of all workers, at most [`SHUTDOWN_TIMEOUT`].
async fn end_all(workers: Vec<Worker>) {
    let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
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
                    // Fails only when the worker has ended, which `end_all` reports.
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

/// Consecutive failed accepts, mostly for lack of file descriptors.
#[derive(Debug, Default)]
struct Failures(u32);

impl Failures {
    /// Returns how long to wait before the next accept. Logs the first failure.
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
    // Each connection may compute on a thread of its own, and the others still need a thread.
    let most = options.max_connections.saturating_add(8);
    let runtime = engine::connection_runtime(&format!("bennu-wire-{number}"), most)?;
    let (connections, mut accepted) = mpsc::unbounded_channel();
    let shared = Arc::clone(shared);
    let done = runtime.spawn(async move {
        let (tasks, tide) = (TaskTracker::new(), Arc::new(MessagePace::default()));
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

async fn connection((stream, socket): Accepted, shared: Arc<Shared>, tide: Arc<MessagePace>) {
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
        // The only error is the timeout of a silent client.
        let _ = tokio::time::timeout(REFUSAL_TIMEOUT, startup::refuse_over_limit(&mut wire, &shared.engine)).await;
        return;
    }
    let opened = {
        let starting = shared.seats.start();
        let opened = startup::open(&mut wire, &shared.engine, peer, &shared.seats, &shared.operator);
        tokio::select! {
            opened = tokio::time::timeout(shared.authentication_timeout, opened) => opened,
            () = starting.evicted() => return,
            () = shared.stop.cancelled() => return,
        }
    };
    if let Ok(Opened::Session(session, _seat)) = opened {
        let process = session.process_id();
        shared.sessions.0.lock().insert(process, session.ending());
        // A child token per connection: threads that wait on one shared token contend for its lock.
        let stop = shared.stop.child_token();
        let end = Connection::new(wire, *session).serve(&stop).await;
        shared.sessions.0.lock().remove(&process);
        tracing::debug!(%peer, ?end, "connection ended");
    }
}
