//! Outer references: those that a plan makes, and their renaming.
//!
//! A reference resolves to the innermost operator whose input has the column.

use crate::plan::stop::step;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use std::sync::Arc;

/// The outer references of a plan, without duplicates.
pub(super) fn expressions(plan: &LogicalPlan) -> Vec<Expr> {
    let mut found = Vec::new();
    collect(plan, &mut found);
    found
}

/// The columns of `schema` that a plan references as outer columns.
pub(super) fn columns_of(plan: &LogicalPlan, schema: &DFSchema) -> Vec<Column> {
    let column = |expr| match expr {
        Expr::OuterReferenceColumn(_, column) => Some(column),
        _ => None,
    };
    expressions(plan).into_iter().filter_map(column).filter(|column| schema.has_column(column)).collect()
}

fn collect(plan: &LogicalPlan, found: &mut Vec<Expr>) {
    // The only error is a cancelled statement, which planning reports itself.
    let _ = plan.apply(|node| {
        step()?;
        let schema = merge_schema(&node.inputs());
        node.apply_expressions(|expr| collect_expr(expr, &schema, found))?;
        Ok(TreeNodeRecursion::Continue)
    });
}

fn collect_expr(expr: &Expr, schema: &DFSchema, found: &mut Vec<Expr>) -> Result<TreeNodeRecursion> {
    expr.apply(|expr| {
        if let Expr::OuterReferenceColumn(..) = expr {
            remember(expr.clone(), found);
        }
        if let Some(subquery) = subquery_in(expr) {
            let inner = expressions(&subquery.subquery);
            let further = inner.into_iter().filter(|expr| match expr {
                Expr::OuterReferenceColumn(_, column) => !schema.has_column(column),
                _ => false,
            });
            further.for_each(|expr| remember(expr, found));
        }
        Ok(TreeNodeRecursion::Continue)
    })
}

fn remember(expr: Expr, found: &mut Vec<Expr>) {
    if !found.contains(&expr) {
        found.push(expr);
    }
}

/// The subquery of a subquery expression.
pub(super) fn subquery_in(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::ScalarSubquery(subquery)
        | Expr::Exists(Exists { subquery, .. })
        | Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

/// New names for columns.
pub(super) trait Renaming {
    /// The column that replaces `column`, if any.
    fn renamed(&self, column: &Column) -> Option<Column>;
}

/// Replaces the node's outer references by columns; in subqueries of the node, by outer references to those columns.
pub(super) fn resolve(node: LogicalPlan, renaming: &dyn Renaming) -> Result<LogicalPlan> {
    let schema = merge_schema(&node.inputs());
    let names = NamePreserver::new(&node);
    node.map_expressions(|expr| {
        let name = names.save(&expr);
        let resolved = resolve_expr(expr, &schema, renaming)?;
        Ok(Transformed::yes(name.restore(resolved)))
    })
    .data()
}

/// Replaces the outer references of an expression over `schema`.
pub(super) fn resolve_expr(expr: Expr, schema: &DFSchema, renaming: &dyn Renaming) -> Result<Expr> {
    expr.transform_up(|expr| match expr {
        Expr::OuterReferenceColumn(field, column) => Ok(match renaming.renamed(&column) {
            Some(renamed) => Transformed::yes(Expr::Column(renamed)),
            None => Transformed::no(Expr::OuterReferenceColumn(field, column)),
        }),
        other => in_subquery(other, &|plan| redirect(plan, &Hidden { renaming, schema })),
    })
    .data()
}

/// A renaming inside a subquery: columns of the operator around it shadow those further out.
struct Hidden<'a> {
    renaming: &'a dyn Renaming,
    schema: &'a DFSchema,
}

impl Renaming for Hidden<'_> {
    fn renamed(&self, column: &Column) -> Option<Column> {
        if self.schema.has_column(column) { None } else { self.renaming.renamed(column) }
    }
}

/// Renames the outer references of a plan.
fn redirect(plan: LogicalPlan, renaming: &dyn Renaming) -> Result<LogicalPlan> {
    plan.transform_up(|node| {
        step()?;
        let schema = merge_schema(&node.inputs());
        let names = NamePreserver::new(&node);
        let redirected = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let redirected = expr.transform_up(|expr| match expr {
                Expr::OuterReferenceColumn(field, column) => Ok(match renaming.renamed(&column) {
                    Some(renamed) => Transformed::yes(Expr::OuterReferenceColumn(field, renamed)),
                    None => Transformed::no(Expr::OuterReferenceColumn(field, column)),
                }),
                other => in_subquery(other, &|plan| redirect(plan, &Hidden { renaming, schema: &schema })),
            })?;
            Ok(redirected.update_data(|expr| name.restore(expr)))
        })?;
        if redirected.transformed { redirected.map_data(LogicalPlan::recompute_schema) } else { Ok(redirected) }
    })
    .data()
}

/// Changes the plan of a subquery expression.
fn in_subquery(expr: Expr, change: &dyn Fn(LogicalPlan) -> Result<LogicalPlan>) -> Result<Transformed<Expr>> {
    let changed = |subquery: Subquery| {
        let plan = change(Arc::unwrap_or_clone(subquery.subquery))?;
        let outer_ref_columns = expressions(&plan);
        Ok::<_, datafusion::error::DataFusionError>(Subquery {
            subquery: Arc::new(plan),
            outer_ref_columns,
            spans: subquery.spans,
        })
    };
    Ok(match expr {
        Expr::ScalarSubquery(subquery) => Transformed::yes(Expr::ScalarSubquery(changed(subquery)?)),
        Expr::Exists(exists) => {
            Transformed::yes(Expr::Exists(Exists { subquery: changed(exists.subquery)?, negated: exists.negated }))
        }
        Expr::InSubquery(within) => Transformed::yes(Expr::InSubquery(InSubquery {
            expr: within.expr,
            subquery: changed(within.subquery)?,
            negated: within.negated,
        })),
        Expr::SetComparison(comparison) => Transformed::yes(Expr::SetComparison(SetComparison {
            expr: comparison.expr,
            subquery: changed(comparison.subquery)?,
            op: comparison.op,
            quantifier: comparison.quantifier,
        })),
        other => Transformed::no(other),
    })
}
