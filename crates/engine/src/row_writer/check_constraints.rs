//! Compiled CHECK constraints, which every new row of a table must satisfy before it is written.
//!
//! They depend on the row alone. A condition that depends on the session, the clock or other rows is rejected when it
//! is declared (`ddl/check.rs`), so that rows can be checked wherever they are built.

use crate::Session;
use crate::dml::{Exprs, RowTable, Target};
use crate::error::{EngineResult, Fault, fail};
use bind::Clause;
use catalog::Catalog;
use sql::ast::Expr;
use std::sync::Arc;
use types::Datum;

/// The CHECK constraints of a table in name order.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    names: Vec<String>,
    conditions: Exprs,
}

impl Checks {
    /// The first constraint that a row violates. A condition that is NULL is satisfied, as in PostgreSQL.
    ///
    /// # Errors
    /// Evaluation errors.
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
    /// Rejects a row that violates a CHECK constraint.
    ///
    /// # Errors
    /// 23514; evaluation errors.
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
    /// Compiles the generated columns and CHECK constraints of a target whose rows get new values.
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
    /// Errors in the conditions; 0A000 if one depends on more than the row.
    pub(crate) async fn compile_conditions(
        &mut self,
        catalog: &Arc<Catalog>,
        row: &RowTable,
        conditions: &[Expr],
    ) -> EngineResult<Exprs> {
        let compiled = self.exprs_over(catalog, row, conditions, Clause::Check).await?;
        if compiled.depends_on_session() {
            let feature = "a CHECK constraint that depends on the session or the time".to_string();
            return fail(Fault::Unsupported { feature });
        }
        if compiled.waits() {
            return fail(Fault::Unsupported { feature: "a CHECK constraint that waits".to_string() });
        }
        Ok(compiled)
    }
}
