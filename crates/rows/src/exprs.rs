//! Expressions over rows in memory, without a query: new values, conditions and RETURNING of statements that write.

use crate::expr::columns::has_subquery;
use crate::expr::{Frame, RowExpr, Scope, Stop, Values};
use crate::plan::Compiler;
use crate::{Functions, Options, RowsError, RowsResult, WhyNot};
use bind::tree::{Bound, ColId, Scalar};
use builtins::Env;
use types::Datum;

/// Compiled expressions.
#[derive(Debug)]
pub struct Exprs {
    exprs: Vec<RowExpr>,
}

/// Compiles expressions of a statement over rows with these columns.
///
/// # Errors
/// Expressions that row programs do not support: subqueries, and functions without an implementation.
pub fn compile_exprs<'s>(
    bound: &Bound,
    scalars: impl Iterator<Item = &'s Scalar>,
    cols: &[ColId],
    functions: &dyn Functions,
) -> Result<Exprs, WhyNot> {
    let mut compiler = Compiler::new(bound, functions, Options::default(), &[]);
    let scope = Scope { cols };
    let exprs = scalars.map(|scalar| match has_subquery(scalar) {
        true => Err(WhyNot::Expression { what: "subquery over a row at hand" }),
        false => compiler.expr(scalar, &scope),
    });
    Ok(Exprs { exprs: exprs.collect::<Result<_, WhyNot>>()? })
}

impl Exprs {
    /// Evaluates all expressions for a row.
    ///
    /// # Errors
    /// Errors of functions and casts.
    pub fn eval(&self, env: &Env, params: &[Datum], row: &[Datum]) -> RowsResult<Vec<Datum>> {
        let values = Values { env, params, outer: Vec::new(), answers: Vec::new() };
        let frame = Frame { row, values: &values };
        let value = |expr: &RowExpr| match expr.eval(&frame) {
            Ok(value) => Ok(value.into_owned()),
            Err(Stop::Error(error)) => Err(error.into()),
            Err(Stop::Subquery(_)) => Err(RowsError::internal("a subquery over a row at hand")),
        };
        self.exprs.iter().map(value).collect()
    }
}
