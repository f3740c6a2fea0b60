//! Sessions with frames changed, cut, repeated and mixed: the server answers or closes, never panics and leaks nothing.
//! `BENNU_WIRE_SESSIONS` sets the number of sessions, `BENNU_WIRE_SEED` the seed.

use crate::frames::{Script, query, scripts, startup};
use bennu_pg_server::{ServerOptions, serve};
use engine::{Engine, EngineOptions};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use store_testkit::ModelStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

const AT_ONCE: usize = 16;
/// Longer than any response takes.
const PATIENT: Duration = Duration::from_secs(2);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

#[test]
fn no_session_panics_or_leaks() {
    let panics = Arc::new(AtomicUsize::new(0));
    let (count, usual) = (Arc::clone(&panics), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        count.fetch_add(1, Ordering::Relaxed);
        usual(info);
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(setting("BENNU_WIRE_SESSIONS", 1_500), setting("BENNU_WIRE_SEED", 1)));
    let _ = std::panic::take_hook();
    assert_eq!(panics.load(Ordering::Relaxed), 0, "the server panicked");
}

async fn run(sessions: u64, seed: u64) {
    let options = EngineOptions { query_threads: 2, ..EngineOptions::default() };
    let engine = Engine::open(Arc::new(ModelStore::new()), options).await.unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let options = ServerOptions { max_connections: 100, threads: 2, ..ServerOptions::default() };
    let server = tokio::spawn(serve(listener, Arc::clone(&engine), options, stop.clone()));
    let table = "CREATE TABLE t (k integer PRIMARY KEY, v text, n numeric(9,2), d timestamptz DEFAULT now());
        INSERT INTO t (k, v, n) SELECT g, 'row ' || g, g FROM generate_series(1, 20) AS g;
        CREATE TABLE u (k integer PRIMARY KEY, v text)";
    let made = talk(address, &[startup(), query(table)].concat(), PATIENT).await;
    assert!(contains(&made, b"INSERT 0 20"), "{made:?}");

    let next = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let next = Arc::clone(&next);
            tokio::spawn(async move {
                let scripts = scripts();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed) as u64;
                    if number >= sessions {
                        return;
                    }
                    let mut random = Random::new(seed, number);
                    talk(address, &mutated(&scripts, &mut random), Duration::from_millis(20)).await;
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    assert!(contains(
        &talk(address, &[startup(), query("SELECT 'still here'")].concat(), PATIENT).await,
        b"still here"
    ));
    no_session_is_left(&engine).await;
    stop.cancel();
    server.await.unwrap().unwrap();
}

async fn no_session_is_left(engine: &Engine) {
    let left = || engine.metrics().iter().find(|(name, _)| *name == "sessions").map_or(u64::MAX, |(_, n)| *n);
    for _ in 0..100 {
        if left() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{} sessions are left", left());
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Sends `bytes`, reads until the server is quiet, shuts down the write half and reads until the server closes too.
async fn talk(address: SocketAddr, bytes: &[u8], quiet: Duration) -> Vec<u8> {
    let work = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (mut read, mut write) = stream.split();
        let mut answer = Vec::new();
        // The server may close before it has read everything.
        let send = write.write_all(bytes);
        let receive =
            async { while let Ok(Ok(1..)) = tokio::time::timeout(quiet, read.read_buf(&mut answer)).await {} };
        let _ = tokio::join!(send, receive);
        let _ = write.shutdown().await;
        let _ = read.read_to_end(&mut answer).await;
        answer
    };
    let answer = tokio::time::timeout(Duration::from_secs(60), work).await;
    answer.unwrap_or_else(|_| panic!("the server keeps a session that has ended: {bytes:?}"))
}

/// Makes one to five edits to a session's frames or bytes. The opening packet is mostly kept, since little would be
/// reached without it.
fn mutated(scripts: &[Script], random: &mut Random) -> Vec<u8> {
    let script = &scripts[random.below(scripts.len())];
    let mut frames = script.frames.clone();
    let mut opening = script.opening.clone();
    if random.below(20) == 0 {
        edit_bytes(&mut opening, random);
    }
    for _ in 0..=random.below(5) {
        let at = random.below(frames.len() + 1);
        match random.below(5) {
            0 if at < frames.len() => drop(frames.remove(at)),
            1 => {
                let other = &scripts[random.below(scripts.len())].frames;
                if !other.is_empty() {
                    frames.insert(at, other[random.below(other.len())].clone());
                }
            }
            2 if at < frames.len() => edit_bytes(&mut frames[at], random),
            _ if at < frames.len() => edit_body(&mut frames[at], random),
            _ => {}
        }
    }
    [opening, frames.concat()].concat()
}

/// Changes bytes anywhere, lengths included.
fn edit_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(4) {
        0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
        1 => bytes.insert(at, random.below(256) as u8),
        2 if at < bytes.len() => drop(bytes.remove(at)),
        _ => bytes.truncate(at),
    }
}

/// Changes a frame's body and corrects its length.
fn edit_body(frame: &mut Vec<u8>, random: &mut Random) {
    let mut body = frame.split_off(5.min(frame.len()));
    for _ in 0..=random.below(3) {
        edit_bytes(&mut body, random);
    }
    frame.truncate(1);
    frame.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    frame.extend_from_slice(&body);
}

/// Xorshift (Marsaglia 2003): the same seed gives the same sessions.
struct Random(u64);

impl Random {
    fn new(seed: u64, number: u64) -> Self {
        let mut random =
            Self((seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03)) | 1);
        for _ in 0..4 {
            let _ = random.below(2);
        }
        random
    }

    fn below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }
}
