//! Looking for calls of a kind in an expression, outside of its subqueries.

use super::super::names::ident_name;
use sql::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query, Visit, Visitor};
use std::ops::ControlFlow;

/// Is there such an expression in `expr`, outside of subqueries?
pub(super) fn find(expr: &Expr, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
    expr.visit(&mut Finder { wanted, depth: 0 }).is_break()
}

struct Finder<'a> {
    wanted: &'a mut dyn FnMut(&Expr) -> bool,
    depth: usize,
}

impl Visitor for Finder<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0 && (self.wanted)(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

pub(super) fn is_windowed(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(call) if call.over.is_some())
}

pub(super) fn name_of(call: &Function) -> String {
    match call.name.0.last().and_then(|part| part.as_ident()) {
        Some(name) => ident_name(name),
        None => call.name.to_string(),
    }
}

pub(super) fn arguments(call: &Function) -> impl Iterator<Item = &Expr> {
    let args = match &call.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        _ => &[],
    };
    args.iter().filter_map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}

/// Is it a call that gives a set of values?
pub(in super::super) fn returns_set(expr: &Expr) -> bool {
    const SETS: [&str; 6] = [
        "generate_series",
        "generate_subscripts",
        "regexp_matches",
        "regexp_split_to_table",
        "string_to_table",
        "unnest",
    ];
    matches!(expr, Expr::Function(call) if SETS.contains(&name_of(call).as_str()))
}
