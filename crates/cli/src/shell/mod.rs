//! `bennu sql`: statements in process, from a text, a file or a person.
//!
//! ```text
//!   Lines (person | file | text) ──> Runner ──> statement ──> output: table | csv | json | arrow
//!                                       └─────> meta: \d, \copy, \timing, … ──> statements of its own
//! ```

mod complete;
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
use crate::error::CliError;
use bennu::{Bennu, Options};
use editor::Person;
use lines::{Lines, Text};
use runner::Runner;
use std::io::{IsTerminal, Read};
use std::process::ExitCode;

/// Runs what was given and stops at the first error, or reads a person's statements until the end of input.
pub(crate) async fn run(args: &SqlArgs) -> Result<ExitCode, CliError> {
    let text = given(args)?;
    let options = Options::default();
    let db = match args.data.as_str() {
        ":memory:" => Bennu::open_in_memory(&options).await?,
        path => Bennu::open_with_options(path, &options).await?,
    };
    let mut runner = Runner::new(db.session()?, args.format);
    let done = match text {
        Some(text) if !args.commands.is_empty() => {
            runner.run_all(&mut Lines::Text(Text::with_data_in_stdin(&text))).await?
        }
        Some(text) => runner.run_all(&mut Lines::Text(Text::new(&text))).await?,
        None => {
            let mut person = Lines::Person(Box::new(Person::new()?));
            output::line(&format!(
                "bennu {} on {}. \\? lists commands, \\q ends.\n",
                env!("CARGO_PKG_VERSION"),
                args.data
            ));
            runner.run_all(&mut person).await?
        }
    };
    db.close().await?;
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What there is to run; `None` if a person will tell.
fn given(args: &SqlArgs) -> Result<Option<String>, CliError> {
    let unread = |path: &std::path::Path, error| CliError::Read { path: path.into(), error };
    match (args.commands.as_slice(), &args.file) {
        ([_, ..], _) => Ok(Some(each_whole(&args.commands))),
        ([], Some(path)) if path.as_os_str() != "-" => {
            std::fs::read_to_string(path).map(Some).map_err(|error| unread(path, error))
        }
        ([], None) if std::io::stdin().is_terminal() => Ok(None),
        _ => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| unread("standard input".as_ref(), error))?;
            Ok(Some(text))
        }
    }
}

/// The texts one below the other, each with its end.
fn each_whole(texts: &[String]) -> String {
    let ended = texts.iter().map(|text| {
        let open = !text.trim_start().starts_with('\\') && !complete::is_complete(text);
        format!("{text}{}\n", if open && texts.len() > 1 { "\n;" } else { "" })
    });
    ended.collect()
}
