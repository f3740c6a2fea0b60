//! Runs statements over a socket in the simple protocol, which also works with PostgreSQL.

use crate::FrontError;
use crate::answer::{self, Output};
use async_trait::async_trait;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};
use tokio_postgres::{Client, SimpleQueryMessage};

pub(crate) struct Simple {
    pub(crate) client: Client,
    pub(crate) engine: &'static str,
}

#[async_trait]
impl AsyncDB for Simple {
    type Error = FrontError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<Output, FrontError> {
        super::refuse_copy_in(sql)?;
        let mut columns = None;
        let mut rows = Vec::new();
        let mut count = 0;
        for message in self.client.simple_query(sql).await? {
            match message {
                SimpleQueryMessage::RowDescription(description) => columns = Some(description.len()),
                SimpleQueryMessage::Row(row) => {
                    rows.push((0..row.len()).map(|i| answer::cell(row.get(i))).collect());
                }
                SimpleQueryMessage::CommandComplete(n) => count = n,
                _ => {}
            }
        }
        Ok(match columns {
            Some(columns) => answer::rows(columns, rows),
            None => DBOutput::StatementComplete(count),
        })
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        self.engine
    }

    fn error_sql_state(error: &FrontError) -> Option<String> {
        Some(error.code.clone())
    }
}
