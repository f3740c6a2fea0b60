//! What PostgreSQL refuses by the form of a query alone, and the planner would refuse in other words or not at all.

use super::{frames, output_names, refused_functions};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use sql::ast::{
    Distinct, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments, GroupByExpr, JoinConstraint, JoinOperator, LimitClause, NamedWindowExpr, OrderByKind, Query,
    Select, Statement, TableWithJoins, Value, Visit, Visitor,
};
use std::ops::ControlFlow;

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
            _ => ControlFlow::Continue(()),
        }
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
    let Expr::Value(value) = expr else { return ControlFlow::Continue(()) };
    let place = match &value.value {
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
            let (JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::Right(constraint)
            | JoinOperator::RightOuter(constraint)
            | JoinOperator::FullOuter(constraint)) = &join.join_operator
            else {
                continue;
            };
            if let JoinConstraint::On(condition) = constraint {
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

    fn check_call(&self, call: &Function) -> Verdict {
        let name = name_of(call);
        if let (false, Some(hint)) = (self.kinds.is_known(&name), refused_functions::hint_for_missing_function(&name)) {
            let feature = format!("function {name}()");
            return ControlFlow::Break(QueryError::NotBuilt { feature, hint });
        }
        let (aggregate, window) = (self.kinds.is_aggregate(&name), self.kinds.is_window(&name));
        if call.over.is_some() {
            return self.check_window(call, &name, aggregate || window);
        }
        if aggregate {
            return check_aggregate(call, &name);
        }
        if window && call.within_group.is_empty() {
            return refuse(Refusal::Window, format!("window function {name} requires an OVER clause"));
        }
        if self.kinds.is_scalar(&name) {
            return check_scalar(call, &name);
        }
        ControlFlow::Continue(())
    }

    fn check_window(&self, call: &Function, name: &str, known: bool) -> Verdict {
        if !known && self.kinds.is_scalar(name) {
            let message = format!("OVER specified, but {name} is not a window function nor an aggregate function");
            return refuse(Refusal::Window, message);
        }
        if let FunctionArguments::List(list) = &call.args
            && list.duplicate_treatment == Some(DuplicateTreatment::Distinct)
        {
            return refuse(Refusal::Set, "DISTINCT is not implemented for window functions");
        }
        let fewest = match name {
            "nth_value" => 2,
            "first_value" | "lag" | "last_value" | "lead" | "ntile" => 1,
            _ => 0,
        };
        if known && list_length(call) < fewest {
            return ControlFlow::Break(QueryError::NoSuchFunction { signature: format!("{name}()") });
        }
        if let Some(sql::ast::WindowType::WindowSpec(spec)) = &call.over {
            if let Err(error) = frames::check(spec) {
                return ControlFlow::Break(error);
            }
            let by = spec.order_by.iter().map(|by| &by.expr);
            if spec.partition_by.iter().chain(by).any(|expr| find(expr, &mut is_windowed)) {
                let message = "window functions are not allowed in window definitions";
                return refuse(Refusal::WindowDefinition, message);
            }
        }
        if arguments(call).any(|arg| find(arg, &mut is_windowed)) {
            return refuse(Refusal::WindowDefinition, "window function calls cannot be nested");
        }
        ControlFlow::Continue(())
    }
}

fn list_length(call: &Function) -> usize {
    match &call.args {
        FunctionArguments::List(list) => list.args.len(),
        _ => 0,
    }
}

/// No set of values stands here.
fn one_value(expr: &Expr, place: &str) -> Verdict {
    match find(expr, &mut returns_set) {
        true => refuse(Refusal::Set, format!("set-returning functions are not allowed in {place}")),
        false => ControlFlow::Continue(()),
    }
}

/// Is it a call that gives a set of values?
pub(super) fn returns_set(expr: &Expr) -> bool {
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

fn check_aggregate(call: &Function, name: &str) -> Verdict {
    if arguments(call).any(|arg| find(arg, &mut returns_set)) {
        return refuse(Refusal::Set, "aggregate function calls cannot contain set-returning function calls");
    }
    if arguments(call).any(|arg| find(arg, &mut is_windowed)) {
        return ungrouped("aggregate function calls cannot contain window function calls".to_owned());
    }
    let FunctionArguments::List(list) = &call.args else { return ControlFlow::Continue(()) };
    let star = matches!(list.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]);
    let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    match (name, star, list.args.is_empty()) {
        ("count", true, _) if distinct => {
            ControlFlow::Break(QueryError::Invalid { message: "syntax error at or near \"*\"".to_owned() })
        }
        ("count", _, true) => {
            let message = "count(*) must be used to call a parameterless aggregate function";
            refuse(Refusal::Window, message)
        }
        ("count", ..) => ControlFlow::Continue(()),
        (_, true, _) | (_, _, true) if call.within_group.is_empty() => {
            ControlFlow::Break(QueryError::NoSuchFunction { signature: format!("{name}()") })
        }
        _ => ControlFlow::Continue(()),
    }
}

fn check_scalar(call: &Function, name: &str) -> Verdict {
    let FunctionArguments::List(list) = &call.args else { return ControlFlow::Continue(()) };
    let ordered = list.clauses.iter().any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_)));
    let what = match (list.duplicate_treatment, ordered, call.filter.is_some(), call.within_group.is_empty()) {
        (Some(DuplicateTreatment::Distinct), ..) => "DISTINCT",
        (_, true, ..) => "ORDER BY",
        (_, _, true, _) => "FILTER",
        (_, _, _, false) => "WITHIN GROUP",
        _ if matches!(list.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) => {
            return ControlFlow::Break(QueryError::NoSuchFunction { signature: format!("{name}()") });
        }
        _ => return ControlFlow::Continue(()),
    };
    refuse(Refusal::Window, format!("{what} specified, but {name} is not an aggregate function"))
}

fn is_windowed(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(call) if call.over.is_some())
}

fn name_of(call: &Function) -> String {
    match call.name.0.last().and_then(|part| part.as_ident()) {
        Some(name) => super::names::ident_name(name),
        None => call.name.to_string(),
    }
}

fn arguments(call: &Function) -> impl Iterator<Item = &Expr> {
    let args = match &call.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        _ => &[],
    };
    args.iter().filter_map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}

/// Is there such an expression in `expr`, outside of subqueries?
fn find(expr: &Expr, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
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
