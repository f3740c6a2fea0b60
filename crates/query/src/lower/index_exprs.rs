//! Lowers and optimizes the expressions and predicates of indexes like those of queries, so that both have the same
//! form.

use super::Lowering;
use super::error::{LowerResult, internal};
use crate::bound_index::{BoundIndex, BoundIndexes};
use crate::context::QueryContext;
use crate::plan::{Planner, RowTable};
use ::bind::tree::{Body, Bound, ColId, Scalar};
use ::bind::{Clause, Environment, NamedRow, NoRelations, OverRows, RowExpressions};
use catalog::{Index, Table};
use datafusion::common::Column;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::logical_plan::TableScanBuilder;
use datafusion::logical_expr::logical_plan::builder::LogicalTableSource;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, Projection};
use std::sync::Arc;
use types::temporal::Utc;

impl Planner {
    /// Lowers the expressions and predicates of these tables' indexes, unless that is done already.
    pub(super) fn lower_indexes(&self, cx: &QueryContext, tables: impl Iterator<Item = Arc<Table>>) {
        for table in tables {
            let computed = |index: &&Index| index.texts().next().is_some();
            if !table.indexes.iter().any(|index| computed(&index)) || table.derived.get::<BoundIndexes>().is_some() {
                continue;
            }
            let mut all = BoundIndexes::default();
            for index in table.indexes.iter().filter(computed) {
                // An index whose expressions cannot be lowered is not used by queries.
                if let Ok(Some(bound)) = self.lower_index(cx, &table, index) {
                    all.0.insert(index.oid, Arc::new(bound));
                }
            }
            table.derived.keep(all);
        }
    }

    fn lower_index(&self, cx: &QueryContext, table: &Table, index: &Index) -> LowerResult<Option<BoundIndex>> {
        let entries = index.entries(table);
        let mut parts = Vec::new();
        for part in &index.parts {
            let Some(expression) = part.expression() else { continue };
            let plan = self.over_table(cx, table, &expression.text, Clause::IndexExpression)?;
            let name = entries.column(part.entry).map(|column| column.name.clone());
            let (Some(expr), Some(name)) = (only_expr(&plan), name) else { return Ok(None) };
            parts.push((expr, name));
        }
        let Some(predicate) = &index.predicate else { return Ok(Some(BoundIndex::new(parts, None))) };
        let filters = filters(&self.over_table(cx, table, &predicate.text, Clause::IndexPredicate)?)?;
        Ok(filters.map(|filters| BoundIndex::new(parts, Some(filters))))
    }

    /// The plan of an expression over the rows of a table. A predicate becomes a filter.
    fn over_table(&self, cx: &QueryContext, table: &Table, text: &str, clause: Clause) -> LowerResult<LogicalPlan> {
        let Ok(expr) = sql::parse_expr(text) else { return internal("the text of an index") };
        let columns: Vec<_> = table.columns.iter().map(|column| (column.name.clone(), column.ty)).collect();
        let rows = [NamedRow { name: &table.name, columns: &columns }];
        let over = RowExpressions { rows: &rows, exprs: &[expr], clause, assigned_to: &[] };
        let bound = ::bind::bind_over_rows(&over, &NoRelations, &Environment { text, rules: &Utc });
        let Ok(OverRows { bound, cols }) = bound else { return internal("the text of an index") };
        let plan = self.lowered_over_table(cx, (&bound, &cols), (table, columns), clause)?;
        let plan = self.without_subqueries(cx, plan)?;
        let plan = self.finished(cx, plan, Vec::new(), false, Ok)?;
        Ok(plan.into_logical())
    }

    fn lowered_over_table(
        &self,
        cx: &QueryContext,
        (bound, cols): (&Bound, &[(ColId, usize, usize)]),
        (table, columns): (&Table, Vec<(String, types::DataType)>),
        clause: Clause,
    ) -> LowerResult<LogicalPlan> {
        let Body::Exprs(values) = &bound.body else { return internal("the text of an index") };
        let mut lowering = Lowering::new(self, cx, bound, &[]);
        let qualifier = lowering.columns.qualifier(&table.name);
        for (col, _, place) in cols {
            if let Some((name, _)) = columns.get(*place) {
                lowering.columns.of_table(*col, &qualifier, name);
            }
        }
        let source = Arc::new(LogicalTableSource::new(RowTable { columns }.schema()));
        let scan = LogicalPlan::TableScan(TableScanBuilder::new(qualifier, source).build()?);
        let exprs: Vec<&Scalar> = values.iter().collect();
        lowering.shown_over(scan, &exprs, clause == Clause::IndexPredicate)
    }
}

impl Lowering<'_> {
    fn shown_over(&mut self, scan: LogicalPlan, values: &[&Scalar], filtered: bool) -> LowerResult<LogicalPlan> {
        let schema = Arc::clone(scan.schema());
        let mut exprs = Vec::with_capacity(values.len());
        for value in values {
            exprs.push(self.expr(value, &schema)?);
        }
        if filtered {
            let Some(predicate) = exprs.pop() else { return internal("the text of an index") };
            return Ok(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(scan))?));
        }
        let named = exprs.into_iter().map(|value| {
            let Column { relation, name, .. } = self.columns.nameless("value");
            value.alias_qualified(relation, name)
        });
        let named = named.collect();
        Ok(LogicalPlan::Projection(Projection::try_new(named, Arc::new(scan))?))
    }
}

/// The single expression of a plan over a row; `None` if the plan has several steps.
fn only_expr(plan: &LogicalPlan) -> Option<Expr> {
    match plan {
        LogicalPlan::Projection(projection) => match (projection.expr.as_slice(), projection.input.as_ref()) {
            ([expr], LogicalPlan::TableScan(_)) => Some(expr.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// All conditions of a plan; `None` if the predicate is never true: such an index has no entries, and implies nothing.
fn filters(plan: &LogicalPlan) -> LowerResult<Option<Vec<Expr>>> {
    let (mut all, mut never) = (Vec::new(), false);
    plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::Filter(filter) => {
                all.extend(split_conjunction(&filter.predicate).into_iter().cloned());
            }
            LogicalPlan::TableScan(scan) => {
                all.extend(scan.filters.iter().flat_map(split_conjunction).cloned());
            }
            LogicalPlan::EmptyRelation(_) => never = true,
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok((!never).then_some(all))
}
