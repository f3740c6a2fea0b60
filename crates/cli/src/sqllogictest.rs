//! `bennu sqllogictest`.

use crate::args::{SqllogictestArgs, Way};
use crate::error::CliError;
use crate::print_line;
use sqltest::{Compare, Front, Report, run_file, run_file_at};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs each file and prints its failures and the totals. The exit code tells whether all records passed.
pub(crate) async fn run(args: &SqllogictestArgs) -> Result<ExitCode, CliError> {
    let (mut records, mut failed) = (0, 0);
    let files = all_files(&args.files)?;
    for file in &files {
        match one(args, file).await {
            Ok(report) => {
                records += report.records;
                failed += report.failures.len();
                tell(file, &report);
            }
            // The whole file failed: it cannot be read, or there is no connection.
            Err(problem) => {
                failed += 1;
                print_line(&format!("{}: {problem}", file.display()));
            }
        }
    }
    let files = files.len();
    print_line(&format!("{files} file{}, {records} record{}, {failed} failed", plural(files), plural(records)));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one file, in a task, because planning large statements needs the stack of a worker.
async fn one(args: &SqllogictestArgs, file: &Path) -> Result<Report, String> {
    let compare = if args.exact { Compare::Exact } else { Compare::Words };
    std::fs::metadata(file).map_err(|error| format!("cannot be read: {error}"))?;
    let (file, address, way) = (file.to_path_buf(), args.address.as_deref().map(config), args.front);
    let work = async move {
        match address {
            Some(config) => run_file_at(&config, way.map_or(Front::Simple, front), compare, &file).await,
            None => run_file(way.map_or(Front::Library, front), compare, &file).await,
        }
    };
    tokio::spawn(work).await.map_err(|error| error.to_string())?
}

fn front(way: Way) -> Front {
    match way {
        Way::Library => Front::Library,
        Way::Simple => Front::Simple,
        Way::Extended => Front::Extended,
    }
}

/// Converts `HOST:PORT` to a connection string; a connection string stays as it is.
fn config(address: &str) -> String {
    match address.rsplit_once(':') {
        Some((host, port)) if !address.contains(['=', '/']) => {
            format!("host={} port={port} user=bennu dbname=bennu", host.trim_matches(['[', ']']))
        }
        _ => address.to_owned(),
    }
}

fn tell(file: &Path, report: &Report) {
    let (count, failed) = (report.records, report.failures.len());
    let verdict = if failed == 0 { "ok".to_owned() } else { format!("{failed} FAILED") };
    print_line(&format!("{}: {verdict}, {count} record{}", file.display(), plural(count)));
    for failure in &report.failures {
        print_line(&format!("\n{}\n", failure.trim_end()));
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The given files, and the `*.slt` and `*.test` files below the given folders, sorted.
fn all_files(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::new();
    for path in given {
        if path.is_dir() {
            let mut inside = Vec::new();
            collect(path, &mut inside)?;
            if inside.is_empty() {
                return Err(CliError::NoTests(path.clone()));
            }
            inside.sort();
            found.extend(inside);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let unread = |error| CliError::Read { path: folder.into(), error };
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "slt" || end == "test") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::config;

    #[test]
    fn an_address_becomes_a_connection_string_and_one_stays() {
        assert_eq!(config("127.0.0.1:5433"), "host=127.0.0.1 port=5433 user=bennu dbname=bennu");
        assert_eq!(config("[::1]:5433"), "host=::1 port=5433 user=bennu dbname=bennu");
        for whole in ["postgresql://me@host:5432/db", "host=/tmp port=5432", "host=a options='-c x:1'"] {
            assert_eq!(config(whole), whole);
        }
    }
}
