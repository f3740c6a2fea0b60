//! Local times that meet moments in rows: UNION, `IN (SELECT …)`, USING.

use super::in_zone::Place;
use crate::convert::arrow_type;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Projection, Subquery, Union};
use std::sync::Arc;
use types::DataType;

/// A UNION whose sides give moments wherever one of them does.
pub(super) fn zoned_union(union: Union, place: &Place<'_>) -> Result<Union> {
    let moments: Vec<bool> = (0..union.schema.fields().len())
        .map(|at| union.inputs.iter().any(|input| place.within(input.schema()).is_moment_at(at)))
        .collect();
    if !moments.contains(&true) {
        return Ok(union);
    }
    let inputs = union.inputs.into_iter().map(|input| as_moments(input, &moments, place)).collect::<Result<_>>()?;
    let fields = union.schema.iter().zip(&moments).map(|((qualifier, field), moment)| {
        let ty = if *moment { arrow_type(&DataType::TimestampTz(None)) } else { field.data_type().clone() };
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(ty)))
    });
    let metadata = union.schema.metadata().clone();
    let schema = DFSchema::new_with_metadata(fields.collect(), metadata)?;
    Ok(Union { inputs, schema: Arc::new(schema) })
}

/// `x IN (SELECT y …)` with a moment and a local time.
pub(super) fn zoned_within(within: InSubquery, place: &Place<'_>) -> Result<InSubquery> {
    let InSubquery { expr, subquery, negated } = within;
    let rows = place.within(subquery.subquery.schema());
    if rows.is_moment_at(0) {
        return Ok(InSubquery::new(Box::new(place.as_moment(*expr)), subquery, negated));
    }
    if !place.is_moment(&expr) {
        return Ok(InSubquery::new(expr, subquery, negated));
    }
    let plan = as_moments(Arc::clone(&subquery.subquery), &[true], place)?;
    Ok(InSubquery::new(expr, Subquery { subquery: plan, ..subquery }, negated))
}

/// A join whose equal columns are moments on both sides or on none.
pub(super) fn zoned_join(mut join: Join, place: &Place<'_>) -> Join {
    for (left, right) in &mut join.on {
        if place.is_moment(left) != place.is_moment(right) {
            *left = place.as_moment(std::mem::take(left));
            *right = place.as_moment(std::mem::take(right));
        }
    }
    join
}

/// The rows of `plan` with moments where `wanted` says so.
fn as_moments(plan: Arc<LogicalPlan>, wanted: &[bool], place: &Place<'_>) -> Result<Arc<LogicalPlan>> {
    let place = place.within(plan.schema());
    let mut changed = false;
    let exprs = plan.schema().columns().into_iter().zip(wanted).map(|(column, wanted)| {
        let (relation, name) = (column.relation.clone(), column.name.clone());
        let value = Expr::Column(column);
        let moment = if *wanted { place.as_moment(value.clone()) } else { value.clone() };
        if moment == value {
            return value;
        }
        changed = true;
        moment.alias_qualified(relation, name)
    });
    let exprs = exprs.collect();
    if changed { Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(exprs, plan)?))) } else { Ok(plan) }
}
