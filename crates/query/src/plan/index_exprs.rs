//! Expressions and predicates of indexes, planned as those of queries are, so that both look the same.

use super::Planner;
use super::row_exprs::{RowTable, select};
use crate::bound_index::{BoundIndex, BoundIndexes};
use crate::context::QueryContext;
use crate::error::{QueryError, QueryResult};
use catalog::{Index, Table};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan};
use sql::ast;
use std::sync::Arc;

impl Planner {
    /// Plans what is computed for indexes of these tables, unless that is done.
    pub(crate) async fn plan_indexes(&self, cx: &QueryContext, tables: Vec<Arc<Table>>) -> QueryResult<()> {
        for table in tables {
            let computed = |index: &&Index| index.texts().next().is_some();
            if !table.indexes.iter().any(|index| computed(&index)) || table.derived.get::<BoundIndexes>().is_some() {
                continue;
            }
            let mut all = BoundIndexes::default();
            for index in table.indexes.iter().filter(computed) {
                // What cannot be planned is not read.
                if let Ok(Some(bound)) = self.plan_index(cx, &table, index).await {
                    all.0.insert(index.oid, Arc::new(bound));
                }
            }
            table.derived.keep(all);
        }
        Ok(())
    }

    async fn plan_index(&self, cx: &QueryContext, table: &Table, index: &Index) -> QueryResult<Option<BoundIndex>> {
        let columns = table.columns.iter().map(|column| (column.name.clone(), column.ty)).collect();
        let row = RowTable { name: table.name.clone(), columns };
        let entries = index.entries(table);
        let mut parts = Vec::new();
        for part in &index.parts {
            let Some(expression) = part.expression() else { continue };
            let expr = parsed(&expression.text)?;
            let query = select(std::slice::from_ref(&row), &[expr])?;
            let plan = Box::pin(self.prepare(cx, &query, &[], std::slice::from_ref(&row))).await?.logical;
            let name = entries.column(part.entry).map(|column| column.name.clone());
            let (Some(expr), Some(name)) = (only_expr(&plan), name) else { return Ok(None) };
            parts.push((expr, name));
        }
        let Some(predicate) = &index.predicate else { return Ok(Some(BoundIndex::new(parts, None))) };
        let mut query = select(std::slice::from_ref(&row), &[])?;
        if let ast::SetExpr::Select(select) = query.body.as_mut() {
            select.projection = vec![ast::SelectItem::UnnamedExpr(parsed("1")?)];
            select.selection = Some(parsed(&predicate.text)?);
        }
        let plan = Box::pin(self.prepare(cx, &query, &[], std::slice::from_ref(&row))).await?.logical;
        Ok(Some(BoundIndex::new(parts, Some(filters(&plan)?))))
    }
}

/// A text of the catalog.
fn parsed(text: &str) -> QueryResult<ast::Expr> {
    sql::parse_expr(text).map_err(|error| QueryError::internal(format!("{text} in an index: {error}")))
}

/// The one expression of a plan over a row; `None` if it is computed in steps.
fn only_expr(plan: &LogicalPlan) -> Option<Expr> {
    match plan {
        LogicalPlan::Projection(projection) => match (projection.expr.as_slice(), projection.input.as_ref()) {
            ([expr], LogicalPlan::TableScan(_)) => Some(expr.clone()),
            ([expr], LogicalPlan::SubqueryAlias(alias))
                if matches!(alias.input.as_ref(), LogicalPlan::TableScan(_)) =>
            {
                Some(expr.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

/// All conditions of a plan.
fn filters(plan: &LogicalPlan) -> QueryResult<Vec<Expr>> {
    let mut all = Vec::new();
    plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::Filter(filter) => {
                all.extend(split_conjunction(&filter.predicate).into_iter().cloned());
            }
            LogicalPlan::TableScan(scan) => {
                all.extend(scan.filters.iter().flat_map(split_conjunction).cloned());
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(all)
}
