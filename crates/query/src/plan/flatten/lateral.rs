//! Joins whose right side reads columns of the left: LATERAL.

use super::domain::{Domain, Names, Outer};
use super::push::push;
use super::{attach, filtered, one_row, references};
use crate::error::QueryError;
use crate::plan::stop::before_building;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, Result};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;

/// Computes the right side for each distinct combination of the left columns that it reads.
pub(super) fn join(join: Join, names: &mut Names) -> Result<Transformed<LogicalPlan>> {
    let columns = references::columns_of(&join.right, join.left.schema());
    if columns.is_empty() {
        return attach::attach_join(join, names);
    }
    if let Some(plan) = one_row::beside(&join)? {
        return Ok(Transformed::yes(plan));
    }
    if let Some(plan) = filtered::beside(&join, names)? {
        return Ok(Transformed::yes(plan));
    }
    if !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
        let feature = format!("a LATERAL reference in a {} JOIN", join.join_type);
        return Err(QueryError::Unsupported { feature }.into());
    }
    let wanted = [join.left.schema().columns(), join.right.schema().columns()].concat();
    let inner = Arc::unwrap_or_clone(join.right);
    let outer = Outer::of(Arc::unwrap_or_clone(join.left), [&inner], names)?;
    let domain = Domain::new(&outer, outer.reads_of(&inner), names)?;
    let computed = push(&domain, inner, names)?;
    let equalities = join.on.into_iter().map(|(left, right)| left.eq(right));
    let filter = equalities.chain(join.filter).collect();
    let joined = domain.join_outer(outer.plan, computed, join.join_type, filter)?;
    before_building()?;
    let wanted = wanted.into_iter().map(Expr::Column);
    Ok(Transformed::yes(LogicalPlanBuilder::from(joined).project(wanted)?.build()?))
}
