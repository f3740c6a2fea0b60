//! One file, one front.

use crate::front::{Extended, Library, Simple};
use crate::server::{Server, connect};
use crate::{Front, FrontError};
use sqllogictest::{AsyncDB, Runner, default_column_validator, default_normalizer, default_validator};
use std::path::Path;

/// Runs `file` on a database of its own. The error is the report of the first record that failed.
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
        Front::Extended => {
            drive(Runner::new(|| async { Ok(Extended(server.connect().await?)) }), front, file).await
        }
    }
}

async fn drive<D, M>(mut runner: Runner<D, M>, front: Front, file: &Path) -> Result<(), String>
where
    D: AsyncDB<Error = FrontError>,
    M: sqllogictest::MakeConnection<Conn = D>,
{
    runner.add_label(front.name());
    let done = runner.run_file_async(file).await;
    runner.shutdown_async().await;
    done.map_err(|e| e.display(false).to_string())
}

/// Writes the answers of the PostgreSQL server at `config` into `file`: how a file gets its answers.
///
/// # Errors
/// When the server cannot be reached or the file cannot be written.
pub async fn fill_from(config: &str, file: &Path) -> Result<(), String> {
    let make = || async { Ok::<_, FrontError>(Simple { client: connect(config).await?, engine: "postgres" }) };
    let mut runner = Runner::new(make);
    let done = runner
        .update_test_file(file, " ", default_validator, default_normalizer, default_column_validator)
        .await;
    done.map_err(|e| e.to_string())
}
