//! The grammar of statements: Bennu's own, with sqlparser's for queries and expressions.

mod absent;
mod alter;
mod alter_hint;
mod big_stack;
mod check;
mod collation;
mod column;
mod comment;
mod copy;
mod create;
mod cursor;
mod cursor_statements;
mod data_type;
mod delete;
mod dispatch;
mod drop;
mod explain;
mod fault;
mod foreign_key;
mod index;
mod insert;
mod job;
mod like;
mod lock;
mod maintenance;
mod materialized;
mod owner;
mod prepare;
mod row_locks;
mod sequence;
mod set;
mod transaction;
mod unsupported;
mod update;
mod view;

pub(crate) use cursor::{Cursor, fold};
pub(crate) use data_type::data_type;
pub(crate) use fault::{Fault, FaultKind, Parse};
pub(crate) use row_locks::read as read_row_lock;
pub(crate) use update::assignment;

use crate::dialect::BennuDialect;
use crate::lexer::{self, Piece};
use crate::phoenix::hint;
use crate::reject::{self, Rejecter};
use crate::rewrite::Rewriter;
use crate::statement::walk;
use crate::{Hint, SqlError, Statement, ast};
use sqlparser::ast::{Visit, VisitMut};
use std::ops::{ControlFlow, Range};

/// A statement and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its byte range in the text: from its first to its last token, without comments around it and without `;`.
    pub span: Range<usize>,
    /// The hints in it.
    pub hints: Vec<Hint>,
}

/// Parses all statements of a text, separated by `;`. Empty ones are omitted.
///
/// # Errors
/// The first error, and no statement: a client that sends several statements in one text gets all or none.
pub fn parse(text: &str) -> Result<Vec<Parsed>, SqlError> {
    let pieces = lexer::cut(text)?;
    pieces.into_iter().map(|piece| parse_piece(text, piece)).collect()
}

/// Parses one expression, such as a stored DEFAULT. Its parts have no positions, since they are in no statement of a
/// client where an error could point at them.
///
/// # Errors
/// As [`parse`]; also when anything follows the expression.
pub fn parse_expr(text: &str) -> Result<ast::Expr, SqlError> {
    let mut pieces = lexer::cut(text)?;
    let piece = if pieces.len() == 1 { pieces.pop() } else { None };
    let Some(piece) = piece else {
        let position = lexer::end_of(text);
        return Err(SqlError::Syntax { near: None, expected: Some("one expression".into()), position });
    };
    let expr = read(text, piece.without_locations(), whole_expr).or_else(|_| read(text, piece, whole_expr));
    expr.map(|(expr, _)| expr)
}

/// Parses one query, such as that of a view.
///
/// # Errors
/// As [`parse`]; also when the text is anything else.
pub fn parse_query(text: &str) -> Result<Box<ast::Query>, SqlError> {
    let mut parsed = parse(text)?;
    match (parsed.pop().map(|parsed| parsed.statement), parsed.is_empty()) {
        (Some(Statement::Query(query)), true) => Ok(query),
        _ => {
            let position = lexer::end_of(text);
            Err(SqlError::Syntax { near: None, expected: Some("one query".into()), position })
        }
    }
}

fn parse_piece(text: &str, piece: Piece) -> Result<Parsed, SqlError> {
    let hints = piece.hints.clone();
    let (statement, span) = read(text, piece, whole_statement)?;
    let hints = hint::read(&hints, &statement);
    Ok(Parsed { statement, span, hints })
}

/// Runs a grammar over one piece, on a thread with a large stack if the piece is deep.
fn read<T: Send>(
    text: &str,
    piece: Piece,
    grammar: fn(&mut Cursor<'_>) -> Parse<T>,
) -> Result<(T, Range<usize>), SqlError> {
    let span = piece.span.clone();
    let deep = piece.deep;
    let run = || {
        let dialect = BennuDialect::for_tokens(&piece.tokens);
        let mut cursor = Cursor::new(text.get(span.clone()).unwrap_or(text), &dialect, piece);
        grammar(&mut cursor).map_err(|fault| match dialect.is_stopped() {
            true => SqlError::Stopped,
            false => cursor.named(fault).at_position(text, span.clone()),
        })
    };
    let result = if deep { big_stack::run(run).unwrap_or_else(|| Err(big_stack::refused(text, &span))) } else { run() };
    result.map(|tree| (tree, span))
}

/// Parses one statement up to its end, rewrites it to sqlparser's form, and refuses what the binder would ignore.
fn whole_statement(c: &mut Cursor<'_>) -> Parse<Statement> {
    let mut statement = dispatch::statement(c)?;
    c.end()?;
    row_locks::check(c, &statement)?;
    let _ = walk::mutable::statement(&mut statement, &mut Rewriter);
    match reject::check(&statement) {
        ControlFlow::Continue(()) => Ok(statement),
        ControlFlow::Break(refusal) => Err(c.refused(refusal)),
    }
}

/// As [`whole_statement`], for an expression.
fn whole_expr(c: &mut Cursor<'_>) -> Parse<ast::Expr> {
    let mut expr = c.expr()?;
    c.end()?;
    let _ = VisitMut::visit(&mut expr, &mut Rewriter);
    match Visit::visit(&expr, &mut Rejecter) {
        ControlFlow::Continue(()) => Ok(expr),
        ControlFlow::Break(refusal) => Err(c.refused(refusal)),
    }
}
