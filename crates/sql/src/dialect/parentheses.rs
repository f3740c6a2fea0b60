//! Parentheses that contain a query. sqlparser looks for SELECT or WITH directly after the parenthesis.
//!
//! ```text
//!   (VALUES (1))                         a query
//!   ((SELECT 1) UNION (SELECT 2))        a query: a set operation
//!   ((SELECT 1) + 1)                     an expression
//!   x IN ((SELECT 1) + 1, (SELECT 2))    a list
//! ```

use super::{keyword, token};
use sqlparser::ast::Expr;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// Does the token `n` after the next one open parentheses that contain a query?
pub(super) fn hold_query(parser: &Parser<'_>, n: usize) -> bool {
    if *token(parser, n) != Token::LParen {
        return false;
    }
    let inside = n + 1;
    if begins_query(parser, inside) {
        return true;
    }
    let opened = (inside..).take_while(|at| *token(parser, *at) == Token::LParen).count();
    // The closing parenthesis is searched only if a query begins inside.
    opened > 0
        && begins_query(parser, inside + opened)
        && close_of(parser, inside).is_some_and(|close| continues_query(parser, close + 1))
}

/// A query in parentheses.
pub(super) fn subquery(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let query = parser.parse_query()?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Subquery(query))
}

/// Parses `x [NOT] IN ((SELECT …), …)`: a list whose first item begins with a parenthesis, which sqlparser reads as a
/// query. Returns `None` if the parentheses may contain a query, or if another operator follows.
pub(super) fn list(parser: &mut Parser<'_>, expr: &Expr) -> Option<Result<Expr, ParserError>> {
    let negated = keyword(parser, 0) == Keyword::NOT;
    let open = usize::from(negated) + 1;
    let is_nested = *token(parser, open) == Token::LParen && *token(parser, open + 1) == Token::LParen;
    if keyword(parser, open - 1) != Keyword::IN || !is_nested || hold_query(parser, open) {
        return None;
    }
    let close = close_of(parser, open + 1)?;
    // If the inner parentheses enclose everything, they may enclose a query.
    if *token(parser, close + 1) == Token::RParen {
        return None;
    }
    (0..=open).for_each(|_| parser.advance_token());
    let list = parser.parse_comma_separated(Parser::parse_expr);
    let list = list.and_then(|list| parser.expect_token(&Token::RParen).map(|_| list));
    Some(list.map(|list| Expr::InList { expr: Box::new(expr.clone()), list, negated }))
}

/// Does a query begin at token `n`? `values` without a row after it is a name.
fn begins_query(parser: &Parser<'_>, n: usize) -> bool {
    match keyword(parser, n) {
        Keyword::SELECT | Keyword::WITH => true,
        Keyword::VALUES => *token(parser, n + 1) == Token::LParen,
        _ => false,
    }
}

/// Does a query in parentheses continue at token `n`?
fn continues_query(parser: &Parser<'_>, n: usize) -> bool {
    use Keyword::{EXCEPT, FETCH, FOR, INTERSECT, LIMIT, OFFSET, ORDER, UNION};
    matches!(keyword(parser, n), UNION | INTERSECT | EXCEPT | ORDER | LIMIT | OFFSET | FETCH | FOR)
}

/// Returns the position of the parenthesis that closes the one at token `n`.
fn close_of(parser: &Parser<'_>, n: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (n..).take_while(|at| *token(parser, *at) != Token::EOF).find(|at| {
        match token(parser, *at) {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}
