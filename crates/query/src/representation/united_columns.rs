//! Columns of UNION: the binder has cast them to one type on all sides; their limits and what may be NULL are the sides' together.

use super::adapt::Side;
use super::common_type::without_limits;
use crate::functions::labelled;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Union};
use datafusion::optimizer::analyzer::type_coercion::coerce_union_schema;
use std::sync::Arc;
use types::DataType;

/// Gives the columns of a UNION one type on all sides.
///
/// # Errors
/// None of a lowered plan.
pub(super) fn unite(union: Union) -> Result<Union> {
    let wanted: Vec<Option<DataType>> = (0..union.schema.fields().len()).map(|at| column_type(&union, at)).collect();
    let inputs = union.inputs.into_iter().map(|input| fit(input, &wanted)).collect::<Result<Vec<_>>>()?;
    let common = coerce_union_schema(&inputs)?;
    let fields = union.schema.iter().zip(common.fields()).map(|((qualifier, field), common)| {
        let (ty, nullable) = (common.data_type().clone(), common.is_nullable());
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(ty).with_nullable(nullable)))
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), union.schema.metadata().clone())?;
    Ok(Union { inputs, schema: Arc::new(schema) })
}

/// `None` if all sides are without a type.
fn column_type(union: &Union, at: usize) -> Option<DataType> {
    let known = union.inputs.iter().filter_map(|input| match Side::of_field(input.schema().field(at)) {
        Side::Known(ty) => Some(ty),
        _ => None,
    });
    known.reduce(without_limits)
}

/// The input whose moments say of how many digits they are in all sides together.
fn fit(input: Arc<LogicalPlan>, wanted: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    let columns = input.schema().columns().into_iter().zip(input.schema().fields()).zip(wanted);
    let mut changed = false;
    let fitted = columns.map(|((column, field), wanted)| match (Side::of_field(field), wanted) {
        (Side::Known(own), Some(ty)) if own != *ty && is_moment(ty) => {
            changed = true;
            labelled(Expr::Column(column.clone()), *ty).alias_qualified(column.relation, column.name)
        }
        _ => Expr::Column(column),
    });
    let fitted: Vec<Expr> = fitted.collect();
    if !changed {
        return Ok(input);
    }
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(fitted, input)?)))
}

fn is_moment(ty: &DataType) -> bool {
    matches!(ty, DataType::Time(_) | DataType::Timestamp(_) | DataType::TimestampTz(_))
}
