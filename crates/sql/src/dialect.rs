//! sqlparser's PostgreSQL dialect, less what costs more than it gives.
//!
//! Two differences: names of arguments are plain names (`f(a => 1)`), since with expressions there every argument
//! is read twice and `f(f(f(…)))` takes time exponential in its depth; and `x NOT NULL` is no operator, since it
//! would swallow the NOT NULL behind a DEFAULT. (`x NOTNULL` is: see `lexer/spelling.rs`.)

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

/// `x BETWEEN a AND b OR x BETWEEN b AND a`.
fn symmetric(between: Expr) -> Expr {
    let Expr::Between { expr, negated, low, high } = between else { return between };
    let flipped = Expr::Between { expr: expr.clone(), negated, low: high.clone(), high: low.clone() };
    let op = if negated { BinaryOperator::And } else { BinaryOperator::Or };
    let straight = Expr::Between { expr, negated, low, high };
    Expr::Nested(Box::new(Expr::BinaryOp { left: Box::new(straight), op, right: Box::new(flipped) }))
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

/// `x IN ((SELECT …), …)`: a list whose first item stands in parentheses, which sqlparser reads as a query.
fn list_of_subqueries(parser: &mut Parser<'_>, expr: &Expr) -> Option<Result<Expr, ParserError>> {
    let is_word = |n: usize, keyword: Keyword| matches!(&parser.peek_nth_token_ref(n).token, Token::Word(word) if word.keyword == keyword);
    let negated = is_word(0, Keyword::NOT);
    let open = usize::from(negated);
    let nested = [open + 1, open + 2].iter().all(|n| parser.peek_nth_token_ref(*n).token == Token::LParen);
    if !is_word(open, Keyword::IN) || !nested {
        return None;
    }
    let mut at = open + 3;
    let mut depth = 1_usize;
    while depth > 0 {
        match parser.peek_nth_token_ref(at).token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::EOF => return None,
            _ => {}
        }
        at += 1;
    }
    if parser.peek_nth_token_ref(at).token != Token::Comma {
        return None;
    }
    (0..open + 2).for_each(|_| drop(parser.next_token()));
    let list = parser.parse_comma_separated(Parser::parse_expr);
    let list = list.and_then(|list| parser.expect_token(&Token::RParen).map(|_| list));
    Some(list.map(|list| Expr::InList { expr: Box::new(expr.clone()), list, negated }))
}

/// `x OPERATOR(pg_catalog.=) ANY (…)`: sqlparser takes ANY and ALL behind bare operators only.
fn named_operator_any(parser: &mut Parser<'_>, expr: &Expr) -> Option<Result<Expr, ParserError>> {
    let token = |n: usize| &parser.peek_nth_token_ref(n).token;
    if !matches!(token(0), Token::Word(word) if word.keyword == Keyword::OPERATOR) || *token(1) != Token::LParen {
        return None;
    }
    // Names and points, the symbol, and the parenthesis.
    let close = (3..8).find(|n| *token(*n) == Token::RParen)?;
    let Token::Word(word) = token(close + 1) else { return None };
    let quantifier = word.keyword;
    if !matches!(quantifier, Keyword::ANY | Keyword::SOME | Keyword::ALL) {
        return None;
    }
    let parts = (2..close).map(token).filter(|token| **token != Token::Period).map(ToString::to_string).collect();
    (0..close + 2).for_each(|_| drop(parser.next_token()));
    Some(operand_of_any(parser).map(|right| {
        let (left, right) = (Box::new(expr.clone()), Box::new(right));
        let compare_op = BinaryOperator::PGCustomBinaryOperator(parts);
        match quantifier {
            Keyword::ALL => Expr::AllOp { left, compare_op, right },
            _ => Expr::AnyOp { left, compare_op, right, is_some: quantifier == Keyword::SOME },
        }
    }))
}

/// `x [NOT] LIKE ANY (…)`, of which sqlparser reads a part.
fn like_each(parser: &mut Parser<'_>, expr: &Expr) -> Option<Result<Expr, ParserError>> {
    let word = |n: usize| match &parser.peek_nth_token_ref(n).token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let negated = word(0) == Keyword::NOT;
    let at = usize::from(negated);
    let compare_op = match (word(at), negated) {
        (Keyword::LIKE, false) => BinaryOperator::PGLikeMatch,
        (Keyword::LIKE, true) => BinaryOperator::PGNotLikeMatch,
        (Keyword::ILIKE, false) => BinaryOperator::PGILikeMatch,
        (Keyword::ILIKE, true) => BinaryOperator::PGNotILikeMatch,
        _ => return None,
    };
    let quantifier = word(at + 1);
    let each = matches!(quantifier, Keyword::ANY | Keyword::SOME | Keyword::ALL);
    if !each || parser.peek_nth_token_ref(at + 2).token != Token::LParen {
        return None;
    }
    (0..at + 2).for_each(|_| drop(parser.next_token()));
    Some(operand_of_any(parser).map(|right| {
        let (left, right) = (Box::new(expr.clone()), Box::new(right));
        match quantifier {
            Keyword::ALL => Expr::AllOp { left, compare_op, right },
            _ => Expr::AnyOp { left, compare_op, right, is_some: quantifier == Keyword::SOME },
        }
    }))
}

/// An array or a query, in parentheses.
fn operand_of_any(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let queries = [Keyword::SELECT, Keyword::WITH, Keyword::VALUES];
    let is_query = matches!(&parser.peek_token_ref().token, Token::Word(word) if queries.contains(&word.keyword));
    let operand = if is_query { parser.parse_query().map(Expr::Subquery)? } else { parser.parse_expr()? };
    parser.expect_token(&Token::RParen)?;
    Ok(operand)
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
            Token::Minus | Token::Plus => Some(signed(parser)),
            _ => None,
        }
    }

    /// `BETWEEN SYMMETRIC`, which sqlparser has not: between the two in either order. And `IS DISTINCT FROM`, whose
    /// right side ends before an AND.
    fn parse_infix(&self, parser: &mut Parser<'_>, expr: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        if parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]) {
            let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
            return Some(right.map(|right| Expr::IsDistinctFrom(Box::new(expr.clone()), Box::new(right))));
        }
        if parser.parse_keywords(&[Keyword::IS, Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]) {
            let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
            return Some(right.map(|right| Expr::IsNotDistinctFrom(Box::new(expr.clone()), Box::new(right))));
        }
        if let Some(any) = named_operator_any(parser, expr) {
            return Some(any);
        }
        if let Some(each) = like_each(parser, expr) {
            return Some(each);
        }
        if self.computed_escape
            && let Some(matched) = escape::matched(parser, expr, self.prec_value(Precedence::Like))
        {
            return Some(matched.and_then(|matched| self.charge(expr).map(|()| matched)));
        }
        if let Some(list) = list_of_subqueries(parser, expr) {
            return Some(list);
        }
        let words: [&[Keyword]; 4] = [
            &[Keyword::BETWEEN, Keyword::SYMMETRIC],
            &[Keyword::NOT, Keyword::BETWEEN, Keyword::SYMMETRIC],
            &[Keyword::BETWEEN, Keyword::ASYMMETRIC],
            &[Keyword::NOT, Keyword::BETWEEN, Keyword::ASYMMETRIC],
        ];
        let words = words.into_iter().find(|words| parser.parse_keywords(words))?;
        let negated = words.first() == Some(&Keyword::NOT);
        let between = parser.parse_between(expr.clone(), negated);
        Some(match words.last() {
            Some(Keyword::SYMMETRIC) => between.and_then(|between| self.charge(&between).map(|()| symmetric(between))),
            _ => between,
        })
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

    fn is_column_alias(&self, keyword: &Keyword, parser: &mut Parser<'_>) -> bool {
        // `SELECT 1 FOR UPDATE`.
        *keyword != Keyword::FOR && POSTGRES.is_column_alias(keyword, parser)
    }

    fn is_custom_operator_part(&self, ch: char) -> bool {
        POSTGRES.is_custom_operator_part(ch)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        let keyword = |n| match &parser.peek_nth_token_ref(n).token {
            Token::Word(word) => word.keyword,
            _ => Keyword::NoKeyword,
        };
        if keyword(0) == Keyword::NOT && keyword(1) == Keyword::NULL {
            return Some(Ok(self.prec_unknown()));
        }
        POSTGRES.get_next_precedence(parser)
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
