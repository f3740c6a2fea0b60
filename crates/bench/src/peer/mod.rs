//! The compared servers, each started on its own folder and stopped on drop.

mod bennu_server;
mod canned;
mod datafusion;
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

pub(crate) use bennu_server::BennuServer;
pub(crate) use canned::FixedResponseServer;
pub(crate) use datafusion::DataFusion;
pub(crate) use postgres::Postgres;
#[cfg(feature = "sqlite")]
pub(crate) use sqlite::Sqlite;

use crate::error::BenchError;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls};

/// A server that accepts PostgreSQL connections.
pub(crate) trait Peer {
    /// Its name in messages.
    fn name(&self) -> &'static str;
    /// Its port on 127.0.0.1.
    fn port(&self) -> u16;
    /// User and database to connect with.
    fn login(&self) -> (&'static str, &'static str);
    /// Resident memory of all its processes, in bytes.
    fn resident(&self) -> u64;
    /// Peak resident memory of its main process, in bytes.
    fn peak(&self) -> u64;
}

/// Connects, waiting up to a minute for the server to answer.
pub(crate) async fn connect(peer: &dyn Peer) -> Result<Client, BenchError> {
    let (user, database) = peer.login();
    let config = format!("host=127.0.0.1 port={} user={user} dbname={database}", peer.port());
    let begin = Instant::now();
    loop {
        match tokio_postgres::connect(&config, NoTls).await {
            Ok((client, connection)) => {
                tokio::spawn(connection);
                return Ok(client);
            }
            Err(error) if begin.elapsed() > Duration::from_secs(60) => {
                return Err(BenchError::Sql { server: peer.name(), error });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Runs statements and drops their rows.
pub(crate) async fn run(peer: &dyn Peer, client: &Client, sql: &str) -> Result<(), BenchError> {
    client.batch_execute(sql).await.map_err(|error| BenchError::Sql { server: peer.name(), error })
}

/// A port that is currently free.
fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Resident bytes of one process: `VmRSS` current, `VmHWM` peak.
fn memory_of(process: u32, which: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(which)?.strip_prefix(':'));
    line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
