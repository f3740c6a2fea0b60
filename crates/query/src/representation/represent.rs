//! One pass over a lowered plan.

use super::absent::{represent_not_in, represent_scalar_subquery};
use super::adapt::Side;
use super::aggregates::{represent_aggregate, represent_function};
use super::arrays::represent_array;
use super::calls::represent_call;
use super::casts::represent_cast;
use super::common_type::{represent_branches, represent_common};
use super::comparisons::{is_comparison, represent_comparison, represent_nullif};
use super::equality::{represent_distinct, represent_keys, represent_within};
use super::growth;
use super::interval_keys::{by_length, keyed_by_length};
use super::lists::represent_list;
use super::named_columns::keep_types;
use super::patterns::{represent_like, similar_to};
use super::recursive::represent_recursive;
use super::row_counts::check_limit;
use super::shared_aggregates::share;
use super::signless_zero::compared;
use super::window_calls::represent_neighbour;
use super::window_frames::{count_peers, represent_range};
use crate::error::QueryResult;
use crate::functions::{self, SqlFunction, as_summed, session_constant};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{ScalarFunction, WindowFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan, Operator, WindowFunctionDefinition};
use types::DataType;

/// Gives values the representation that DataFusion's operators want. See the module's head.
///
/// # Errors
/// What is wrong with constants and patterns; [`crate::QueryError::Stopped`].
pub(crate) fn represent(plan: LogicalPlan) -> QueryResult<LogicalPlan> {
    let represented = plan.transform_down_up_with_subqueries(
        |node| match node {
            LogicalPlan::RecursiveQuery(query) => {
                let represented = LogicalPlan::RecursiveQuery(represent_recursive(query)?);
                Ok(Transformed::new(represented, true, TreeNodeRecursion::Jump))
            }
            node => Ok(Transformed::no(node)),
        },
        |node| match node {
            LogicalPlan::RecursiveQuery(_) => Ok(Transformed::no(node)),
            node => represent_node(node),
        },
    );
    Ok(represented.data()?)
}

fn represent_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    growth::ask()?;
    check_limit(&node)?;
    let schema = merge_schema(&node.inputs());
    let names = NamePreserver::new(&node);
    let sorted = matches!(node, LogicalPlan::Sort(_));
    let represented = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let represented = expr.transform_up(|expr| represent_expr(expr, &schema))?;
        let represented = represented.update_data(|expr| name.restore(expr));
        if sorted && Side::of(&represented.data, &schema) == Side::Known(DataType::Interval) {
            return Ok(Transformed::yes(functions::interval_span(represented.data)));
        }
        Ok(if sorted { represented.update_data(|expr| compared(expr, &schema)) } else { represented })
    })?;
    represented.map_data(|node| {
        // Types of the inputs may have changed too.
        let node = share(keep_types(node.recompute_schema()?)?)?;
        match keyed_by_length(node)? {
            LogicalPlan::Join(join) => Ok(LogicalPlan::Join(represent_keys(join)?)),
            node => Ok(node),
        }
    })
}

/// Offsets and buckets are read by a window function as bigint. Sums are as wide as those of groups.
fn represent_window(mut call: Box<WindowFunction>, schema: &DFSchema) -> Result<Expr> {
    represent_range(&mut call.params, schema)?;
    if matches!(call.fun.name(), "lag" | "lead" | "nth_value") {
        represent_neighbour(call.fun.name(), &mut call.params.args, schema)?;
    }
    let by = call.params.partition_by.iter_mut();
    for expr in by.chain(call.params.order_by.iter_mut().map(|by| &mut by.expr)) {
        *expr = by_length(compared(std::mem::take(expr), schema), schema);
    }
    count_peers(&mut call.params, schema);
    if let WindowFunctionDefinition::AggregateUDF(function) = &mut call.fun {
        represent_function(function, &mut call.params.args, call.params.distinct, schema);
    }
    Ok(Expr::WindowFunction(call))
}

fn represent_expr(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::ScalarFunction(call) => represent_function_call(call, schema),
        Expr::Cast(cast) => represent_cast(cast, schema),
        Expr::ScalarSubquery(subquery) => represent_scalar_subquery(subquery),
        Expr::Case(case) => Ok(represent_branches(case, schema)?),
        Expr::BinaryExpr(binary) if matches!(binary.op, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom) => {
            Ok(Transformed::yes(represent_distinct(binary, schema)?))
        }
        Expr::BinaryExpr(binary) if is_comparison(binary.op) => Ok(represent_comparison(binary, schema)?),
        Expr::InSubquery(within) => represent_not_in(represent_within(within, schema)?, schema),
        Expr::InList(list) => Ok(Transformed::yes(represent_list(list, schema)?)),
        Expr::Like(like) => Ok(Transformed::yes(represent_like(like, schema))),
        Expr::SimilarTo(like) => Ok(Transformed::yes(similar_to(like, schema)?)),
        Expr::AggregateFunction(call) => Ok(represent_aggregate(call, schema)),
        Expr::WindowFunction(call) => Ok(Transformed::yes(represent_window(call, schema)?)),
        other => Ok(Transformed::no(other)),
    }
}

fn represent_function_call(call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match call.func.name() {
        "nullif" => return represent_nullif(call, schema),
        "make_array" => return represent_array(call, schema),
        _ => {}
    }
    if functions::datafusions_own(call.func.name()).is_some() {
        return Ok(match represent_common(&call, schema)? {
            Some(represented) => Transformed::yes(represented),
            None => Transformed::no(Expr::ScalarFunction(call)),
        });
    }
    if call.func.inner().downcast_ref::<SqlFunction>().is_some() {
        return Ok(Transformed::yes(represent_call(call, schema)?));
    }
    if let Some(value) = as_summed(&call, schema) {
        return Ok(Transformed::yes(value));
    }
    match session_constant(&call)? {
        Some(constant) => Ok(Transformed::yes(constant)),
        None => Ok(Transformed::no(Expr::ScalarFunction(call))),
    }
}
