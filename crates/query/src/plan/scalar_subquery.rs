//! Scalar subqueries that depend on the outer row and have no aggregate: `(SELECT name FROM c WHERE c.id = o.c)`.
//!
//! The planner takes only aggregated ones, since those have one row. Here each outer row gets a number, is joined to
//! the rows of the subquery, and grouped by that number again; more than one row is an error, as in PostgreSQL.
//!
//! ```text
//!   Projection [.., value]
//!     Projection [outer columns, one_row(first_value(x), count(mark)) AS value]
//!       Aggregate by number and outer columns
//!         Left Join on the subquery's condition
//!           Window row_number()   the subquery's FROM with x computed
//! ```

use crate::functions::one_row;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, JoinType, Result};
use datafusion::functions_aggregate::count::count;
use datafusion::functions_aggregate::first_last::first_value;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection, Subquery, ident, lit};
use std::sync::Arc;

/// Turns those in SELECT lists and conditions into joins.
///
/// # Errors
/// What building the plan gives.
pub(super) fn join_scalar_subqueries(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) => join_in(node),
        other => Ok(Transformed::no(other)),
    })
    .data()
}

fn join_in(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let found = subqueries_of(&node)?;
    let outer = match node.inputs().first() {
        Some(input) if !found.is_empty() => (*input).clone(),
        _ => return Ok(Transformed::no(node)),
    };
    let columns: Vec<Expr> = outer.schema().columns().into_iter().map(Expr::Column).collect();
    let number = Names::NUMBER;
    let numbered = LogicalPlanBuilder::from(outer.clone()).window(vec![row_number()])?;
    let last = numbered.schema().columns().pop().map(Expr::Column).unwrap_or_else(|| ident(number));
    let mut plan = numbered.project(columns.iter().cloned().chain([last.alias(number)]))?.build()?;
    let mut kept: Vec<Expr> = columns.iter().cloned().chain([ident(number)]).collect();
    for (place, (_, parts)) in found.iter().enumerate() {
        plan = join_one(plan, &kept, parts, &Names(place))?;
        kept.push(ident(Names(place).value()));
    }
    let replaced = replace(node, plan, &found)?;
    match &replaced {
        // A condition lets the columns through, and what was added must not be seen.
        LogicalPlan::Filter(_) => Ok(Transformed::yes(LogicalPlanBuilder::from(replaced).project(columns)?.build()?)),
        _ => Ok(Transformed::yes(replaced)),
    }
}

/// Names that no query has: they begin with a control character.
struct Names(usize);

impl Names {
    const NUMBER: &str = "\u{1}number";

    fn value(&self) -> String {
        format!("\u{1}value{}", self.0)
    }

    fn mark(&self) -> String {
        format!("\u{1}mark{}", self.0)
    }

    fn column(&self, place: usize) -> String {
        format!("\u{1}column{}.{place}", self.0)
    }
}

/// A subquery taken apart.
struct Parts {
    value: Expr,
    condition: Expr,
    from: LogicalPlan,
}

/// The subqueries of a node that must become joins, each once.
fn subqueries_of(node: &LogicalPlan) -> Result<Vec<(Subquery, Parts)>> {
    let mut found: Vec<(Subquery, Parts)> = Vec::new();
    for expr in node.expressions() {
        expr.apply(|expr| {
            if let Expr::ScalarSubquery(subquery) = expr
                && !found.iter().any(|(known, _)| known == subquery)
                && let Some(parts) = take_apart(subquery)
            {
                found.push((subquery.clone(), parts));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(found)
}

/// `SELECT value FROM from WHERE condition` where only the condition knows the outer row; `None` for others.
fn take_apart(subquery: &Subquery) -> Option<Parts> {
    if subquery.outer_ref_columns.is_empty() {
        return None;
    }
    let LogicalPlan::Projection(Projection { expr, input, .. }) = subquery.subquery.as_ref() else { return None };
    let [value] = expr.as_slice() else { return None };
    let LogicalPlan::Filter(Filter { predicate, input, .. }) = input.as_ref() else { return None };
    let from = input.as_ref().clone();
    let grouped = matches!(from, LogicalPlan::Aggregate(_) | LogicalPlan::Window(_));
    if grouped || value.contains_outer() || !from.all_out_ref_exprs().is_empty() {
        return None;
    }
    Some(Parts { value: value.clone().unalias(), condition: predicate.clone(), from })
}

/// One more column, the subquery's value.
fn join_one(outer: LogicalPlan, kept: &[Expr], parts: &Parts, names: &Names) -> Result<LogicalPlan> {
    let schema = Arc::clone(parts.from.schema());
    let columns = schema.columns().into_iter().enumerate();
    let renamed = columns.map(|(place, column)| Expr::Column(column).alias(names.column(place)));
    let computed = [parts.value.clone().alias(names.value()), lit(true).alias(names.mark())];
    let inner = LogicalPlanBuilder::from(parts.from.clone()).project(renamed.chain(computed))?.build()?;
    let condition = parts.condition.clone().transform_up(|expr| Ok(rename(expr, &schema, names))).data()?;
    let first = first_value(ident(names.value()), Vec::new()).alias(names.value());
    let marks = count(ident(names.mark())).alias(names.mark());
    let value = one_row(ident(names.value()), ident(names.mark())).alias(names.value());
    LogicalPlanBuilder::from(outer)
        .join_on(inner, JoinType::Left, [condition])?
        .aggregate(kept.to_vec(), [first, marks])?
        .project(kept.iter().cloned().chain([value]))?
        .build()
}

/// The outer row's columns are columns now, the subquery's have new names.
fn rename(expr: Expr, schema: &DFSchema, names: &Names) -> Transformed<Expr> {
    match expr {
        Expr::OuterReferenceColumn(_, column) => Transformed::yes(Expr::Column(column)),
        Expr::Column(column) => match schema.maybe_index_of_column(&column) {
            Some(place) => Transformed::yes(ident(names.column(place))),
            None => Transformed::no(Expr::Column(column)),
        },
        other => Transformed::no(other),
    }
}

/// The node over its new input, with columns instead of subqueries.
fn replace(node: LogicalPlan, input: LogicalPlan, found: &[(Subquery, Parts)]) -> Result<LogicalPlan> {
    let preserver = NamePreserver::new(&node);
    let expressions = node.expressions().into_iter().map(|expr| {
        let name = preserver.save(&expr);
        let replaced = expr.transform_down(|expr| {
            Ok(match &expr {
                Expr::ScalarSubquery(subquery) => match found.iter().position(|(known, _)| known == subquery) {
                    Some(place) => Transformed::yes(ident(Names(place).value())),
                    None => Transformed::no(expr),
                },
                _ => Transformed::no(expr),
            })
        });
        Ok(name.restore(replaced.data()?))
    });
    let expressions = expressions.collect::<Result<Vec<_>>>()?;
    node.with_new_exprs(expressions, vec![input])
}
