//! Named windows: `OVER w`, `OVER (w ORDER BY x)` and `WINDOW v AS (w)` as windows that say all themselves.
//!
//! A window takes the partitions of the one that it names, and its order if it has none of its own; `OVER w` without
//! parentheses takes its frame too.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use sql::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, OrderByExpr, OrderByKind, Query, Select, SetExpr, VisitMut,
    VisitorMut, WindowSpec, WindowType,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Windows of different partitions or orders in one SELECT. Each is an operator over all others, and DataFusion names all
/// columns below it once for each column above it, without asking whether the statement is stopped: the time grows with the
/// third power of their number (in a build without optimisation 250 of them were deaf for six seconds, 400 for half a
/// minute). Chains of other operators end at this number, too.
const MOST_WINDOWS: usize = 250;

/// Resolves the windows of a query's SELECTs, in their lists and its ORDER BY.
///
/// # Errors
/// 42704 for a window that is not defined, 42P20 for one defined twice or changed where it may not be, 54001 for too many.
pub(super) fn resolve(query: &mut Query) -> QueryResult<()> {
    let Query { body, order_by, .. } = query;
    let by = match order_by.as_mut().map(|order| &mut order.kind) {
        Some(OrderByKind::Expressions(by)) => by.as_mut_slice(),
        _ => &mut [],
    };
    if let SetExpr::Select(select) = body.as_mut() {
        return resolve_select(select, by);
    }
    let mut rest = vec![body.as_mut()];
    while let Some(body) = rest.pop() {
        match body {
            SetExpr::SetOperation { left, right, .. } => rest.extend([left.as_mut(), right.as_mut()]),
            SetExpr::Select(select) => resolve_select(select, &mut [])?,
            _ => {}
        }
    }
    Ok(())
}

fn resolve_select(select: &mut Select, by: &mut [OrderByExpr]) -> QueryResult<()> {
    let mut resolver = Resolver { known: definitions(select)?, depth: 0, seen: HashSet::new() };
    let mut found = by.iter_mut().try_for_each(|by| by.expr.visit(&mut resolver));
    if found.is_continue() {
        found = select.projection.iter_mut().try_for_each(|item| item.visit(&mut resolver));
    }
    match found {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

type Known = Vec<(String, WindowSpec)>;

/// The windows of WINDOW, each complete. One may build on those before it.
fn definitions(select: &mut Select) -> QueryResult<Known> {
    let mut known = Known::new();
    for NamedWindowDefinition(name, window) in std::mem::take(&mut select.named_window) {
        let name = folded(&name);
        if known.iter().any(|(other, _)| *other == name) {
            return Err(Refusal::WindowDefinition.because(format!("window \"{name}\" is already defined")));
        }
        let spec = match window {
            NamedWindowExpr::NamedWindow(other) => find(&known, &other)?.clone(),
            NamedWindowExpr::WindowSpec(spec) => complete(&known, spec)?,
        };
        known.push((name, spec));
    }
    Ok(known)
}

fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { types::ident::fold(&name.value) }
}

fn find<'a>(known: &'a Known, name: &Ident) -> QueryResult<&'a WindowSpec> {
    let name = folded(name);
    let found = known.iter().find(|(other, _)| *other == name).map(|(_, spec)| spec);
    found.ok_or_else(|| Refusal::NoSuchWindow.because(format!("window \"{name}\" does not exist")))
}

/// A window in parentheses with what it takes over.
fn complete(known: &Known, mut spec: WindowSpec) -> QueryResult<WindowSpec> {
    let Some(name) = spec.window_name.take() else { return Ok(spec) };
    let base = find(known, &name)?;
    let refused = |what: String| Err(Refusal::WindowDefinition.because(what));
    if !spec.partition_by.is_empty() {
        return refused(format!("cannot override PARTITION BY clause of window \"{}\"", folded(&name)));
    }
    if !spec.order_by.is_empty() && !base.order_by.is_empty() {
        return refused(format!("cannot override ORDER BY clause of window \"{}\"", folded(&name)));
    }
    if base.window_frame.is_some() {
        return refused(format!("cannot copy window \"{}\" because it has a frame clause", folded(&name)));
    }
    spec.partition_by.clone_from(&base.partition_by);
    if spec.order_by.is_empty() {
        spec.order_by.clone_from(&base.order_by);
    }
    Ok(spec)
}

struct Resolver {
    known: Known,
    /// How many subqueries deep: they have windows of their own.
    depth: usize,
    /// Partitions and orders so far.
    seen: HashSet<(Vec<Expr>, Vec<OrderByExpr>)>,
}

impl Resolver {
    fn count(&mut self, spec: &WindowSpec) -> QueryResult<()> {
        self.seen.insert((spec.partition_by.clone(), spec.order_by.clone()));
        if self.seen.len() > MOST_WINDOWS {
            let message = format!("statement is too complex: more than {MOST_WINDOWS} different windows in one SELECT");
            return Err(Refusal::Complexity.because(message));
        }
        Ok(())
    }
}

impl VisitorMut for Resolver {
    type Break = QueryError;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<QueryError> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<QueryError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<QueryError> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        let resolved = match function.over.take() {
            None => return ControlFlow::Continue(()),
            Some(WindowType::NamedWindow(name)) => find(&self.known, &name).cloned(),
            Some(WindowType::WindowSpec(spec)) => complete(&self.known, spec),
        };
        match resolved.and_then(|spec| self.count(&spec).map(|()| spec)) {
            Ok(spec) => function.over = Some(WindowType::WindowSpec(spec)),
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }
}
