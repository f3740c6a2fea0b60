//! Runs a file with a front.

use crate::answer::{SEPARATOR, same_columns, same_rows, same_words};
use crate::front::{Compared, Extended, Found, IndexChoices, Library, Simple, Told, Ways};
use crate::records::records;
use crate::server::{Server, connect};
use crate::{Front, FrontError};
use bennu::Bennu;
use sqllogictest::{
    AsyncDB, DefaultColumnType, MakeConnection, Record, RecordOutput, Runner, default_column_validator,
    default_normalizer,
};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// How result rows are compared with those of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Exactly, as this project's files are written: `|` between columns, all blanks, and one type letter per column.
    Exact,
    /// Exactly, or else by words, with a row or a value per line, as in most files.
    Words,
}

/// Result of running a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records that ran; skipped records do not count.
    pub records: usize,
    /// One message for each failed record, with its location.
    pub failures: Vec<String>,
    /// Queries that ran in both modes, if modes are compared.
    pub compared: usize,
}

impl Report {
    /// `Ok` if no record failed, otherwise the failures.
    ///
    /// # Errors
    /// All failures, one per line.
    pub fn into_result(self) -> Result<(), String> {
        if self.failures.is_empty() { Ok(()) } else { Err(self.failures.join("\n")) }
    }
}

/// Runs `file` on a new in-memory database.
///
/// # Errors
/// When the file is not valid sqllogictest, or the database cannot be created. Failed records are in the report.
pub async fn run_file(front: Front, compare: Compare, file: &Path) -> Result<Report, String> {
    let server = Server::start().await.map_err(|e| e.to_string())?;
    run_file_on(&server, &[], front, compare, file).await
}

/// Like [`run_file`], on an existing database. `labels` are further names for `skipif` and `onlyif`.
///
/// # Errors
/// As [`run_file`].
pub async fn run_file_on(
    server: &Server,
    labels: &[&str],
    front: Front,
    compare: Compare,
    file: &Path,
) -> Result<Report, String> {
    match front {
        Front::Library => {
            let db = server.db();
            drive(Runner::new(|| async move { Ok(Library(db.session()?)) }), front, labels, compare, file).await
        }
        Front::Simple => {
            let make = || async { Ok(Simple { client: server.connect().await?, engine: "bennu" }) };
            drive(Runner::new(make), front, labels, compare, file).await
        }
        Front::Extended => {
            let make = || async { Ok(Extended { client: server.connect().await?, engine: "bennu" }) };
            drive(Runner::new(make), front, labels, compare, file).await
        }
    }
}

/// Runs `file` on the server at `config`: `host=… port=… dbname=…`, or a `postgresql://` address. Objects that exist
/// there are visible, and those that the file creates stay.
///
/// # Errors
/// As [`run_file`], and when the server cannot be reached.
pub async fn run_file_at(config: &str, front: Front, compare: Compare, file: &Path) -> Result<Report, String> {
    let engine = engine_at(config).await.map_err(|e| e.to_string())?;
    match front {
        Front::Library => Err("a server cannot be reached in process".into()),
        Front::Simple => {
            let make = || async { Ok(Simple { client: connect(config).await?, engine }) };
            drive(Runner::new(make), front, &[], compare, file).await
        }
        Front::Extended => {
            let make = || async { Ok(Extended { client: connect(config).await?, engine }) };
            drive(Runner::new(make), front, &[], compare, file).await
        }
    }
}

/// Runs `file` in process on `db`, each query in two modes if both can run it. Differences are in the report, beside
/// the failed records.
///
/// # Errors
/// As [`run_file`].
pub async fn compare_file(db: &Bennu, ways: Ways, file: &Path) -> Result<Report, String> {
    let told = Arc::new(Mutex::new(Told::default()));
    let make = || async { Ok(Compared::new(db, db.session()?, ways, Arc::clone(&told))) };
    let mut report = drive(Runner::new(make), Front::Library, &[], Compare::Exact, file).await?;
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    report.failures.append(&mut told.differ);
    report.compared = told.compared;
    Ok(report)
}

/// Runs `file` in process on `db`, each query with every choice of indexes. Only differences are in the report, since
/// the file's own results may depend on the indexes that exist.
///
/// # Errors
/// As [`run_file`].
pub async fn compare_index_choices(db: &Bennu, file: &Path) -> Result<Report, String> {
    let found = Arc::new(Mutex::new(Found::default()));
    let make = || async { Ok(IndexChoices::new(db.session()?, Arc::clone(&found))) };
    let ran = drive(Runner::new(make), Front::Library, &[], Compare::Exact, file).await?;
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    let failures = std::mem::take(&mut found.differ);
    Ok(Report { failures, compared: found.compared, ..ran })
}

/// The name of the server in `onlyif` and `skipif`.
async fn engine_at(config: &str) -> Result<&'static str, FrontError> {
    let row = connect(config).await?.query_one("SELECT version()", &[]).await?;
    let version: String = row.try_get(0)?;
    Ok(if version.contains("Bennu") { "bennu" } else { "postgres" })
}

async fn drive<D, M>(
    mut runner: Runner<D, M>,
    front: Front,
    labels: &[&str],
    compare: Compare,
    file: &Path,
) -> Result<Report, String>
where
    D: AsyncDB<Error = FrontError, ColumnType = DefaultColumnType>,
    M: MakeConnection<Conn = D>,
{
    runner.add_label(front.name());
    labels.iter().for_each(|label| runner.add_label(label));
    match compare {
        Compare::Exact => {
            runner.with_validator(same_rows);
            runner.with_column_validator(same_columns);
        }
        Compare::Words => {
            runner.with_validator(same_words);
            runner.with_column_validator(default_column_validator);
        }
    }
    let mut report = Report::default();
    for record in records(file)? {
        if matches!(record, Record::Halt { .. }) {
            break;
        }
        match runner.run_async(record).await {
            Ok(RecordOutput::Nothing) => {}
            Ok(_) => report.records += 1,
            Err(error) => {
                report.records += 1;
                report.failures.push(error.display(false).to_string());
            }
        }
    }
    runner.shutdown_async().await;
    Ok(report)
}

/// Writes the results of the PostgreSQL server at `config` into `file`. Errors are written as `error (SQLSTATE)`, since
/// messages may differ.
///
/// # Errors
/// When the server cannot be reached or the file cannot be written.
pub async fn fill_from(config: &str, file: &Path) -> Result<(), String> {
    let make = || async { Ok::<_, FrontError>(Simple { client: connect(config).await?, engine: "postgres" }) };
    let mut runner = Runner::new(make);
    let done = runner.update_test_file(file, SEPARATOR, same_rows, default_normalizer, same_columns).await;
    done.map_err(|e| e.to_string())?;
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let lines: Vec<String> = text.lines().map(only_sqlstate).collect();
    std::fs::write(file, lines.join("\n") + "\n").map_err(|e| e.to_string())
}

/// Shortens `statement error 42P01: relation …` to `statement error (42P01)`; other lines stay.
fn only_sqlstate(line: &str) -> String {
    let parts = ["statement error ", "query error "].iter().find_map(|kind| Some((kind, line.strip_prefix(kind)?)));
    let code = |rest: &'_ str| {
        let unplaced = rest.strip_prefix("character ").and_then(|rest| Some(rest.split_once(": ")?.1));
        Some(unplaced.unwrap_or(rest).split_once(": ")?.0.to_owned())
    };
    match parts.and_then(|(kind, rest)| Some((kind, code(rest)?))) {
        // A failing query becomes a statement, since it has no rows.
        Some((_, code)) if code.len() == 5 => format!("statement error ({code})"),
        _ => line.to_owned(),
    }
}
