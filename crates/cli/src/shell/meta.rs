//! Backslash commands.

use super::copy::{CopyCommand, OtherEnd};
use super::lines::{Lines, Text};
use super::output::Format;
use super::runner::{Runner, Step};
use super::{describe, output};
use crate::error::CliError;
use std::io::{IsTerminal, Write};

const HELP: &str = "\
\\d [TABLE]        tables, or the columns and the key of one, or of all like a PATTERN
\\dt \\dv \\ds \\di   tables, views, sequences, indexes [like PATTERN]; with + their sizes, too
\\dn \\l \\du        schemas, databases, roles
\\df \\dT \\dx       functions, types, extensions of users; functions and types like PATTERN, the system's, too
\\sv VIEW         the query of a view
\\x [on|off]      shows each column on a line of its own
\\echo TEXT       writes TEXT
\\copy TABLE FROM 'FILE' [OPTIONS]      as COPY, with a file of this machine (also: (QUERY) TO 'FILE')
\\r  \\p  \\g        forgets, shows or runs the statement that was begun
\\format FORM      table, expanded, csv, json (an object a line) or arrow
\\timing [on|off]  shows how long each statement took
\\i FILE           runs a file
\\q                ends
";

/// Most nested files. Each nested file uses the stack, and deeper nesting is mostly a file that includes itself.
const MOST_FILES: usize = 8;

impl Runner {
    /// Runs a command, given without its backslash; `lines` has the data of a COPY FROM STDIN.
    pub(super) async fn command(&mut self, line: &str, lines: &mut Lines) -> Result<Step, CliError> {
        let line = line.trim().trim_end_matches(';');
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "q" => return Ok(Step::Quit),
            "?" | "h" | "help" => {
                // A closed pipe is not an error.
                let _ = std::io::stdout().write_all(HELP.as_bytes());
            }
            "timing" => {
                self.timing = match rest {
                    "" => !self.timing,
                    "on" => true,
                    "off" => false,
                    _ => return Ok(wrong("\\timing takes on or off")),
                };
                output::line(&format!("Timing is {}.", if self.timing { "on" } else { "off" }));
            }
            "format" => match <Format as clap::ValueEnum>::from_str(rest, true) {
                Ok(Format::Arrow) if std::io::stdout().is_terminal() => {
                    return Ok(wrong(
                        "an Arrow file is nothing for a terminal: use `bennu sql --format arrow -c … > FILE`",
                    ));
                }
                Ok(format) => self.format = format,
                Err(_) => return Ok(wrong("\\format takes table, expanded, csv, json or arrow")),
            },
            "x" => {
                let on = match rest {
                    "" => self.format != Format::Expanded,
                    "on" => true,
                    "off" => false,
                    _ => return Ok(wrong("\\x takes on or off")),
                };
                self.format = if on { Format::Expanded } else { Format::Table };
                output::line(&format!("Expanded display is {}.", if on { "on" } else { "off" }));
            }
            "echo" => output::line(rest),
            "sv" if !rest.is_empty() => return self.own(&describe::view(rest)).await,
            "copy" => return self.copy(rest, lines).await,
            "i" => return self.include(rest).await,
            "d" | "d+" if !rest.is_empty() => return self.describe(rest).await,
            word => match describe::lists(word, rest) {
                Some(query) => return self.own(&query).await,
                None => return Ok(wrong(&format!("unknown command \\{word}; \\? lists them"))),
            },
        }
        Ok(Step::Done)
    }

    async fn describe(&mut self, name: &str) -> Result<Step, CliError> {
        if !name.contains(['*', '?']) {
            return self.describe_one(name).await;
        }
        let found = match self.names(&describe::matching(name)).await {
            Ok(found) => found,
            Err(error) => return Ok(wrong(error.message())),
        };
        if found.is_empty() {
            return Ok(wrong(&format!("there is no table like \"{name}\"")));
        }
        for (schema, name) in found {
            output::line(&format!("{schema}.{name}"));
            let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
            match self.describe_one(&format!("{}.{}", quoted(&schema), quoted(&name))).await? {
                Step::Done => {}
                other => return Ok(other),
            }
        }
        Ok(Step::Done)
    }

    async fn describe_one(&mut self, name: &str) -> Result<Step, CliError> {
        let [columns, key] = describe::table(name);
        if self.count(&columns).await == Some(0) {
            return Ok(wrong(&format!("there is no table \"{name}\"")));
        }
        match self.own(&columns).await? {
            Step::Done => self.own(&key).await,
            other => Ok(other),
        }
    }

    /// Runs a query of a backslash command: shown as a table and not timed.
    async fn own(&mut self, query: &str) -> Result<Step, CliError> {
        let (format, timing) = (self.format, self.timing);
        (self.format, self.timing) = (Format::Table, false);
        let done = self.statement(query, 0, &mut Lines::Text(Text::new(""))).await;
        (self.format, self.timing) = (format, timing);
        done
    }

    async fn include(&mut self, path: &str) -> Result<Step, CliError> {
        if self.depth == MOST_FILES {
            return Ok(wrong(&format!("\"{path}\" is not run: more than {MOST_FILES} files run each other")));
        }
        match std::fs::read_to_string(path.trim_matches('\'')) {
            Ok(text) => {
                let mut lines = Lines::Text(Text::new(&text));
                self.depth += 1;
                let done = Box::pin(self.run_all(&mut lines)).await;
                self.depth -= 1;
                Ok(if done? { Step::Done } else { Step::Failed })
            }
            Err(error) => Ok(wrong(&format!("\"{path}\" cannot be read: {error}"))),
        }
    }

    /// `TABLE FROM FILE …`, `(QUERY) TO FILE …`.
    async fn copy(&mut self, rest: &str, lines: &mut Lines) -> Result<Step, CliError> {
        let Some(CopyCommand { what, from, other_end, options }) = CopyCommand::read(rest) else {
            return Ok(wrong("\\copy wants TABLE FROM FILE or TABLE TO FILE, with quotes around a name with blanks"));
        };
        match (other_end, from) {
            (OtherEnd::Shell, true) => self.statement(&format!("COPY {what} FROM STDIN {options}"), 0, lines).await,
            (OtherEnd::Shell, false) => self.statement(&format!("COPY {what} TO STDOUT {options}"), 0, lines).await,
            (OtherEnd::File(file), true) => match std::fs::File::open(&file) {
                Ok(data) => self.copy_in(&format!("COPY {what} FROM STDIN {options}"), data).await,
                Err(error) => Ok(wrong(&format!("\"{file}\" cannot be read: {error}"))),
            },
            (OtherEnd::File(file), false) => match std::fs::File::create(&file) {
                Ok(data) => self.copy_out(&format!("COPY {what} TO STDOUT {options}"), data).await,
                Err(error) => Ok(wrong(&format!("\"{file}\" cannot be written: {error}"))),
            },
        }
    }
}

/// Reports an invalid command.
pub(super) fn wrong(problem: &str) -> Step {
    let _ = writeln!(std::io::stderr(), "{problem}");
    Step::Failed
}
