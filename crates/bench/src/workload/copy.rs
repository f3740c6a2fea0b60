//! Loads by COPY. The lines are generated beforehand, chunk by chunk, and not timed.

use crate::error::BenchError;
use crate::peer::Peer;
use futures::SinkExt;
use std::time::Instant;
use tokio_postgres::Client;

/// Run time of COPY in seconds; `chunks` are whole lines with `|` between the columns.
pub(super) async fn copy(
    peer: &dyn Peer,
    client: &Client,
    table: &str,
    chunks: Vec<String>,
) -> Result<f64, BenchError> {
    let failed = |error| BenchError::Sql { server: peer.name(), error };
    let begin = Instant::now();
    let statement = format!("COPY {table} FROM STDIN (FORMAT csv, DELIMITER '|')");
    let mut sink = std::pin::pin!(client.copy_in(&statement).await.map_err(failed)?);
    for chunk in chunks {
        sink.send(std::io::Cursor::new(chunk.into_bytes())).await.map_err(failed)?;
    }
    sink.finish().await.map_err(failed)?;
    Ok(begin.elapsed().as_secs_f64())
}
