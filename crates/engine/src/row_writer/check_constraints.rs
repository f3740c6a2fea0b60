//! CHECK constraints, compiled: what every new row of a table is held against before it is written.
//!
//! Their values come from the row alone. A condition that asks for the session, the clock or other rows has no such
//! form and is refused when it is declared (`ddl/check.rs`), so that rows can be checked wherever they are made.

use crate::Session;
use crate::dml::{Exprs, Literal, ParamTypes, Target, has_subquery, literal};
use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, Table};
use query::{QueryError, RowTable};
use sql::ast::{self, Expr, Value};
use std::ops::ControlFlow;
use std::sync::Arc;
use types::{DataType, Datum};

/// The CHECK constraints of a table in the order of their names.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    names: Vec<String>,
    conditions: Exprs,
}

impl Checks {
    /// The first constraint that a row breaks. A condition that is NULL holds, as in PostgreSQL.
    ///
    /// # Errors
    /// Those of evaluating a condition.
    fn broken_by(&self, row: &[Datum]) -> EngineResult<Option<&str>> {
        if self.names.is_empty() {
            return Ok(None);
        }
        let values = self.conditions.eval_alone(row)?;
        let broken = self.names.iter().zip(&values).find(|(_, value)| matches!(value, Datum::Bool(false)));
        Ok(broken.map(|(name, _)| name.as_str()))
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        self.conditions.is_cacheable()
    }
}

impl Target {
    /// Refuses a row that breaks a CHECK constraint.
    ///
    /// # Errors
    /// 23514, and those of evaluating a condition.
    pub(crate) fn check_conditions(&self, row: &[Datum]) -> EngineResult<()> {
        if self.checks.names.len() != self.table.checks.len() {
            return fail(Fault::Internal { detail: "a row is written past the CHECK constraints".to_string() });
        }
        match self.checks.broken_by(row)? {
            None => Ok(()),
            Some(constraint) => fail(Fault::CheckFailed {
                schema: self.schema.clone(),
                table: self.table.name.clone(),
                constraint: constraint.to_string(),
                row: self.row_text(row),
            }),
        }
    }
}

impl Session {
    /// A table whose rows get new states: with its generated columns and CHECK constraints compiled.
    pub(crate) async fn checked_target(&mut self, catalog: &Arc<Catalog>, mut target: Target) -> EngineResult<Target> {
        if target.is_computed {
            target.generated = self.generated_of(catalog, &target.table).await?;
        }
        if target.table.checks.is_empty() {
            return Ok(target);
        }
        let conditions = target.table.checks.iter().map(|check| sql::parse_expr(&check.text));
        let conditions = conditions.collect::<Result<Vec<Expr>, _>>()?;
        let names = target.table.checks.iter().map(|check| check.name.clone()).collect();
        let row = row_of(&target.table);
        target.checks = Checks { names, conditions: self.compile_conditions(catalog, row, &conditions).await? };
        Ok(target)
    }

    /// Compiles conditions of CHECK constraints over rows of a table.
    ///
    /// # Errors
    /// What is wrong with them; 0A000 when they need more than the row.
    pub(crate) async fn compile_conditions(
        &mut self,
        catalog: &Arc<Catalog>,
        row: RowTable,
        conditions: &[Expr],
    ) -> EngineResult<Exprs> {
        let mut typed = Vec::with_capacity(conditions.len());
        for condition in conditions {
            if has_subquery(condition) {
                return fail(Fault::SubqueryInCheck);
            }
            refuse_parameters(condition)?;
            self.engine.planner().check_clause(condition, "check constraints")?;
            typed.push(boolean_constant(condition)?.unwrap_or_else(|| condition.clone()));
        }
        let mut params = ParamTypes::default();
        let compiled = self.exprs_over(catalog, &[row], &typed, &mut params).await?;
        if let Some(odd) = compiled.types().iter().find(|ty| !matches!(ty, DataType::Boolean)) {
            let message = format!("argument of CHECK must be type boolean, not type {}", odd.base_name());
            return Err(QueryError::TypeMismatch { message }.into());
        }
        if compiled.needs_context() {
            let feature = "a CHECK constraint that depends on the session or the time".to_string();
            return fail(Fault::Unsupported { feature });
        }
        Ok(compiled)
    }
}

pub(super) fn refuse_parameters(condition: &Expr) -> EngineResult<()> {
    let found = ast::visit_expressions(condition, |part| match literal(part) {
        Some(Literal::Param(index)) => ControlFlow::Break(index + 1),
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(number) => fail(Fault::NoSuchParameter { number }),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// A row of the table as its constraints name it, hidden columns too.
pub(crate) fn row_of(table: &Table) -> RowTable {
    let columns = table.columns.iter().map(|column| (column.name.clone(), column.ty)).collect();
    RowTable { name: table.name.clone(), columns }
}

/// A constant without a type of its own, read as a boolean.
fn boolean_constant(condition: &Expr) -> EngineResult<Option<Expr>> {
    match condition {
        Expr::Value(value) if !matches!(value.value, Value::Number(..) | Value::Boolean(_)) => {
            Ok(Some(sql::parse_expr(&format!("({condition})::boolean"))?))
        }
        _ => Ok(None),
    }
}
