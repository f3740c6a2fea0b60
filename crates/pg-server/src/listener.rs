//! Accepts connections and deals them to cores: a connection stays on the core that took it.
//!
//! Each worker is one thread with a runtime of its own. Statements of the first tier run there and
//! then; the engine moves everything longer to its query threads, so a worker never stalls.

use crate::connection::{Connection, Wire};
use crate::idle_poll::{self, Pollers};
use crate::startup::{self, Opened};
use engine::Engine;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A client that sends no startup packet is dropped after this.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(60);

/// Parsing and planning recurse; only what is touched of it costs memory.
const STACK: usize = 16 << 20;

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Most sessions at a time; one more is refused with 53300.
    pub max_connections: usize,
    /// Threads that hold connections; 0 is one for each core.
    pub threads: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { max_connections: 2_000, threads: 0 }
    }
}

struct Shared {
    engine: Arc<Engine>,
    stop: CancellationToken,
    connected: AtomicUsize,
    max_connections: usize,
    pollers: Pollers,
}

/// Serves `listener` until `stop` is cancelled, then waits until every session has ended.
///
/// # Errors
/// When a thread or a runtime cannot be made, or the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    engine: Arc<Engine>,
    options: ServerOptions,
    stop: CancellationToken,
) -> io::Result<()> {
    engine.note_max_connections(options.max_connections);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let shared = Arc::new(Shared {
        engine,
        stop: stop.clone(),
        connected: AtomicUsize::new(0),
        max_connections: options.max_connections,
        pollers: Pollers::new(cores),
    });
    let threads = match options.threads {
        0 => cores,
        n => n,
    };
    let mut workers = Vec::with_capacity(threads);
    let mut handles = Vec::with_capacity(threads);
    for number in 0..threads {
        let (sender, receiver) = mpsc::unbounded_channel();
        handles.push(start_worker(number, receiver, shared.clone())?);
        workers.push(sender);
    }
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let done = accept_all(&listener, &workers, &stop).await;
    drop(workers);
    let joined =
        tokio::task::spawn_blocking(move || handles.into_iter().map(std::thread::JoinHandle::join).all(|j| j.is_ok()));
    if !joined.await.unwrap_or(false) {
        tracing::error!("a connection thread ended in a panic");
    }
    done
}

async fn accept_all(
    listener: &tokio::net::TcpListener,
    workers: &[mpsc::UnboundedSender<std::net::TcpStream>],
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
                    // Fails only when the worker is gone, which the join above reports.
                    let _ = worker.send(stream);
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

fn start_worker(
    number: usize,
    mut connections: mpsc::UnboundedReceiver<std::net::TcpStream>,
    shared: Arc<Shared>,
) -> io::Result<std::thread::JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = move || {
        runtime.block_on(async move {
            let tasks = TaskTracker::new();
            let pollers = Arc::clone(&shared);
            let poller = tokio::spawn(async move { idle_poll::run(&pollers.pollers).await });
            while let Some(stream) = connections.recv().await {
                tasks.spawn(connection(stream, shared.clone()));
            }
            tasks.close();
            tasks.wait().await;
            poller.abort();
        });
    };
    std::thread::Builder::new().name(format!("bennu-wire-{number}")).stack_size(STACK).spawn(work)
}

async fn connection(stream: std::net::TcpStream, shared: Arc<Shared>) {
    let stream = match TcpStream::from_std(stream) {
        Ok(stream) => stream,
        Err(error) => return tracing::warn!(%error, "a connection could not be registered"),
    };
    let Ok(peer) = stream.peer_addr() else { return };
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let mut wire = Wire::new(stream);
    let _seat = Seat::take(&shared);
    let full = shared.connected.load(Ordering::Relaxed) > shared.max_connections;
    let opened = startup::open(&mut wire, &shared.engine, peer, full);
    let opened = tokio::select! {
        opened = tokio::time::timeout(STARTUP_TIMEOUT, opened) => opened,
        () = shared.stop.cancelled() => return,
    };
    if let Ok(Opened::Session(session)) = opened {
        // One of its own: waiting on one that all share, threads would wait for each other.
        let stop = shared.stop.child_token();
        let end = Connection::new(wire, *session).serve(&stop).await;
        tracing::debug!(%peer, ?end, "connection ended");
    }
}

/// Counts a connection as long as it lives.
struct Seat(Arc<Shared>);

impl Seat {
    fn take(shared: &Arc<Shared>) -> Self {
        shared.connected.fetch_add(1, Ordering::Relaxed);
        Self(shared.clone())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.connected.fetch_sub(1, Ordering::Relaxed);
    }
}
