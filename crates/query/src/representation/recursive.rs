//! Recursive queries. The second term reads a work table that has the first term's columns in their representation.
//!
//! The fields of both terms are made alike: a column's field says which table it is of, and DataFusion wants them equal. Both are
//! said to be computed.

use super::represent::represent;
use crate::convert::{ORIGIN_KEY, TYPE_KEY, sql_type_of};
use crate::error::QueryError;
use crate::functions::nullable;
use arrow::datatypes::{Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, RecursiveQuery, TableScan};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Represents both terms.
///
/// # Errors
/// As [`represent`].
pub(super) fn represent_recursive(query: RecursiveQuery) -> Result<RecursiveQuery> {
    let first = represent(Arc::unwrap_or_clone(query.static_term))?;
    let next = represent(on_columns(Arc::unwrap_or_clone(query.recursive_term), &query.name, first.schema())?)?;
    let whole = LogicalPlanBuilder::from(first).to_recursive_query(query.name, next, query.is_distinct)?.build()?;
    match whole {
        LogicalPlan::RecursiveQuery(query) => aligned(query),
        other => Err(QueryError::internal(format!("{} is no recursive query", other.display())).into()),
    }
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
