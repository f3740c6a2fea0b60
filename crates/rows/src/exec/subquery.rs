//! Runs subqueries, and memoizes their rows by the outer values that they depend on.

use super::Run;
use crate::expr::{Frame, Row, RowExpr, Stop};
use crate::{RowsError, RowsResult};
use std::sync::Arc;
use types::Datum;

impl Run<'_> {
    /// Runs a subquery for a row, or reuses its rows for equal outer values.
    pub(super) async fn answer(&mut self, number: usize, row: &[Datum]) -> RowsResult<()> {
        let program = self.program;
        let Some(plan) = program.subqueries.get(number) else { return Err(RowsError::internal("no such subquery")) };
        let outer = self.set_outer(&plan.free, row)?;
        let Some(memo) = self.memo.get(number) else { return Err(RowsError::internal("no memo of a subquery")) };
        let rows = match memo.get(outer) {
            Ok(rows) => rows,
            Err(missing) => {
                // Expressions within the subquery overwrite results; those of this row are restored.
                let answers = self.values.answers.clone();
                let rows = Arc::new(self.collect(&plan.node, plan.most).await?);
                self.values.answers = answers;
                if plan.one && rows.len() > 1 {
                    return Err(RowsError::MoreThanOneRow);
                }
                if let Some(memo) = self.memo.get_mut(number).filter(|_| plan.memo) {
                    memo.insert(missing, &rows);
                }
                rows
            }
        };
        if let Some(place) = self.values.answers.get_mut(number) {
            *place = Some(rows);
        }
        Ok(())
    }

    /// Sets the outer columns; returns their values.
    pub(super) fn set_outer(&mut self, free: &[(RowExpr, usize)], row: &[Datum]) -> RowsResult<Row> {
        let mut values = Vec::with_capacity(free.len());
        for (place, slot) in free {
            let value = match place.eval(&Frame { row, values: &self.values }) {
                Ok(value) => value.into_owned(),
                Err(Stop::Error(error)) => return Err(error.into()),
                Err(Stop::Subquery(_)) => return Err(RowsError::internal("an outer column that is a subquery")),
            };
            if let Some(slot) = self.values.outer.get_mut(*slot) {
                slot.clone_from(&value);
            }
            values.push(value);
        }
        Ok(values)
    }
}
