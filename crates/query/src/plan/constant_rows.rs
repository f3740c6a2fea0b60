//! Turns VALUES with many constant rows into an in-memory table.
//!
//! DataFusion visits every expression of a plan in each of its dozens of passes, but not the rows of a table.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, Result, ScalarValue, TableReference};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Projection, Values};
use std::sync::Arc;

/// VALUES with fewer rows stay in the plan, so that its rules can see them.
const MANY: usize = 500;

/// The name of the table; no table of a query can have it.
const TABLE: &str = "\u{1}values";

/// Replaces all VALUES with many constant rows.
///
/// # Errors
/// None for a valid plan.
pub(super) fn tabulate(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Values(values) if values.values.len() >= MANY => match columns(&values) {
            Some(columns) => Ok(Transformed::yes(table(&values, columns)?)),
            None => Ok(Transformed::no(LogicalPlan::Values(values))),
        },
        node => Ok(Transformed::no(node)),
    })
    .data()
}

/// The rows as columns; `None` if a row is not constant.
fn columns(values: &Values) -> Option<Vec<ArrayRef>> {
    let column = |(at, field): (usize, &Arc<Field>)| {
        let scalars = values.values.iter().map(|row| constant(row.get(at)?, field.data_type()));
        let scalars = scalars.collect::<Option<Vec<_>>>()?;
        ScalarValue::iter_to_array(scalars).ok().filter(|array| array.data_type() == field.data_type())
    };
    values.schema.fields().iter().enumerate().map(column).collect()
}

fn constant(expr: &Expr, ty: &ArrowType) -> Option<ScalarValue> {
    let value = match expr {
        Expr::Alias(alias) => return constant(&alias.expr, ty),
        Expr::Literal(value, _) => value,
        _ => return None,
    };
    match value {
        value if value.data_type() == *ty => Some(value.clone()),
        value if value.is_null() => ScalarValue::try_new_null(ty).ok(),
        _ => None,
    }
}

fn table(values: &Values, columns: Vec<ArrayRef>) -> Result<LogicalPlan> {
    let fields: Vec<Arc<Field>> = values.schema.fields().iter().cloned().collect();
    let schema = Arc::new(Schema::new(fields));
    let rows = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    let source = provider_as_source(Arc::new(MemTable::try_new(schema, vec![vec![rows]])?));
    let scan = LogicalPlanBuilder::scan(TABLE, source, None)?.build()?;
    let shown = values.schema.iter().map(|(qualifier, field)| {
        let column = Column::new(Some(TableReference::bare(TABLE)), field.name());
        Expr::Column(column).alias_qualified(qualifier.cloned(), field.name())
    });
    Ok(LogicalPlan::Projection(Projection::try_new(shown.collect(), Arc::new(scan))?))
}
