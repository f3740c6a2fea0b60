//! A statement with its text: the syntax tree, and the positions of its parts in the text that the client sent.

use crate::session::is_large;
use crate::threads::turn;
use bind::tree::Span;
use query::HeldMemory;
use sql::{Hint, Parsed, Statement};
use std::sync::Arc;
use types::DataType;

/// The text of a client's statement from which syntax trees were parsed: their positions refer to it. Trees parsed
/// from other texts, such as expressions of the catalog, have no positions in the client's text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) text: Arc<str>,
    /// Number of characters before it in the text that the client sent.
    pub(crate) before: usize,
    /// Memory held for the trees of a long text, while any of them exists.
    pub(crate) memory: Option<Arc<HeldMemory>>,
}

impl Written {
    /// Position of a span in the text that the client sent: in characters, from 1.
    pub(crate) fn position(&self, span: Span) -> Option<usize> {
        if span.is_empty() {
            return None;
        }
        let before = self.text.get(..usize::try_from(span.start).ok()?)?;
        Some(self.before + before.chars().count() + 1)
    }
}

/// A statement with its text and the types that its client declared for its parameters.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its own text, by which plans are cached.
    pub(crate) text: Arc<str>,
    /// The text from which its tree was parsed.
    pub(crate) written: Written,
    pub(crate) statement: Statement,
    pub(crate) types: Vec<Option<DataType>>,
    pub(crate) hints: Vec<Hint>,
}

impl Source {
    /// Another form of the statement. Positions refer to the original text.
    pub(crate) fn with(&self, statement: Statement) -> Self {
        self.with_parameters(statement, self.types.clone())
    }

    /// A query that is part of the statement. Positions refer to the statement's text.
    pub(crate) fn part(&self, query: &sql::ast::Query) -> Self {
        self.with_parameters(Statement::Query(Box::new(query.clone())), Vec::new())
    }

    /// The statement with parameters of these types.
    pub(crate) fn with_parameters(&self, statement: Statement, types: Vec<Option<DataType>>) -> Self {
        let (text, hints) = (Arc::clone(&self.text), self.hints.clone());
        Self { text, written: self.written.clone(), statement, types, hints }
    }

    /// A query without a text of its own.
    pub(crate) fn of_query(query: &sql::ast::Query) -> Self {
        Self::of_statement(Statement::Query(Box::new(query.clone())))
    }

    /// A statement without a text of its own.
    pub(crate) fn of_statement(statement: Statement) -> Self {
        Self { text: Arc::from(""), written: Written::default(), statement, types: Vec::new(), hints: Vec::new() }
    }

    /// Sets the text from which the tree was parsed.
    pub(crate) fn written_in(mut self, written: Written) -> Self {
        self.written = written;
        self
    }

    /// Sets the memory that accounts for the tree.
    pub(crate) fn held_by(mut self, memory: Arc<HeldMemory>) -> Self {
        self.written.memory = Some(memory);
        self
    }

    /// The statements of `text`, in order.
    pub(crate) fn all(text: &str, parsed: Vec<Parsed>, types: &[Option<DataType>]) -> Vec<Self> {
        // Counts characters in one pass, because a text may contain very many statements.
        let (mut byte, mut before) = (0, 0);
        let source = |Parsed { statement, span, hints }: Parsed| {
            before += text.get(byte..span.start).map_or(0, |between| between.chars().count());
            byte = span.start;
            let text: Arc<str> = Arc::from(text.get(span).unwrap_or(text));
            let written = Written { text: Arc::clone(&text), before, memory: None };
            Self { text, written, statement, types: types.to_vec(), hints }
        };
        parsed.into_iter().map(source).collect()
    }
}

impl Drop for Source {
    /// Frees a large tree apart from the thread's other tasks, so that they do not wait for it.
    fn drop(&mut self) {
        if is_large(&self.text) {
            let statement = std::mem::replace(&mut self.statement, Statement::Commit { chain: false });
            turn::apart(|| drop(statement));
        }
    }
}
