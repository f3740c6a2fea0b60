//! Recursive queries whose two sides come from different columns.
//!
//! A column's field says which table it is of, and the planner below wants the fields of both sides alike. Here both
//! are said to be computed, of the type that the query has.

use crate::convert::{ORIGIN_KEY, TYPE_KEY, sql_type_of};
use arrow::datatypes::Field;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, RecursiveQuery};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Makes the fields of both sides alike.
///
/// # Errors
/// None of a plan that the planner made.
pub(super) fn align(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::RecursiveQuery(query) => Ok(Transformed::yes(LogicalPlan::RecursiveQuery(aligned(query)?))),
        node => Ok(Transformed::no(node)),
    })
    .data()
}

fn aligned(query: RecursiveQuery) -> Result<RecursiveQuery> {
    let labels: Vec<HashMap<String, String>> = query.schema.fields().iter().map(|field| label(field)).collect();
    let fields = query.schema.iter().zip(&labels).map(|((qualifier, field), label)| {
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_metadata(label.clone())))
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
    let name = sql_type_of(field).map(|ty| (TYPE_KEY.to_owned(), ty.sql_name()));
    name.into_iter().chain([(ORIGIN_KEY.to_owned(), "0.0".to_owned())]).collect()
}

fn labelled(side: Arc<LogicalPlan>, labels: &[HashMap<String, String>]) -> Result<Arc<LogicalPlan>> {
    let columns = side.schema().iter().zip(labels).map(|((qualifier, field), label)| {
        let label: BTreeMap<String, String> = label.clone().into_iter().collect();
        let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
        Expr::Alias(
            Alias::new(column, qualifier.cloned(), field.name()).with_metadata(Some(FieldMetadata::from(label))),
        )
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(Arc::new(LogicalPlanBuilder::from(side).project(columns)?.build()?))
}
