//! CHECK constraints over columns that ALTER COLUMN … TYPE changes.
//!
//! As in PostgreSQL, a condition keeps the constants, with their types, and the casts that it has for the old types, and
//! is bound again for the new ones: `d > '2003-01-02'` of a date becomes `d > '2003-01-02'::date`.

use super::step::{Step, apply};
use crate::Session;
use crate::dml::RowTable;
use crate::error::EngineResult;
use bind::Environment;
use catalog::{Check, ColumnId, Table};
use sql::WrittenExpr;
use std::sync::Arc;

impl Session {
    /// The conditions over retyped columns, by the names of their constraints.
    ///
    /// # Errors
    /// Errors of binding with the new types, such as 42883 for an operator that does not accept one. NOT VALID makes no
    /// difference: the condition holds for new rows.
    pub(super) async fn retyped_check_texts(
        &mut self,
        table: &Table,
        steps: &[Step],
    ) -> EngineResult<Vec<(String, String)>> {
        if table.checks.is_empty() || !steps.iter().any(|step| matches!(step, Step::SetType(..))) {
            return Ok(Vec::new());
        }
        let catalog = self.engine.catalog().current();
        let mut draft = self.trial_draft(&catalog);
        for step in steps {
            apply(&mut draft, table.oid, step.clone())?;
        }
        let wanted = draft.table(table.oid)?;
        let before = Arc::new(with_old_types(&wanted, table));
        let retyped = |id: &ColumnId| match (before.column(*id), wanted.column(*id)) {
            (Some(old), Some(new)) => old.ty != new.ty,
            _ => false,
        };
        let mut texts = Vec::new();
        for check in wanted.checks.iter().filter(|check| check.columns.iter().any(retyped)) {
            let text = self.typed_condition(&before, check)?;
            let expr = sql::parse_expr(&text)?;
            self.compile_conditions(&catalog, &RowTable::of(&wanted), std::slice::from_ref(&expr)).await?;
            texts.push((check.name.clone(), text));
        }
        Ok(texts)
    }

    /// The condition with the types of all constants and casts; as it is stored if it has a form that cannot be printed.
    fn typed_condition(&self, table: &Arc<Table>, check: &Check) -> EngineResult<String> {
        let expr = sql::parse_expr(&check.text)?;
        let rules = self.time_zone();
        let bound = bind::bind_table_expression(table, &expr, &Environment { text: &check.text, rules: &rules });
        let Some(text) = bound.ok().and_then(|bound| bind::deparse(&bound, table, false)) else {
            return Ok(check.text.clone());
        };
        Ok(WrittenExpr { expr: sql::parse_expr(&text)?, text }.without_parentheses().text)
    }
}

/// The table after ALTER TABLE with the types that its columns had before.
fn with_old_types(wanted: &Table, old: &Table) -> Table {
    let mut table = wanted.clone();
    for column in &mut table.columns {
        if let Some(old) = old.column(column.id) {
            column.ty = old.ty;
        }
    }
    table
}
