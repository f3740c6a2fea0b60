//! Interactive input: line editing, and a history of whole statements.

use super::lines::Input;
use crate::error::CliError;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{DefaultEditor, Editor};
use std::path::PathBuf;

/// The terminal. Dropping it saves the history.
pub(super) struct Person {
    editor: Editor<(), FileHistory>,
    history: Option<PathBuf>,
    /// Lines of the current statement, which become one history entry.
    lines: String,
}

impl Person {
    pub(super) fn new() -> Result<Self, CliError> {
        let mut editor = DefaultEditor::new()?;
        let history = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".bennu_history"));
        if let Some(path) = &history {
            // The file does not exist on the first run.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history, lines: String::new() })
    }

    /// Reads a line; `begun` if it continues the statement of the lines before.
    pub(super) fn line(&mut self, prompt: &str, begun: bool) -> Result<Input, CliError> {
        if !begun {
            self.remember()?;
        }
        match self.editor.readline(prompt) {
            Ok(line) => {
                self.lines += &line;
                self.lines.push('\n');
                Ok(Input::Piece(line + "\n"))
            }
            Err(ReadlineError::Interrupted) => Ok(Input::Dropped),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds the current statement to the history.
    fn remember(&mut self) -> Result<(), CliError> {
        let lines = std::mem::take(&mut self.lines);
        if !lines.trim().is_empty() {
            self.editor.add_history_entry(lines.trim_end())?;
        }
        Ok(())
    }

    /// Reads a line of COPY data.
    pub(super) fn data(&mut self) -> Result<Option<String>, CliError> {
        match self.editor.readline(">> ") {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // Errors cannot be reported here.
        let _ = self.remember();
        if let Some(path) = &self.history {
            let _ = self.editor.save_history(path);
        }
    }
}
