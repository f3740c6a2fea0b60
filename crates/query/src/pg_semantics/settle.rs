//! One pass over a fresh plan: types of constants, comparisons that are no operators, functions of the session.

use super::absent::{settle_not_in, settle_scalar_subquery};
use super::adapt::Side;
use super::aggregates::{settle_aggregate, settle_function};
use super::arrays::{elements, settle_array};
use super::calls::{name_of_type, settle_call};
use super::casts::settle_cast;
use super::common_type::{settle_branches, settle_common};
use super::comparisons::{is_comparison, settle_comparison, settle_nullif};
use super::equality::{settle_distinct, settle_keys, settle_within};
use super::growth;
use super::interval_keys::{by_length, keyed_by_length};
use super::lists::{settle_between, settle_list};
use super::named_columns::keep_types;
use super::patterns::{settle_like, similar_to};
use super::recursive::settle_recursive;
use super::row_counts::{check_limit, whole_counts};
use super::rows::{parts_of, test_row};
use super::shared_aggregates::share;
use super::signless_zero::{compared, distinct_rows, signless};
use super::simple_case::compare_operand;
use super::small_integers::narrow_values;
use super::united_columns::unite_values;
use super::window_calls::settle_neighbour;
use super::window_frames::{count_peers, settle_range};
use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::{self, SqlFunction, as_summed, session_constant};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, WindowFunctionDefinition};
use std::ops::Range;
use types::DataType;

/// Gives the plan PostgreSQL's types. See the module's head.
///
/// # Errors
/// [`QueryError::NoSuchOperator`] and [`QueryError::Type`] as comparisons ask for.
pub(crate) fn settle(plan: LogicalPlan) -> QueryResult<LogicalPlan> {
    let settled = plan.transform_down_up_with_subqueries(
        |node| match node {
            LogicalPlan::RecursiveQuery(query) => {
                let settled = LogicalPlan::RecursiveQuery(settle_recursive(query)?);
                Ok(Transformed::new(settled, true, TreeNodeRecursion::Jump))
            }
            node => Ok(Transformed::no(node)),
        },
        |node| match node {
            LogicalPlan::RecursiveQuery(_) => Ok(Transformed::no(node)),
            node => settle_node(node),
        },
    );
    Ok(settled.data()?)
}

fn settle_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    growth::ask()?;
    check_limit(&node)?;
    if let LogicalPlan::Distinct(distinct) = &node {
        for field in distinct.input().schema().fields() {
            refuse_json(&Side::of_field(field), "equality")?;
        }
    }
    let node = match node {
        LogicalPlan::Values(values) => narrow_values(unite_values(values)?)?,
        node => node,
    };
    // LIMIT wants bigint constants, and the columns of VALUES are typed as a whole.
    let narrow = !matches!(node, LogicalPlan::Limit(_) | LogicalPlan::Values(_));
    let schema = merge_schema(&node.inputs());
    let names = NamePreserver::new(&node);
    let sorted = matches!(node, LogicalPlan::Sort(_));
    let grouped = matches!(node, LogicalPlan::Aggregate(_));
    let settled = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let settled = settle_tree(expr, &schema, narrow)?;
        let settled = settled.update_data(|expr| elements(expr, &schema));
        let settled = if grouped { settled.update_data(|expr| signless_group(expr, &schema)) } else { settled };
        let settled = settled.update_data(|expr| name.restore(expr));
        if sorted || grouped && !matches!(settled.data, Expr::AggregateFunction(_)) {
            refuse_json(&Side::of(&settled.data, &schema), if sorted { "ordering" } else { "equality" })?;
        }
        if sorted && Side::of(&settled.data, &schema) == Side::Known(DataType::Interval) {
            return Ok(Transformed::yes(functions::interval_span(settled.data)));
        }
        let settled = if sorted { settled.update_data(|expr| compared(expr, &schema)) } else { settled };
        Ok(settled)
    })?;
    // Types of the inputs may have changed too.
    let settled = settled.update_data(|node| whole_counts(node, &schema));
    settled.map_data(|node| {
        let node = share(distinct_rows(keep_types(node.recompute_schema()?)?)?)?;
        match keyed_by_length(node)? {
            LogicalPlan::Join(join) => Ok(LogicalPlan::Join(settle_keys(join)?)),
            node => Ok(node),
        }
    })
}

/// JSON has neither order nor equality.
fn refuse_json(side: &Side, operator: &str) -> QueryResult<()> {
    if *side != Side::Known(DataType::Json) {
        return Ok(());
    }
    Err(Refusal::Incomparable.because(format!("could not identify an {operator} operator for type json")))
}

/// What an aggregate groups by; its functions are seen to where they are settled.
fn signless_group(expr: Expr, schema: &DFSchema) -> Expr {
    if matches!(expr, Expr::AggregateFunction(_)) { expr } else { signless(expr, schema) }
}

fn settle_tree(expr: Expr, schema: &DFSchema, narrow: bool) -> Result<Transformed<Expr>> {
    expr.transform_down_up(|expr| settle_window(expr, schema), |expr| settle_expr(expr, schema, narrow))
}

/// Offsets and buckets are read by a window function as bigint. Sums are as wide as those of groups.
fn settle_window(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if !matches!(expr, Expr::WindowFunction(_)) {
        return Ok(Transformed::no(expr));
    }
    // Its arguments come first among its children.
    let counts = counting_arguments(&expr);
    let mut at = 0;
    let settled = expr.map_children(|child| {
        at += 1;
        settle_tree(child, schema, !counts.contains(&(at - 1)))
    })?;
    let mut window = settled.data;
    if let Expr::WindowFunction(call) = &mut window {
        settle_range(&mut call.params, schema)?;
        if matches!(call.fun.name(), "lag" | "lead" | "nth_value") {
            settle_neighbour(call.fun.name(), &mut call.params.args, schema)?;
        }
        let by = call.params.partition_by.iter_mut();
        for expr in by.chain(call.params.order_by.iter_mut().map(|by| &mut by.expr)) {
            *expr = by_length(compared(std::mem::take(expr), schema), schema);
        }
        count_peers(&mut call.params, schema);
        if let WindowFunctionDefinition::AggregateUDF(function) = &mut call.fun {
            settle_function(function, &mut call.params.args, call.params.distinct, schema)?;
        }
    }
    Ok(Transformed::new(window, true, TreeNodeRecursion::Jump))
}

/// The places of those arguments of a window function that count rows.
fn counting_arguments(window: &Expr) -> Range<usize> {
    match window {
        Expr::WindowFunction(call) => match (&call.fun, call.fun.name()) {
            (WindowFunctionDefinition::AggregateUDF(_), _) => 0..0,
            (_, "ntile") => 0..call.params.args.len().min(1),
            _ => 1..call.params.args.len().min(2),
        },
        _ => 0..0,
    }
}

fn settle_expr(expr: Expr, schema: &DFSchema, narrow: bool) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), metadata) if narrow => match i32::try_from(value) {
            Ok(small) => Ok(Transformed::yes(Expr::Literal(ScalarValue::Int32(Some(small)), metadata))),
            Err(_) => Ok(Transformed::no(Expr::Literal(ScalarValue::Int64(Some(value)), metadata))),
        },
        Expr::Literal(ScalarValue::UInt64(Some(value)), metadata) => {
            let wide = ScalarValue::Decimal128(Some(i128::from(value)), 20, 0);
            Ok(Transformed::yes(Expr::Literal(wide, metadata)))
        }
        Expr::ScalarFunction(call) => settle_function_call(call, schema),
        Expr::Cast(cast) => settle_cast(cast, schema),
        Expr::ScalarSubquery(subquery) => settle_scalar_subquery(subquery),
        Expr::Case(case) if case.expr.is_none() => {
            case.when_then_expr.iter().try_for_each(|(when, _)| must_be_boolean(when, "CASE/WHEN", schema))?;
            Ok(settle_branches(case, schema)?)
        }
        Expr::Case(case) => Ok(settle_branches(compare_operand(case, schema)?, schema)?),
        Expr::BinaryExpr(binary) if matches!(binary.op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom) => {
            Ok(Transformed::yes(settle_distinct(binary, schema)?))
        }
        Expr::BinaryExpr(binary) if is_comparison(binary.op) => Ok(settle_comparison(binary, schema)?),
        Expr::InSubquery(within) => settle_not_in(settle_within(within, schema)?, schema),
        Expr::Not(inner) => {
            must_be_boolean(&inner, "NOT", schema)?;
            Ok(Transformed::no(Expr::Not(inner)))
        }
        Expr::IsNull(ref inner) if let Some(parts) = parts_of(inner) => Ok(Transformed::yes(test_row(parts, true)?)),
        Expr::IsNotNull(ref inner) if let Some(parts) = parts_of(inner) => {
            Ok(Transformed::yes(test_row(parts, false)?))
        }
        Expr::SimilarTo(like) => Ok(Transformed::yes(similar_to(like, schema)?)),
        Expr::InList(list) => Ok(Transformed::yes(settle_list(list, schema)?)),
        Expr::Between(between) => Ok(Transformed::yes(settle_between(between, schema)?)),
        Expr::Like(like) => Ok(Transformed::yes(settle_like(like, schema)?)),
        Expr::AggregateFunction(call) => Ok(settle_aggregate(call, schema)?),
        other => Ok(Transformed::no(other)),
    }
}

fn settle_function_call(call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match call.func.name() {
        "nullif" => return settle_nullif(call, schema),
        "make_array" => return settle_array(call, schema),
        _ => {}
    }
    if functions::planners_own(call.func.name()).is_some() {
        return Ok(match settle_common(&call, schema)? {
            Some(settled) => Transformed::yes(settled),
            None => Transformed::no(Expr::ScalarFunction(call)),
        });
    }
    if call.func.inner().downcast_ref::<SqlFunction>().is_some() {
        return Ok(Transformed::yes(settle_call(call, schema)?));
    }
    if let Some(value) = as_summed(&call, schema) {
        return Ok(Transformed::yes(value));
    }
    match (name_of_type(&call, schema), session_constant(&call)?) {
        (Some(constant), _) | (None, Some(constant)) => Ok(Transformed::yes(constant)),
        (None, None) => Ok(Transformed::no(Expr::ScalarFunction(call))),
    }
}

/// Anything but a boolean is refused, `place` it stands in.
///
/// # Errors
/// 42804.
pub(super) fn must_be_boolean(expr: &Expr, place: &str, schema: &DFSchema) -> QueryResult<()> {
    match Side::of(expr, schema) {
        Side::Known(ty) if ty != DataType::Boolean => {
            let message = format!("argument of {place} must be type boolean, not type {}", ty.base_name());
            Err(QueryError::TypeMismatch { message })
        }
        _ => Ok(()),
    }
}
