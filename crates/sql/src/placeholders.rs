//! The number of a statement's parameters, and the replacement of parameters by values.

use crate::Statement;
use crate::statement::walk;
use sqlparser::ast::{Expr, Value, ValueWithSpan, Visitor, VisitorMut};
use std::ops::ControlFlow;

/// Returns the largest `n` of the parameters `$n`, 0 without parameters. Those of a PREPAREd statement do not count.
#[must_use]
pub fn placeholders(statement: &Statement) -> usize {
    if matches!(statement, Statement::Prepare { .. }) {
        return 0;
    }
    let mut largest = Largest(0);
    let _ = walk::shared::statement(statement, &mut largest);
    largest.0
}

struct Largest(usize);

impl Visitor for Largest {
    type Break = ();

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        if let Value::Placeholder(name) = &value.value {
            self.0 = self.0.max(number_of(name));
        }
        ControlFlow::Continue(())
    }
}

/// Returns 0 for a name that is not a parameter.
fn number_of(name: &str) -> usize {
    name.strip_prefix('$').and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Returns the statement with an expression in place of each parameter; parameters without a value stay.
#[must_use]
pub fn with_values(statement: &Statement, values: &[Expr]) -> Statement {
    let mut filled = statement.clone();
    let _ = walk::mutable::statement(&mut filled, &mut Fill(values));
    filled
}

struct Fill<'v>(&'v [Expr]);

impl VisitorMut for Fill<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Value(value) = expr
            && let Value::Placeholder(name) = &value.value
            && let Some(given) = number_of(name).checked_sub(1).and_then(|at| self.0.get(at))
        {
            *expr = given.clone();
        }
        ControlFlow::Continue(())
    }
}
