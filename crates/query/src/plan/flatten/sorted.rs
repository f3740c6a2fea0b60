//! ORDER BY with subqueries that read columns which the SELECT list drops.
//!
//! ```text
//!   Sort [subquery of t.a]         Projection [k]
//!     Projection [t.k]        =>     Sort [v]
//!       t                              Projection [t.k, subquery of t.a AS v]
//!                                        t
//! ```

use super::attach::{attach, replaced};
use super::domain::Names;
use super::references;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Projection, Sort, SortExpr, ident};
use std::sync::Arc;

/// Computes them below the projection, and joins the node's other subqueries to its input.
pub(super) fn sort(sort: Sort, names: &mut Names) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Projection(projection) = sort.input.as_ref() else {
        return attach(LogicalPlan::Sort(sort), names);
    };
    let hidden = hidden(&sort.expr, projection);
    if hidden.is_empty() {
        return attach(LogicalPlan::Sort(sort), names);
    }
    let shown: Vec<Expr> = projection.schema.columns().into_iter().map(Expr::Column).collect();
    let mut exprs = projection.expr.clone();
    let mut values = Vec::with_capacity(hidden.len());
    for subquery in hidden {
        let name = names.fresh();
        exprs.push(subquery.clone().alias(&name));
        values.push((subquery, ident(name)));
    }
    let below = Projection::try_new(exprs, Arc::clone(&projection.input))?;
    let below = attach(LogicalPlan::Projection(below), names)?.data;
    let by = sort.expr.into_iter().map(|by| Ok(SortExpr { expr: replaced(by.expr, &values)?, ..by }));
    let sorted = Sort { expr: by.collect::<Result<_>>()?, input: Arc::new(below), fetch: sort.fetch };
    let sorted = attach(LogicalPlan::Sort(sorted), names)?.data;
    Ok(Transformed::yes(LogicalPlanBuilder::from(sorted).project(shown)?.build()?))
}

/// The subqueries that read a column of the projection's input that the projection drops.
fn hidden(by: &[SortExpr], projection: &Projection) -> Vec<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    let below = projection.input.schema();
    let left_out = |column: &Column| !projection.schema.has_column(column);
    for by in by {
        // The visitor returns no error.
        let _ = by.expr.apply(|expr| {
            let Some(subquery) = references::subquery_in(expr) else { return Ok(TreeNodeRecursion::Continue) };
            let looks = references::columns_of(&subquery.subquery, below).iter().any(left_out);
            let own = expr.column_refs().into_iter().all(|column| below.has_column(column));
            if looks && own && !found.contains(expr) {
                found.push(expr.clone());
            }
            Ok(TreeNodeRecursion::Jump)
        });
    }
    found
}
