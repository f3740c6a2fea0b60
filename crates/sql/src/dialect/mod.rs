//! sqlparser's PostgreSQL dialect, less what costs more than it gives, and with operators that bind as PostgreSQL's do.
//!
//! Left out are expressions as names of arguments: with plain names alone (`f(a => 1)`) no argument is read twice, which would
//! take time exponential in the depth of `f(f(f(…)))`. And `x NOT NULL` is no operator, since it would swallow the NOT NULL
//! behind a DEFAULT. (`x NOTNULL` is: see `lexer/spelling.rs`.)

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

/// The dialect of all our parsers; one for each statement, since it counts.
#[derive(Debug)]
pub(crate) struct BennuDialect {
    /// How many operands may still be read. sqlparser tries, fails and tries otherwise, in some places twice per
    /// level of nesting; on a text that is wrong deep inside, that would take time exponential in the depth.
    fuel: Cell<usize>,
    /// How many expressions may still be copied: `BETWEEN SYMMETRIC` within itself doubles with each level.
    copies: Cell<usize>,
    /// Was reading stopped by whom it is done for?
    stopped: Cell<bool>,
    /// Has the statement an ESCAPE that is computed?
    computed_escape: bool,
}

/// Steps that reading an operand takes, as `types::interrupt` counts them.
const STEPS: usize = 64;
/// Most expressions that a statement's copies have together.
const MOST_COPIED: usize = 50_000;

impl BennuDialect {
    /// With fuel for a statement of these tokens: a right one reads each operand a few times at most.
    pub(crate) fn for_tokens(tokens: &[TokenWithSpan]) -> Self {
        Self {
            fuel: Cell::new(20_000 + 32 * tokens.len()),
            copies: Cell::new(MOST_COPIED),
            stopped: Cell::new(false),
            computed_escape: escape::is_computed(tokens),
        }
    }

    /// Was reading stopped? What failed then failed for that.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get()
    }

    /// Takes the fuel for one operand; false: there is none, or reading is stopped.
    fn takes_fuel(&self) -> bool {
        if interrupt::spend(STEPS).is_err() {
            self.stopped.set(true);
        }
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0 && !self.is_stopped()
    }

    /// Counts a copy of `expr`.
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

/// Above `^`, COLLATE and AT TIME ZONE, below subscripts and casts. sqlparser has no name for it.
const SIGN_PRECEDENCE: u8 = 120;

/// `- 2 ^ 2` is `(- 2) ^ 2`.
fn signed(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let op = match parser.next_token().token {
        Token::Plus => UnaryOperator::Plus,
        _ => UnaryOperator::Minus,
    };
    let operand = parser.parse_subexpr(SIGN_PRECEDENCE)?;
    Ok(Expr::UnaryOp { op, expr: Box::new(operand) })
}

/// `NOT x`, which binds less tightly than `x IS NULL` whatever `x` is; sqlparser takes NOT EXISTS for one word.
fn negated(parser: &mut Parser<'_>, precedence: u8) -> Result<Expr, ParserError> {
    parser.expect_keyword_is(Keyword::NOT)?;
    Ok(match parser.parse_subexpr(precedence)? {
        Expr::Exists { subquery, negated: false } => Expr::Exists { subquery, negated: true },
        operand => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(operand) },
    })
}

/// The precedence of the operators that cannot follow this operation, if it stands without parentheses. PostgreSQL chains
/// neither comparisons (`a = b = c`) nor patterns and ranges (`a LIKE b IN (c)`) nor IS behind IS DISTINCT FROM.
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

/// An operator that cannot follow the operation in front of it comes next.
fn not_chained(parser: &Parser<'_>) -> Result<Expr, ParserError> {
    parser.expected_ref("parentheses around one of the two operations", parser.peek_token_ref())
}

/// Is it a symbol that matches a text with a pattern?
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

/// The token `n` after the next one. There are no blanks among the tokens of a statement.
fn token<'p>(parser: &'p Parser<'_>, n: usize) -> &'p Token {
    &parser.token_at(parser.index() + n).token
}

/// That token as a keyword.
fn keyword(parser: &Parser<'_>, n: usize) -> Keyword {
    match token(parser, n) {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    }
}

const POSTGRES: PostgreSqlDialect = PostgreSqlDialect {};

impl Dialect for BennuDialect {
    /// Wherever sqlparser asks for PostgreSQL by type, it is us.
    fn dialect(&self) -> TypeId {
        POSTGRES.dialect()
    }

    /// It is the place to count operands, and to stop: that error ends all attempts. Signs bind tighter than
    /// sqlparser has it. And it takes nearly every word for a column, so that `SELECT a, FROM t` would select a column
    /// `from`.
    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        if !self.takes_fuel() {
            return Some(Err(ParserError::RecursionLimitExceeded));
        }
        let next = parser.peek_token_ref();
        match &next.token {
            Token::Word(word) if word.quote_style.is_some() => None,
            Token::Word(word) if is_no_operand(&word.value) => Some(parser.expected_ref("an expression", next)),
            // Functions like others, of which sqlparser takes none but numbers behind the comma.
            Token::Word(word)
                if matches!(word.keyword, Keyword::CEIL | Keyword::FLOOR)
                    && parser.peek_nth_token_ref(1).token == Token::LParen =>
            {
                Some(parser.parse_object_name(false).and_then(|name| parser.parse_function(name)))
            }
            // Without a string behind it, `interval` is a column.
            Token::Word(word) if word.keyword == Keyword::INTERVAL => match parser.peek_nth_token_ref(1).token {
                Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) | Token::LParen | Token::Period => None,
                _ => Some(parser.parse_identifier().map(Expr::Identifier)),
            },
            Token::Word(word) if word.keyword == Keyword::NOT => {
                Some(negated(parser, self.prec_value(Precedence::UnaryNot)))
            }
            Token::LParen if parentheses::hold_query(parser, 0) => Some(parentheses::subquery(parser)),
            Token::Minus | Token::Plus => Some(signed(parser)),
            _ => None,
        }
    }

    /// Operations that sqlparser has not or reads otherwise: among them `IS DISTINCT FROM`, whose right side ends before an AND.
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

    /// A word that cannot be a column is not tried as one when what it begins turns out wrong.
    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        POSTGRES.is_reserved_for_identifier(keyword) || is_reserved(&format!("{keyword:?}"))
    }

    /// Words that begin what may follow a column are labels behind AS only: `INSERT … SELECT 1 ON CONFLICT …`. MINUS is none
    /// either, since what it means elsewhere is refused by name.
    fn is_column_alias(&self, keyword: &Keyword, _: &mut Parser<'_>) -> bool {
        *keyword != Keyword::MINUS && is_bare_label(&format!("{keyword:?}"))
    }

    fn is_custom_operator_part(&self, ch: char) -> bool {
        POSTGRES.is_custom_operator_part(ch)
    }

    /// Operators without a line of their own in PostgreSQL's grammar bind alike: `~` and `OPERATOR(pg_catalog.=)` as `||`.
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
