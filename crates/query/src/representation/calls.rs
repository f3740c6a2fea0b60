//! Calls of functions of ours: the form that fits the arguments, and arguments of its types.

use super::adapt::{self, Side};
use super::lists::in_list;
use crate::convert::arrow_type;
use crate::error::{QueryError, QueryResult};
use crate::functions::{Argument, SqlFunction, postgres_cast, prints_as_vector, resolve};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, ScalarUDF, lit};
use std::sync::Arc;
use types::DataType;

/// Gives a function of ours arguments of the types that its overload asks for.
pub(super) fn represent_call(mut call: ScalarFunction, schema: &DFSchema) -> QueryResult<Expr> {
    let vector = from_zero(&mut call, schema)?;
    let func = Arc::clone(&call.func);
    let Some(function) = func.inner().downcast_ref::<SqlFunction>() else { return Ok(Expr::ScalarFunction(call)) };
    if function.definition.name == "array_to_string" {
        pad_elements(&mut call.args, schema);
    }
    let sides: Vec<Side> = call.args.iter().map(|arg| Side::of(arg, schema)).collect();
    let arguments: Vec<Argument> = sides.iter().map(Side::argument).collect();
    let chosen = resolve(&function.definition.forms, &arguments)
        .ok_or_else(|| QueryError::internal(format!("no form of {}()", function.definition.name)))?;
    for ((arg, side), ty) in call.args.iter_mut().zip(&sides).zip(&chosen.types) {
        match side {
            Side::Known(DataType::Char(_)) if function.definition.sees_blanks => adapt::pad(arg, side),
            Side::Known(own) => widen(arg, own, ty, schema)?,
            side => adapt::give_type(arg, side, ty)?,
        }
    }
    let telling = function.telling_argument().and_then(|at| call.args.get(at));
    if telling.is_some_and(|arg| !matches!(arg, Expr::Literal(..))) {
        call.func = Arc::new(ScalarUDF::new_from_impl(function.pinned()));
    }
    let call = in_list(&call)?.unwrap_or(Expr::ScalarFunction(call));
    Ok(if vector == Vector::Bound { call - lit(1_i32) } else { call })
}

/// Elements of an array that is only made to be shown.
fn pad_elements(args: &mut [Expr], schema: &DFSchema) {
    if let Some(Expr::ScalarFunction(array)) = args.first_mut()
        && array.func.name() == "make_array"
    {
        for element in &mut array.args {
            let side = Side::of(element, schema);
            adapt::pad(element, &side);
        }
    }
}

/// What a call asks of a vector, whose subscripts begin with 0.
#[derive(PartialEq, Eq)]
enum Vector {
    /// Its first or last subscript.
    Bound,
    Other,
}

/// Vectors of catalogs are kept as arrays, whose subscripts begin with 1.
fn from_zero(call: &mut ScalarFunction, schema: &DFSchema) -> Result<Vector> {
    let Some((array, places)) = call.args.split_first_mut() else { return Ok(Vector::Other) };
    if !matches!(array, Expr::Column(_) | Expr::OuterReferenceColumn(..))
        || !prints_as_vector(&array.to_field(schema)?.1)
    {
        return Ok(Vector::Other);
    }
    match call.func.name() {
        "array_lower" | "array_upper" => return Ok(Vector::Bound),
        "array subscript" | "array slice" => {
            for place in places {
                *place = std::mem::take(place) + lit(1_i32);
            }
        }
        _ => {}
    }
    Ok(Vector::Other)
}

/// An implicit cast. Decimals are taken as they come.
fn widen(arg: &mut Expr, own: &DataType, ty: &DataType, schema: &DFSchema) -> QueryResult<()> {
    let both_numeric = matches!((own, ty), (DataType::Numeric(_), DataType::Numeric(None)));
    let arrays = matches!((own, ty), (DataType::Array(own), DataType::Array(ty)) if own == ty);
    if both_numeric || arrays || arrow_type(own) == arrow_type(ty) {
        return Ok(());
    }
    let (_, from) = arg.to_field(schema)?;
    let taken = std::mem::take(arg);
    *arg = match postgres_cast(&taken, &from, ty) {
        Some(cast) => cast,
        None => Expr::Cast(Cast::new(Box::new(taken), arrow_type(ty))),
    };
    Ok(())
}
