//! Decorrelates subqueries and LATERAL into joins.
//!
//! DataFusion decorrelates the common ones itself (see [`shape`]) and has no plan for the others. Here these are
//! rewritten by definition: the subquery is computed for each distinct combination of the outer columns that it reads
//! (its [`Domain`]), and the result is joined to the outer rows.
//!
//! ```text
//!   Projection [.., value]                            SELECT .., (SELECT v FROM s WHERE s.k = o.k ORDER BY t LIMIT 1)
//!     Left Join  o.k is not distinct from d
//!       o
//!       subquery over the domain [v, d]               push.rs: each operator works per value of d
//!         Domain: SELECT DISTINCT o.k AS d FROM o
//! ```
//! Works bottom-up: once the subqueries of a node are joined, only references to scopes further out remain.

mod attach;
mod counted;
mod domain;
mod filtered;
mod lateral;
mod one_row;
mod push;
mod recursion;
mod references;
mod shape;
mod sorted;

use super::single_row;
use super::stop::before_building;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use domain::Names;
use std::sync::Arc;

/// The outer references of a plan, without duplicates.
pub(crate) fn outer_references(plan: &LogicalPlan) -> Vec<Expr> {
    references::expressions(plan)
}

/// Joins all subqueries that DataFusion cannot decorrelate.
///
/// # Errors
/// `Unsupported` for plans that have no form over a domain (grouping sets that reference outer columns).
pub(super) fn flatten(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut names = Names::default();
    plan.transform_up_with_subqueries(|node| flatten_node(node, &mut names)).data()
}

fn flatten_node(node: LogicalPlan, names: &mut Names) -> Result<Transformed<LogicalPlan>> {
    before_building()?;
    if let LogicalPlan::Subquery(subquery) = node {
        return Ok(Transformed::yes(LogicalPlan::Subquery(refreshed(subquery))));
    }
    let opened = node.map_children(|child| match child {
        LogicalPlan::Subquery(subquery) => Ok(Transformed::yes(Arc::unwrap_or_clone(subquery.subquery))),
        other => Ok(Transformed::no(other)),
    })?;
    let attached = opened.transform_data(|node| match node {
        LogicalPlan::Join(join) => lateral::join(join, names),
        LogicalPlan::Limit(limit) if counted::is_computed(&limit) => {
            counted::rows_within(limit, names).map(Transformed::yes)
        }
        LogicalPlan::Sort(sort) => sorted::sort(sort, names),
        node => attach::attach(node, names),
    })?;
    attached.transform_data(|node| single_row::checked(node, shape::is_one_row))
}

/// Recomputes the outer references: subqueries that were joined inside no longer contribute any.
fn refreshed(subquery: Subquery) -> Subquery {
    let outer_ref_columns = references::expressions(&subquery.subquery);
    Subquery { outer_ref_columns, ..subquery }
}
