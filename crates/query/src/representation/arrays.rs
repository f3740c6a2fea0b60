//! ARRAY[…].

use super::common_type::{as_named, unify};
use crate::functions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};
use types::{DataType, ElementType};

/// ARRAY[…]: its elements are of one type, and arrays among them of one size.
pub(super) fn represent_array(mut call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    // Of nothing but empty arrays PostgreSQL makes one.
    if !call.args.is_empty() && call.args.iter().all(is_empty_array) {
        return Ok(Transformed::yes(call.args.swap_remove(0)));
    }
    let ty = unify(&mut call.args.iter_mut().collect::<Vec<_>>(), schema)?;
    let array = Expr::ScalarFunction(call);
    if array.get_type(schema).is_ok_and(|ty| functions::is_nested(&ty)) {
        return Ok(Transformed::yes(functions::even(array)));
    }
    let ty = ty.and_then(|ty| ElementType::of(&ty)).map(DataType::Array);
    Ok(Transformed::yes(as_named(array, ty)))
}

fn is_empty_array(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if call.func.name() == "make_array" && call.args.is_empty())
}
