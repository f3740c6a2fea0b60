//! Converts filters of a scan to clauses, which decide whether a partial index has all rows that the scan needs.

use crate::convert::expr_to_condition::compare_op;
use crate::convert::scalar::scalar_to_datum;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use index::{Clause, Says, Test};
use types::{CompareOp, Datum};

/// Converts a filter to a clause. The filter's columns have no table qualifier.
pub(crate) fn clause(filter: &Expr) -> Clause<Expr> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Clause::And(vec![clause(left), clause(right)])
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => Clause::Or(vec![clause(left), clause(right)]),
        Expr::BinaryExpr(binary) => opaque(filter, compared(binary)),
        Expr::Between(between) if !between.negated => {
            let bound = |op, bound: &Expr| {
                let says = constant(bound).map(|with| Says::Compare { of: between.expr.as_ref().clone(), op, with });
                opaque(filter, says)
            };
            Clause::And(vec![bound(CompareOp::Ge, &between.low), bound(CompareOp::Le, &between.high)])
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            match list.iter().map(constant).collect::<Option<Vec<Datum>>>() {
                Some(values) => Clause::Or(values.into_iter().map(|with| equal(expr, with)).collect()),
                None => opaque(filter, None),
            }
        }
        Expr::Column(_) => equal(filter, Datum::Bool(true)),
        Expr::Not(inner) if matches!(inner.as_ref(), Expr::Column(_)) => equal(inner, Datum::Bool(false)),
        Expr::IsNotNull(value) => {
            let mut strict = vec![value.as_ref().clone()];
            add_strict(value, &mut strict);
            Clause::Test(Test {
                itself: Some(filter.clone()),
                strict,
                says: Some(Says::NotNull(value.as_ref().clone())),
            })
        }
        _ => opaque(filter, None),
    }
}

fn opaque(filter: &Expr, says: Option<Says<Expr>>) -> Clause<Expr> {
    let mut strict = Vec::new();
    add_strict(filter, &mut strict);
    Clause::Test(Test { itself: Some(filter.clone()), strict, says })
}

/// The clause `value = constant`, however it is written.
fn equal(value: &Expr, with: Datum) -> Clause<Expr> {
    let (of, mut strict) = (value.clone(), vec![value.clone()]);
    add_strict(value, &mut strict);
    Clause::Test(Test { itself: None, strict, says: Some(Says::Compare { of, op: CompareOp::Eq, with }) })
}

fn compared(binary: &BinaryExpr) -> Option<Says<Expr>> {
    let op = compare_op(binary.op)?;
    let (value, op, with) = match (constant(&binary.left), constant(&binary.right)) {
        (None, Some(with)) => (&binary.left, op, with),
        (Some(with), None) => (&binary.right, op.swapped(), with),
        _ => return None,
    };
    Some(Says::Compare { of: value.as_ref().clone(), op, with })
}

fn constant(expr: &Expr) -> Option<Datum> {
    match expr {
        Expr::Literal(scalar, _) if !scalar.is_null() => scalar_to_datum(scalar).ok(),
        _ => None,
    }
}

/// Collects the operands whose NULL keeps a filter from being true.
fn add_strict(expr: &Expr, strict: &mut Vec<Expr>) {
    let mut add = |operand: &Expr| {
        if !matches!(operand, Expr::Literal(..)) {
            strict.push(operand.clone());
            add_strict(operand, strict);
        }
    };
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let lax = [Operator::And, Operator::Or, Operator::IsDistinctFrom, Operator::IsNotDistinctFrom];
            if !lax.contains(op) {
                add(left);
                add(right);
            }
        }
        Expr::Cast(cast) => add(&cast.expr),
        Expr::Negative(inner) => add(inner),
        Expr::Like(like) | Expr::SimilarTo(like) => add(&like.expr),
        Expr::InList(list) => add(&list.expr),
        Expr::Between(between) if !between.negated => add(&between.expr),
        _ => {}
    }
}
