//! One file, one front.

use crate::answer::{SEPARATOR, same_columns, same_rows};
use crate::front::{Extended, Library, Simple};
use crate::server::{Server, connect};
use crate::{Front, FrontError};
use sqllogictest::{AsyncDB, DefaultColumnType, MakeConnection, Record, Runner, default_normalizer, parse_file};
use std::path::Path;

/// Runs `file` on a database of its own. The error is the report of every record that failed.
///
/// # Errors
/// That report.
pub async fn run_file(front: Front, file: &Path) -> Result<(), String> {
    let server = Server::start().await.map_err(|e| e.to_string())?;
    match front {
        Front::Library => {
            let db = server.db();
            drive(Runner::new(|| async move { Ok(Library(db.session()?)) }), front, file).await
        }
        Front::Simple => {
            let make = || async { Ok(Simple { client: server.connect().await?, engine: "bennu" }) };
            drive(Runner::new(make), front, file).await
        }
        Front::Extended => drive(Runner::new(|| async { Ok(Extended(server.connect().await?)) }), front, file).await,
    }
}

async fn drive<D, M>(mut runner: Runner<D, M>, front: Front, file: &Path) -> Result<(), String>
where
    D: AsyncDB<Error = FrontError, ColumnType = DefaultColumnType>,
    M: MakeConnection<Conn = D>,
{
    runner.add_label(front.name());
    runner.with_validator(same_rows);
    runner.with_column_validator(same_columns);
    let mut failed = Vec::new();
    for record in parse_file::<DefaultColumnType>(file).map_err(|e| e.to_string())? {
        if matches!(record, Record::Halt { .. }) {
            break;
        }
        if let Err(error) = runner.run_async(record).await {
            failed.push(error.display(false).to_string());
        }
    }
    runner.shutdown_async().await;
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Writes the answers of the PostgreSQL server at `config` into `file`: how a file gets its answers. Errors are
/// written as `error (SQLSTATE)`: their words are another server's.
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

/// `statement error 42P01: relation …` as `statement error (42P01)`; other lines stay.
fn only_sqlstate(line: &str) -> String {
    let parts = ["statement error ", "query error "].iter().find_map(|kind| Some((kind, line.strip_prefix(kind)?)));
    match parts.and_then(|(kind, rest)| Some((kind, rest.split_once(": ")?.0))) {
        // A query that fails has no rows to show.
        Some((_, code)) if code.len() == 5 => format!("statement error ({code})"),
        _ => line.to_owned(),
    }
}
