//! The grammar of statements: ours on top, sqlparser's below for queries and expressions.

mod alter;
mod column;
mod copy;
mod create;
mod cursor;
mod data_type;
mod delete;
mod dispatch;
mod drop;
mod explain;
mod fault;
mod insert;
mod maintenance;
mod prepare;
mod set;
mod transaction;
mod unsupported;
mod update;

pub(crate) use cursor::Cursor;
pub(crate) use fault::{Fault, Parse};
pub(crate) use update::assignment;

use crate::lexer::{self, Piece};
use crate::{SqlError, Statement, ast};
use std::ops::Range;

/// A statement and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its bytes in the text: from its first to its last token, without comments around it and without `;`.
    pub span: Range<usize>,
}

/// Reads all statements of a text, cut at `;`. Empty ones are left out.
///
/// # Errors
/// The first error, and then no statement at all: a client that sends several in one text gets all or none.
pub fn parse(text: &str) -> Result<Vec<Parsed>, SqlError> {
    let pieces = lexer::cut(text)?;
    pieces.into_iter().map(|piece| parse_piece(text, piece)).collect()
}

/// Reads one expression, such as a stored DEFAULT.
///
/// # Errors
/// As [`parse`]; also when anything follows the expression.
pub fn parse_expr(text: &str) -> Result<ast::Expr, SqlError> {
    let mut pieces = lexer::cut(text)?;
    let piece = if pieces.len() == 1 { pieces.pop() } else { None };
    let Some(piece) = piece else {
        return Err(SqlError::Syntax {
            near: None,
            expected: Some("one expression".into()),
            position: lexer::end_of(text),
        });
    };
    let mut cursor = Cursor::new(text, piece);
    let read = cursor.expr().and_then(|expr| cursor.end().map(|()| expr));
    read.map_err(|fault| fault.at_position(text, cursor.span()))
}

fn parse_piece(text: &str, piece: Piece) -> Result<Parsed, SqlError> {
    let mut cursor = Cursor::new(text, piece);
    let read = dispatch::statement(&mut cursor).and_then(|statement| cursor.end().map(|()| statement));
    match read {
        Ok(statement) => Ok(Parsed { statement, span: cursor.span() }),
        Err(fault) => Err(fault.at_position(text, cursor.span())),
    }
}
