//! Runs statements and backslash commands in order and shows their results.

use super::complete::{Extent, extent};
use super::failure::{self, Failure};
use super::lines::{Input, Lines};
use super::output::{self, Format};
use super::wait::{Progress, watched};
use crate::error::CliError;
use bennu::{Answer, CopyIn, CopyOut, Error, Session, TransactionStatus};
use futures::StreamExt;
use std::fs::File;
use std::io::{Read, Write};
use std::time::Instant;

/// Bytes of a file per call of `CopyIn::feed`.
const PIECE: usize = 256 << 10;

/// A session and the state of the shell.
pub(super) struct Runner {
    session: Session,
    pub(super) format: Format,
    pub(super) timing: bool,
    /// Whether input is interactive: progress is then shown.
    person: bool,
    /// Whether a result was written as an Arrow file, which holds only one result.
    arrow_written: bool,
    /// Nesting depth of the files being run.
    pub(super) depth: usize,
}

/// Outcome of a statement or command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Done,
    /// Failed; the error was reported.
    Failed,
    Quit,
}

impl Runner {
    pub(super) fn new(session: Session, format: Format) -> Self {
        Self { session, format, timing: false, person: false, arrow_written: false, depth: 0 }
    }

    /// Runs all input. False if a statement failed, which ends the input unless it is interactive.
    pub(super) async fn run_all(&mut self, lines: &mut Lines) -> Result<bool, CliError> {
        self.person = lines.is_interactive();
        let mut text = String::new();
        let mut before = 0;
        loop {
            if text.trim().is_empty() {
                text.clear();
                before = lines.read();
            }
            match lines.next(self.prompt(extent(&text)), !text.is_empty())? {
                Input::Piece(piece) if extent(&text) != Extent::Quoted && piece.trim_start().starts_with('\\') => {
                    match self.command_within(&mut text, piece.trim(), before, lines).await? {
                        Step::Quit => return Ok(true),
                        Step::Failed if !lines.is_interactive() => return Ok(false),
                        Step::Failed | Step::Done => continue,
                    }
                }
                Input::Piece(piece) => {
                    if lines.is_interactive() && !text.is_empty() && is_quit_command(&piece) {
                        let _ = writeln!(std::io::stderr(), "Use \\q to quit, or \\r to begin anew.");
                    }
                    text.push_str(&piece);
                }
                Input::Dropped => {
                    text.clear();
                    continue;
                }
                // An unfinished interactive statement is discarded: only a script may omit the last semicolon.
                Input::End if text.is_empty() || lines.is_interactive() => return Ok(true),
                Input::End => {
                    let step = self.statement(&text, before, lines).await?;
                    return Ok(step != Step::Failed);
                }
            }
            let step = match text.trim() {
                word if lines.is_interactive() && is_quit_command(word) => Step::Quit,
                "help" | "help;" if lines.is_interactive() => self.command("?", lines).await?,
                _ if extent(&text) == Extent::Complete => self.statement(&text, before, lines).await?,
                _ => continue,
            };
            text.clear();
            match step {
                Step::Quit => return Ok(true),
                Step::Failed if !lines.is_interactive() => return Ok(false),
                Step::Failed | Step::Done => {}
            }
        }
    }

    /// Runs a command in the middle of a statement. The statement goes on behind it unless the command concerns it.
    async fn command_within(
        &mut self,
        text: &mut String,
        command: &str,
        before: usize,
        lines: &mut Lines,
    ) -> Result<Step, CliError> {
        match command.trim_end_matches(';') {
            "\\r" | "\\reset" => {
                text.clear();
                output::line("Query buffer reset (cleared).");
                Ok(Step::Done)
            }
            "\\p" | "\\print" => {
                output::line(if text.is_empty() { "Query buffer is empty." } else { text.trim_end() });
                Ok(Step::Done)
            }
            "\\g" => {
                let text = std::mem::take(text);
                self.statement(&text, before, lines).await
            }
            command => self.command(command.trim_start_matches('\\'), lines).await,
        }
    }

    /// Runs the statements of `text`; `lines` has the data of a COPY FROM STDIN.
    pub(super) async fn statement(&mut self, text: &str, before: usize, lines: &mut Lines) -> Result<Step, CliError> {
        let statements = match self.session.inner().parse(text) {
            Ok(statements) => statements,
            Err(error) => return Ok(self.failed(text, before, &Failure::Sql(error.into()))),
        };
        for statement in statements {
            let started = Instant::now();
            let cancel = self.session.cancel_handle();
            let session = &mut self.session;
            let run = async { Ok(session.inner().run(&statement).await.map_err(Error::from)?) };
            let progress = Progress::new(self.person);
            let done = match watched(run, &cancel, &progress).await {
                Ok(answer) => self.show(answer, lines, &progress).await?,
                Err(error) => Err(error),
            };
            self.notices();
            if let Err(error) = done {
                return Ok(self.failed(text, before, &error));
            }
            self.took(started);
        }
        Ok(Step::Done)
    }

    async fn show(
        &mut self,
        answer: Answer,
        lines: &mut Lines,
        progress: &Progress,
    ) -> Result<Result<(), Failure>, CliError> {
        let cancel = self.session.cancel_handle();
        Ok(match answer {
            Answer::Empty => Ok(()),
            Answer::Done(tag) => {
                self.tag(&tag);
                Ok(())
            }
            Answer::Rows(rows) => {
                if self.format == Format::Arrow && std::mem::replace(&mut self.arrow_written, true) {
                    return Ok(Err(Failure::Plain("an Arrow file has room for the rows of one statement".into())));
                }
                let zone = self.session.inner().time_zone();
                watched(output::rows(self.format, rows, zone, progress), &cancel, progress).await
            }
            Answer::CopyOut(copy) => {
                progress.output_begins();
                let done = watched(write_out(copy, &mut std::io::stdout(), progress), &cancel, progress).await;
                done.map(|tag| self.tag(&tag))
            }
            Answer::CopyIn(mut copy) => {
                while let Some(line) = lines.data()? {
                    if let Err(error) = copy.feed(format!("{line}\n").as_bytes()).await {
                        // Skips the rest of the data, which must not be read as statements.
                        while lines.data()?.is_some() {}
                        return Ok(Err(Failure::Sql(error.into())));
                    }
                }
                self.finish(copy).await.map(|tag| self.tag(&tag))
            }
        })
    }

    /// Runs `\copy … FROM`: feeds a file to COPY.
    pub(super) async fn copy_in(&mut self, sql: &str, mut file: File) -> Result<Step, CliError> {
        let started = Instant::now();
        let (cancel, progress) = (self.session.cancel_handle(), Progress::new(self.person));
        let size = file.metadata().map_or(0, |about| about.len());
        let work = async {
            let mut read = 0;
            let Answer::CopyIn(mut copy) = self.one(sql).await? else { return Ok(String::new()) };
            let mut piece = vec![0; PIECE];
            loop {
                match file.read(&mut piece) {
                    Ok(0) => return self.finish(copy).await,
                    Ok(count) => {
                        copy.feed(piece.get(..count).unwrap_or_default()).await.map_err(Error::from)?;
                        read += count as u64;
                        progress.file(read, size);
                    }
                    Err(error) => return Err(Failure::Plain(format!("the file cannot be read: {error}"))),
                }
            }
        };
        let done = watched(work, &cancel, &progress).await;
        Ok(self.ended(sql, done, started))
    }

    /// Runs `\copy … TO`: writes COPY's data to a file.
    pub(super) async fn copy_out(&mut self, sql: &str, mut file: File) -> Result<Step, CliError> {
        let started = Instant::now();
        let (cancel, progress) = (self.session.cancel_handle(), Progress::new(self.person));
        let work = async {
            match self.one(sql).await? {
                Answer::CopyOut(copy) => write_out(copy, &mut file, &progress).await,
                _ => Ok(String::new()),
            }
        };
        let done = watched(work, &cancel, &progress).await;
        Ok(self.ended(sql, done, started))
    }

    /// Counts the rows of an internal query; `None` if it failed.
    pub(super) async fn count(&mut self, sql: &str) -> Option<u64> {
        self.session.run(sql, &[]).await.ok()
    }

    /// Schemas and names that an internal query returns.
    pub(super) async fn names(&mut self, sql: &str) -> Result<Vec<(String, String)>, Error> {
        self.session.rows(sql, &[]).await
    }

    async fn one(&mut self, sql: &str) -> Result<Answer, Failure> {
        let session = self.session.inner();
        match session.parse(sql).map_err(Error::from)?.as_slice() {
            [statement] => Ok(session.run(statement).await.map_err(Error::from)?),
            _ => Err(Failure::Plain("\\copy takes one statement".into())),
        }
    }

    async fn finish(&mut self, copy: Box<CopyIn>) -> Result<String, Failure> {
        Ok(copy.finish(self.session.inner()).await.map_err(Error::from)?)
    }

    fn failed(&self, text: &str, before: usize, error: &Failure) -> Step {
        failure::show(text, before, !self.person, error);
        Step::Failed
    }

    fn ended(&mut self, sql: &str, done: Result<String, Failure>, started: Instant) -> Step {
        self.notices();
        match done {
            Ok(tag) => {
                self.tag(&tag);
                self.took(started);
                Step::Done
            }
            Err(error) => self.failed(sql, 0, &error),
        }
    }

    /// The prompt, as in psql: `*` in a transaction and `!` in a failed one.
    fn prompt(&mut self, extent: Extent) -> &'static str {
        match (self.session.inner().status(), extent) {
            (TransactionStatus::Idle, Extent::Complete) => "bennu=> ",
            (TransactionStatus::Idle, Extent::Begun) => "bennu-> ",
            (TransactionStatus::Idle, Extent::Quoted) => "bennu'> ",
            (TransactionStatus::InTransaction, Extent::Complete) => "bennu=*> ",
            (TransactionStatus::InTransaction, Extent::Begun) => "bennu-*> ",
            (TransactionStatus::InTransaction, Extent::Quoted) => "bennu'*> ",
            (TransactionStatus::Failed, Extent::Complete) => "bennu=!> ",
            (TransactionStatus::Failed, Extent::Begun) => "bennu-!> ",
            (TransactionStatus::Failed, Extent::Quoted) => "bennu'!> ",
        }
    }

    /// Prints a command tag where it does not mix with data.
    fn tag(&self, tag: &str) {
        if self.format == Format::Table {
            output::line(tag);
        } else {
            let _ = writeln!(std::io::stderr(), "{tag}");
        }
    }

    fn took(&self, started: Instant) {
        if self.timing {
            self.tag(&format!("Time: {:.3} ms", started.elapsed().as_secs_f64() * 1e3));
        }
    }

    fn notices(&mut self) {
        for notice in self.session.inner().take_notices() {
            let _ = writeln!(std::io::stderr(), "{}:  {}", notice.severity, notice.message);
        }
    }
}

/// Returns whether the line is psql's `quit` or `exit`.
fn is_quit_command(line: &str) -> bool {
    matches!(line.trim().trim_end_matches(';').trim_end(), "quit" | "exit")
}

/// Writes all COPY data and returns the command tag.
async fn write_out(mut copy: CopyOut, out: &mut impl Write, progress: &Progress) -> Result<String, Failure> {
    let mut told = 0;
    while let Some(data) = copy.data.next().await {
        out.write_all(&data.map_err(Error::from)?)?;
        progress.rows(usize::try_from(copy.rows() - told).unwrap_or_default());
        told = copy.rows();
    }
    Ok(format!("COPY {}", copy.rows()))
}
