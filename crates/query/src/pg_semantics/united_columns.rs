//! Columns of UNION: of one type on all sides, which constants without a type take.

use super::adapt::{Side, give_type};
use super::common_type::wider;
use crate::error::QueryResult;
use datafusion::common::Result;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Union};
use std::sync::Arc;
use types::DataType;

/// Gives the constants of a UNION the types of the other sides.
///
/// # Errors
/// 42804 for types that do not go together; what is wrong with a constant.
pub(super) fn unite(union: Union) -> Result<Union> {
    let mut wanted = Vec::with_capacity(union.schema.fields().len());
    for at in 0..union.schema.fields().len() {
        wanted.push(column_type(&union, at)?);
    }
    let inputs = union.inputs.into_iter().map(|input| match input.as_ref() {
        LogicalPlan::Projection(projection) if has_constants(projection) => Ok(Arc::new(typed(projection, &wanted)?)),
        _ => Ok(input),
    });
    Ok(Union { inputs: inputs.collect::<Result<_>>()?, schema: union.schema })
}

/// `None` if all sides are without a type.
fn column_type(union: &Union, at: usize) -> QueryResult<Option<DataType>> {
    let mut common: Option<DataType> = None;
    for input in &union.inputs {
        let Side::Known(ty) = side_of(input, at) else { continue };
        common = Some(match common {
            None => ty,
            Some(known) => wider(known, ty, "UNION")?,
        });
    }
    Ok(common)
}

fn side_of(input: &LogicalPlan, at: usize) -> Side {
    match input {
        LogicalPlan::Projection(projection) => match projection.expr.get(at) {
            Some(expr) => Side::of(expr, projection.input.schema()),
            None => Side::Other,
        },
        // Constants of VALUES are not told from texts.
        LogicalPlan::Values(_) => Side::Other,
        input => match input.schema().columns().into_iter().nth(at) {
            Some(column) => Side::of(&Expr::Column(column), input.schema()),
            None => Side::Other,
        },
    }
}

fn has_constants(projection: &Projection) -> bool {
    let schema = projection.input.schema();
    projection.expr.iter().any(|expr| matches!(Side::of(expr, schema), Side::Quoted(_) | Side::Parameter))
}

fn typed(projection: &Projection, wanted: &[Option<DataType>]) -> Result<LogicalPlan> {
    let names = NamePreserver::new_for_projection();
    let mut exprs = projection.expr.clone();
    for (expr, wanted) in exprs.iter_mut().zip(wanted) {
        let side = Side::of(expr, projection.input.schema());
        if let (Some(ty), Side::Quoted(_) | Side::Parameter) = (wanted, &side) {
            let name = names.save(expr);
            let mut constant = std::mem::take(expr).unalias();
            give_type(&mut constant, &side, ty)?;
            *expr = name.restore(constant);
        }
    }
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::clone(&projection.input))?))
}
