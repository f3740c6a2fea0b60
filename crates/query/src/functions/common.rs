//! `coalesce`, `greatest` and `least`: DataFusion's own, except for types that it does not compare as PostgreSQL does.

use crate::functions::choice::first_known;
use crate::functions::sql::{Body, Form, call_form};
use datafusion::functions::core;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ScalarUDF};
use std::cmp::Ordering;
use std::sync::Arc;
use types::{DataType, Datum};

/// Returns the first value that is not NULL.
pub(crate) fn coalesce(args: Vec<Expr>) -> Expr {
    first_known(&args).unwrap_or_else(|| own(core::coalesce(), args))
}

/// Returns the largest or smallest value, ignoring NULLs.
pub(crate) fn extreme(max: bool, ty: DataType, args: Vec<Expr>) -> Expr {
    let by_bits = ty.is_bytes() || matches!(ty, DataType::Interval | DataType::Array(_));
    match (max, by_bits) {
        (true, false) => own(core::greatest(), args),
        (false, false) => own(core::least(), args),
        (true, true) => compared("chosen greatest", ty, |args| Ok(chosen(args, Ordering::Greater)), args),
        (false, true) => compared("chosen least", ty, |args| Ok(chosen(args, Ordering::Less)), args),
    }
}

fn own(function: Arc<ScalarUDF>, args: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(function, args))
}

fn compared(name: &'static str, ty: DataType, body: Body, args: Vec<Expr>) -> Expr {
    call_form(name, Form { types: vec![ty; args.len()], returns: ty, strict: false, body }, args)
}

/// Returns the first of the largest or smallest values, ignoring NULLs.
fn chosen(args: &[Datum], beyond: Ordering) -> Datum {
    let known = args.iter().filter(|value| !value.is_null());
    let best = known.reduce(|best, value| if types::compare::compare(value, best) == beyond { value } else { best });
    best.cloned().unwrap_or(Datum::Null)
}
