//! In process, each query twice: as row program, wherever it can be one, and as a plan. Both must answer alike.

use super::Library;
use crate::FrontError;
use crate::answer::Output;
use async_trait::async_trait;
use bennu::{Bennu, Session};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};
use std::sync::{Arc, Mutex};
use types::DataType;

/// How often programs have run.
const RAN: &str = "statements_row_program_total";

pub(crate) struct Compared {
    library: Library,
    db: Bennu,
    told: Arc<Mutex<Told>>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Queries that ran as row programs.
    pub(crate) compared: usize,
    /// Those that did not answer alike.
    pub(crate) differ: Vec<String>,
}

/// What of a query is compared.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Names and types; where they come from plans do not tell as PostgreSQL does.
    columns: Vec<(String, DataType)>,
    /// Types of parameters.
    parameters: Vec<DataType>,
    /// Rows in any order, or the SQLSTATE.
    rows: Result<Vec<String>, String>,
}

impl Compared {
    pub(crate) fn new(db: &Bennu, session: Session, told: Arc<Mutex<Told>>) -> Self {
        Self { library: Library(session), db: db.clone(), told }
    }

    fn ran(&self) -> u64 {
        self.db.engine().metrics().into_iter().find(|(name, _)| *name == RAN).map_or(0, |(_, count)| count)
    }

    async fn setting(&mut self) -> Result<String, FrontError> {
        match self.library.run("SHOW bennu.row_programs").await? {
            DBOutput::Rows { rows, .. } => Ok(rows.into_iter().flatten().next().unwrap_or_default()),
            _ => Ok(String::new()),
        }
    }

    async fn outcome(&mut self, mode: &str, sql: &str) -> Result<(Outcome, Result<Output, FrontError>), FrontError> {
        self.library.run(&format!("SET bennu.row_programs = '{mode}'")).await?;
        let (columns, parameters) = match self.library.0.inner().prepare(sql, &[]).await {
            Ok(prepared) => {
                let columns = prepared.columns.iter().flat_map(|columns| columns.iter());
                let columns = columns.map(|column| (column.name.clone(), told_alike(column.ty))).collect();
                (columns, prepared.parameters.clone())
            }
            // Plans compute constants when they are made.
            Err(_) => (Vec::new(), Vec::new()),
        };
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
        let failed = rows.is_err();
        let (columns, parameters) = if failed { (Vec::new(), Vec::new()) } else { (columns, parameters) };
        Ok((Outcome { columns, parameters, rows }, output))
    }

    async fn compare(&mut self, sql: &str) -> Result<Output, FrontError> {
        let (before, usual) = (self.ran(), self.setting().await?);
        let (program, output) = self.outcome("all", sql).await?;
        let ran = self.ran() > before;
        if ran || output.is_err() {
            let (plan, _) = self.outcome("off", sql).await?;
            let mut told =
                self.told.lock().map_err(|_| FrontError { code: "XX000".into(), message: "poisoned".into() })?;
            told.compared += usize::from(ran);
            if program != plan {
                told.differ.push(format!("{sql}\n  as row program {program:?}\n  as plan        {plan:?}"));
            }
        }
        self.library.run(&format!("SET bennu.row_programs = '{usual}'")).await?;
        output
    }
}

/// Limits that programs have as PostgreSQL has them, and plans not always: lengths of varchar, fields of intervals, digits of
/// moments.
fn told_alike(ty: DataType) -> DataType {
    match ty {
        DataType::Varchar(_) => DataType::Text,
        DataType::LimitedInterval(_) => DataType::Interval,
        other => other.without_digits(),
    }
}

/// Can it be run twice? What changes something is no row program.
fn is_query(sql: &str) -> bool {
    let first = sql.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '(');
    let first = first.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    ["select", "with", "values", "table"].contains(&first.to_ascii_lowercase().as_str())
}

#[async_trait]
impl AsyncDB for Compared {
    type Error = FrontError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<Output, FrontError> {
        // In a block an error would keep the second run from being one.
        let alone = self.library.0.inner().status() == bennu::TransactionStatus::Idle;
        if alone && is_query(sql) { self.compare(sql).await } else { self.library.run(sql).await }
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        "bennu"
    }

    fn error_sql_state(error: &FrontError) -> Option<String> {
        Some(error.code.clone())
    }
}
