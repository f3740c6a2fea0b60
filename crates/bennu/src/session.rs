//! A session of the embedding program.

use crate::Error;
use engine::{Answer, Chunk, ColumnDesc, Prepared};
use futures::StreamExt;
use std::sync::Arc;
use types::Datum;

/// Runs statements one after the other. Transactions are SQL: `BEGIN`, `COMMIT`, `ROLLBACK`.
pub struct Session {
    inner: engine::Session,
}

/// All rows of an answer.
#[derive(Debug)]
pub struct Rows {
    /// The columns, in order.
    pub columns: Arc<Vec<ColumnDesc>>,
    /// The rows, chunk by chunk.
    pub chunks: Vec<Chunk>,
}

impl Rows {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Chunk::len).sum()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Session {
    pub(crate) fn new(inner: engine::Session) -> Self {
        Self { inner }
    }

    /// Runs all statements of `text` and returns the last one's command tag. Rows are read and dropped.
    ///
    /// # Errors
    /// The first statement that failed.
    pub async fn execute(&mut self, text: &str) -> Result<String, Error> {
        let mut tag = String::new();
        for statement in self.inner.parse(text)? {
            tag = match self.inner.run(&statement).await? {
                Answer::Empty => String::new(),
                Answer::Done(tag) => tag,
                Answer::Rows(mut rows) => {
                    let mut count = 0;
                    while let Some(chunk) = rows.chunks.next().await {
                        count += chunk?.len();
                    }
                    if rows.counted { format!("{} {count}", rows.tag) } else { rows.tag.into() }
                }
                Answer::CopyIn(_) | Answer::CopyOut(_) => return Err(copy_needs_a_stream()),
            };
        }
        Ok(tag)
    }

    /// Runs one statement and returns all its rows.
    ///
    /// # Errors
    /// The statement's.
    pub async fn query(&mut self, text: &str) -> Result<Rows, Error> {
        let prepared = self.prepare(text).await?;
        self.query_prepared(&prepared, &[]).await
    }

    /// Prepares one statement; the types of `$1`, `$2`, … follow from it.
    ///
    /// # Errors
    /// 42601 also for several statements.
    pub async fn prepare(&mut self, text: &str) -> Result<Arc<Prepared>, Error> {
        Ok(self.inner.prepare(text, &[]).await?)
    }

    /// Runs a prepared statement and returns all its rows.
    ///
    /// # Errors
    /// The statement's.
    pub async fn query_prepared(&mut self, prepared: &Arc<Prepared>, params: &[Datum]) -> Result<Rows, Error> {
        match self.inner.execute(prepared, params).await? {
            Answer::Rows(mut rows) => {
                let mut chunks = Vec::new();
                while let Some(chunk) = rows.chunks.next().await {
                    chunks.push(chunk?);
                }
                Ok(Rows { columns: rows.columns, chunks })
            }
            Answer::CopyIn(_) | Answer::CopyOut(_) => Err(copy_needs_a_stream()),
            Answer::Empty | Answer::Done(_) => Ok(Rows { columns: Arc::default(), chunks: Vec::new() }),
        }
    }

    /// The engine's session below, for front ends.
    pub fn inner(&mut self) -> &mut engine::Session {
        &mut self.inner
    }
}

fn copy_needs_a_stream() -> Error {
    engine::EngineError::unsupported("COPY through this call (use a client's COPY, or Session::inner)").into()
}
