//! How many parameters a statement has.

use crate::Statement;
use crate::statement::walk;
use sqlparser::ast::{Value, ValueWithSpan, Visitor};
use std::ops::ControlFlow;

/// The largest `n` of its parameters `$n`, 0 without parameters. Those of a PREPAREd statement are not its own.
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
            let number = name.strip_prefix('$').and_then(|digits| digits.parse().ok()).unwrap_or(0);
            self.0 = self.0.max(number);
        }
        ControlFlow::Continue(())
    }
}
