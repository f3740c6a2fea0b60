//! The expressions of a query itself, and not those of the queries inside it: names may mean other things there.

use sql::ast::{Expr, Query, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// Hands each expression of `node` to `change`, inner ones first; subqueries are left as they are.
pub(super) fn each_expr(node: &mut impl VisitMut, change: impl FnMut(&mut Expr)) {
    let _ = node.visit(&mut OwnLevel { change, depth: 0 });
}

struct OwnLevel<F> {
    change: F,
    /// How many subqueries deep.
    depth: usize,
}

impl<F: FnMut(&mut Expr)> VisitorMut for OwnLevel<F> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth == 0 {
            (self.change)(expr);
        }
        ControlFlow::Continue(())
    }
}
