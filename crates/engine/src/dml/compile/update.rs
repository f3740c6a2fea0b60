//! UPDATE and DELETE.

use super::Writing;
use super::returning::joined_columns;
use super::value::{AssignableColumns, value_of};
use crate::Session;
use crate::dml::delete::DeleteProgram;
use crate::dml::target::Target;
use crate::dml::update::{Rows, UpdateProgram};
use crate::error::EngineResult;
use bind::tree::{ColId, Update};
use query::OutputColumn;

impl Session {
    pub(super) async fn update_program(
        &mut self,
        writing: &Writing<'_>,
        target: Target,
        update: &Update,
    ) -> EngineResult<UpdateProgram> {
        let mut computed = Vec::new();
        let rows = AssignableColumns { own: &update.target.old.cols, ..AssignableColumns::default() };
        let mut assignments = Vec::with_capacity(update.set.len());
        for (at, new) in &update.set {
            assignments.push((*at, value_of(&target, *at, new, rows, &mut computed)?));
        }
        let written = &update.target.written;
        let joined = joined_columns(&update.returning, written);
        let rows = self.bound_rows(writing, &target, update, &computed, &joined).await?;
        let joined = described(&joined, &rows, &target, computed.len());
        let returning = self.bound_returning(writing, &target, &update.returning, written, &joined).await?;
        let computed = computed.len();
        Ok(UpdateProgram { target, assignments, rows, computed, returning })
    }

    pub(super) async fn delete_program(
        &mut self,
        writing: &Writing<'_>,
        target: Target,
        delete: &Update,
    ) -> EngineResult<DeleteProgram> {
        let written = &delete.target.written;
        let joined = joined_columns(&delete.returning, written);
        let rows = self.bound_rows(writing, &target, delete, &[], &joined).await?;
        let joined = described(&joined, &rows, &target, 0);
        let returning = self.bound_returning(writing, &target, &delete.returning, written, &joined).await?;
        Ok(DeleteProgram { target, rows, returning })
    }
}

/// Describes the joined columns, which follow `computed` computed columns in the row set.
fn described<'r>(joined: &[ColId], rows: &'r Rows, target: &Target, computed: usize) -> Vec<(ColId, &'r OutputColumn)> {
    joined.iter().copied().zip(rows.columns_behind(target, computed)).collect()
}
