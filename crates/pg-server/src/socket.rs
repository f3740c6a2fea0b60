//! Options of a client's socket.

use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;

/// How it is found out that a silent client is gone, as PostgreSQL's settings `tcp_keepalives_…` say it. Zero is the
/// system's own value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// A client that was silent for so long is asked.
    pub idle: Duration,
    /// And asked again after this.
    pub interval: Duration,
    /// Until so many questions had no answer.
    pub count: u32,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self { idle: Duration::from_secs(60), interval: Duration::from_secs(10), count: 6 }
    }
}

/// Answers leave at once, and clients that vanished are noticed.
///
/// # Errors
/// The system's.
pub(crate) fn prepare(stream: &TcpStream, keepalive: Keepalive) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut wanted = TcpKeepalive::new();
    if !keepalive.idle.is_zero() {
        wanted = wanted.with_time(keepalive.idle);
    }
    if !keepalive.interval.is_zero() {
        wanted = wanted.with_interval(keepalive.interval);
    }
    if keepalive.count > 0 {
        wanted = wanted.with_retries(keepalive.count);
    }
    SockRef::from(stream).set_tcp_keepalive(&wanted)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_silent_client_is_asked_whether_it_is_there() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let wanted = Keepalive { idle: Duration::from_secs(33), interval: Duration::from_secs(7), count: 4 };
        prepare(&stream, wanted).unwrap();
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap() && stream.nodelay().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), wanted.idle);
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), wanted.interval);
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), wanted.count);
    }
}
