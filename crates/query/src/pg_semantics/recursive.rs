//! Recursive queries: their first term says what types the columns have.
//!
//! The planner gave constants types of its own before the second term was read, and made that fit. Here the first term
//! is settled first, and the second one again on its columns. Last the fields of both sides are made alike: a column's
//! field says which table it is of, and the planner below wants them equal. Both are said to be computed.

use super::settle::settle;
use crate::convert::{ORIGIN_KEY, TYPE_KEY, arrow_type, sql_type_of};
use crate::error::{QueryError, QueryResult};
use crate::functions::{nullable, widens};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::{
    Expr, Filter, Limit, LogicalPlan, LogicalPlanBuilder, Projection, RecursiveQuery, Sort, SubqueryAlias, TableScan,
    cast,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use types::DataType;

/// Settles both terms.
///
/// # Errors
/// 42804 where the second term has larger numbers than the first.
pub(super) fn settle_recursive(query: RecursiveQuery) -> Result<RecursiveQuery> {
    let planned = Arc::clone(query.static_term.schema());
    let computed: Vec<bool> = (0..planned.fields().len()).map(|at| is_computed(&query.static_term, at)).collect();
    let first = free_numerics(settle(Arc::unwrap_or_clone(query.static_term))?, &computed)?;
    let next = on_columns(Arc::unwrap_or_clone(query.recursive_term), &query.name, first.schema())?;
    let next = settle(without_casts(next, &planned, first.schema(), &computed)?)?;
    refuse_larger(&query.name, first.schema(), next.schema())?;
    let whole = LogicalPlanBuilder::from(first).to_recursive_query(query.name, next, query.is_distinct)?.build()?;
    match whole {
        LogicalPlan::RecursiveQuery(query) => aligned(query),
        other => Err(QueryError::internal(format!("{} is no recursive query", other.display())).into()),
    }
}

/// Is a column neither one of a table nor a cast, which say their type's precision?
fn is_computed(plan: &LogicalPlan, at: usize) -> bool {
    match plan {
        LogicalPlan::Projection(Projection { expr, input, .. }) => {
            match expr.get(at).map(|expr| expr.clone().unalias_nested().data) {
                Some(Expr::Column(column)) => {
                    input.schema().maybe_index_of_column(&column).is_none_or(|at| is_computed(input, at))
                }
                Some(Expr::Cast(_)) => false,
                _ => true,
            }
        }
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. })
        | LogicalPlan::Filter(Filter { input, .. })
        | LogicalPlan::Sort(Sort { input, .. })
        | LogicalPlan::Limit(Limit { input, .. }) => is_computed(input, at),
        LogicalPlan::TableScan(_) => false,
        _ => true,
    }
}

/// Numerics that were computed have no precision of their own.
fn free_numerics(plan: LogicalPlan, computed: &[bool]) -> Result<LogicalPlan> {
    let schema = Arc::clone(plan.schema());
    let bound = |field: &Field| matches!(field.data_type(), ArrowType::Decimal128(..));
    let wanted: Vec<bool> =
        schema.fields().iter().zip(computed).map(|(field, computed)| *computed && bound(field)).collect();
    if !wanted.contains(&true) {
        return Ok(plan);
    }
    let columns = schema.iter().zip(wanted).map(|((qualifier, field), wanted)| {
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        if wanted {
            cast(column, arrow_type(&DataType::Numeric(None))).alias_qualified(qualifier.cloned(), field.name())
        } else {
            column
        }
    });
    LogicalPlanBuilder::from(plan).project(columns.collect::<Vec<_>>())?.build()
}

/// The second term over a work table that has the columns of `schema`. One inside of the same name is another.
fn on_columns(term: LogicalPlan, name: &str, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    let table = Arc::new(CteWorkTable::new(name, Arc::new(Schema::new(fields.collect::<Vec<_>>()))));
    term.transform_down_with_subqueries(|node| match node {
        LogicalPlan::RecursiveQuery(query) if query.name == name => {
            Ok(Transformed::new(LogicalPlan::RecursiveQuery(query), false, TreeNodeRecursion::Jump))
        }
        LogicalPlan::TableScan(scan) if scan.table_name.table() == name && is_work_table(&scan) => {
            let source = provider_as_source(Arc::clone(&table) as Arc<_>);
            Ok(Transformed::yes(LogicalPlanBuilder::scan(scan.table_name, source, None)?.build()?))
        }
        node => Ok(Transformed::no(node)),
    })
    .data()
}

/// Does a scan read what a recursive query has found so far?
pub(crate) fn is_work_table(scan: &TableScan) -> bool {
    source_as_provider(&scan.source).is_ok_and(|provider| provider.downcast_ref::<CteWorkTable>().is_some())
}

/// The second term without the casts that made it fit types which the first has no more.
fn without_casts(term: LogicalPlan, planned: &DFSchema, settled: &DFSchema, computed: &[bool]) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(Projection { expr, input, .. }) = term else { return Ok(term) };
    let types = planned.fields().iter().zip(settled.fields()).zip(computed);
    let columns = expr.into_iter().zip(types).map(|(expr, ((planned, settled), computed))| {
        let name = expr.qualified_name();
        let stale = *computed && planned.data_type() != settled.data_type();
        match expr.clone().unalias_nested().data {
            Expr::Cast(cast) if stale && cast.field.data_type() == planned.data_type() => {
                cast.expr.alias_qualified(name.0, name.1)
            }
            _ => expr,
        }
    });
    LogicalPlanBuilder::from(Arc::unwrap_or_clone(input)).project(columns.collect::<Vec<_>>())?.build()
}

/// PostgreSQL makes no value fit that may not.
fn refuse_larger(name: &str, first: &DFSchema, next: &DFSchema) -> QueryResult<()> {
    for (place, (first, next)) in first.fields().iter().zip(next.fields()).enumerate() {
        let (Some(first), Some(next)) = (sql_type_of(first), sql_type_of(next)) else { continue };
        if first.is_number() && next.is_number() && widens(&first, &next) {
            let (column, next) = (place + 1, next.base_name());
            let message = format!(
                "recursive query \"{name}\" column {column} has type {first} in non-recursive term but type {next} overall"
            );
            return Err(QueryError::TypeMismatch { message });
        }
    }
    Ok(())
}

fn aligned(query: RecursiveQuery) -> Result<RecursiveQuery> {
    let labels: Vec<HashMap<String, String>> = query.schema.fields().iter().map(|field| label(field)).collect();
    let fields = query.schema.iter().zip(&labels).map(|((qualifier, field), label)| {
        // What the second term finds may be NULL where it cannot be told.
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_metadata(label.clone()).with_nullable(true)))
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), query.schema.metadata().clone())?;
    Ok(RecursiveQuery {
        static_term: labelled(query.static_term, &labels)?,
        recursive_term: labelled(query.recursive_term, &labels)?,
        schema: Arc::new(schema),
        ..query
    })
}

fn label(field: &Field) -> HashMap<String, String> {
    let name = sql_type_of(field).map(|ty| (TYPE_KEY.to_owned(), ty.column_name()));
    name.into_iter().chain([(ORIGIN_KEY.to_owned(), "0.0".to_owned())]).collect()
}

fn labelled(side: Arc<LogicalPlan>, labels: &[HashMap<String, String>]) -> Result<Arc<LogicalPlan>> {
    let columns = side.schema().iter().zip(labels).map(|((qualifier, field), label)| {
        let label: BTreeMap<String, String> = label.clone().into_iter().collect();
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        let column = if field.is_nullable() { column } else { nullable(column) };
        Expr::Alias(
            Alias::new(column, qualifier.cloned(), field.name()).with_metadata(Some(FieldMetadata::from(label))),
        )
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(Arc::new(LogicalPlanBuilder::from(side).project(columns)?.build()?))
}
