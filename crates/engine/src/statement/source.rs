//! A statement with its text: the tree that runs, and where its parts stand in what the client sent.

use crate::session::is_large;
use crate::threads::turn;
use bind::tree::Span;
use query::HeldMemory;
use sql::{Hint, Parsed, Statement};
use std::sync::Arc;
use types::DataType;

/// The text of a client's statement that trees were read from: places in them count in it. Trees that were read from elsewhere,
/// as the expressions of a catalog are, have places in no text of the client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) text: Arc<str>,
    /// Characters before it in the text that the client sent.
    pub(crate) before: usize,
    /// For the trees of a long text, while any of them is there.
    pub(crate) memory: Option<Arc<HeldMemory>>,
}

impl Written {
    /// The character, from 1, at which a part stands in the text that the client sent.
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
    /// Its own text: plans are kept by it.
    pub(crate) text: Arc<str>,
    /// The text that its tree was read from.
    pub(crate) written: Written,
    pub(crate) statement: Statement,
    pub(crate) types: Vec<Option<DataType>>,
    pub(crate) hints: Vec<Hint>,
}

impl Source {
    /// Another form of the statement: positions count in the text as it was written.
    pub(crate) fn with(&self, statement: Statement) -> Self {
        self.with_parameters(statement, self.types.clone())
    }

    /// A query that is part of the statement: positions count in the statement's text.
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

    /// The same, read from that text.
    pub(crate) fn written_in(mut self, written: Written) -> Self {
        self.written = written;
        self
    }

    /// The same, with the memory that its tree is counted in.
    pub(crate) fn held_by(mut self, memory: Arc<HeldMemory>) -> Self {
        self.written.memory = Some(memory);
        self
    }

    /// The statements of `text`, in its order.
    pub(crate) fn all(text: &str, parsed: Vec<Parsed>, types: &[Option<DataType>]) -> Vec<Self> {
        // Characters are counted in one walk: a text may have very many statements.
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
    /// Others of its thread do not wait until a large tree is freed.
    fn drop(&mut self) {
        if is_large(&self.text) {
            let statement = std::mem::replace(&mut self.statement, Statement::Commit { chain: false });
            turn::apart(|| drop(statement));
        }
    }
}
