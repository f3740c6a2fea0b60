//! Sources of statements, read line by line: a text or a terminal.

use super::editor::Person;
use crate::error::CliError;

/// A source of input.
pub(super) enum Lines {
    Text(Text),
    Person(Box<Person>),
}

/// One piece of input: a line, or several from the history of the terminal.
pub(super) enum Input {
    /// With its line end.
    Piece(String),
    /// The user interrupted the current statement.
    Dropped,
    End,
}

/// A text and the read position.
pub(super) struct Text {
    lines: std::vec::IntoIter<String>,
    read: usize,
    /// Whether COPY data comes from standard input.
    data_in_stdin: bool,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        // The byte order mark that some editors write.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Self { lines: lines.into_iter(), read: 0, data_in_stdin: false }
    }

    /// A text of the command line: COPY data comes from standard input.
    pub(super) fn with_data_in_stdin(text: &str) -> Self {
        Self { data_in_stdin: true, ..Self::new(text) }
    }

    fn data(&mut self) -> Option<String> {
        if self.data_in_stdin {
            return std::io::stdin().lines().next().and_then(Result::ok);
        }
        self.read += 1;
        self.lines.next()
    }
}

impl Lines {
    /// The next piece. A terminal shows `prompt`; `begun` if a statement goes on.
    pub(super) fn next(&mut self, prompt: &str, begun: bool) -> Result<Input, CliError> {
        match self {
            Self::Text(text) => Ok(match text.lines.next() {
                Some(line) => {
                    text.read += 1;
                    Input::Piece(line + "\n")
                }
                None => Input::End,
            }),
            Self::Person(person) => person.line(prompt, begun),
        }
    }

    /// The next line of COPY data; `None` at its end.
    pub(super) fn data(&mut self) -> Result<Option<String>, CliError> {
        let line = match self {
            Self::Text(text) => text.data(),
            Self::Person(person) => person.data()?,
        };
        Ok(line.filter(|line| line != "\\."))
    }

    /// Number of lines read, from which an error's line number is counted.
    pub(super) fn read(&self) -> usize {
        match self {
            Self::Text(text) => text.read,
            Self::Person(_) => 0,
        }
    }

    /// Whether input is interactive. Errors then do not end the input.
    pub(super) fn is_interactive(&self) -> bool {
        matches!(self, Self::Person(_))
    }
}
