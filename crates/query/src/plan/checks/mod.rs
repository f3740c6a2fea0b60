//! What PostgreSQL refuses by the form of a query alone, and the planner would refuse in other words or not at all.

mod calls;
mod find;

pub(super) use find::returns_set;

use super::joins::constraint_of;
use super::{frames, output_names, width};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use find::{arguments, find, is_windowed, name_of};
use sql::ast::{
    Distinct, Expr, GroupByExpr, JoinConstraint, LimitClause, NamedWindowExpr, OrderByKind, Query, Select, SelectItem,
    Statement, TableWithJoins, UnaryOperator, Value, Visit, Visitor,
};
use std::ops::ControlFlow;
use types::TypeError;
use types::array::MAX_DIMENSIONS;

/// What functions are, by name.
pub(super) trait FunctionKinds {
    fn is_aggregate(&self, name: &str) -> bool;
    fn is_window(&self, name: &str) -> bool;
    fn is_scalar(&self, name: &str) -> bool;
    /// Is it any of them?
    fn is_known(&self, name: &str) -> bool {
        self.is_aggregate(name) || self.is_window(name) || self.is_scalar(name)
    }
}

/// Looks a statement through.
///
/// # Errors
/// 42803, 42P20 and 42809 for functions where they may not stand, 42712 for names given twice, 42P10 and 42601 for
/// what ORDER BY, GROUP BY and LIMIT do not take.
pub(super) fn check(statement: &Statement, kinds: &dyn FunctionKinds) -> QueryResult<()> {
    match statement.visit(&mut Checker { kinds, depth: 0, typed_arrays: Vec::new() }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Looks at an expression of a writing statement's clause, where each row stands for itself.
///
/// # Errors
/// 42803, 42P20 and 0A000 for functions over several rows, or of several.
pub(super) fn check_clause(expr: &Expr, clause: &str, kinds: &dyn FunctionKinds) -> QueryResult<()> {
    let checker = Checker { kinds, depth: 0, typed_arrays: Vec::new() };
    let checked = checker.plain(expr, clause);
    match if checked.is_continue() { one_value(expr, clause) } else { checked } {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// What of a SELECT computes a row of many, or many of one: a row of it is then no row of its tables.
pub(super) fn many_rows_in(select: &Select, kinds: &dyn FunctionKinds) -> Option<&'static str> {
    let checker = Checker { kinds, depth: 0, typed_arrays: Vec::new() };
    let items = || {
        select.projection.iter().filter_map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        })
    };
    let any = |wanted: &mut dyn FnMut(&Expr) -> bool| items().any(|expr| find(expr, wanted));
    match () {
        () if any(&mut |expr| checker.aggregates(expr)) => Some("aggregate functions"),
        () if any(&mut is_windowed) => Some("window functions"),
        () if any(&mut returns_set) => Some("set-returning functions in the target list"),
        () => None,
    }
}

type Verdict = ControlFlow<QueryError>;

fn verdict(result: QueryResult<()>) -> Verdict {
    match result {
        Err(error) => ControlFlow::Break(error),
        Ok(()) => ControlFlow::Continue(()),
    }
}

struct Checker<'a> {
    kinds: &'a dyn FunctionKinds,
    /// How many queries deep.
    depth: usize,
    /// The places of arrays that a cast gives a type.
    typed_arrays: Vec<*const Expr>,
}

impl Visitor for Checker<'_> {
    type Break = QueryError;

    fn pre_visit_query(&mut self, query: &Query) -> Verdict {
        self.depth += 1;
        verdict(width::check_query(query))?;
        names_once(query)?;
        if let Some(OrderByKind::Expressions(by)) = query.order_by.as_ref().map(|order| &order.kind) {
            by.iter().try_for_each(|by| place_or_expression(&by.expr, "ORDER BY"))?;
            verdict(output_names::check_order(query, by))?;
        }
        if let Some(Expr::Value(rows)) = query.fetch.as_ref().and_then(|fetch| fetch.quantity.as_ref())
            && matches!(&rows.value, Value::Number(rows, _) if rows.starts_with('-'))
        {
            return refuse(Refusal::Limit, "LIMIT must not be negative");
        }
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                limit.iter().try_for_each(|limit| self.check_count(limit, "LIMIT"))?;
                offset.iter().try_for_each(|offset| self.check_count(&offset.value, "OFFSET"))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn post_visit_query(&mut self, _: &Query) -> Verdict {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> Verdict {
        self.check_select(select)
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Verdict {
        match expr {
            Expr::Function(function) => {
                if name_of(function) == "coalesce" {
                    arguments(function).try_for_each(|arg| one_value(arg, "COALESCE"))?;
                }
                self.check_call(function)
            }
            Expr::Case { .. } => one_value(expr, "CASE"),
            Expr::Cast { expr: inner, .. } => {
                self.typed_arrays.extend(arrays_of(inner));
                ControlFlow::Continue(())
            }
            Expr::Array(array) if array.elem.is_empty() && !self.typed_arrays.contains(&place_of(expr)) => {
                refuse(Refusal::IndeterminateType, "cannot determine type of empty array")
            }
            Expr::Array(_) if depth_of(expr) > MAX_DIMENSIONS => {
                ControlFlow::Break(TypeError::TooManyDimensions { found: MAX_DIMENSIONS + 1 }.into())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// How many dimensions an array has as it is written.
fn depth_of(expr: &Expr) -> usize {
    match expr {
        Expr::Nested(inner) => depth_of(inner),
        Expr::Array(array) => 1 + array.elem.iter().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

/// An array that is cast, and those inside it.
fn arrays_of(expr: &Expr) -> Vec<*const Expr> {
    match expr {
        Expr::Nested(inner) => arrays_of(inner),
        Expr::Array(array) => array.elem.iter().flat_map(arrays_of).chain([place_of(expr)]).collect(),
        _ => Vec::new(),
    }
}

/// Where an expression is: one is told from an equal one by that.
fn place_of(expr: &Expr) -> *const Expr {
    std::ptr::from_ref(expr)
}

fn refuse<T>(reason: Refusal, message: impl Into<String>) -> ControlFlow<QueryError, T> {
    ControlFlow::Break(reason.because(message))
}

fn ungrouped(message: String) -> Verdict {
    ControlFlow::Break(QueryError::Grouping { message })
}

/// `WITH w AS …, w AS …`.
fn names_once(query: &Query) -> Verdict {
    let tables = query.with.iter().flat_map(|with| &with.cte_tables);
    let mut seen: Vec<String> = Vec::new();
    for table in tables {
        let name = super::names::ident_name(&table.alias.name);
        if seen.contains(&name) {
            return refuse(Refusal::DuplicateName, format!("WITH query name \"{name}\" specified more than once"));
        }
        seen.push(name);
    }
    ControlFlow::Continue(())
}

/// A constant names a place in the list, so it is an integer.
fn place_or_expression(expr: &Expr, clause: &str) -> Verdict {
    let (value, sign) = match expr {
        Expr::Value(value) => (value, ""),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } if let Expr::Value(value) = expr.as_ref() => (value, "-"),
        _ => return ControlFlow::Continue(()),
    };
    let place = match &value.value {
        Value::Number(number, _) if sign == "-" && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            return refuse(Refusal::Position, format!("{clause} position -{number} is not in select list"));
        }
        Value::Number(number, _) => number.bytes().all(|byte| byte.is_ascii_digit()),
        Value::SingleQuotedString(_) | Value::EscapedStringLiteral(_) | Value::DollarQuotedString(_) => false,
        Value::Boolean(_) | Value::Null => false,
        _ => true,
    };
    if place {
        return ControlFlow::Continue(());
    }
    ControlFlow::Break(QueryError::Invalid { message: format!("non-integer constant in {clause}") })
}

/// A number in DISTINCT ON is a place of the list.
fn distinct_place(expr: &Expr, columns: usize) -> Verdict {
    let Expr::Value(value) = expr else { return ControlFlow::Continue(()) };
    let Value::Number(number, _) = &value.value else { return ControlFlow::Continue(()) };
    match number.parse::<usize>() {
        Ok(place) if (1..=columns).contains(&place) => ControlFlow::Continue(()),
        _ => refuse(Refusal::Position, format!("DISTINCT ON position {number} is not in select list")),
    }
}

impl Checker<'_> {
    fn check_select(&self, select: &Select) -> Verdict {
        if let Some(condition) = &select.selection {
            self.plain(condition, "WHERE")?;
            one_value(condition, "WHERE")?;
        }
        if let GroupByExpr::Expressions(groups, _) = &select.group_by {
            for group in groups {
                place_or_expression(group, "GROUP BY")?;
                self.plain(group, "GROUP BY")?;
            }
        }
        for clause in &select.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = &clause.1
                && let Err(error) = frames::check(spec)
            {
                return ControlFlow::Break(error);
            }
        }
        if let Some(Distinct::On(exprs)) = &select.distinct {
            exprs.iter().try_for_each(|expr| distinct_place(expr, select.projection.len()))?;
        }
        if let Some(condition) = &select.having {
            self.without_windows(condition, "HAVING")?;
            // Inside another query the name may be one of its columns.
            if self.depth == 1 {
                verdict(output_names::check_having(select, condition, &|expr| self.aggregates(expr)))?;
            }
        }
        select.from.iter().try_for_each(|table| self.check_joins(table))
    }

    fn check_joins(&self, table: &TableWithJoins) -> Verdict {
        for join in &table.joins {
            if let Some(JoinConstraint::On(condition)) = constraint_of(&join.join_operator) {
                self.plain(condition, "JOIN conditions")?;
            }
        }
        ControlFlow::Continue(())
    }

    /// LIMIT and OFFSET are the same for all rows. (Columns in a subquery's may be those outside.)
    fn check_count(&self, count: &Expr, clause: &str) -> Verdict {
        self.plain(count, clause)?;
        let variable = |expr: &Expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        match self.depth == 1 && find(count, &mut |expr| variable(expr)) {
            false => ControlFlow::Continue(()),
            true => refuse(Refusal::Position, format!("argument of {clause} must not contain variables")),
        }
    }

    /// Neither aggregates nor window functions stand here.
    fn plain(&self, expr: &Expr, clause: &str) -> Verdict {
        self.without_windows(expr, clause)?;
        if find(expr, &mut |expr| self.aggregates(expr)) {
            return ungrouped(format!("aggregate functions are not allowed in {clause}"));
        }
        ControlFlow::Continue(())
    }

    fn without_windows(&self, expr: &Expr, clause: &str) -> Verdict {
        if find(expr, &mut is_windowed) {
            return refuse(Refusal::WindowDefinition, format!("window functions are not allowed in {clause}"));
        }
        ControlFlow::Continue(())
    }

    fn aggregates(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Function(call) if call.over.is_none() && self.kinds.is_aggregate(&name_of(call)))
    }
}

/// No set of values stands here.
fn one_value(expr: &Expr, place: &str) -> Verdict {
    match find(expr, &mut returns_set) {
        true => refuse(Refusal::Set, format!("set-returning functions are not allowed in {place}")),
        false => ControlFlow::Continue(()),
    }
}
