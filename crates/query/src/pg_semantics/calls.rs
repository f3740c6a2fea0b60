//! Calls of functions of ours: the form that fits the arguments, and arguments of its types.

use super::adapt::{self, Side};
use super::lists::in_list;
use super::named_columns::needs_name;
use crate::Refusal;
use crate::convert::arrow_type;
use crate::error::QueryResult;
use crate::functions::{Argument, SqlFunction, no_such_function, postgres_cast, prints_as_vector, resolve};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, ScalarUDF, lit};
use std::sync::Arc;
use types::DataType;

/// Gives a function of ours arguments of the types that its overload asks for.
pub(super) fn settle_call(mut call: ScalarFunction, schema: &DFSchema) -> QueryResult<Expr> {
    let vector = from_zero(&mut call, schema)?;
    let func = Arc::clone(&call.func);
    let Some(function) = func.inner().downcast_ref::<SqlFunction>() else { return Ok(Expr::ScalarFunction(call)) };
    if function.definition.name == "array_to_string" {
        pad_elements(&mut call.args, schema);
    }
    let sides: Vec<Side> = call.args.iter().map(|arg| Side::of(arg, schema)).collect();
    refuse_untyped(function.definition.name, &sides)?;
    let arguments: Vec<Argument> = sides.iter().map(Side::argument).collect();
    let chosen = resolve(&function.definition.forms, &arguments).ok_or_else(|| {
        let names: Vec<String> = sides.iter().map(Side::name).collect();
        no_such_function(function.definition.name, &names)
    })?;
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

/// Functions of moments and of other things, asked of a constant that may be any of them.
fn refuse_untyped(name: &str, sides: &[Side]) -> QueryResult<()> {
    let subject = match name {
        "extract" | "date_part" => sides.get(1),
        "to_char" => sides.first(),
        _ => None,
    };
    if !matches!(subject, Some(Side::Quoted(_))) {
        return Ok(());
    }
    let schema = if name == "extract" { "pg_catalog." } else { "" };
    let types: Vec<String> = sides.iter().map(Side::name).collect();
    let message = format!("function {schema}{name}({}) is not unique", types.join(", "));
    Err(Refusal::AmbiguousOperator.because(message))
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

/// `pg_typeof` of a type that its Arrow type does not tell: operators drop the name on its way.
pub(super) fn name_of_type(call: &ScalarFunction, schema: &DFSchema) -> Option<Expr> {
    let [value] = call.args.as_slice() else { return None };
    match Side::of(value, schema) {
        Side::Known(ty) if call.func.name() == "pg_typeof" && needs_name(&ty) => Some(lit(ty.base_name())),
        _ => None,
    }
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
