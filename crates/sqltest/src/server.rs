//! A server on a free port for the fronts that use a socket.

use crate::FrontError;
use bennu::{Bennu, ServerOptions};
use std::net::TcpListener;
use tokio_postgres::{Client, NoTls};
use tokio_util::sync::CancellationToken;

/// A database with its server. Dropping it stops the server.
pub struct Server {
    db: Bennu,
    port: u16,
    stop: CancellationToken,
}

impl Server {
    /// Starts a server with a new in-memory database.
    ///
    /// # Errors
    /// When there is no free port or no temporary folder.
    pub async fn start() -> Result<Self, FrontError> {
        let options = bennu::Options {
            cache_bytes: 32 << 20,
            memtable_bytes: 16 << 20,
            auto_analyze: bennu::AutoAnalyzeOptions::off(),
            ..Default::default()
        };
        Self::start_with(Bennu::open_in_memory(&options).await?)
    }

    /// Starts a server for `db`.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn start_with(db: Bennu) -> Result<Self, FrontError> {
        let io = |e: std::io::Error| FrontError::new("58030", e.to_string());
        let listener = TcpListener::bind("127.0.0.1:0").map_err(io)?;
        let port = listener.local_addr().map_err(io)?.port();
        let stop = CancellationToken::new();
        let (served, token) = (db.clone(), stop.clone());
        let options = ServerOptions { threads: 1, ..ServerOptions::default() };
        tokio::spawn(async move { served.serve(listener, options, token).await });
        Ok(Self { db, port, stop })
    }

    /// The database.
    pub fn db(&self) -> &Bennu {
        &self.db
    }

    /// A new connection.
    ///
    /// # Errors
    /// When the server refuses the connection.
    pub async fn connect(&self) -> Result<Client, FrontError> {
        connect(&format!("host=127.0.0.1 port={} user=test dbname=bennu", self.port)).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Connects by a connection string.
pub(crate) async fn connect(config: &str) -> Result<Client, FrontError> {
    let (client, connection) = tokio_postgres::connect(config, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
