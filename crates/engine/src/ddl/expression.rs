//! Column defaults in definitions.

use super::default_sequences::takes_value;
use crate::Session;
use crate::error::{EngineError, EngineResult, Fault};
use crate::statement::Written;
use bind::{AssignedTo, Clause};
use sql::WrittenExpr;
use sql::ast::{self, Expr};
use std::ops::ControlFlow;
use types::{DataType, Datum};

/// Refuses a default that cannot be evaluated, or whose value cannot be assigned to the column.
pub(crate) async fn check_default(
    session: &mut Session,
    default: Option<&WrittenExpr>,
    column: &str,
    ty: DataType,
) -> EngineResult<()> {
    let Some(default) = default else { return Ok(()) };
    let assigned = AssignedTo { ty, column: Some(column) };
    if takes_value(&default.expr) {
        refuse_columns(&default.expr, &session.written)?;
        return session.is_volatile(&default.expr, assigned).map(drop);
    }
    // A volatile default is not evaluated: nextval() would take a value, and currval() may have none yet.
    if matches!(session.is_volatile(&default.expr, assigned), Ok(true)) {
        return refuse_columns(&default.expr, &session.written);
    }
    session.evaluate_default(&default.expr, column, ty).await.map(drop)
}

/// Refuses column references in a default, with their position in the statement.
fn refuse_columns(expr: &Expr, written: &Written) -> EngineResult<()> {
    let found = ast::visit_expressions(expr, |part| match part {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ControlFlow::Break(ast::Spanned::span(part)),
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(place) => {
            let error = EngineError::from(Fault::InDefault { what: "column reference" });
            Err(error.at(written.position_of(place.start)))
        }
        ControlFlow::Continue(()) => Ok(()),
    }
}

impl Session {
    /// Evaluates a default.
    pub(crate) async fn evaluate_default(&mut self, expr: &Expr, column: &str, ty: DataType) -> EngineResult<Datum> {
        let value = self.default_value(expr, column, ty).await?;
        if !value.is_null() {
            // Checks that the value can be encoded in a row.
            query::row_codec::encode_cell(column, &ty, &value, &mut Vec::new())?;
        }
        Ok(value)
    }

    async fn default_value(&mut self, expr: &Expr, column: &str, ty: DataType) -> EngineResult<Datum> {
        refuse_columns(expr, &self.written)?;
        self.value_now(expr, Clause::Default, AssignedTo { ty, column: Some(column) }).await
    }
}
