//! Runs each query in process with every choice of indexes: none, one wherever usable, an intersection of two wherever
//! usable, and the cheapest. All results must be equal. Each new table gets an index on each column, so that there is a
//! choice.

use super::Library;
use super::compared::is_query;
use crate::FrontError;
use crate::answer::Output;
use async_trait::async_trait;
use bennu::Session;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};
use std::sync::{Arc, Mutex};

/// Choices to compare with the result without indexes.
const CHOICES: [&str; 3] = ["force", "auto", "intersect"];

/// Words that make a query's rows depend on the scan order or on the time.
const ORDERED: [&str; 14] = [
    "limit",
    "fetch",
    "offset",
    "_agg",
    "first_value",
    "last_value",
    "nth_value",
    "lag(",
    "lead(",
    "row_number",
    "ntile",
    "distinct on",
    "random",
    "explain",
];

pub(crate) struct IndexChoices {
    library: Library,
    found: Arc<Mutex<Found>>,
    /// OID of the newest table whose columns are indexed.
    newest_indexed: u32,
}

/// Result of the comparison.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Queries that were compared.
    pub(crate) compared: usize,
    /// Queries with different results.
    pub(crate) differ: Vec<String>,
}

/// The rows of a query in any order, or its SQLSTATE.
type Rows = Result<Vec<String>, String>;

impl IndexChoices {
    pub(crate) fn new(session: Session, found: Arc<Mutex<Found>>) -> Self {
        Self { library: Library(session), found, newest_indexed: 0 }
    }

    /// Indexes each indexable column of new tables.
    async fn plant(&mut self) {
        let newest = self.newest_indexed;
        let text = format!(
            "SELECT c.oid, c.oid::regclass, quote_ident(a.attname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
             WHERE c.relkind = 'r' AND c.oid > {newest} AND c.oid >= 16384 AND a.attnum > 0 AND NOT a.attisdropped"
        );
        let Ok(DBOutput::Rows { rows, .. }) = self.library.run(&text).await else { return };
        for row in rows {
            let [oid, table, column] = row.as_slice() else { continue };
            self.newest_indexed = self.newest_indexed.max(oid.parse().unwrap_or(0));
            // Fails for a type without a byte order, which gets no index.
            let _ = self.library.run(&format!("CREATE INDEX ON {table} ({column})")).await;
        }
    }

    async fn rows(&mut self, choice: &str, sql: &str) -> Result<(Rows, Result<Output, FrontError>), FrontError> {
        self.library.run(&format!("SET bennu.index_choice = '{choice}'")).await?;
        let output = self.library.run(sql).await;
        let rows = match &output {
            Ok(DBOutput::Rows { rows, .. }) => {
                let mut lines: Vec<String> = rows.iter().map(|row| row.join("|")).collect();
                lines.sort();
                Ok(lines)
            }
            Ok(_) => Ok(Vec::new()),
            Err(error) => Err(error.code.clone()),
        };
        Ok((rows, output))
    }

    async fn compare(&mut self, sql: &str) -> Result<Output, FrontError> {
        let (without, output) = self.rows("off", sql).await?;
        let small = sql.to_ascii_lowercase();
        let counted = ORDERED.iter().any(|word| small.contains(word));
        let mut differ = Vec::new();
        for choice in CHOICES {
            let (with, _) = self.rows(choice, sql).await?;
            let same = match (&without, &with) {
                (Ok(without), Ok(with)) if counted => without.len() == with.len(),
                (without, with) => without == with,
            };
            if !same {
                differ.push(format!("{sql}\n  without indexes {without:?}\n  {choice:15} {with:?}"));
            }
        }
        let poisoned = |_| FrontError::new("XX000", "poisoned");
        {
            let mut found = self.found.lock().map_err(poisoned)?;
            found.compared += 1;
            found.differ.append(&mut differ);
        }
        self.library.run("RESET bennu.index_choice").await?;
        output
    }
}

#[async_trait]
impl AsyncDB for IndexChoices {
    type Error = FrontError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<Output, FrontError> {
        // In a transaction block, an error would make the next run fail too.
        let alone = self.library.0.inner().status() == bennu::TransactionStatus::Idle;
        if alone && is_query(sql) {
            return self.compare(sql).await;
        }
        let output = self.library.run(sql).await;
        if alone && output.is_ok() && sql.trim_start().to_ascii_lowercase().starts_with("create") {
            self.plant().await;
        }
        output
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "bennu"
    }

    fn error_sql_state(error: &FrontError) -> Option<String> {
        Some(error.code.clone())
    }
}
