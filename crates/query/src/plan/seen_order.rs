//! Keeps the order of a subquery's rows if an aggregate or window function above depends on it.
//!
//! `SELECT array_agg(x) FROM (SELECT x FROM t ORDER BY y) q` returns the elements in that order. DataFusion drops sorts
//! that no operator requires; [`SeenOrder`] requires its input's order.

use super::stop::step;
use crate::exec::{KeepOrderExec, only_input};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchemaRef, Result};
use datafusion::logical_expr::{
    Expr, Extension, Filter, Limit, LogicalPlan, Projection, SubqueryAlias, UserDefinedLogicalNode,
    UserDefinedLogicalNodeCore,
};
use datafusion::physical_plan::ExecutionPlan;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Aggregates whose value depends on the order of rows. (Others differ at most in the last digits of floats.)
const ORDERED: [&str; 5] = ["array_agg", "string_agg", "first_value", "last_value", "nth_value"];

/// Does the value of an aggregate depend on the order of rows?
pub(crate) fn shows_order(aggregate: &str) -> bool {
    ORDERED.contains(&aggregate)
}

/// Puts [`SeenOrder`] over sorts whose order is observable above.
///
/// # Errors
/// None for a valid plan.
pub(super) fn keep(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        step()?;
        let sees = match &node {
            LogicalPlan::Aggregate(aggregate) => aggregate.aggr_expr.iter().any(sees_order),
            LogicalPlan::Window(window) => window.window_expr.iter().any(sees_order),
            _ => false,
        };
        if !sees {
            return Ok(Transformed::no(node));
        }
        node.map_children(|input| Ok(below(input)))
    })
    .data()
}

fn sees_order(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => sees_order(&alias.expr),
        Expr::AggregateFunction(call) => shows_order(call.func.name()) && call.params.order_by.is_empty(),
        Expr::WindowFunction(call) => call.params.order_by.is_empty(),
        _ => false,
    }
}

/// Wraps the sort that gives a plan its order.
fn below(plan: LogicalPlan) -> Transformed<LogicalPlan> {
    if matches!(plan, LogicalPlan::Sort(_)) {
        let node = Arc::new(SeenOrder { input: plan });
        return Transformed::yes(LogicalPlan::Extension(Extension { node }));
    }
    match plan {
        LogicalPlan::Projection(Projection { ref input, .. })
        | LogicalPlan::SubqueryAlias(SubqueryAlias { ref input, .. })
        | LogicalPlan::Filter(Filter { ref input, .. })
        | LogicalPlan::Limit(Limit { ref input, .. }) => {
            let below = below(input.as_ref().clone());
            if !below.transformed {
                return Transformed::no(plan);
            }
            // The new input has the same schema.
            let expressions = plan.expressions();
            match plan.with_new_exprs(expressions, vec![below.data]) {
                Ok(changed) => Transformed::yes(changed),
                Err(_) => Transformed::no(plan),
            }
        }
        plan => Transformed::no(plan),
    }
}

/// Requires the order of its input, so that DataFusion keeps the sort below.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Hash)]
pub(super) struct SeenOrder {
    input: LogicalPlan,
}

impl UserDefinedLogicalNodeCore for SeenOrder {
    fn name(&self) -> &str {
        "SeenOrder"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        HashSet::new()
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SeenOrder")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input = only_input(inputs)?;
        Ok(Self { input })
    }
}

/// The physical operator of a [`SeenOrder`] node.
pub(super) fn operator(
    node: &dyn UserDefinedLogicalNode,
    input: &Arc<dyn ExecutionPlan>,
) -> Option<Arc<dyn ExecutionPlan>> {
    node.as_any().downcast_ref::<SeenOrder>()?;
    Some(KeepOrderExec::over(Arc::clone(input)))
}
