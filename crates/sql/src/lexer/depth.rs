//! Bounds on how deep a tree may become, judged on tokens before any tree is built.
//!
//! Whoever walks, copies or drops a tree needs stack for its depth, and a tree is as deep as its parentheses and
//! its chains: `a + b + c` leans to the left, one level per operator, and so do the tables of a FROM; each query of a
//! WITH may read the one before. Chains of AND and OR are put into balance by
//! `rewrite`, so they count only while the statement is being read, which is done on a stack of its own if need be.
//!
//! ```text
//!   (1 + 2 + 3) * 4, 5      at `)` : 2 operators            -> the level above holds something of depth 3
//!                           at `,` : 1 operator on top of 3 -> 4, and the count begins again
//! ```

use super::place::position_of;
use crate::SqlError;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::interrupt;

/// Deepest nesting of `(` and `[`.
const MAX_NESTING: usize = 100;
/// sqlparser's own bound, which also sees what nests without parentheses (NOT NOT …, CASE, EXPLAIN).
pub(crate) const MAX_PARSER_DEPTH: usize = 300;
/// Deepest tree that is handed out. A copy of a tree takes up to 5 KB of stack per level in a debug build, and
/// threads have 2 MB.
const MAX_DEPTH: usize = 250;
/// Most tables that one FROM joins, and most queries of one WITH.
const MAX_TABLES: usize = 150;
/// Deepest tree while AND and OR are not in balance.
const MAX_RAW_DEPTH: usize = 20_000;
/// Above this raw depth a statement is read on a stack of its own.
const ORDINARY: usize = 300;

/// Depths, without and with the chains of AND and OR.
#[derive(Clone, Copy, Default)]
struct Depth {
    balanced: usize,
    raw: usize,
}

impl Depth {
    fn max(self, other: Self) -> Self {
        Self { balanced: self.balanced.max(other.balanced), raw: self.raw.max(other.raw) }
    }

    fn plus(self, balanced: usize, raw: usize) -> Self {
        Self { balanced: self.balanced + balanced, raw: self.raw + raw }
    }
}

/// One open parenthesis, or the statement itself.
#[derive(Clone, Copy, Default)]
struct Level {
    /// The deepest part that is finished.
    finished: Depth,
    /// The part that is being read: its operators on top of the deepest parenthesis in it.
    part: Depth,
    /// Chains of AND and OR hold several parts; this is their length.
    logical: usize,
    /// BETWEENs whose AND has not come yet.
    betweens: usize,
    /// Set operations, which chain SELECTs.
    sets: usize,
    /// Tables of the FROM that is being read, after its first.
    tables: usize,
    /// Queries of a WITH.
    withs: usize,
    /// Do commas stand between tables?
    in_from: bool,
    last: Last,
}

/// What the last token was, as far as the next one's meaning depends on it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    /// A FROM after it belongs to the operator IS DISTINCT FROM.
    Distinct,
    /// A parenthesis after it holds a query of a WITH.
    As,
}

impl Level {
    fn depth(&self) -> Depth {
        self.finished.max(self.part).plus(self.sets, self.logical + self.sets)
    }

    /// The part is over; what follows stands beside it.
    fn end_part(&mut self) {
        self.finished = self.finished.max(self.part);
        self.part = Depth::default();
    }

    /// A FROM begins or ends.
    fn from(&mut self, begins: bool) {
        self.in_from = begins;
        self.tables = 0;
    }

    /// Counts tables and queries.
    fn count(&mut self, token: &Token) {
        let last = std::mem::take(&mut self.last);
        let word = match token {
            Token::Word(word) if word.quote_style.is_none() => word.value.as_str(),
            Token::Comma => {
                self.tables += usize::from(self.in_from);
                return;
            }
            _ => return,
        };
        let is = |words: &[&str]| words.iter().any(|w| word.eq_ignore_ascii_case(w));
        if is(&["FROM"]) {
            self.from(last != Last::Distinct);
        } else if is(&["USING"]) && !self.in_from {
            self.from(true);
        } else if is(&["SELECT", "WHERE", "BY", "HAVING", "VALUES", "SET", "RETURNING"]) {
            self.from(false);
        } else if is(&["JOIN"]) {
            self.tables += 1;
        } else if is(&["DISTINCT"]) {
            self.last = Last::Distinct;
        } else if is(&["AS", "MATERIALIZED"]) {
            self.last = Last::As;
        }
    }

    fn see(&mut self, token: &Token) {
        self.count(token);
        match Link::of(token) {
            Link::None => {}
            Link::Operator => self.part = self.part.plus(1, 1),
            Link::Between => {
                self.betweens += 1;
                self.part = self.part.plus(1, 1);
            }
            Link::And if self.betweens > 0 => self.betweens -= 1,
            Link::And | Link::Or => {
                self.end_part();
                self.logical += 1;
            }
            Link::Set => {
                self.end_part();
                self.sets += 1;
            }
            Link::Break => {
                self.end_part();
                // The chain of AND and OR is over too: its length stays in what is finished.
                self.finished.raw += self.logical;
                self.logical = 0;
                self.betweens = 0;
            }
        }
    }
}

/// What a token does to the depth.
enum Link {
    None,
    Operator,
    Between,
    And,
    Or,
    Set,
    Break,
}

impl Link {
    fn of(token: &Token) -> Self {
        match token {
            Token::Word(word) if word.quote_style.is_none() => Self::of_word(&word.value),
            Token::Comma => Self::Break,
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::DollarQuotedString(_)
            | Token::Placeholder(_)
            | Token::Period
            | Token::EOF => Self::None,
            _ => Self::Operator,
        }
    }

    fn of_word(word: &str) -> Self {
        let is = |words: &[&str]| words.iter().any(|w| word.eq_ignore_ascii_case(w));
        if is(&["AND"]) {
            Self::And
        } else if is(&["OR"]) {
            Self::Or
        } else if is(&["BETWEEN"]) {
            Self::Between
        } else if is(&["UNION", "EXCEPT", "INTERSECT"]) {
            Self::Set
        } else if is(&[
            "NOT", "IS", "ISNULL", "NOTNULL", "LIKE", "ILIKE", "SIMILAR", "IN", "COLLATE", "AT", "OVERLAPS", "CASE",
            "EXPLAIN", "INTERVAL",
        ]) {
            Self::Operator
        } else if is(&["SELECT", "FROM", "WHERE", "ON", "BY", "HAVING", "VALUES", "SET", "RETURNING", "JOIN"]) {
            Self::Break
        } else {
            Self::None
        }
    }
}

/// How deep parentheses are nested, as the tokens come.
#[derive(Debug, Default)]
pub(super) struct Nesting(usize);

impl Nesting {
    /// One token more.
    ///
    /// # Errors
    /// The bound, when it is passed.
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

/// The error at the parenthesis that is one too many.
pub(super) fn nested_too_deeply(text: &str, token: &TokenWithSpan, limit: usize) -> SqlError {
    SqlError::TooDeep { what: "nested parentheses", limit, position: position_of(text, token.span.start) }
}

/// Refuses what would be too deep; otherwise says whether reading it needs a stack of its own.
pub(crate) fn check(text: &str, tokens: &[TokenWithSpan]) -> Result<bool, SqlError> {
    let mut above: Vec<Level> = Vec::new();
    let mut level = Level::default();
    let mut raw = 0;
    for token in tokens {
        interrupt::spend(1)?;
        let refuse =
            |what, limit| Err(SqlError::TooDeep { what, limit, position: position_of(text, token.span.start) });
        match &token.token {
            Token::LParen | Token::LBracket => {
                if matches!(token.token, Token::LBracket) {
                    level.see(&token.token); // a[1][2] is a chain.
                } else if level.last == Last::As {
                    level.withs += 1;
                }
                above.push(std::mem::take(&mut level));
                if above.len() > MAX_NESTING {
                    return Err(nested_too_deeply(text, token, MAX_NESTING));
                }
            }
            Token::RParen | Token::RBracket => {
                let inner = level.depth().plus(1, 1);
                level = above.pop().unwrap_or_default();
                level.part = level.part.max(inner);
            }
            other => level.see(other),
        }
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
