//! `bennu sql`: runs statements in process, from a text, a file or a terminal.
//!
//! ```text
//!   Lines (terminal | file | text) ──> Runner ──> statement ──> output: table | csv | json | arrow
//!                                       └─────> meta: \d, \copy, \timing, … ──> its own statements
//! ```

mod complete;
mod copy;
mod describe;
mod editor;
mod failure;
mod lines;
mod meta;
mod output;
mod runner;
mod wait;

pub(crate) use output::Format;

use crate::args::SqlArgs;
use crate::config::Config;
use crate::error::CliError;
use editor::Person;
use lines::{Lines, Text};
use runner::Runner;
use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

/// Runs the given texts and stops at the first error, or runs interactive statements until the end of input.
pub(crate) async fn run(args: &SqlArgs) -> Result<ExitCode, CliError> {
    let texts = given(args)?;
    let config = Config::load(&args.place.options())?;
    let new = config.is_new_folder();
    let db = crate::serve::open(&config).await?;
    if new {
        // A mistyped name should not look like a database that lost its tables.
        let _ = writeln!(std::io::stderr(), "bennu: \"{}\" was not there: it is a new, empty database", config.data);
    }
    let mut runner = Runner::new(db.session()?, args.format);
    let mut done = true;
    match texts {
        Some(texts) => {
            for mut lines in texts {
                done = done && runner.run_all(&mut lines).await?;
            }
        }
        None => {
            output::line(&format!(
                "bennu {} on {}. \\? lists commands, \\q ends.\n",
                env!("CARGO_PKG_VERSION"),
                config.data
            ));
            done = runner.run_all(&mut Lines::Person(Box::new(Person::new()?))).await?;
        }
    }
    db.close().await?;
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The texts to run, in order; `None` for interactive input.
fn given(args: &SqlArgs) -> Result<Option<Vec<Lines>>, CliError> {
    if !args.commands.is_empty() {
        let texts = args.commands.iter().map(|text| Lines::Text(Text::with_data_in_stdin(text)));
        return Ok(Some(texts.collect()));
    }
    let unread = |path: &std::path::Path, error| CliError::Read { path: path.into(), error };
    let text = match &args.file {
        Some(path) if path.as_os_str() != "-" => std::fs::read_to_string(path).map_err(|error| unread(path, error))?,
        None if std::io::stdin().is_terminal() => return Ok(None),
        _ => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| unread("standard input".as_ref(), error))?;
            text
        }
    };
    Ok(Some(vec![Lines::Text(Text::new(&text))]))
}
