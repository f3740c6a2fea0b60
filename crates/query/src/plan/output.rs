//! The columns of a result: names, SQL types, and the Arrow type of each.

use super::OutputColumn;
use super::declared::is_declared;
use super::width;
use crate::convert::{arrow_type, column_type_of, origin_of};
use crate::error::{QueryError, QueryResult};
use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::{Cast, Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::Analyzer;
use types::DataType;

/// Runs the analyzer, and casts columns that are not in the Arrow type of their SQL type.
///
/// # Errors
/// [`QueryError::Unsupported`] for a column without an SQL type (structs); errors of analysis.
pub(super) fn represent_output(
    plan: LogicalPlan,
    options: &ConfigOptions,
    analyzer: &Analyzer,
) -> QueryResult<(LogicalPlan, Vec<OutputColumn>)> {
    // Before analysis, which adds casts of its own.
    let said: Vec<bool> = (0..plan.schema().fields().len()).map(|at| is_declared(&plan, at)).collect();
    let plan = analyzer.execute_and_check(plan, options, |_, _| {})?;
    width::check(plan.schema().fields().len())?;
    let columns = columns_of(plan.schema(), &said)?;
    let fits = plan
        .schema()
        .fields()
        .iter()
        .zip(&columns)
        .all(|(field, out)| *field.data_type() == arrow_type(&out.ty) || is_nested(field.data_type()));
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
            fit(column, field, &out.ty).alias(format!("{number}"))
        })
        .collect();
    let plan = LogicalPlanBuilder::from(plan).project(casts)?.build()?;
    Ok((plan, columns))
}

/// Casts the column to the Arrow type of the SQL type.
fn fit(column: Expr, field: &Field, ty: &DataType) -> Expr {
    let wanted = arrow_type(ty);
    // A cast would turn a list of lists into a list.
    if *field.data_type() == wanted || is_nested(field.data_type()) {
        return column;
    }
    Expr::Cast(Cast::new(Box::new(column), wanted))
}

/// Is it a list of lists?
fn is_nested(ty: &ArrowType) -> bool {
    matches!(ty, ArrowType::List(item) if matches!(item.data_type(), ArrowType::List(_)))
}

fn columns_of(schema: &DFSchema, said: &[bool]) -> QueryResult<Vec<OutputColumn>> {
    let mut columns = Vec::with_capacity(schema.fields().len());
    for (at, field) in schema.fields().iter().enumerate() {
        let ty = column_type_of(field)
            .ok_or_else(|| QueryError::Unsupported { feature: "a row value as a column".to_owned() })?;
        let (table_oid, column_number) = origin_of(field);
        let said = said.get(at).copied().unwrap_or(false);
        let declared = if said { ty } else { ty.without_limits() };
        columns.push(OutputColumn { name: field.name().to_owned(), ty, declared, table_oid, column_number });
    }
    Ok(columns)
}
