//! VALUES of integers: the planner has bigints, PostgreSQL integers where all are small.

use super::adapt::{Side, give_type};
use super::united_columns::added_cast;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Values};
use std::sync::Arc;
use types::DataType;

/// Integers, and texts without a type that are read as such.
fn is_small(inner: &Expr) -> bool {
    let none = DFSchema::empty();
    matches!(inner, Expr::Literal(ScalarValue::Utf8(Some(_)), _))
        || inner.get_type(&none).is_ok_and(|ty| matches!(ty, ArrowType::Int16 | ArrowType::Int32))
}

fn narrow(expr: &mut Expr) -> Result<()> {
    if let Some(inner) = added_cast(expr, &ArrowType::Int64) {
        let none = DFSchema::empty();
        let mut inner = inner.clone();
        let side = Side::of(&inner, &none);
        give_type(&mut inner, &side, &DataType::Integer)?;
        *expr = inner.cast_to(&ArrowType::Int32, &none)?;
        return Ok(());
    }
    let value = match expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), _) => i32::try_from(*value).ok(),
        _ => None,
    };
    *expr = Expr::Literal(ScalarValue::Int32(value), None);
    Ok(())
}

/// A column of VALUES that has nothing but small integers is one of integers.
pub(super) fn narrow_values(mut values: Values) -> Result<LogicalPlan> {
    let small = |expr: &Expr| match expr {
        Expr::Literal(ScalarValue::Int64(Some(value)), None) => i32::try_from(*value).is_ok(),
        Expr::Literal(value, None) => value.is_null(),
        other => added_cast(other, &ArrowType::Int64).is_some_and(is_small),
    };
    let is_wide = |at: usize| values.schema.field(at).data_type() == &ArrowType::Int64;
    let columns: Vec<usize> = (0..values.schema.fields().len())
        .filter(|at| is_wide(*at) && values.values.iter().all(|row| row.get(*at).is_some_and(small)))
        .collect();
    if columns.is_empty() {
        return Ok(LogicalPlan::Values(values));
    }
    for row in &mut values.values {
        for at in &columns {
            if let Some(expr) = row.get_mut(*at) {
                narrow(expr)?;
            }
        }
    }
    let fields = values.schema.iter().enumerate().map(|(at, (qualifier, field))| {
        let ty = if columns.contains(&at) { ArrowType::Int32 } else { field.data_type().clone() };
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(ty)))
    });
    let fields = fields.collect::<Vec<_>>();
    values.schema = Arc::new(DFSchema::new_with_metadata(fields, values.schema.metadata().clone())?);
    Ok(LogicalPlan::Values(values))
}
