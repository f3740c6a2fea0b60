//! `x op ANY (…)` and `x op ALL (…)` over a query or an array. sqlparser supports them after some of the operators, and
//! a query only if it begins with SELECT or WITH.

use super::{keyword, parentheses, token};
use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// Parses what follows the left operand; `None` if another operator follows.
pub(super) fn read(parser: &mut Parser<'_>, left: &Expr) -> Option<Result<Expr, ParserError>> {
    let (compare_op, length) = symbol(parser).or_else(|| like(parser)).or_else(|| named(parser))?;
    let quantifier = keyword(parser, length);
    if !matches!(quantifier, Keyword::ANY | Keyword::SOME | Keyword::ALL) || *token(parser, length + 1) != Token::LParen
    {
        return None;
    }
    (0..=length).for_each(|_| parser.advance_token());
    Some(operand(parser).map(|right| {
        let (left, right) = (Box::new(left.clone()), Box::new(right));
        match quantifier {
            Keyword::ALL => Expr::AllOp { left, compare_op, right },
            _ => Expr::AnyOp { left, compare_op, right, is_some: quantifier == Keyword::SOME },
        }
    }))
}

/// Returns a comparison operator and its number of tokens.
fn symbol(parser: &Parser<'_>) -> Option<(BinaryOperator, usize)> {
    let op = match token(parser, 0) {
        Token::Eq => BinaryOperator::Eq,
        Token::Neq => BinaryOperator::NotEq,
        Token::Lt => BinaryOperator::Lt,
        Token::LtEq => BinaryOperator::LtEq,
        Token::Gt => BinaryOperator::Gt,
        Token::GtEq => BinaryOperator::GtEq,
        Token::Tilde => BinaryOperator::PGRegexMatch,
        Token::TildeAsterisk => BinaryOperator::PGRegexIMatch,
        Token::ExclamationMarkTilde => BinaryOperator::PGRegexNotMatch,
        Token::ExclamationMarkTildeAsterisk => BinaryOperator::PGRegexNotIMatch,
        Token::DoubleTilde => BinaryOperator::PGLikeMatch,
        Token::DoubleTildeAsterisk => BinaryOperator::PGILikeMatch,
        Token::ExclamationMarkDoubleTilde => BinaryOperator::PGNotLikeMatch,
        Token::ExclamationMarkDoubleTildeAsterisk => BinaryOperator::PGNotILikeMatch,
        _ => return None,
    };
    Some((op, 1))
}

/// `[NOT] LIKE`, `[NOT] ILIKE`.
fn like(parser: &Parser<'_>) -> Option<(BinaryOperator, usize)> {
    let negated = keyword(parser, 0) == Keyword::NOT;
    let at = usize::from(negated);
    let op = match (keyword(parser, at), negated) {
        (Keyword::LIKE, false) => BinaryOperator::PGLikeMatch,
        (Keyword::LIKE, true) => BinaryOperator::PGNotLikeMatch,
        (Keyword::ILIKE, false) => BinaryOperator::PGILikeMatch,
        (Keyword::ILIKE, true) => BinaryOperator::PGNotILikeMatch,
        _ => return None,
    };
    Some((op, at + 1))
}

/// `OPERATOR(pg_catalog.=)`.
fn named(parser: &Parser<'_>) -> Option<(BinaryOperator, usize)> {
    if keyword(parser, 0) != Keyword::OPERATOR || *token(parser, 1) != Token::LParen {
        return None;
    }
    // Names and periods, the symbol, and the parenthesis.
    let close = (3..8).find(|n| *token(parser, *n) == Token::RParen)?;
    let parts = (2..close).map(|n| token(parser, n)).filter(|part| **part != Token::Period);
    Some((BinaryOperator::PGCustomBinaryOperator(parts.map(ToString::to_string).collect()), close + 1))
}

/// Parses an array or a query, in parentheses.
fn operand(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    if parentheses::hold_query(parser, 0) {
        return parentheses::subquery(parser);
    }
    parser.expect_token(&Token::LParen)?;
    let array = parser.parse_expr()?;
    parser.expect_token(&Token::RParen)?;
    Ok(array)
}
