//! A person at a terminal: line editing over several lines, and history.

use super::complete::is_complete;
use super::lines::Input;
use crate::error::CliError;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Editor, Helper};
use std::path::PathBuf;

/// The terminal. The history is saved when it is dropped.
pub(super) struct Person {
    editor: Editor<Statements, FileHistory>,
    history: Option<PathBuf>,
}

impl Person {
    pub(super) fn new() -> Result<Self, CliError> {
        let mut editor = Editor::new()?;
        editor.set_helper(Some(Statements { data: false }));
        let history = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".bennu_history"));
        if let Some(path) = &history {
            // A first run has none.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    /// A whole statement: the editor keeps all its lines in hand until it is complete.
    pub(super) fn statement(&mut self, prompt: &str) -> Result<Input, CliError> {
        self.data_follows(false);
        match self.editor.readline(prompt) {
            Ok(text) => {
                if !text.trim().is_empty() {
                    self.editor.add_history_entry(text.trim_end())?;
                }
                Ok(Input::Piece(text + "\n"))
            }
            Err(ReadlineError::Interrupted) => Ok(Input::Dropped),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(error) => Err(error.into()),
        }
    }

    /// A line of COPY's data.
    pub(super) fn data(&mut self) -> Result<Option<String>, CliError> {
        self.data_follows(true);
        match self.editor.readline(">> ") {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn data_follows(&mut self, data: bool) {
        if let Some(helper) = self.editor.helper_mut() {
            helper.data = data;
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        if let Some(path) = &self.history {
            // Nobody is there any more to be told.
            let _ = self.editor.save_history(path);
        }
    }
}

/// Tells the editor when Enter ends the input.
struct Statements {
    /// Every line stands for itself.
    data: bool,
}

impl Validator for Statements {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let command = matches!(text.trim(), "quit" | "exit" | "help") || text.trim_start().starts_with('\\');
        let whole = self.data || command || is_complete(text);
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Completer for Statements {
    type Candidate = String;
}

impl Hinter for Statements {
    type Hint = String;
}

impl Highlighter for Statements {}
impl Helper for Statements {}
