//! Which columns of a query have a type modifier: precision of numeric, length of text, fields of intervals.
//!
//! Arrow has a precision for every decimal, also for `0.5` and `a * b`, and DataFusion propagates field metadata where
//! it should not: UNION takes that of one branch, `lag` that of its first argument. In PostgreSQL only table columns
//! and casts have a type modifier, and expressions that return their values unchanged. CREATE TABLE AS takes over those
//! modifiers only.

use crate::convert::{TYPE_KEY, column_type_of};
use crate::functions::{cast_target, label_of};
use arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::{Aggregate, Distinct, Expr, Filter, LogicalPlan, Projection, Sort, SubqueryAlias};

/// Does the plan's column at this index have a type modifier?
pub(super) fn is_declared(plan: &LogicalPlan, at: usize) -> bool {
    match plan {
        LogicalPlan::TableScan(_) => plan.schema().field(at).metadata().contains_key(TYPE_KEY),
        LogicalPlan::Projection(Projection { expr, input, .. }) => of_item(expr, at, input),
        LogicalPlan::Filter(Filter { input, .. })
        | LogicalPlan::Sort(Sort { input, .. })
        | LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Distinct(Distinct::All(input)) => is_declared(input, at),
        LogicalPlan::Limit(limit) => is_declared(&limit.input, at),
        LogicalPlan::Distinct(Distinct::On(on)) => of_item(&on.select_expr, at, &on.input),
        LogicalPlan::Aggregate(Aggregate { group_expr, input, .. }) => of_item(group_expr, at, input),
        LogicalPlan::Window(window) => at < window.input.schema().fields().len() && is_declared(&window.input, at),
        LogicalPlan::Union(union) => {
            let ty = column_type_of(plan.schema().field(at));
            union.inputs.iter().all(|input| column_type_of(input.schema().field(at)) == ty && is_declared(input, at))
        }
        LogicalPlan::Join(join) => {
            let column = plan.schema().columns().into_iter().nth(at);
            column.is_some_and(|column| {
                [&join.left, &join.right].into_iter().any(|side| of_expr(&Expr::Column(column.clone()), side))
            })
        }
        // Our own nodes that pass rows on.
        LogicalPlan::Extension(extension) => match extension.node.inputs().as_slice() {
            [input] if input.schema().fields().len() == plan.schema().fields().len() => is_declared(input, at),
            _ => false,
        },
        _ => false,
    }
}

fn of_item(exprs: &[Expr], at: usize, input: &LogicalPlan) -> bool {
    exprs.get(at).is_some_and(|expr| of_expr(expr, input))
}

fn of_expr(expr: &Expr, input: &LogicalPlan) -> bool {
    match expr {
        Expr::Alias(alias) => of_expr(&alias.expr, input),
        Expr::Column(column) => input.schema().maybe_index_of_column(column).is_some_and(|at| is_declared(input, at)),
        Expr::Cast(cast) => matches!(cast.field.data_type(), ArrowType::Decimal128(..)),
        Expr::ScalarFunction(call) => cast_target(call).or_else(|| label_of(call)).is_some(),
        Expr::Case(case) => {
            let values = case.when_then_expr.iter().map(|(_, then)| then).chain(&case.else_expr);
            values.into_iter().all(|value| of_expr(value, input))
        }
        Expr::ScalarSubquery(subquery) => is_declared(&subquery.subquery, 0),
        _ => false,
    }
}
