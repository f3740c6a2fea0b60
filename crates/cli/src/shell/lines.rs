//! Where statements come from, line by line: a text, or a person.

use super::editor::Person;
use crate::error::CliError;

/// A source of input.
pub(super) enum Lines {
    Text(Text),
    Person(Box<Person>),
}

/// One piece of input: a line, or several that a person took from the history.
pub(super) enum Input {
    /// With its line end.
    Piece(String),
    /// A person gave up what was begun.
    Dropped,
    End,
}

/// A text and how far it was read.
pub(super) struct Text {
    lines: std::vec::IntoIter<String>,
    read: usize,
    /// Does the data of COPY go on in standard input?
    data_in_stdin: bool,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        // The mark that some editors put in front of UTF-8.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Self { lines: lines.into_iter(), read: 0, data_in_stdin: false }
    }

    /// A text of the command line: data of COPY comes on standard input.
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
    /// The next piece. A person is asked for it with `prompt`; `begun` says that a statement goes on.
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

    /// The next line of COPY's data; `None` behind the last.
    pub(super) fn data(&mut self) -> Result<Option<String>, CliError> {
        let line = match self {
            Self::Text(text) => text.data(),
            Self::Person(person) => person.data()?,
        };
        Ok(line.filter(|line| line != "\\."))
    }

    /// How many lines were read before: what an error's line is counted from.
    pub(super) fn read(&self) -> usize {
        match self {
            Self::Text(text) => text.read,
            Self::Person(_) => 0,
        }
    }

    /// Does a person watch? Errors do not end the input then.
    pub(super) fn is_person(&self) -> bool {
        matches!(self, Self::Person(_))
    }
}
