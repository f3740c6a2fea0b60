//! Forms that the planner does not know, as forms that it knows.
//!
//! - `mod(a, b)` is `a % b`; `variance` is `var_samp`; sets such as `string_to_table` are `unnest` of arrays; the rest
//!   is in `rewrite_expr`.
//! - `date(x)` is a cast, see `cast_calls`.
//! - `GROUP BY ()` is `HAVING count(*) >= 0`.
//! - `EXISTS (…)` in a SELECT list is `(SELECT count(*) …) > 0`, if it selects plain values.
//! - `ARRAY[a, 1]` is `make_array(a, 1)`: in the former the planner does not see columns of outer queries.
//! - `t.tableoid` is `'t'::regclass`, see `table_oid`.
//! - Set-returning functions in FROM whose arguments are columns are LATERAL subqueries, see `set_returning`.

use super::own_level::each_expr;
use super::{
    cast_calls, exists_counts, limits, merged_columns, one_group, places_in_groups, query_values, rewrite_expr,
    rewrite_phoenix, set_functions, set_returning, table_oid, windows,
};
use crate::error::{QueryError, QueryResult};
use crate::functions::JSON_ROW;
use sql::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentClause, FunctionArgumentList, FunctionArguments, Ident, Interval, ObjectName, OrderByExpr,
    OrderByKind, OrderByOptions, Query, Select, SelectItem, Statement, TableFactor, Value, VisitMut, VisitorMut,
    WindowFrame, WindowFrameBound, WindowType,
};
use std::ops::ControlFlow;

/// Functions that exist as rewritten calls only.
const FUNCTIONS: [&str; 13] = [
    "every",
    "generate_subscripts",
    "grouping",
    "mod",
    "mode",
    "percentile_cont",
    "percentile_disc",
    "regexp_matches",
    "regexp_split_to_table",
    "string_to_table",
    "timezone",
    "unnest",
    "variance",
];

/// Those of them that are aggregates.
const AGGREGATES: [&str; 5] = ["every", "mode", "percentile_cont", "percentile_disc", "variance"];

/// All names that exist as rewritten calls only.
pub(super) fn functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter().chain(rewrite_phoenix::FUNCTIONS).chain(cast_calls::names())
}

/// Is it one of them, and an aggregate?
pub(super) fn is_aggregate(name: &str) -> bool {
    AGGREGATES.contains(&name) || rewrite_phoenix::AGGREGATES.contains(&name)
}

/// Rewrites a whole statement.
///
/// # Errors
/// What is wrong with its windows and merged columns.
pub(super) fn rewrite(statement: &mut Statement) -> QueryResult<()> {
    match statement.visit(&mut Rewriter) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Rewriter;

impl VisitorMut for Rewriter {
    type Break = QueryError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<QueryError> {
        order_once(query);
        let rewritten = windows::resolve(query).and_then(|()| merged_columns::rewrite(query));
        match rewritten.and_then(|()| limits::settle(query)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<QueryError> {
        table_oid::rewrite(select);
        one_group::as_one_group(select);
        if let Some(condition) = &mut select.selection {
            rows_as_joins(condition);
        }
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                // EXISTS in the WHERE of a query inside it is left to the planner.
                each_expr(expr, exists_counts::exists_to_count);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<QueryError> {
        set_functions::rewrite(factor);
        set_returning::rewrite(factor);
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<QueryError> {
        set_functions::narrow_series(factor);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<QueryError> {
        let taken = std::mem::replace(expr, Expr::value(Value::Null));
        *expr = match taken {
            Expr::Function(function) => rewrite_function(function),
            Expr::Array(array) if array.elem.iter().any(set_returning::has_column) => call("make_array", array.elem),
            other => rewrite_expr::rewrite(other),
        };
        ControlFlow::Continue(())
    }
}

/// What rows have been ordered by orders nothing a second time, whatever its direction.
fn order_once(query: &mut Query) {
    let Some(OrderByKind::Expressions(by)) = query.order_by.as_mut().map(|order| &mut order.kind) else { return };
    let mut seen: Vec<Expr> = Vec::with_capacity(by.len());
    by.retain(|by| {
        let first = !seen.contains(&by.expr);
        if first {
            seen.push(by.expr.clone());
        }
        first
    });
}

/// `(a, b) IN (query)` as a conjunct of WHERE.
fn rows_as_joins(condition: &mut Expr) {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            rows_as_joins(left);
            rows_as_joins(right);
        }
        Expr::Nested(inner) => rows_as_joins(inner),
        Expr::InSubquery { expr, subquery, negated: false } => {
            let parts = rewrite_expr::row_parts(expr);
            if let Some(found) = parts.and_then(|parts| query_values::row_exists(&parts, subquery.clone())) {
                *condition = found;
            }
        }
        _ => {}
    }
}

pub(super) fn call(name: &str, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Bounds of a frame are read by the planner as they were written: intervals must be intervals again.
fn restore_frame(frame: Option<&mut WindowFrame>) {
    let Some(frame) = frame else { return };
    for bound in [Some(&mut frame.start_bound), frame.end_bound.as_mut()].into_iter().flatten() {
        if let WindowFrameBound::Preceding(Some(offset)) | WindowFrameBound::Following(Some(offset)) = bound
            && let Expr::Cast { expr, data_type: DataType::Interval { .. }, .. } = offset.as_ref()
        {
            **offset = Expr::Interval(Interval {
                value: expr.clone(),
                leading_field: None,
                leading_precision: None,
                last_field: None,
                fractional_seconds_precision: None,
            });
        }
    }
}

/// Is its first argument a literal, or none?
fn is_of_constant(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else { return true };
    match list.args.first() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) => is_constant(expr),
        _ => true,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Cast { expr, .. } | Expr::Nested(expr) => is_constant(expr),
        other => matches!(other, Expr::Value(value) if !matches!(value.value, Value::Placeholder(_))),
    }
}

fn rewrite_function(mut function: Function) -> Expr {
    if let Some(WindowType::WindowSpec(window)) = &mut function.over {
        restore_frame(window.window_frame.as_mut());
    }
    if let Some(rounded) = rewrite_expr::in_digits(&function) {
        return rounded;
    }
    // The forms below have no place for a window: such a call is refused as it stands.
    if !function.within_group.is_empty() && function.over.is_some() {
        return Expr::Function(function);
    }
    let name = function.name.to_string().to_lowercase();
    if let Some(rewritten) = rewrite_phoenix::rewrite(&name, &function) {
        return rewritten;
    }
    if let Some(cast) = cast_calls::rewrite(&name, &function) {
        return cast;
    }
    match name.as_str() {
        "variance" => function.name = ObjectName::from(vec![Ident::new("var_samp")]),
        // Sets of values are arrays taken apart.
        "regexp_split_to_table" => return unnested("regexp_split_to_array", function),
        "generate_series" => return unnested("generate_series", function),
        "generate_subscripts" => {
            if let Some(series) = subscripts(&function) {
                return call("unnest", vec![series]);
            }
        }
        "unnest" => {
            // A set that is one already.
            if let FunctionArguments::List(list) = &function.args
                && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(inner @ Expr::Function(set)))] = list.args.as_slice()
                && set.name.to_string() == "unnest"
            {
                return inner.clone();
            }
        }
        "array" => {
            if let FunctionArguments::Subquery(query) = &function.args
                && let Some(array) = query_values::array_of(query.clone())
            {
                return array;
            }
        }
        "percentile_disc" if !function.within_group.is_empty() => return at_share("value at share", function),
        "percentile_cont" if !function.within_group.is_empty() => return at_share("value between shares", function),
        "mode" if !function.within_group.is_empty() => return mode(function),
        "array_agg" | "string_agg" => sort_distinct(&mut function),
        // The value of a constant's setting is a parameter of the plan: `functions/session_constant.rs`.
        "current_setting" if !is_of_constant(&function) => {
            function.name = ObjectName::from(vec![Ident::new("setting_of")]);
        }
        "make_interval" => name_parts(&mut function),
        "information_schema._pg_expandarray" => return unnested("array with places", function),
        "string_to_table" => return unnested("string_to_array", function),
        "regexp_matches" => {
            let texts = DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(DataType::Text), None));
            return rewrite_expr::cast(unnested("regexp_match_texts", function), texts);
        }
        "rank" | "dense_rank" | "percent_rank" | "cume_dist" if !function.within_group.is_empty() => {
            if let Some(counted) = places_in_groups::counted(&name, &function) {
                return counted;
            }
        }
        "age" => {
            if let FunctionArguments::List(list) = &mut function.args
                && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(since))] = list.args.as_slice()
            {
                return call("age", vec![call("current_date", Vec::new()), since.clone()]);
            }
        }
        "json_build_array" | "json_build_object" | "to_json" => rows_as_json(&mut function),
        "row" => function.name = ObjectName::from(vec![Ident::new(rewrite_expr::ROW)]),
        "every" => function.name = ObjectName::from(vec![Ident::new("bool_and")]),
        "mod" => {
            if let FunctionArguments::List(list) = &function.args
                && let [
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(left)),
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(right)),
                ] = list.args.as_slice()
            {
                let nested = |expr: &Expr| Box::new(Expr::Nested(Box::new(expr.clone())));
                let (left, right) = (nested(left), nested(right));
                return Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Modulo, right }));
            }
        }
        _ => {}
    }
    Expr::Function(function)
}

/// Row constructors among the arguments, and in each other, as JSON.
fn rows_as_json(function: &mut Function) {
    let FunctionArguments::List(list) = &mut function.args else { return };
    for arg in &mut list.args {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg {
            row_as_json(expr);
        }
    }
}

fn row_as_json(expr: &mut Expr) {
    if let Expr::Nested(inner) = expr {
        return row_as_json(inner);
    }
    if let Some(mut parts) = rewrite_expr::row_parts(expr) {
        parts.iter_mut().for_each(row_as_json);
        *expr = call(JSON_ROW, parts);
    }
}

/// DISTINCT sorts in PostgreSQL, and an array or a list shows it.
pub(super) fn sort_distinct(function: &mut Function) {
    let FunctionArguments::List(list) = &mut function.args else { return };
    let ordered = list.clauses.iter().any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_)));
    let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    if let (true, false, [FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)), ..]) =
        (distinct, ordered, list.args.as_slice())
    {
        let options = OrderByOptions { asc: None, nulls_first: None };
        let by = OrderByExpr { expr: arg.clone(), options, with_fill: None };
        list.clauses.push(FunctionArgumentClause::OrderBy(vec![by]));
    }
}

/// A call's own FILTER and one more condition.
pub(super) fn both(own: Option<Box<Expr>>, more: Expr) -> Expr {
    match own {
        Some(own) => Expr::BinaryOp {
            left: Box::new(Expr::Nested(own)),
            op: BinaryOperator::And,
            right: Box::new(Expr::Nested(Box::new(more))),
        },
        None => more,
    }
}

/// All values that are not NULL in the order of WITHIN GROUP, as an array.
fn sorted_values(function: &Function) -> Option<(Expr, Expr)> {
    let [by] = function.within_group.as_slice() else { return None };
    let mut values = call("array_agg", vec![by.expr.clone()]);
    if let Expr::Function(Function { args: FunctionArguments::List(list), filter, .. }) = &mut values {
        list.clauses.push(FunctionArgumentClause::OrderBy(vec![by.clone()]));
        let known = Expr::IsNotNull(Box::new(by.expr.clone()));
        *filter = Some(Box::new(both(function.filter.clone(), known)));
    }
    Some((values, by.expr.clone()))
}

/// The value at a share of all, as the function `name` finds it among them.
fn at_share(name: &str, function: Function) -> Expr {
    let share = match &function.args {
        FunctionArguments::List(list) => match list.args.as_slice() {
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(share))] => Some(share.clone()),
            _ => None,
        },
        _ => None,
    };
    match (share, sorted_values(&function)) {
        (Some(share), Some((values, _))) => call(name, vec![values, share]),
        _ => Expr::Function(function),
    }
}

/// The value that comes most often, the first of several.
fn mode(function: Function) -> Expr {
    match sorted_values(&function) {
        Some((values, _)) => call("most frequent", vec![values]),
        None => Expr::Function(function),
    }
}

/// `make_interval(days => 10)` with all its arguments in order.
fn name_parts(function: &mut Function) {
    const PARTS: [&str; 7] = ["years", "months", "weeks", "days", "hours", "mins", "secs"];
    let FunctionArguments::List(list) = &mut function.args else { return };
    if !list.args.iter().any(|arg| matches!(arg, FunctionArg::Named { .. })) {
        return;
    }
    let zero = || FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::value(Value::Number("0".to_owned(), false))));
    let mut all: Vec<FunctionArg> = PARTS.iter().map(|_| zero()).collect();
    for (place, arg) in list.args.iter().enumerate() {
        let (at, value) = match arg {
            FunctionArg::Named { name, arg, .. } => {
                (PARTS.iter().position(|part| name.value.eq_ignore_ascii_case(part)), arg.clone())
            }
            FunctionArg::Unnamed(arg) => (Some(place), arg.clone()),
            FunctionArg::ExprNamed { .. } => return,
        };
        match at.and_then(|at| all.get_mut(at)) {
            Some(slot) => *slot = FunctionArg::Unnamed(value),
            None => return,
        }
    }
    list.args = all;
}

/// The subscripts of an array in one dimension, as an array: `generate_subscripts(array, dimension [, reverse])`.
fn subscripts(function: &Function) -> Option<Expr> {
    let FunctionArguments::List(list) = &function.args else { return None };
    let arguments = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    subscripts_of(&arguments.collect::<Option<Vec<_>>>()?)
}

/// As [`subscripts`]: a series from the first to the last, or the other way round.
pub(super) fn subscripts_of(arguments: &[Expr]) -> Option<Expr> {
    let (array, dimension, reverse) = match arguments {
        [array, dimension] => (array, dimension, false),
        [array, dimension, Expr::Value(reverse)] => match reverse.value {
            Value::Boolean(reverse) => (array, dimension, reverse),
            _ => return None,
        },
        _ => return None,
    };
    let end = |name: &str| call(name, vec![array.clone(), dimension.clone()]);
    let (lower, upper) = (end("array_lower"), end("array_upper"));
    let step = |text: &str| sql::parse_expr(text).ok();
    Some(match reverse {
        false => call("generate_series", vec![lower, upper]),
        true => call("generate_series", vec![upper, lower, step("-1")?]),
    })
}

/// `unnest(name(arguments of the function))`.
fn unnested(name: &str, mut function: Function) -> Expr {
    function.name = ObjectName::from(vec![Ident::new(name)]);
    call("unnest", vec![Expr::Function(function)])
}
