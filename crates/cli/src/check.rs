//! `bennu check`.

use crate::args::CheckArgs;
use crate::config::Config;
use crate::error::CliError;
use crate::print_line;
use bennu::Bennu;
use std::process::ExitCode;

/// Prints the tables read and the problems found; the exit code is a failure if there are any.
pub(crate) async fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let config = Config::load(&args.place.options())?;
    let report = Bennu::check(&config.data).await?;
    let mut total = 0;
    for (table, rows) in &report.tables {
        print_line(&format!("{table}: {rows} rows"));
        total += rows;
    }
    for table in &report.damaged {
        print_line(&format!("{table}: damaged, its rows are not counted"));
    }
    print_line(&format!("{total} rows, {} bytes read, {} problems", report.bytes, report.problems.len()));
    for problem in &report.problems {
        print_line(&format!("problem: {problem}"));
    }
    Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
