//! Runs each query in process in two of the engine's execution modes. The results must be equal.

use super::Library;
use crate::FrontError;
use crate::answer::Output;
use async_trait::async_trait;
use bennu::{Bennu, Session};
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};
use std::sync::{Arc, Mutex};
use types::DataType;

/// The two modes to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// Row programs and DataFusion plans.
    RowPrograms,
    /// Literals replaced by parameters, and literals as written.
    Literals,
}

impl Ways {
    /// The setting and its value for each mode.
    fn setting(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::RowPrograms => ("bennu.row_programs", "all", "off"),
            Self::Literals => ("bennu.parameterize", "always", "off"),
        }
    }

    /// The metric that counts queries run in the first mode.
    fn ran(self) -> &'static str {
        match self {
            Self::RowPrograms => "statements_row_program_total",
            Self::Literals => "statements_parameterized_total",
        }
    }
}

pub(crate) struct Compared {
    library: Library,
    ways: Ways,
    db: Bennu,
    told: Arc<Mutex<Told>>,
}

/// Result of the comparison.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Queries that ran in both modes.
    pub(crate) compared: usize,
    /// Queries with different results.
    pub(crate) differ: Vec<String>,
}

/// The compared properties of a query.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Column names and types. Table OIDs are not compared: plans report others than PostgreSQL.
    columns: Vec<(String, DataType)>,
    /// Types of parameters.
    parameters: Vec<DataType>,
    /// Rows in any order, or the SQLSTATE.
    rows: Result<Vec<String>, String>,
}

impl Compared {
    pub(crate) fn new(db: &Bennu, session: Session, ways: Ways, told: Arc<Mutex<Told>>) -> Self {
        Self { library: Library(session), ways, db: db.clone(), told }
    }

    fn ran(&self) -> u64 {
        self.db.engine().metrics().into_iter().find(|(name, _)| *name == self.ways.ran()).map_or(0, |(_, count)| count)
    }

    async fn setting(&mut self) -> Result<String, FrontError> {
        match self.library.run(&format!("SHOW {}", self.ways.setting().0)).await? {
            DBOutput::Rows { rows, .. } => Ok(rows.into_iter().flatten().next().unwrap_or_default()),
            _ => Ok(String::new()),
        }
    }

    async fn outcome(&mut self, mode: &str, sql: &str) -> Result<(Outcome, Result<Output, FrontError>), FrontError> {
        self.library.run(&format!("SET {} = '{mode}'", self.ways.setting().0)).await?;
        let (columns, parameters) = match self.library.0.inner().prepare(sql, &[]).await {
            Ok(prepared) => {
                let columns = prepared.columns.iter().flat_map(|columns| columns.iter());
                let columns = columns.map(|column| (column.name.clone(), without_type_modifiers(column.ty))).collect();
                (columns, prepared.parameters.clone())
            }
            // Planning folds constants, so the columns of a failing query may be unknown.
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
        let (_, one, other) = self.ways.setting();
        let (before, usual) = (self.ran(), self.setting().await?);
        let (first, output) = self.outcome(one, sql).await?;
        let ran = self.ran() > before;
        if ran || output.is_err() {
            let (second, _) = self.outcome(other, sql).await?;
            let mut told = self.told.lock().map_err(|_| FrontError::new("XX000", "poisoned"))?;
            told.compared += usize::from(ran);
            if first != second {
                told.differ.push(format!("{sql}\n  {one:<5} {first:?}\n  {other:<5} {second:?}"));
            }
        }
        self.library.run(&format!("SET {} = '{usual}'", self.ways.setting().0)).await?;
        output
    }
}

/// Removes type modifiers that plans lose in some cases: the length of a varchar, the fields of an interval, the
/// precision of a timestamp.
fn without_type_modifiers(ty: DataType) -> DataType {
    match ty {
        DataType::Varchar(_) => DataType::Text,
        DataType::LimitedInterval(_) => DataType::Interval,
        other => other.without_digits(),
    }
}

/// Returns whether the statement can run twice: it must not write, and WITH may precede a write.
pub(crate) fn is_query(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    if ["nextval(", "setval("].into_iter().any(|taking| sql.contains(taking)) {
        return false;
    }
    let mut words = sql.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    match words.next() {
        Some("select" | "values" | "table") => true,
        Some("with") => words.all(|word| !["insert", "upsert", "update", "delete"].contains(&word)),
        _ => false,
    }
}

#[async_trait]
impl AsyncDB for Compared {
    type Error = FrontError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<Output, FrontError> {
        // In a transaction block, an error would make the second run fail too.
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
