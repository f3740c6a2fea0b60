//! TCP keepalive and user timeout of a client's socket.

use engine::Keepalive;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;

/// Keepalive options of a client's socket.
#[derive(Debug)]
pub(crate) struct Asked {
    /// The options when the socket was accepted: the system's defaults.
    system: Keepalive,
    now: Keepalive,
}

impl Asked {
    /// Sets `wanted` on a new socket.
    pub(crate) fn of(stream: &TcpStream, wanted: Keepalive) -> Self {
        let system = read(&SockRef::from(stream));
        let mut asked = Self { system, now: system };
        asked.change(stream, wanted);
        asked
    }

    /// Sets `wanted` if it differs from the current options.
    pub(crate) fn update_keepalive(&mut self, stream: &TcpStream, wanted: Keepalive) {
        if self.now != wanted {
            self.change(stream, wanted);
        }
    }

    fn change(&mut self, stream: &TcpStream, wanted: Keepalive) {
        // Not retried if the system refuses: it would refuse again after every statement.
        self.now = wanted;
        let or = |value: Duration, system: Duration| if value.is_zero() { system } else { value };
        let filled = Keepalive {
            idle: or(wanted.idle, self.system.idle),
            interval: or(wanted.interval, self.system.interval),
            count: if wanted.count == 0 { self.system.count } else { wanted.count },
            user_timeout: or(wanted.user_timeout, self.system.user_timeout),
        };
        if let Err(error) = set(&SockRef::from(stream), filled) {
            tracing::debug!(%error, "when a client is asked whether it is there could not be set");
        }
    }
}

/// Reads the socket's options; zero for those that the system does not report.
fn read(socket: &SockRef<'_>) -> Keepalive {
    Keepalive {
        idle: socket.tcp_keepalive_time().unwrap_or_default(),
        interval: socket.tcp_keepalive_interval().unwrap_or_default(),
        count: socket.tcp_keepalive_retries().unwrap_or_default(),
        user_timeout: user_timeout(socket),
    }
}

fn set(socket: &SockRef<'_>, wanted: Keepalive) -> io::Result<()> {
    let mut keepalive = TcpKeepalive::new();
    if !wanted.idle.is_zero() {
        keepalive = keepalive.with_time(wanted.idle);
    }
    if !wanted.interval.is_zero() {
        keepalive = keepalive.with_interval(wanted.interval);
    }
    if wanted.count > 0 {
        keepalive = keepalive.with_retries(wanted.count);
    }
    socket.set_tcp_keepalive(&keepalive)?;
    set_user_timeout(socket, wanted.user_timeout)
}

#[cfg(target_os = "linux")]
fn user_timeout(socket: &SockRef<'_>) -> Duration {
    socket.tcp_user_timeout().ok().flatten().unwrap_or_default()
}

#[cfg(target_os = "linux")]
fn set_user_timeout(socket: &SockRef<'_>, timeout: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(timeout))
}

#[cfg(not(target_os = "linux"))]
fn user_timeout(_: &SockRef<'_>) -> Duration {
    Duration::ZERO
}

/// Other systems have no `TCP_USER_TIMEOUT`.
#[cfg(not(target_os = "linux"))]
fn set_user_timeout(_: &SockRef<'_>, _: Duration) -> io::Result<()> {
    Ok(())
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
        let system = read(&SockRef::from(&stream));
        let seconds = Duration::from_secs;
        let wanted = Keepalive { idle: seconds(33), interval: seconds(7), count: 4, user_timeout: seconds(9) };
        let mut asked = Asked::of(&stream, wanted);
        assert!(SockRef::from(&stream).keepalive().unwrap());
        assert_eq!(read(&SockRef::from(&stream)), wanted);
        let other = Keepalive { interval: seconds(8), ..wanted };
        asked.update_keepalive(&stream, other);
        assert_eq!(read(&SockRef::from(&stream)), other);
        let zero = Keepalive { idle: Duration::ZERO, interval: Duration::ZERO, count: 0, user_timeout: Duration::ZERO };
        asked.update_keepalive(&stream, zero);
        assert_eq!(read(&SockRef::from(&stream)), system, "zero is the system's own");
    }
}
