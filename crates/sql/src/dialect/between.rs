//! `BETWEEN SYMMETRIC`, which sqlparser does not support: the bounds may come in either order.

use super::BennuDialect;
use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};

/// Parses what follows the left operand; `None` if another operator follows. `precedence` is that of BETWEEN.
pub(super) fn read(
    dialect: &BennuDialect,
    parser: &mut Parser<'_>,
    expr: &Expr,
    precedence: u8,
) -> Option<Result<Expr, ParserError>> {
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
        Some(Keyword::SYMMETRIC) => between.and_then(|between| {
            dialect.charge(&between)?;
            // The rewritten form is not a BETWEEN, so chaining is checked here.
            match parser.get_next_precedence()? == precedence {
                true => super::not_chained(parser),
                false => Ok(symmetric(between)),
            }
        }),
        _ => between,
    })
}

/// `x BETWEEN a AND b OR x BETWEEN b AND a`.
fn symmetric(between: Expr) -> Expr {
    let Expr::Between { expr, negated, low, high } = between else { return between };
    let flipped = Expr::Between { expr: expr.clone(), negated, low: high.clone(), high: low.clone() };
    let op = if negated { BinaryOperator::And } else { BinaryOperator::Or };
    let straight = Expr::Between { expr, negated, low, high };
    Expr::Nested(Box::new(Expr::BinaryOp { left: Box::new(straight), op, right: Box::new(flipped) }))
}
