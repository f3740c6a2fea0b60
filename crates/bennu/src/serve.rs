//! Serves PostgreSQL clients and HTTP on an open database.

use crate::{Bennu, Error};
use std::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "console")]
pub use console::Peers as HttpPeers;
#[cfg(feature = "server")]
pub use pg_server::{Keepalive, ServerOptions, raise_file_limit};

impl Bennu {
    /// Serves PostgreSQL clients on `listener` until `stop` is cancelled and all sessions have ended. The program can
    /// use
    /// the database meanwhile.
    ///
    /// ```
    /// # use bennu::{Bennu, ServerOptions};
    /// # use std::net::TcpListener;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let db = Bennu::in_memory().await?;
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// println!("psql -h 127.0.0.1 -p {} -d bennu", listener.local_addr()?.port());
    ///
    /// let stop = tokio_util::sync::CancellationToken::new();
    /// let server = tokio::spawn({
    ///     let (db, stop) = (db.clone(), stop.clone());
    ///     async move { db.serve(listener, ServerOptions::default(), stop).await }
    /// });
    /// // … and when the program is about to end:
    /// stop.cancel();
    /// server.await??;
    /// db.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the listener fails.
    #[cfg(feature = "server")]
    pub async fn serve(
        &self,
        listener: TcpListener,
        options: ServerOptions,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let served = pg_server::serve(listener, self.engine().clone(), options, stop).await;
        served.map_err(|e| Error::io("the server failed", &e))
    }

    /// Serves `/healthz` and `/metrics` to `peers` on `listener` until `stop` is cancelled.
    ///
    /// # Errors
    /// When the listener fails.
    #[cfg(feature = "console")]
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        peers: HttpPeers,
        stop: CancellationToken,
    ) -> Result<(), Error> {
        let failed = |e: std::io::Error| Error::io("the HTTP server failed", &e);
        listener.set_nonblocking(true).map_err(failed)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        console::serve(listener, self.engine().clone(), peers, stop).await.map_err(failed)
    }
}
