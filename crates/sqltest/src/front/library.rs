//! Runs statements in process, through the embedding crate.

use crate::FrontError;
use crate::answer::{self, Output};
use async_trait::async_trait;
use bennu::{Answer, Session};
use futures::StreamExt;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};

pub(crate) struct Library(pub(crate) Session);

#[async_trait]
impl AsyncDB for Library {
    type Error = FrontError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<Output, FrontError> {
        let session = self.0.inner();
        let failed = |e: bennu::Error| FrontError::from(e);
        let mut last = DBOutput::StatementComplete(0);
        for statement in session.parse(sql).map_err(|e| failed(e.into()))? {
            last = match session.run(&statement).await.map_err(|e| failed(e.into()))? {
                Answer::Done(tag) => DBOutput::StatementComplete(answer::count(&tag)),
                Answer::Rows(mut stream) => {
                    let zone = session.time_zone();
                    let mut rows = Vec::new();
                    while let Some(chunk) = stream.chunks.next().await {
                        let text =
                            chunk.and_then(|c| c.to_text(&stream.columns, zone)).map_err(|e| failed(e.into()))?;
                        rows.extend(text.iter().map(|r| r.iter().map(|v| answer::cell(v.as_deref())).collect()));
                    }
                    answer::rows(stream.columns.len(), rows)
                }
                Answer::Empty | Answer::CopyIn(_) | Answer::CopyOut(_) => DBOutput::StatementComplete(0),
            };
        }
        Ok(last)
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "bennu"
    }

    fn error_sql_state(error: &FrontError) -> Option<String> {
        Some(error.code.clone())
    }
}
