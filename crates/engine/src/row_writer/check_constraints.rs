//! CHECK constraints, compiled: what every new row of a table is held against before it is written.
//!
//! Their values come from the row alone. A condition that asks for the session, the clock or other rows has no such
//! form and is refused when it is declared (`ddl/check.rs`), so that rows can be checked wherever they are made.

use crate::Session;
use crate::dml::{Exprs, RowTable, Target};
use crate::error::{EngineResult, Fault, fail};
use bind::Clause;
use catalog::Catalog;
use sql::ast::Expr;
use std::sync::Arc;
use types::Datum;

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
        let row = RowTable::of(&target.table);
        target.checks = Checks { names, conditions: self.compile_conditions(catalog, &row, &conditions).await? };
        Ok(target)
    }

    /// Compiles conditions of CHECK constraints over rows of a table.
    ///
    /// # Errors
    /// What is wrong with them; 0A000 when they need more than the row.
    pub(crate) async fn compile_conditions(
        &mut self,
        catalog: &Arc<Catalog>,
        row: &RowTable,
        conditions: &[Expr],
    ) -> EngineResult<Exprs> {
        let compiled = self.exprs_over(catalog, row, conditions, Clause::Check).await?;
        if compiled.asks_session() {
            let feature = "a CHECK constraint that depends on the session or the time".to_string();
            return fail(Fault::Unsupported { feature });
        }
        Ok(compiled)
    }
}
