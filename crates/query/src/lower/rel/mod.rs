//! Lowers the nodes of the bound tree; the simple ones are here.

pub(super) mod aggregate;
pub(super) mod aggregate_parts;
pub(super) mod computed;
pub(super) mod grouping_sets;
mod join;
mod joined_bytes;
pub(super) mod recursive;
pub(super) mod set_op;
pub(super) mod shared_ctes;
pub(super) mod sort;
pub(super) mod union;
pub(super) mod unnest;
pub(super) mod values;
pub(super) mod window;
pub(super) mod window_calls;
pub(super) mod window_frames;

use crate::Refusal;
use crate::error::QueryError;
use crate::explain::expression_text;
use crate::lower::COMPUTED;
use crate::lower::Lowering;
use crate::lower::budget::ask;
use crate::lower::error::{LowerResult, internal};
use crate::lower::rel::aggregate::Groups;
use crate::lower::rel::recursive::Terms;
use crate::plan::{materialized_as, next_cte_number};
use crate::provider::RegionTable;
use ::bind::tree::{ColId, CteBody, CteId, Kind, Rel, Scalar};
use catalog::Table;
use datafusion::common::{Column, DFSchema, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::logical_plan::TableScanBuilder;
use datafusion::logical_expr::{EmptyRelation, Expr, Filter, LogicalPlan, Projection};
use std::sync::Arc;
use types::interrupt;

/// The largest number of CTE references in a plan.
const MOST_CTE_READS: usize = 1024;

impl Lowering<'_> {
    /// Lowers a node. Columns of its inputs stay visible where the tree says so; DataFusion drops the unused ones.
    pub(in crate::lower) fn rel(&mut self, rel: &Rel) -> LowerResult<LogicalPlan> {
        ask()?;
        match rel {
            Rel::OneRow => {
                let schema = Arc::new(DFSchema::empty());
                Ok(LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: true, schema }))
            }
            Rel::Values { cols, rows } => self.values(cols, rows),
            Rel::Scan { table, cols, .. } => self.scan(table, cols),
            Rel::Computed { relation, cols, oid, .. } => self.computed_scan(relation, cols, *oid),
            Rel::CteScan { cte, cols } => self.cte(*cte, cols),
            Rel::Filter { input, all } if all.iter().any(reads_nothing) && is_one_group(input) => {
                match input.as_ref() {
                    Rel::Aggregate { input, keys, sets, calls, groupings } => {
                        self.having(&Groups { input, keys, sets, calls, groupings }, all)
                    }
                    _ => internal("this HAVING"),
                }
            }
            Rel::Filter { input, all } => {
                let input = self.rel(input)?;
                self.filter(input, all)
            }
            Rel::Project { input, exprs } => {
                let input = self.rel(input)?;
                self.project(input, exprs)
            }
            Rel::Join { kind, left, right, on } => self.join(*kind, left, right, on),
            Rel::Apply { kind, outer, inner, on, .. } => self.apply(*kind, outer, inner, on),
            Rel::Aggregate { input, keys, sets, calls, groupings } => {
                self.aggregate(&Groups { input, keys, sets, calls, groupings })
            }
            Rel::Window { .. } => self.windows(rel),
            Rel::Unnest { input, calls, ordinality, outer } => self.unnest(input, calls, *ordinality, *outer),
            Rel::Distinct { input, on, order } => self.distinct(input, on, order.as_deref()),
            Rel::Sort { input, keys } => {
                let input = self.rel(input)?;
                self.sort(input, keys)
            }
            Rel::Limit { input, offset, count, ties } => {
                self.limit(input, offset.as_ref(), count.as_ref(), !ties.is_empty())
            }
            Rel::SetOp { op, all, left, right, cols } => self.set_op(*op, *all, (left, right), cols),
        }
    }

    fn scan(&mut self, table: &Arc<Table>, cols: &[(usize, ColId)]) -> LowerResult<LogicalPlan> {
        let qualifier = self.columns.qualifier(&table.name);
        let mut ordinals = Vec::with_capacity(cols.len());
        for (ordinal, id) in cols {
            let Some(column) = table.columns.get(*ordinal) else { return internal("a hidden column") };
            self.columns.of_table(*id, &qualifier, &column.name);
            ordinals.push(*ordinal);
        }
        let source = provider_as_source(Arc::new(RegionTable::new(table)?));
        let scan = TableScanBuilder::new(qualifier, source).with_projection(Some(ordinals)).build()?;
        Ok(LogicalPlan::TableScan(scan))
    }

    pub(in crate::lower) fn filter(&mut self, input: LogicalPlan, all: &[Scalar]) -> LowerResult<LogicalPlan> {
        let Some(predicate) = self.conjunction(all, input.schema())? else { return Ok(input) };
        Ok(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(input))?))
    }

    /// Adds columns to those of the input. A column that reads one added before it is computed in a further projection.
    fn project(&mut self, mut plan: LogicalPlan, mut exprs: &[(ColId, Scalar)]) -> LowerResult<LogicalPlan> {
        while !exprs.is_empty() {
            let mut beside: Vec<ColId> = Vec::new();
            let mut all: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
            let schema = Arc::clone(plan.schema());
            for (id, value) in exprs {
                if reads(value, &beside) {
                    break;
                }
                let lowered = self.expr(value, &schema)?;
                let name = self.name_of(*id, value, &lowered);
                let Column { relation, name, .. } = self.columns.computed(*id, &name);
                all.push(lowered.alias_qualified(relation, name));
                beside.push(*id);
            }
            exprs = exprs.get(beside.len()..).unwrap_or_default();
            plan = LogicalPlan::Projection(Projection::try_new(all, Arc::new(plan))?);
        }
        Ok(plan)
    }

    /// The name of a computed column in EXPLAIN: that of the statement, or the text of the expression.
    fn name_of(&self, id: ColId, value: &Scalar, lowered: &Expr) -> String {
        const OF_THE_BINDER: [&str; 4] = ["argument", "key", "filter", "order"];
        let name = self.bound.col(id).map(|info| info.name.as_str()).unwrap_or_default();
        let own = OF_THE_BINDER.contains(&name) || name == "?column?";
        let name = if own && !matches!(value.kind, Kind::Col(_)) { expression_text(lowered) } else { name.to_owned() };
        // DataFusion (55.2, `optimize_projections`) drops an alias, including its qualifier, that equals the
        // expression's name.
        if lowered.schema_name().to_string() == name { format!("({name})") } else { name }
    }

    /// A CTE at one of its references.
    fn cte(&mut self, id: CteId, cols: &[(ColId, ColId)]) -> LowerResult<LogicalPlan> {
        if let Some(work) = self.work_tables.get(&id).cloned() {
            return self.work_table(&work, cols);
        }
        let Some(cte) = self.ctes.iter().find(|cte| cte.id == id) else { return internal("a query of WITH") };
        self.count_read()?;
        let (rel, materialized) = match &cte.body {
            CteBody::Inline(rel) => (rel, false),
            CteBody::Either(rel) => (rel, self.shared_ctes.contains(&id)),
            CteBody::Materialized(rel) => (rel, true),
            CteBody::Recursive { base, step, step_cols, distinct, materialized } => {
                let terms = Terms { base, step, step_cols, distinct: *distinct, materialized: *materialized };
                return self.recursive(cte, terms, cols);
            }
        };
        let plan = self.rel(rel)?;
        // Materialized rows have the columns of the first reference, so all references project to the columns of the
        // definition.
        let kept = cte.cols.iter().map(|col| Ok(Expr::Column(self.columns.get(*col)?.clone())));
        let kept = kept.collect::<LowerResult<Vec<_>>>()?;
        let mut plan = LogicalPlan::Projection(Projection::try_new(without_repetitions(kept), Arc::new(plan))?);
        if materialized {
            plan = materialized_as(*self.cte_numbers.entry(id).or_insert_with(next_cte_number), plan);
        }
        let mut shown = Vec::with_capacity(cols.len());
        for (inner, here) in cols {
            let column = self.columns.get(*inner)?.clone();
            let Column { relation, name, .. } = self.columns.computed(*here, &column.name);
            shown.push(Expr::Column(column).alias_qualified(relation, name));
        }
        Ok(LogicalPlan::Projection(Projection::try_new(shown, Arc::new(plan))?))
    }
}

impl Lowering<'_> {
    /// Counts a CTE reference. A CTE is lowered at each reference: if each CTE references the previous one twice, their
    /// number doubles with every level.
    fn count_read(&mut self) -> LowerResult<()> {
        interrupt::check().map_err(QueryError::from)?;
        self.cte_reads += 1;
        if self.cte_reads > MOST_CTE_READS {
            let message =
                "statement is too complex: queries of WITH that read each other several times are nested too deeply";
            return Err(Refusal::Complexity.because(message));
        }
        Ok(())
    }
}

pub(in crate::lower) fn without_repetitions(exprs: Vec<Expr>) -> Vec<Expr> {
    let mut kept: Vec<Expr> = Vec::with_capacity(exprs.len());
    for expr in exprs {
        if !kept.contains(&expr) {
            kept.push(expr);
        }
    }
    kept
}

fn is_one_group(rel: &Rel) -> bool {
    matches!(rel, Rel::Aggregate { keys, sets, .. } if keys.is_empty() && sets.len() < 2)
}

/// Does it read neither columns nor subqueries?
fn reads_nothing(value: &Scalar) -> bool {
    let mut nothing = !matches!(value.kind, Kind::Col(_) | Kind::Subquery(_));
    value.each_operand(&mut |operand| nothing = nothing && reads_nothing(operand));
    nothing
}

/// Does it read one of these columns?
fn reads(value: &Scalar, cols: &[ColId]) -> bool {
    let mut found = false;
    value.each_column(&mut |col| found = found || cols.contains(&col));
    found
}

/// The qualifier of computed columns.
pub(in crate::lower) fn computed() -> Option<TableReference> {
    Some(TableReference::bare(COMPUTED))
}
