//! A server in this process and a client that sends raw frames.

use crate::frames::{frame, query, startup};
use bennu_pg_server::{ServerOptions, serve};
use engine::{Engine, EngineOptions};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use store_testkit::ModelStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server with an empty database in memory. Dropping it stops it.
pub(crate) struct Server {
    pub(crate) engine: Arc<Engine>,
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Server {
    pub(crate) async fn start(max_connections: usize) -> Self {
        Self::start_reserving(max_connections, 0).await
    }

    /// Reserves `reserved` connection slots for the user postgres.
    pub(crate) async fn start_reserving(max_connections: usize, reserved: usize) -> Self {
        let options = EngineOptions { query_threads: 2, ..EngineOptions::default() };
        let engine = Engine::open(Arc::new(ModelStore::new()), options).await.unwrap();
        Self::serving(engine, max_connections, reserved)
    }

    /// Starts a server whose statements share `memory_bytes`.
    pub(crate) async fn start_with_memory(memory_bytes: usize) -> Self {
        let options = EngineOptions { query_threads: 2, memory_bytes, ..EngineOptions::default() };
        let engine = Engine::open(Arc::new(ModelStore::new()), options).await.unwrap();
        Self::serving(engine, 5, 0)
    }

    fn serving(engine: Arc<Engine>, max_connections: usize, reserved_connections: usize) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let options = ServerOptions { max_connections, reserved_connections, threads: 2, ..ServerOptions::default() };
        let serving = tokio::spawn(serve(listener, Arc::clone(&engine), options, stop.clone()));
        Self { engine, address, stop, serving }
    }

    /// Stops the server and waits for its end: the timeout is far longer than a stop takes, and far shorter than the
    /// clients' statements.
    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        let stopped = tokio::time::timeout(Duration::from_secs(60), &mut self.serving).await;
        stopped.expect("the server does not stop").unwrap().unwrap();
    }

    /// Serves the same database again.
    pub(crate) fn serve_again(&mut self) {
        *self = Self::serving(Arc::clone(&self.engine), 10, 0);
    }

    pub(crate) async fn connect(&self) -> Client {
        let mut client = self.opened().await;
        client.send(&startup()).await;
        client
    }

    /// A connection that has sent nothing.
    pub(crate) async fn opened(&self) -> Client {
        Client { stream: TcpStream::connect(self.address).await.unwrap() }
    }

    /// A session without a time limit.
    pub(crate) async fn session(&self) -> Client {
        let mut client = self.connect().await;
        assert_eq!(client.answer().await.last().unwrap().kind, b'Z');
        client.run("SET statement_timeout = 0").await.unwrap();
        client
    }

    /// Waits until `count` sessions are left.
    pub(crate) async fn sessions_are(&self, count: u64) {
        let left = || self.engine.metrics().iter().find(|(name, _)| *name == "sessions").map(|(_, n)| *n);
        for _ in 0..150 {
            if left() == Some(count) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{:?} sessions are left, not {count}", left());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A backend message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) kind: u8,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Client {
    stream: TcpStream,
}

impl Client {
    /// Sends bytes. Ignores errors: the server may close the connection before it has read everything.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// The next message; `None` when the server has closed.
    pub(crate) async fn message(&mut self) -> Option<Message> {
        let read = async {
            let kind = self.stream.read_u8().await.ok()?;
            let length = self.stream.read_u32().await.ok()?;
            let mut body = vec![0; length as usize - 4];
            self.stream.read_exact(&mut body).await.ok()?;
            Some(Message { kind, body })
        };
        tokio::time::timeout(Duration::from_secs(60), read).await.expect("the server does not answer")
    }

    /// The byte that answers an SSLRequest.
    pub(crate) async fn byte(&mut self) -> u8 {
        self.stream.read_u8().await.unwrap()
    }

    /// Messages up to ReadyForQuery, or to the end of the connection.
    pub(crate) async fn answer(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        while let Some(message) = self.message().await {
            let last = message.kind == b'Z';
            messages.push(message);
            if last {
                break;
            }
        }
        messages
    }

    /// Runs a simple query: the SQLSTATE of its error, or the first field of its first row, or its tag.
    pub(crate) async fn run(&mut self, text: &str) -> Result<String, String> {
        self.send(&query(text)).await;
        result(&self.answer().await)
    }

    /// Sends frames of the extended protocol with a Sync after them.
    pub(crate) async fn extended(&mut self, frames: &[Vec<u8>]) -> Result<String, String> {
        self.send(&[frames.concat(), frame(b'S', &[])].concat()).await;
        let answer = self.answer().await;
        assert_eq!(answer.last().map(|message| message.kind), Some(b'Z'), "the session ended");
        result(&answer)
    }
}

/// The SQLSTATE of the first error, or the first field of the first row, or the last tag.
pub(crate) fn result(messages: &[Message]) -> Result<String, String> {
    if let Some(error) = messages.iter().find(|message| message.kind == b'E') {
        return Err(field(error, b'C'));
    }
    if let Some(row) = messages.iter().find(|message| message.kind == b'D') {
        return Ok(String::from_utf8_lossy(row.body.get(6..).unwrap_or_default()).into_owned());
    }
    let tag = messages.iter().rev().find(|message| message.kind == b'C');
    Ok(tag.map_or(String::new(), |tag| String::from_utf8_lossy(&tag.body).trim_end_matches('\0').to_owned()))
}

/// A field of an error.
pub(crate) fn field(error: &Message, tag: u8) -> String {
    let mut fields = error.body.split(|byte| *byte == 0);
    let found = fields.find(|field| field.first() == Some(&tag)).unwrap_or_default();
    String::from_utf8_lossy(found.get(1..).unwrap_or_default()).into_owned()
}

/// Borrows a result, to compare it with literals.
pub(crate) trait Strs {
    fn strs(&self) -> Result<&str, &str>;
}

impl Strs for Result<String, String> {
    fn strs(&self) -> Result<&str, &str> {
        self.as_ref().map(String::as_str).map_err(String::as_str)
    }
}
