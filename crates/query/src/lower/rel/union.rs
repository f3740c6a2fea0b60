//! Columns of UNION: the binder has cast all sides to one type; type modifiers and nullability are combined here.

use crate::convert::sql_type_of;
use crate::functions::{labelled, postgres_cast};
use crate::lower::error::LowerResult;
use crate::lower::scalar::one_type::without_limits;
use arrow::datatypes::Field;
use datafusion::common::{Column, DFSchema};
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Union};
use datafusion::optimizer::analyzer::type_coercion::coerce_union_schema;
use std::sync::Arc;
use types::DataType;

/// UNION ALL of sides whose columns have the same names.
pub(in crate::lower) fn union_all(sides: Vec<LogicalPlan>) -> LowerResult<LogicalPlan> {
    let types = |side: &LogicalPlan| side.schema().fields().iter().map(|field| known_type(field)).collect::<Vec<_>>();
    let wanted = sides.iter().map(types).reduce(|wanted, side| {
        let both = wanted.into_iter().zip(side).map(|types| match types {
            (Some(left), Some(right)) => Some(common_type(left, right)),
            (left, right) => left.or(right),
        });
        both.collect()
    });
    let wanted = wanted.unwrap_or_default();
    let inputs = sides.into_iter().map(|side| fitted(side, &wanted)).collect::<LowerResult<Vec<_>>>()?;
    let common = coerce_union_schema(&inputs)?;
    let union = Union::try_new_with_loose_types(inputs)?;
    let fields = union.schema.iter().zip(common.fields()).map(|((qualifier, field), common)| {
        let (ty, nullable) = (common.data_type().clone(), common.is_nullable());
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(ty).with_nullable(nullable)))
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), union.schema.metadata().clone())?;
    Ok(LogicalPlan::Union(Union { inputs: union.inputs, schema: Arc::new(schema) }))
}

fn known_type(field: &Field) -> Option<DataType> {
    sql_type_of(field).filter(|_| !field.data_type().is_null())
}

/// The type of a `char(n)` beside another text is that of the first side.
fn common_type(left: DataType, right: DataType) -> DataType {
    match (left, right) {
        (DataType::Char(length), right) if !matches!(right, DataType::Char(_)) => DataType::Char(length),
        (left, DataType::Char(_)) if !matches!(left, DataType::Char(_)) => DataType::Text,
        (left, right) => without_limits(left, right),
    }
}

fn fitted(side: LogicalPlan, wanted: &[Option<DataType>]) -> LowerResult<Arc<LogicalPlan>> {
    let mut changed = false;
    let columns = side.schema().columns().into_iter().zip(side.schema().fields()).zip(wanted);
    let columns = columns.map(|((column, field), wanted)| {
        let fit = wanted.as_ref().and_then(|wanted| fit(&column, field, wanted));
        changed |= fit.is_some();
        match fit {
            Some(fit) => fit.alias_qualified(column.relation, column.name),
            None => Expr::Column(column),
        }
    });
    let columns: Vec<Expr> = columns.collect();
    Ok(Arc::new(match changed {
        true => LogicalPlan::Projection(Projection::try_new(columns, Arc::new(side))?),
        false => side,
    }))
}

/// Converts the column to `wanted`; `None` if no conversion is needed.
fn fit(column: &Column, field: &Field, wanted: &DataType) -> Option<Expr> {
    let own = known_type(field)?;
    let value = Expr::Column(column.clone());
    match (own, wanted) {
        (own, wanted) if own == *wanted => None,
        (DataType::Char(_), DataType::Char(_)) => Some(labelled(value, *wanted)),
        (_, DataType::Char(_)) => Some(labelled(rtrim().call(vec![value]), *wanted)),
        (DataType::Char(_), wanted) => postgres_cast(&value, field, wanted),
        // Only one side has a precision of fractional seconds.
        (own, wanted) if own.is_temporal() && own.without_digits() == wanted.without_digits() => {
            Some(labelled(value, *wanted))
        }
        _ => None,
    }
}
