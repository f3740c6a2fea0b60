//! Limits on the depth of a syntax tree, computed from the tokens before the tree is built.
//!
//! Traversing, copying or dropping a tree takes stack for its depth, and a tree is as deep as its parentheses, its
//! CASEs and its chains: `a + b + c` leans to the left, one level per operator, and so do the tables of a FROM; each
//! CTE of a WITH may read the one before. `rewrite` balances chains of AND and OR, so they count only during parsing,
//! which runs on a thread with a large stack if necessary.
//!
//! ```text
//!   (1 + 2 + 3) * 4, 5      at `)` : 2 operators            -> the level above holds something of depth 3
//!                           at `,` : 1 operator on top of 3 -> 4, and the count begins again
//! ```

mod level;

use super::place::position_of;
use super::word::is_word;
use crate::SqlError;
use level::{Last, Level};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::interrupt;

/// Maximum nesting of `(` and `[`.
const MAX_NESTING: usize = 100;
/// sqlparser's own limit, which also covers nesting without parentheses (NOT NOT …, CASE, EXPLAIN).
pub(crate) const MAX_PARSER_DEPTH: usize = 300;
/// Maximum depth of a returned tree. Copying a tree takes up to 5 KB of stack per level in a debug build, and threads
/// have 2 MB.
const MAX_DEPTH: usize = 250;
/// Maximum number of tables that one FROM joins, and of CTEs of one WITH.
const MAX_TABLES: usize = 150;
/// Maximum depth of a tree before AND and OR are balanced.
const MAX_RAW_DEPTH: usize = 20_000;
/// Above this raw depth a statement is parsed on a thread with a large stack.
const ORDINARY: usize = 300;

/// The nesting depth of parentheses so far.
#[derive(Debug, Default)]
pub(super) struct Nesting(usize);

impl Nesting {
    /// Counts a token.
    ///
    /// # Errors
    /// The limit, if it is exceeded.
    pub(super) fn see(&mut self, token: &Token) -> Result<(), usize> {
        self.0 = match token {
            Token::LParen | Token::LBracket => self.0 + 1,
            Token::RParen | Token::RBracket => self.0.saturating_sub(1),
            Token::SemiColon => 0,
            _ => self.0,
        };
        if self.0 > MAX_NESTING { Err(MAX_NESTING) } else { Ok(()) }
    }
}

/// Returns the error at the parenthesis that exceeds the limit.
pub(super) fn nested_too_deeply(text: &str, token: &TokenWithSpan, limit: usize) -> SqlError {
    SqlError::TooDeep { what: "nested parentheses", limit, position: position_of(text, token.span.start) }
}

/// A construct with a level of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opened {
    Parenthesis,
    Case,
}

/// The open levels, from the statement inwards.
#[derive(Default)]
struct Levels {
    above: Vec<(Level, Opened)>,
    level: Level,
    parentheses: usize,
}

impl Levels {
    fn see(&mut self, token: &Token) {
        let begins_word = self.level.last != Last::Period;
        match token {
            Token::LParen | Token::LBracket => {
                if matches!(token, Token::LBracket) {
                    self.level.see(token); // a[1][2] is a chain.
                } else if self.level.last == Last::As {
                    self.level.withs += 1;
                }
                self.parentheses += 1;
                self.open(Opened::Parenthesis);
            }
            Token::RParen | Token::RBracket => {
                self.parentheses = self.parentheses.saturating_sub(1);
                while self.close() == Some(Opened::Case) {}
            }
            token if begins_word && is_word(token, "CASE") => self.open(Opened::Case),
            token if begins_word && is_word(token, "END") && self.is_in_case() => {
                self.close();
            }
            other => self.level.see(other),
        }
    }

    fn open(&mut self, what: Opened) {
        self.above.push((std::mem::take(&mut self.level), what));
    }

    fn close(&mut self) -> Option<Opened> {
        let inner = self.level.depth().plus(1, 1);
        let (level, what) =
            self.above.pop().map_or_else(|| (Level::default(), None), |(level, what)| (level, Some(what)));
        self.level = level;
        self.level.part = self.level.part.max(inner);
        what
    }

    fn is_in_case(&self) -> bool {
        self.above.last().is_some_and(|(_, what)| *what == Opened::Case)
    }
}

/// Refuses a statement that is too deep; otherwise returns whether parsing it needs a large stack.
pub(crate) fn check(text: &str, tokens: &[TokenWithSpan]) -> Result<bool, SqlError> {
    let mut levels = Levels::default();
    let mut raw = 0;
    for token in tokens {
        interrupt::spend(1)?;
        levels.see(&token.token);
        let refuse =
            |what, limit| Err(SqlError::TooDeep { what, limit, position: position_of(text, token.span.start) });
        if levels.parentheses > MAX_NESTING {
            return Err(nested_too_deeply(text, token, MAX_NESTING));
        }
        if levels.above.len() > MAX_DEPTH {
            return refuse("operators in one expression", MAX_DEPTH);
        }
        let level = &levels.level;
        if level.tables.max(level.withs) > MAX_TABLES {
            return refuse("joined tables, or queries of one WITH", MAX_TABLES);
        }
        let depth = level.depth();
        if depth.balanced > MAX_DEPTH {
            return refuse("operators in one expression", MAX_DEPTH);
        }
        if depth.raw > MAX_RAW_DEPTH {
            return refuse("ANDs and ORs in one expression", MAX_RAW_DEPTH);
        }
        raw = raw.max(depth.raw);
    }
    Ok(raw > ORDINARY)
}
