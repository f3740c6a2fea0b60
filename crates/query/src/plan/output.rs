//! The columns of an answer: names without marks, SQL types, and batches in the Arrow type of each.

use super::OutputColumn;
use super::names::shown;
use crate::convert::{arrow_type, origin_of, sql_type_of};
use crate::error::{QueryError, QueryResult};
use crate::functions::{array_text, interval_text, is_interval, is_list};
use arrow::datatypes::Field;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::{Cast, Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::Analyzer;
use std::sync::Arc;
use types::DataType;

/// Analyses a plan and puts casts on top where its columns are in no Arrow type of ours.
///
/// # Errors
/// [`QueryError::Unsupported`] for a column of a type that SQL has not here (lists, intervals); errors of analysis.
pub(super) fn settle_output(
    plan: LogicalPlan,
    options: &ConfigOptions,
    analyzer: &Analyzer,
) -> QueryResult<(LogicalPlan, Vec<OutputColumn>)> {
    let plan = analyzer.execute_and_check(plan, options, |_, _| {})?;
    let columns = columns_of(plan.schema())?;
    let fits =
        plan.schema().fields().iter().zip(&columns).all(|(field, out)| *field.data_type() == arrow_type(&out.ty));
    if fits {
        return Ok((plan, columns));
    }
    let casts: Vec<Expr> = plan
        .schema()
        .iter()
        .zip(&columns)
        .enumerate()
        .map(|(number, ((qualifier, field), out))| {
            let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
            fitted(column, field, &out.ty).alias(format!("{number}"))
        })
        .collect();
    let plan = LogicalPlanBuilder::from(plan).project(casts)?.build()?;
    Ok((plan, columns))
}

/// The column in the Arrow type of that SQL type; lists and intervals become text.
pub(super) fn fitted(column: Expr, field: &Arc<Field>, ty: &DataType) -> Expr {
    if is_list(field.data_type()) {
        return array_text(column, field);
    }
    if is_interval(field.data_type()) {
        return interval_text(column);
    }
    let wanted = arrow_type(ty);
    if *field.data_type() == wanted { column } else { Expr::Cast(Cast::new(Box::new(column), wanted)) }
}

fn columns_of(schema: &DFSchema) -> QueryResult<Vec<OutputColumn>> {
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let text = is_interval(field.data_type()).then_some(DataType::Text);
        // Arrays are shown as text.
        let ty = sql_type_of(field)
            .or_else(|| is_list(field.data_type()).then_some(DataType::Text))
            .or(text)
            .ok_or_else(|| QueryError::Unsupported { feature: format!("a column of type {}", field.data_type()) })?;
        let (table_oid, column_number) = origin_of(field);
        columns.push(OutputColumn { name: shown(field.name()).to_owned(), ty, table_oid, column_number });
    }
    Ok(columns)
}
