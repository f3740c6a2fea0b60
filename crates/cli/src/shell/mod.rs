//! `bennu sql`: statements in process, from a text, a file or a person.

mod print;
mod repl;
mod runner;

use crate::args::SqlArgs;
use crate::error::CliError;
use bennu::{Bennu, Options};
use runner::Runner;
use std::process::ExitCode;

/// Runs what was given and stops, or reads statements until the end of input.
pub(crate) async fn run(args: &SqlArgs) -> Result<ExitCode, CliError> {
    let text = match (&args.command, &args.file) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(path)) => Some(read(path)?),
        (None, None) => None,
    };
    let options = Options::default();
    let db = match args.data.as_str() {
        ":memory:" => Bennu::open_in_memory(&options).await?,
        path => Bennu::open_with_options(path, &options).await?,
    };
    let mut runner = Runner::new(db.session()?);
    let done = match text {
        Some(text) => runner.run(&text).await,
        None => repl::run(&mut runner).await?,
    };
    db.close().await?;
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(path: &std::path::Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| CliError::Read { path: path.into(), error })
}
