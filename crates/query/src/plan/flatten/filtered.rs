//! LATERAL of filters and projections: `FROM t, LATERAL (SELECT u.v + t.v AS w FROM u WHERE u.k = t.k) AS l`.
//!
//! The filtered rows are the same for each outer row, so this is a join with the filter as its condition. With a domain
//! the outer rows would be read twice, and the number of reads would double with each LATERAL of a chain.

use super::domain::Names;
use super::one_row::{Computed, bare, in_place, is_plain};
use super::references;
use crate::plan::materialized_cte::is_volatile;
use datafusion::common::{Column, DFSchema, JoinType, Result};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, ident};
use std::collections::HashMap;

/// An uncorrelated plan, and the conditions and columns that combine its rows with an outer row.
struct Seen {
    /// Its columns have generated names.
    rows: LogicalPlan,
    conditions: Vec<Expr>,
    columns: Vec<Computed>,
}

impl Seen {
    fn by_name(&self) -> HashMap<Column, Expr> {
        let named = |(table, name, expr): &Computed| (Column::new(table.clone(), name), expr.clone());
        self.columns.iter().map(named).collect()
    }
}

/// Rewrites the join so that its right side is uncorrelated, if only filters and projections reference the left side.
///
/// # Errors
/// None for a valid plan.
pub(super) fn beside(join: &Join, names: &mut Names) -> Result<Option<LogicalPlan>> {
    let outer = join.left.schema();
    let Some(seen) = seen(&join.right, outer, names)? else { return Ok(None) };
    let rows = seen.rows.schema();
    let stored = seen.columns.iter().all(|(.., expr)| matches!(expr, Expr::Column(column) if rows.has_column(column)));
    // For a LEFT JOIN, computed columns would be evaluated in rows without a match too, where they must be NULL.
    if !(join.join_type == JoinType::Inner || join.join_type == JoinType::Left && stored) {
        return Ok(None);
    }
    let columns = seen.by_name();
    let equalities = join.on.iter().map(|(left, right)| left.clone().eq(right.clone()));
    let own = equalities.chain(join.filter.clone());
    let own = own.map(|expr| in_place(expr, &columns, outer)).collect::<Result<Vec<_>>>()?;
    let conditions = seen.conditions.into_iter().chain(own);
    let kept = outer.columns().into_iter().map(Expr::Column);
    let computed = seen.columns.into_iter().map(|(table, name, expr)| expr.alias_qualified(table, name));
    let joined = LogicalPlanBuilder::from(join.left.as_ref().clone()).join_on(seen.rows, join.join_type, conditions)?;
    joined.project(kept.chain(computed))?.build().map(Some)
}

/// `None` for a plan in which other nodes reference the outer row.
fn seen(plan: &LogicalPlan, outer: &DFSchema, names: &mut Names) -> Result<Option<Seen>> {
    if references::columns_of(plan, outer).is_empty() {
        return renamed(plan, names);
    }
    match plan {
        LogicalPlan::SubqueryAlias(alias) => {
            let Some(seen) = seen(&alias.input, outer, names)? else { return Ok(None) };
            let named = plan.schema().iter().zip(seen.columns);
            let columns = named.map(|((table, field), (.., expr))| (table.cloned(), field.name().clone(), expr));
            Ok(Some(Seen { columns: columns.collect(), ..seen }))
        }
        LogicalPlan::Projection(projection) => {
            let Some(seen) = seen(&projection.input, outer, names)? else { return Ok(None) };
            let below = seen.by_name();
            let mut columns = Vec::with_capacity(projection.expr.len());
            for ((table, field), expr) in plan.schema().iter().zip(&projection.expr) {
                if !is_plain(expr)? {
                    return Ok(None);
                }
                columns.push((table.cloned(), field.name().clone(), in_place(bare(expr), &below, outer)?));
            }
            Ok(Some(Seen { columns, ..seen }))
        }
        LogicalPlan::Filter(filter) if is_plain(&filter.predicate)? => {
            let Some(mut seen) = seen(&filter.input, outer, names)? else { return Ok(None) };
            seen.conditions.push(in_place(filter.predicate.clone(), &seen.by_name(), outer)?);
            Ok(Some(seen))
        }
        _ => Ok(None),
    }
}

/// An uncorrelated plan under generated names. `None` if it is volatile: its rows must then be computed per outer row.
fn renamed(plan: &LogicalPlan, names: &mut Names) -> Result<Option<Seen>> {
    if is_volatile(plan) {
        return Ok(None);
    }
    let mut columns = Vec::new();
    let mut exprs = Vec::new();
    for (table, field) in plan.schema().iter() {
        let name = names.fresh();
        exprs.push(Expr::Column(Column::new(table.cloned(), field.name())).alias(&name));
        columns.push((table.cloned(), field.name().clone(), ident(name)));
    }
    let rows = LogicalPlanBuilder::from(plan.clone()).project(exprs)?.build()?;
    Ok(Some(Seen { rows, conditions: Vec::new(), columns }))
}
