//! An answer as Arrow batches.

use crate::{ColumnDesc, Error, Row};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use engine::{Chunk, RowStream};
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Rows of an answer, batch by batch as the query makes them: a [`Stream`], or [`Self::next`]. Only a few batches wait
/// in memory. Dropping it ends the query.
///
/// A field's metadata `bennu.type` is its SQL type, which is finer than Arrow's.
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
    /// The rows of an answer of the engine, for front ends.
    ///
    /// # Errors
    /// 0A000 for columns that have no Arrow type.
    pub fn new(rows: RowStream) -> Result<Self, Error> {
        let schema = Chunk::Rows(Vec::new()).to_batch(&rows.columns)?.schema();
        Ok(Self { rows, schema })
    }

    /// An answer without columns and rows.
    pub(crate) fn none() -> Self {
        let chunks = futures::stream::empty().boxed();
        let rows = RowStream { columns: Arc::default(), chunks, tag: "", counted: false };
        Self { rows, schema: Arc::new(Schema::empty()) }
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
    /// What stopped the query. There are no more batches then.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        StreamExt::next(self).await.transpose()
    }

    /// All batches that are left.
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

    /// The next rows as values; `None` after the last.
    pub(crate) async fn next_rows(&mut self) -> Result<Option<Vec<Row>>, Error> {
        let Some(chunk) = self.rows.chunks.next().await else { return Ok(None) };
        let columns = &self.rows.columns;
        let rows = match chunk? {
            Chunk::Rows(rows) => rows,
            chunk => chunk.to_rows(columns)?.into_owned(),
        };
        Ok(Some(rows.into_iter().map(|row| Row::new(Arc::clone(columns), row)).collect()))
    }
}

impl Stream for Batches {
    type Item = Result<RecordBatch, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let chunk = std::task::ready!(self.rows.chunks.poll_next_unpin(cx));
        Poll::Ready(chunk.map(|chunk| Ok(chunk?.to_batch(&self.rows.columns)?)))
    }
}
