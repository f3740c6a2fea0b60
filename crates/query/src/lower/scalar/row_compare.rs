//! Row values: `(a, b) > (1, 2)` and `(a, b) IN ((1, 2), ...)` as comparisons of their fields.
//!
//! The derivation of key ranges turns `a > 1 OR a = 1 AND b > 2` into one range again.

use crate::error::{QueryError, QueryResult};
use crate::lower::budget::copy;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

/// Compares two rows field by field; `compare` builds one comparison.
///
/// # Errors
/// [`QueryError::Invalid`] for rows of different lengths, [`QueryError::Unsupported`] for other operators; errors of
/// `compare`.
pub(in crate::lower) fn compare_rows(
    left: &[Expr],
    op: Operator,
    right: &[Expr],
    compare: &dyn Fn(Expr, Operator, Expr) -> QueryResult<Expr>,
) -> QueryResult<Expr> {
    if left.len() != right.len() {
        return Err(QueryError::Invalid { message: "unequal number of entries in row expressions".to_owned() });
    }
    let pair = |(a, b): (&Expr, &Expr), op| compare(copy(a)?, op, copy(b)?);
    let pairs = || left.iter().zip(right);
    match op {
        Operator::Eq | Operator::IsNotDistinctFrom => {
            join(Operator::And, pairs().map(|p| pair(p, op)).collect::<QueryResult<_>>()?)
        }
        Operator::NotEq | Operator::IsDistinctFrom => {
            join(Operator::Or, pairs().map(|p| pair(p, op)).collect::<QueryResult<_>>()?)
        }
        Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => {
            let strict = if matches!(op, Operator::Lt | Operator::LtEq) { Operator::Lt } else { Operator::Gt };
            let mut terms = Vec::with_capacity(left.len());
            for (number, last) in pairs().enumerate() {
                let mut all: Vec<Expr> =
                    pairs().take(number).map(|p| pair(p, Operator::Eq)).collect::<QueryResult<_>>()?;
                all.push(pair(last, if number + 1 == left.len() { op } else { strict })?);
                terms.push(join(Operator::And, all)?);
            }
            join(Operator::Or, terms)
        }
        other => Err(QueryError::Unsupported { feature: format!("operator {other} of row values") }),
    }
}

/// Joins expressions by an operator, as a balanced tree: a list of thousands must not become as deep.
///
/// # Errors
/// [`QueryError::Invalid`] for an empty list.
pub(in crate::lower) fn join(op: Operator, mut exprs: Vec<Expr>) -> QueryResult<Expr> {
    while exprs.len() > 1 {
        let mut next = Vec::with_capacity(exprs.len().div_ceil(2));
        let mut rest = exprs.into_iter();
        while let Some(left) = rest.next() {
            next.push(match rest.next() {
                Some(right) => Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))),
                None => left,
            });
        }
        exprs = next;
    }
    exprs.pop().ok_or_else(|| QueryError::Invalid { message: "an empty row".to_owned() })
}
