//! A server without a database, which answers every statement with the same prepared row. Its rate is the upper bound
//! for any server on this runtime.

use super::Peer;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const SSL_REQUEST: u32 = 80_877_103;
/// Columns and values of the row.
const ROW: [(&str, &str); 3] = [
    ("id", "54321"),
    ("balance", "0"),
    ("filler", "some eighty characters of text that stand for what a row holds besides its figures"),
];

/// The running server. It ends with the program, since its threads hold no resources.
#[derive(Debug)]
pub(crate) struct FixedResponseServer {
    port: u16,
}

impl FixedResponseServer {
    /// Starts the server with one thread per core, like Bennu.
    pub(crate) fn start() -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = (0..cores).map(|_| worker()).collect::<io::Result<Vec<_>>>()?;
        std::thread::spawn(move || {
            for (stream, worker) in listener.incoming().flatten().zip(workers.iter().cycle()) {
                // Fails only if the worker has ended; the client then gets no response.
                drop(worker.send(stream));
            }
        });
        Ok(Self { port })
    }
}

impl Peer for FixedResponseServer {
    fn name(&self) -> &'static str {
        "a server of fixed answers"
    }
    fn port(&self) -> u16 {
        self.port
    }
    fn login(&self) -> (&'static str, &'static str) {
        ("bench", "bench")
    }
    fn resident(&self) -> u64 {
        0
    }
    fn peak(&self) -> u64 {
        0
    }
}

fn worker() -> io::Result<UnboundedSender<std::net::TcpStream>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, mut streams): (_, UnboundedReceiver<std::net::TcpStream>) = unbounded_channel();
    std::thread::spawn(move || {
        runtime.block_on(async move {
            while let Some(stream) = streams.recv().await {
                tokio::spawn(async move { serve(stream).await.unwrap_or_default() });
            }
        });
    });
    Ok(sender)
}

async fn serve(stream: std::net::TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    let mut stream = TcpStream::from_std(stream)?;
    let (mut input, mut output) = (Vec::with_capacity(8192), Vec::new());
    let mut opened = false;
    while stream.read_buf(&mut input).await? > 0 {
        let mut rest = input.as_slice();
        while let Some((message, after)) = split(rest, opened) {
            answer(message, &mut opened, &mut output);
            rest = after;
        }
        let left = rest.len();
        input.drain(..input.len() - left);
        stream.write_all(&output).await?;
        output.clear();
    }
    Ok(())
}

/// Splits off the first message if it is complete. The startup message has no type byte.
fn split(input: &[u8], opened: bool) -> Option<(&[u8], &[u8])> {
    let letter = usize::from(opened);
    let length = input.get(letter..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))?;
    input.split_at_checked(letter + length as usize)
}

fn answer(message: &[u8], opened: &mut bool, output: &mut Vec<u8>) {
    if !*opened {
        let code = message.get(4..).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_be_bytes(*bytes));
        if code == Some(SSL_REQUEST) {
            return output.push(b'N');
        }
        *opened = true;
        put(output, b'R', &[0; 4]);
        return put(output, b'Z', b"I");
    }
    match message.first() {
        Some(b'P') => put(output, b'1', &[]),
        Some(b'B') => put(output, b'2', &[]),
        Some(b'D') => put(output, b'T', &description()),
        Some(b'E') => {
            put(output, b'D', &row());
            put(output, b'C', b"SELECT 1\0");
        }
        Some(b'S') => put(output, b'Z', b"I"),
        _ => {}
    }
}

fn put(output: &mut Vec<u8>, letter: u8, body: &[u8]) {
    output.push(letter);
    output.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    output.extend_from_slice(body);
}

/// RowDescription with three text columns.
fn description() -> Vec<u8> {
    const TEXT: [u8; 18] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0];
    let mut body = vec![0, ROW.len() as u8];
    for (name, _) in ROW {
        body.extend_from_slice(name.as_bytes());
        body.push(0);
        body.extend_from_slice(&TEXT);
    }
    body
}

fn row() -> Vec<u8> {
    let mut body = vec![0, ROW.len() as u8];
    for (_, value) in ROW {
        body.extend_from_slice(&(value.len() as u32).to_be_bytes());
        body.extend_from_slice(value.as_bytes());
    }
    body
}
