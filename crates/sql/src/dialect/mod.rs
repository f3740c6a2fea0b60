//! sqlparser's PostgreSQL dialect without two of its features, and with PostgreSQL's operator precedence.
//!
//! Names of arguments are plain identifiers (`f(a => 1)`): sqlparser would try an expression there and read each
//! argument twice, which takes time exponential in the depth of `f(f(f(…)))`. `x NOT NULL` is not an operator, since it
//! would consume the NOT NULL after a DEFAULT. (`x NOTNULL` is: see `lexer/spelling.rs`.)

mod between;
mod parentheses;
mod quantified;

use crate::escape;
use crate::lexer::keyword::{is_no_operand, is_reserved};
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, visit_expressions};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::any::TypeId;
use std::cell::Cell;
use std::ops::ControlFlow;
use types::interrupt;
use types::keyword::is_bare_label;

/// The dialect of all parsers of this crate; one for each statement, since it has counters.
#[derive(Debug)]
pub(crate) struct BennuDialect {
    /// How many operands may still be parsed. sqlparser backtracks, in some places twice per level of nesting, so a
    /// syntax error deep inside a text would take time exponential in the depth.
    fuel: Cell<usize>,
    /// How many expressions may still be copied: nested `BETWEEN SYMMETRIC` doubles with each level.
    copies: Cell<usize>,
    /// Was parsing cancelled?
    stopped: Cell<bool>,
    /// Does the statement have a computed ESCAPE?
    computed_escape: bool,
}

/// Steps that parsing an operand takes, as `types::interrupt` counts them.
const STEPS: usize = 64;
/// Maximum number of expressions in all copies of a statement together.
const MOST_COPIED: usize = 50_000;

impl BennuDialect {
    /// Returns a dialect with fuel for a statement of these tokens: a valid one reads each operand a few times at most.
    pub(crate) fn for_tokens(tokens: &[TokenWithSpan]) -> Self {
        Self {
            fuel: Cell::new(20_000 + 32 * tokens.len()),
            copies: Cell::new(MOST_COPIED),
            stopped: Cell::new(false),
            computed_escape: escape::is_computed(tokens),
        }
    }

    /// Was parsing cancelled? Then any error is a consequence of it.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Takes the fuel for one operand. Returns false if none is left or parsing is cancelled.
    fn takes_fuel(&self) -> bool {
        if interrupt::spend(STEPS).is_err() {
            self.stopped.set(true);
        }
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0 && !self.is_stopped()
    }

    /// Counts the expressions of a copy of `expr`.
    fn charge(&self, expr: &Expr) -> Result<(), ParserError> {
        let mut left = self.copies.get();
        let counted = visit_expressions(expr, |_| match left.checked_sub(1) {
            Some(rest) => {
                left = rest;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        });
        self.copies.set(left);
        match counted {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ParserError::RecursionLimitExceeded),
        }
    }
}

/// Precedence of signs: above `^`, COLLATE and AT TIME ZONE, below subscripts and casts. sqlparser has no name for it.
const SIGN_PRECEDENCE: u8 = 120;

/// Parses a signed operand: `- 2 ^ 2` is `(- 2) ^ 2`.
fn signed(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let op = match parser.next_token().token {
        Token::Plus => UnaryOperator::Plus,
        _ => UnaryOperator::Minus,
    };
    let operand = parser.parse_subexpr(SIGN_PRECEDENCE)?;
    Ok(Expr::UnaryOp { op, expr: Box::new(operand) })
}

/// Parses the operand of a prefix operator, which binds as `||` does: `~ 1 + 1` is `~ (1 + 1)`.
fn prefixed(parser: &mut Parser<'_>, precedence: u8) -> Result<Expr, ParserError> {
    let op = match parser.next_token().token {
        Token::Tilde => UnaryOperator::BitwiseNot,
        Token::AtSign => UnaryOperator::PGAbs,
        Token::PGSquareRoot => UnaryOperator::PGSquareRoot,
        _ => UnaryOperator::PGCubeRoot,
    };
    let operand = parser.parse_subexpr(precedence)?;
    Ok(Expr::UnaryOp { op, expr: Box::new(operand) })
}

/// Parses `NOT x`, which binds less tightly than `x IS NULL` for every `x`; sqlparser reads NOT EXISTS as one operator.
fn negated(parser: &mut Parser<'_>, precedence: u8) -> Result<Expr, ParserError> {
    parser.expect_keyword_is(Keyword::NOT)?;
    Ok(match parser.parse_subexpr(precedence)? {
        Expr::Exists { subquery, negated: false } => Expr::Exists { subquery, negated: true },
        operand => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(operand) },
    })
}

/// Returns the precedence of the operators that cannot follow this operation without parentheses. PostgreSQL chains
/// neither comparisons (`a = b = c`) nor patterns and ranges (`a LIKE b IN (c)`) nor IS after IS DISTINCT FROM.
fn not_associative(operation: &Expr) -> Option<Precedence> {
    use BinaryOperator as O;
    match operation {
        Expr::BinaryOp { op: O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq, .. } => Some(Precedence::Eq),
        Expr::Like { .. } | Expr::ILike { .. } | Expr::SimilarTo { .. } | Expr::Between { .. } => {
            Some(Precedence::Like)
        }
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => Some(Precedence::Is),
        _ => None,
    }
}

/// Returns the syntax error for an operator that cannot follow the operation in front of it.
fn not_chained(parser: &Parser<'_>) -> Result<Expr, ParserError> {
    parser.expected_ref("parentheses around one of the two operations", parser.peek_token_ref())
}

/// Is it a pattern-matching operator?
fn is_match(token: &Token) -> bool {
    matches!(
        token,
        Token::Tilde
            | Token::TildeAsterisk
            | Token::ExclamationMarkTilde
            | Token::ExclamationMarkTildeAsterisk
            | Token::DoubleTilde
            | Token::DoubleTildeAsterisk
            | Token::ExclamationMarkDoubleTilde
            | Token::ExclamationMarkDoubleTildeAsterisk
    )
}

/// Returns the token `n` after the next one. The tokens of a statement contain no whitespace.
fn token<'p>(parser: &'p Parser<'_>, n: usize) -> &'p Token {
    &parser.token_at(parser.index() + n).token
}

/// Returns the token `n` after the next one as a keyword.
fn keyword(parser: &Parser<'_>, n: usize) -> Keyword {
    match token(parser, n) {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

const POSTGRES: PostgreSqlDialect = PostgreSqlDialect {};

impl Dialect for BennuDialect {
    /// Makes sqlparser treat this dialect as PostgreSQL, which it compares by type id.
    fn dialect(&self) -> TypeId {
        POSTGRES.dialect()
    }

    /// Counts operands and stops without fuel: this error ends all attempts of sqlparser. Signs bind tighter than in
    /// sqlparser, other prefix operators less tightly. Keywords that cannot begin an operand are refused: sqlparser takes nearly every word for a column, so
    /// that `SELECT a, FROM t` would select a column `from`.
    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        if !self.takes_fuel() {
            return Some(Err(ParserError::RecursionLimitExceeded));
        }
        let next = parser.peek_token_ref();
        match &next.token {
            Token::Word(word) if word.quote_style.is_some() => None,
            Token::Word(word) if is_no_operand(&word.value) => Some(parser.expected_ref("an expression", next)),
            // sqlparser accepts only numbers after the comma; these are ordinary functions.
            Token::Word(word)
                if matches!(word.keyword, Keyword::CEIL | Keyword::FLOOR)
                    && parser.peek_nth_token_ref(1).token == Token::LParen =>
            {
                Some(parser.parse_object_name(false).and_then(|name| parser.parse_function(name)))
            }
            // Without a string after it, `interval` is a column.
            Token::Word(word) if word.keyword == Keyword::INTERVAL => match parser.peek_nth_token_ref(1).token {
                Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) | Token::LParen | Token::Period => None,
                _ => Some(parser.parse_identifier().map(Expr::Identifier)),
            },
            Token::Word(word) if word.keyword == Keyword::NOT => {
                Some(negated(parser, self.prec_value(Precedence::UnaryNot)))
            }
            Token::LParen if parentheses::hold_query(parser, 0) => Some(parentheses::subquery(parser)),
            Token::Minus | Token::Plus => Some(signed(parser)),
            Token::Tilde | Token::AtSign | Token::PGSquareRoot | Token::PGCubeRoot => {
                Some(prefixed(parser, self.prec_value(Precedence::PgOther)))
            }
            _ => None,
        }
    }

    /// Operators that sqlparser lacks or parses otherwise, such as `IS DISTINCT FROM`, whose right operand ends before
    /// an AND.
    fn parse_infix(&self, parser: &mut Parser<'_>, expr: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        if not_associative(expr).is_some_and(|level| self.prec_value(level) == precedence) {
            return Some(not_chained(parser));
        }
        if parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
            let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
            return Some(right.map(|right| Expr::IsDistinctFrom(Box::new(expr.clone()), Box::new(right))));
        }
        if parser.parse_keywords(&[Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]) {
            let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
            return Some(right.map(|right| Expr::IsNotDistinctFrom(Box::new(expr.clone()), Box::new(right))));
        }
        if parser.parse_keyword(Keyword::COLLATE) {
            let collation = parser.parse_object_name(false);
            return Some(collation.map(|collation| Expr::Collate { expr: Box::new(expr.clone()), collation }));
        }
        if let Some(quantified) = quantified::read(parser, expr) {
            return Some(quantified);
        }
        if self.computed_escape
            && let Some(matched) = escape::matched(parser, expr, self.prec_value(Precedence::Like))
        {
            return Some(matched.and_then(|matched| self.charge(expr).map(|()| matched)));
        }
        if let Some(list) = parentheses::list(parser, expr) {
            return Some(list);
        }
        between::read(self, parser, expr, precedence)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        POSTGRES.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        POSTGRES.is_delimited_identifier_start(ch)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        POSTGRES.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        POSTGRES.is_identifier_part(ch)
    }

    /// Reserved words are not tried as columns when the construct that they begin is invalid.
    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        POSTGRES.is_reserved_for_identifier(keyword) || is_reserved(&format!("{keyword:?}"))
    }

    /// Words that may follow a column are labels after AS only: `INSERT … SELECT 1 ON CONFLICT …`. MINUS is no bare
    /// label either, so that its use as a set operator is refused by name.
    fn is_column_alias(&self, keyword: &Keyword, _: &mut Parser<'_>) -> bool {
        *keyword != Keyword::MINUS && is_bare_label(&format!("{keyword:?}"))
    }

    fn is_custom_operator_part(&self, ch: char) -> bool {
        POSTGRES.is_custom_operator_part(ch)
    }

    /// Operators without a precedence of their own in PostgreSQL's grammar, such as `~` and `OPERATOR(pg_catalog.=)`,
    /// bind as `||`.
    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        match (token(parser, 0), keyword(parser, 0), token(parser, 1), keyword(parser, 1)) {
            (_, Keyword::NOT, _, Keyword::NULL) => Some(Ok(self.prec_unknown())),
            (_, Keyword::OPERATOR, Token::LParen, _) => Some(Ok(self.prec_value(Precedence::PgOther))),
            (_, Keyword::OPERATOR, ..) => Some(Ok(self.prec_unknown())),
            (next, ..) if is_match(next) => Some(Ok(self.prec_value(Precedence::PgOther))),
            _ => POSTGRES.get_next_precedence(parser),
        }
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        POSTGRES.prec_value(precedence)
    }

    fn supports_unicode_string_literal(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn allow_extract_custom(&self) -> bool {
        true
    }

    fn allow_extract_single_quotes(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn supports_empty_projections(&self) -> bool {
        true
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }

    fn supports_string_escape_constant(&self) -> bool {
        true
    }

    fn supports_numeric_literal_underscores(&self) -> bool {
        true
    }

    fn supports_array_typedef_with_brackets(&self) -> bool {
        true
    }

    fn supports_interval_options(&self) -> bool {
        true
    }

    fn supports_comma_separated_trim(&self) -> bool {
        true
    }
}
