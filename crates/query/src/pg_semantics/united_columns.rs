//! Columns of UNION, INTERSECT, EXCEPT and VALUES: of one type on all sides, which constants without a type take.

use super::adapt::{Side, give_type};
use super::common_type::{convert, unify, wider};
use super::types::is_written;
use crate::convert::{arrow_type, sql_type};
use crate::error::QueryResult;
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, JoinType, NullEquality, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Distinct, Expr, ExprSchemable, Join, LogicalPlan, Projection, SubqueryAlias, Union, Values,
};
use datafusion::optimizer::analyzer::type_coercion::coerce_union_schema;
use std::sync::Arc;
use types::DataType;

/// Gives the columns of a UNION one type on all sides.
///
/// # Errors
/// 42804 for types that do not go together; what is wrong with a constant.
pub(super) fn unite(union: Union) -> Result<Union> {
    let mut wanted = Vec::with_capacity(union.schema.fields().len());
    for at in 0..union.schema.fields().len() {
        wanted.push(column_type(&union, at)?);
    }
    let inputs = union.inputs.into_iter().map(|input| fit(input, &wanted)).collect::<Result<Vec<_>>>()?;
    // Sides have got types since the planner made the union.
    let common = coerce_union_schema(&inputs)?;
    let fields = union.schema.iter().zip(common.fields()).map(|((qualifier, field), common)| {
        let (ty, nullable) = (common.data_type().clone(), common.is_nullable());
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(ty).with_nullable(nullable)))
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), union.schema.metadata().clone())?;
    Ok(Union { inputs, schema: Arc::new(schema) })
}

/// Gives the rows of INTERSECT and EXCEPT, which the planner makes joins of, columns of one type on both sides.
///
/// # Errors
/// As [`unite`].
pub(super) fn match_sides(mut join: Join) -> Result<Join> {
    let what = match join.join_type {
        JoinType::LeftSemi => "INTERSECT",
        JoinType::LeftAnti => "EXCEPT",
        _ => return Ok(join),
    };
    let (left, right) = (rows_of(&join.left), rows_of(&join.right));
    if join.null_equality != NullEquality::NullEqualsNull
        || left.schema().fields().len() != right.schema().fields().len()
    {
        return Ok(join);
    }
    let mut wanted = Vec::with_capacity(left.schema().fields().len());
    for at in 0..left.schema().fields().len() {
        wanted.push(match (side_of(&left, at), side_of(&right, at)) {
            (Side::Known(a), Side::Known(b)) => Some(wider(a, b, what)?),
            (Side::Known(ty), _) | (_, Side::Known(ty)) => Some(ty),
            _ => None,
        });
    }
    join.left = fit_rows(join.left, &wanted)?;
    join.right = fit_rows(join.right, &wanted)?;
    Ok(join)
}

/// What a side had as rows before they were made distinct or numbered.
fn rows_of(side: &Arc<LogicalPlan>) -> Arc<LogicalPlan> {
    match side.as_ref() {
        LogicalPlan::Distinct(Distinct::All(input)) => rows_of(input),
        LogicalPlan::Window(window) => rows_of(&window.input),
        // Of sides whose columns have the same names the planner makes two tables.
        LogicalPlan::SubqueryAlias(alias) => rows_of(&alias.input),
        _ => Arc::clone(side),
    }
}

fn fit_rows(side: Arc<LogicalPlan>, wanted: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    match side.as_ref() {
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let input = fit_rows(Arc::clone(input), wanted)?;
            Ok(Arc::new(LogicalPlan::Distinct(Distinct::All(input))))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let input = fit_rows(Arc::clone(&alias.input), wanted)?;
            Ok(Arc::new(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(input, alias.alias.clone())?)))
        }
        // Numbers are given by columns that stay what they are.
        LogicalPlan::Window(_) => Ok(side),
        _ => fit(side, wanted),
    }
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
        LogicalPlan::Values(values) => match values.schema.field(at).data_type() {
            ArrowType::Utf8 => Side::Other,
            ty => sql_type(ty).map_or(Side::Other, Side::Known),
        },
        input => match input.schema().columns().into_iter().nth(at) {
            Some(column) => Side::of(&Expr::Column(column), input.schema()),
            None => Side::Other,
        },
    }
}

/// The input with constants and floats of the wanted types.
fn fit(input: Arc<LogicalPlan>, wanted: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    let (below, exprs) = match input.as_ref() {
        LogicalPlan::Projection(projection) => (Arc::clone(&projection.input), projection.expr.clone()),
        other => (Arc::clone(&input), other.schema().columns().into_iter().map(Expr::Column).collect()),
    };
    let names = NamePreserver::new_for_projection();
    let mut changed = false;
    let mut fitted = Vec::with_capacity(exprs.len());
    for (expr, wanted) in exprs.into_iter().zip(wanted) {
        let mut value = expr.clone().unalias();
        if let Some(ty) = wanted {
            match Side::of(&value, below.schema()) {
                side @ (Side::Quoted(_) | Side::Parameter) => give_type(&mut value, &side, ty)?,
                Side::Known(own) if is_float(ty) || is_clock(ty) => convert(&mut value, &own, ty),
                _ => {}
            }
        }
        if value == expr.clone().unalias() {
            fitted.push(expr);
            continue;
        }
        changed = true;
        fitted.push(names.save(&expr).restore(value));
    }
    if !changed {
        return Ok(input);
    }
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(fitted, below)?)))
}

fn is_clock(ty: &DataType) -> bool {
    matches!(ty, DataType::Time(_) | DataType::Timestamp(_) | DataType::TimestampTz(_))
}

fn is_float(ty: &DataType) -> bool {
    matches!(ty, DataType::Real | DataType::Double)
}

/// Makes floats of a column of VALUES that has floats and decimals: the planner made decimals of them.
///
/// # Errors
/// What [`unify`] gives.
pub(super) fn unite_values(mut values: Values) -> Result<Values> {
    let none = DFSchema::empty();
    let mut types = Vec::with_capacity(values.schema.fields().len());
    for (at, field) in values.schema.fields().iter().enumerate() {
        let ty = field.data_type();
        types.push(ty.clone());
        let mut column: Vec<&mut Expr> = values.values.iter_mut().filter_map(|row| row.get_mut(at)).collect();
        let floats = |value: &&mut Expr| added_cast(value, ty).is_some_and(|inner| is_floating(inner, &none));
        if !ty.is_decimal() || !column.iter().any(floats) {
            continue;
        }
        for value in &mut column {
            if let Some(inner) = added_cast(value, ty) {
                **value = inner.clone();
            }
        }
        if let (Some(common), Some(last)) = (unify(&mut column, "VALUES", &none)?, types.last_mut()) {
            *last = arrow_type(&common);
            for value in column {
                *value = std::mem::take(value).cast_to(last, &none)?;
            }
        }
    }
    let fields = values
        .schema
        .iter()
        .zip(types)
        .map(|((qualifier, field), ty)| (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(ty))));
    values.schema = Arc::new(DFSchema::new_with_metadata(fields.collect(), values.schema.metadata().clone())?);
    Ok(values)
}

/// What the planner cast to a column's type.
pub(super) fn added_cast<'a>(value: &'a Expr, column: &ArrowType) -> Option<&'a Expr> {
    match value {
        Expr::Cast(cast) if !is_written(cast) && cast.field.data_type() == column => Some(&cast.expr),
        _ => None,
    }
}

fn is_floating(value: &Expr, schema: &DFSchema) -> bool {
    value.get_type(schema).is_ok_and(|ty| ty.is_floating())
}
