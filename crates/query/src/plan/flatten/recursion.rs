//! Recursive queries with outer references: the recursions of all domain rows run together.
//!
//! The static term is computed over the domain, so the work table has the domain's columns too; the recursive term
//! reads them from there.

use super::domain::{Domain, Names};
use super::push::{arranged, push, requalified};
use crate::lower::is_work_table;
use crate::plan::stop::step;
use arrow::datatypes::Schema;
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Column, Result};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, RecursiveQuery, TableScan};
use std::sync::Arc;

/// A recursive query over the domain.
pub(super) fn recursive(domain: &Domain, query: RecursiveQuery, names: &mut Names) -> Result<LogicalPlan> {
    let over = |domain: &Domain, term: Arc<LogicalPlan>, names: &mut Names| {
        let schema = Arc::clone(term.schema());
        arranged(domain, push(domain, Arc::unwrap_or_clone(term), names)?, &schema)
    };
    let first = over(domain, query.static_term, names)?;
    let next = over(&domain.carried_by(&query.name), query.recursive_term, names)?;
    let whole = LogicalPlanBuilder::from(first).to_recursive_query(query.name, next, query.is_distinct)?.build()?;
    requalified(domain, whole, &query.schema)
}

/// Does a plan read a work table that has the domain's columns? An inner recursive query of the same name shadows it.
pub(super) fn reads_carrier(domain: &Domain, plan: &LogicalPlan) -> bool {
    let mut found = false;
    // The only error is a cancelled statement, which planning reports itself.
    let _ = plan.apply_with_subqueries(|node| {
        step()?;
        Ok(match node {
            LogicalPlan::RecursiveQuery(query) if domain.carriers.contains(&query.name) => TreeNodeRecursion::Jump,
            LogicalPlan::TableScan(scan) if is_work_table(scan) => {
                found |= domain.carriers.iter().any(|name| name == scan.table_name.table());
                TreeNodeRecursion::Continue
            }
            _ => TreeNodeRecursion::Continue,
        })
    });
    found
}

/// The work table of such a query, extended by the domain's columns.
pub(super) fn work_table(domain: &Domain, scan: TableScan) -> Result<LogicalPlan> {
    let known = domain.plan.schema().fields().iter().zip(domain.names());
    // Like the query's own columns: rows of later iterations may have NULLs.
    let more = known.map(|(field, name)| Arc::new(field.as_ref().clone().with_name(name).with_nullable(true)));
    let fields: Vec<_> = scan.source.schema().fields().iter().cloned().chain(more).collect();
    let table = CteWorkTable::new(scan.table_name.table(), Arc::new(Schema::new(fields)));
    let whole =
        LogicalPlanBuilder::scan(scan.table_name.clone(), provider_as_source(Arc::new(table)), None)?.build()?;
    let own = scan.projected_schema.columns().into_iter().map(Expr::Column);
    let carried = domain.names().map(|name| {
        let column = Column::new(Some(scan.table_name.clone()), name);
        Expr::Column(column).alias(name)
    });
    LogicalPlanBuilder::from(whole).project(own.chain(carried).collect::<Vec<_>>())?.build()
}
