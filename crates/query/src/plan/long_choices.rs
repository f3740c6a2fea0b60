//! `a = 1 OR a = 2 OR …` in great numbers as `a IN (1, 2, …)`: the same in one expression instead of a deep tree.

use super::names::ident_name;
use super::rewrite::call;
use crate::functions::WITH_EACH;
use sql::ast::{BinaryOperator, Expr, Statement, Value, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// Fewer stay as they were written.
const MANY: usize = 50;

/// Shortens all such chains of a statement.
pub(super) fn shorten(statement: &mut Statement) {
    let _ = statement.visit(&mut Shortener);
}

struct Shortener;

impl VisitorMut for Shortener {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Some((column, values)) = choices(expr) {
            *expr = Expr::InList { expr: Box::new(call(WITH_EACH, vec![column])), list: values, negated: false };
        }
        ControlFlow::Continue(())
    }
}

/// The column and the constants that it is compared with, if that is all and it is much.
fn choices(expr: &Expr) -> Option<(Expr, Vec<Expr>)> {
    let mut rest = vec![expr];
    let mut column: Option<&Expr> = None;
    let mut values = Vec::new();
    while let Some(part) = rest.pop() {
        match part {
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => rest.extend([right.as_ref(), left.as_ref()]),
            Expr::Nested(inner) => rest.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } if is_constant(right) => {
                if !same_column(left, column) {
                    return None;
                }
                column = Some(left.as_ref());
                values.push(right.as_ref().clone());
            }
            _ => return None,
        }
    }
    (values.len() >= MANY).then_some((column?.clone(), values))
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if !matches!(value.value, Value::Null | Value::Placeholder(_)))
}

fn same_column(expr: &Expr, known: Option<&Expr>) -> bool {
    match (expr, known) {
        (Expr::Identifier(_) | Expr::CompoundIdentifier(_), None) => true,
        (Expr::Identifier(name), Some(Expr::Identifier(known))) => ident_name(name) == ident_name(known),
        (Expr::CompoundIdentifier(names), Some(Expr::CompoundIdentifier(known))) => {
            names.len() == known.len() && names.iter().zip(known).all(|(a, b)| ident_name(a) == ident_name(b))
        }
        _ => false,
    }
}
