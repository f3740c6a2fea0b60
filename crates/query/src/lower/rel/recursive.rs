//! WITH RECURSIVE. DataFusion identifies a work table by its name, so each recursive query of a plan gets a unique
//! name.

use crate::convert::{ORIGIN_KEY, TYPE_KEY, sql_type_of};
use crate::functions::nullable;
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use crate::plan::{materialized_as, next_cte_number};
use ::bind::tree::{ColId, Cte, Rel};
use arrow::datatypes::{Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::{Column, DFSchema};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Projection, RecursiveQuery, TableScan};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The work table of a recursive query: the rows of the last iteration.
#[derive(Clone)]
pub(in crate::lower) struct WorkTable {
    name: String,
    table: Arc<CteWorkTable>,
    /// The columns of the query, in the order of the work table.
    cols: Vec<ColId>,
}

/// The terms of a recursive query.
pub(in crate::lower) struct Terms<'t> {
    pub(in crate::lower) base: &'t Rel,
    pub(in crate::lower) step: &'t Rel,
    pub(in crate::lower) step_cols: &'t [ColId],
    pub(in crate::lower) distinct: bool,
    /// Computed once, because it is volatile.
    pub(in crate::lower) materialized: bool,
}

impl Lowering<'_> {
    pub(in crate::lower) fn recursive(
        &mut self,
        cte: &Cte,
        terms: Terms<'_>,
        cols: &[(ColId, ColId)],
    ) -> LowerResult<LogicalPlan> {
        let base = self.rel(terms.base)?;
        let base = self.in_order(base, &cte.cols)?;
        let fields = base.schema().fields().iter().map(|field| Field::clone(field).with_nullable(true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let name = self.columns.qualifier("recursive").table().to_owned();
        let table = Arc::new(CteWorkTable::new(&name, schema));
        let work = WorkTable { name: name.clone(), table, cols: cte.cols.clone() };
        let before = self.work_tables.insert(cte.id, work.clone());
        let step = self.rel(terms.step);
        match before {
            Some(before) => self.work_tables.insert(cte.id, before),
            None => self.work_tables.remove(&cte.id),
        };
        let step = self.in_order(step?, terms.step_cols)?;
        let rows = LogicalPlanBuilder::from(base).to_recursive_query(name, step, terms.distinct)?.build()?;
        let LogicalPlan::RecursiveQuery(rows) = rows else { return internal("a recursive query of other rows") };
        let mut rows = aligned(rows)?;
        if terms.materialized {
            rows = materialized_as(*self.cte_numbers.entry(cte.id).or_insert_with(next_cte_number), rows);
        }
        self.shown(rows, &work, cols)
    }

    /// A scan of the work table in the recursive term.
    pub(in crate::lower) fn work_table(
        &mut self,
        work: &WorkTable,
        cols: &[(ColId, ColId)],
    ) -> LowerResult<LogicalPlan> {
        let source = provider_as_source(Arc::clone(&work.table) as Arc<_>);
        let rows = LogicalPlanBuilder::scan(work.name.clone(), source, None)?.build()?;
        self.shown(rows, work, cols)
    }

    /// Projects to these columns, in this order.
    fn in_order(&self, rows: LogicalPlan, cols: &[ColId]) -> LowerResult<LogicalPlan> {
        let exprs = cols.iter().map(|col| Ok(Expr::Column(self.columns.get(*col)?.clone())));
        let exprs = exprs.collect::<LowerResult<Vec<_>>>()?;
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows))?))
    }

    /// The columns of the query, under the ids of one reference.
    fn shown(&mut self, rows: LogicalPlan, work: &WorkTable, cols: &[(ColId, ColId)]) -> LowerResult<LogicalPlan> {
        let found = rows.schema().columns();
        let mut exprs = Vec::with_capacity(cols.len());
        for (inner, here) in cols {
            let at = work.cols.iter().position(|col| col == inner);
            let Some(column) = at.and_then(|at| found.get(at)) else {
                return internal("a column of a recursive query");
            };
            let Column { relation, name, .. } = self.columns.computed(*here, &column.name);
            exprs.push(Expr::Column(column.clone()).alias_qualified(relation, name));
        }
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(rows))?))
    }
}

/// Does a scan read the work table of a recursive query?
pub(crate) fn is_work_table(scan: &TableScan) -> bool {
    source_as_provider(&scan.source).is_ok_and(|provider| provider.downcast_ref::<CteWorkTable>().is_some())
}

/// Gives the fields of both terms the same metadata, because DataFusion requires equal fields and a column's metadata
/// names its table. The columns count as computed.
fn aligned(query: RecursiveQuery) -> LowerResult<LogicalPlan> {
    let labels: Vec<HashMap<String, String>> = query.schema.fields().iter().map(|field| label(field)).collect();
    let fields = query.schema.iter().zip(&labels).map(|((qualifier, field), label)| {
        // Rows of the recursive term may have NULLs that DataFusion does not infer.
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_metadata(label.clone()).with_nullable(true)))
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), query.schema.metadata().clone())?;
    Ok(LogicalPlan::RecursiveQuery(RecursiveQuery {
        static_term: labelled(query.static_term, &labels)?,
        recursive_term: labelled(query.recursive_term, &labels)?,
        schema: Arc::new(schema),
        ..query
    }))
}

fn label(field: &Field) -> HashMap<String, String> {
    let name = sql_type_of(field).map(|ty| (TYPE_KEY.to_owned(), ty.column_name()));
    name.into_iter().chain([(ORIGIN_KEY.to_owned(), "0.0".to_owned())]).collect()
}

fn labelled(side: Arc<LogicalPlan>, labels: &[HashMap<String, String>]) -> LowerResult<Arc<LogicalPlan>> {
    let columns = side.schema().iter().zip(labels).map(|((qualifier, field), label)| {
        let label: BTreeMap<String, String> = label.clone().into_iter().collect();
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        let column = if field.is_nullable() { column } else { nullable(column) };
        Expr::Alias(
            Alias::new(column, qualifier.cloned(), field.name()).with_metadata(Some(FieldMetadata::from(label))),
        )
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, side)?)))
}
