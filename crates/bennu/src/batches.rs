//! Results as Arrow batches.

use crate::{ColumnDesc, Error};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use engine::RowStream;
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Result rows, batch by batch as the query produces them: a [`Stream`], or [`Self::next`]. At most a few batches are
/// buffered. Dropping this ends the query.
///
/// A field's metadata `bennu.type` is its SQL type, which is more specific than Arrow's.
pub struct Batches {
    rows: RowStream,
    schema: SchemaRef,
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Batches {
    /// Wraps the engine's rows, for front ends.
    pub fn new(rows: RowStream) -> Self {
        let schema = rows.schema();
        Self { rows, schema }
    }

    /// The columns with their SQL types.
    pub fn columns(&self) -> &[ColumnDesc] {
        &self.rows.columns
    }

    /// The schema of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch; `None` after the last.
    ///
    /// # Errors
    /// The error that ended the query. No more batches follow.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        StreamExt::next(self).await.transpose()
    }

    /// Returns all remaining batches.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub async fn collect(mut self) -> Result<Vec<RecordBatch>, Error> {
        let mut all = Vec::new();
        while let Some(batch) = self.next().await? {
            all.push(batch);
        }
        Ok(all)
    }
}

impl Stream for Batches {
    type Item = Result<RecordBatch, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let chunk = std::task::ready!(self.rows.chunks.poll_next_unpin(cx));
        Poll::Ready(chunk.map(|chunk| Ok(chunk?.to_batch(&self.rows.columns)?)))
    }
}
