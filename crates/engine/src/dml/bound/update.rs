//! UPDATE and DELETE.

use super::Writing;
use super::returning::joined_columns;
use super::value::{AtHand, value_of};
use crate::Session;
use crate::dml::delete::DeleteProgram;
use crate::dml::target::Target;
use crate::dml::update::{Rows, UpdateProgram};
use crate::error::EngineResult;
use bind::tree::{ColId, Update};
use query::OutputColumn;

impl Session {
    /// `None`: it has a part that is not built.
    pub(super) async fn update_program(
        &mut self,
        writing: &Writing<'_>,
        target: Target,
        update: &Update,
    ) -> EngineResult<Option<UpdateProgram>> {
        // Rows that move to other keys and do not fit into memory are changed by the way of the syntax.
        let moves = |(at, _): &(usize, _)| {
            target.column(*at).is_some_and(|column| target.table.key_position(column.id).is_some())
        };
        if update.set.iter().any(moves) {
            return Ok(None);
        }
        let mut computed = Vec::new();
        let rows = AtHand { own: &update.target.old.cols, ..AtHand::default() };
        let mut assignments = Vec::with_capacity(update.set.len());
        for (at, new) in &update.set {
            assignments.push((*at, value_of(&target, *at, new, rows, &mut computed)?));
        }
        let written = &update.target.written;
        let joined = joined_columns(&update.returning, written);
        let Some(rows) = self.bound_rows(writing, &target, update, &computed, &joined).await? else { return Ok(None) };
        let joined = described(&joined, &rows, &target, computed.len());
        let returning = self.bound_returning(writing, &target, &update.returning, written, &joined).await?;
        let Some(returning) = returning else { return Ok(None) };
        let computed = computed.len();
        Ok(Some(UpdateProgram { target, assignments, rows, computed, returning }))
    }

    /// `None`: it has a part that is not built.
    pub(super) async fn delete_program(
        &mut self,
        writing: &Writing<'_>,
        target: Target,
        delete: &Update,
    ) -> EngineResult<Option<DeleteProgram>> {
        let written = &delete.target.written;
        let joined = joined_columns(&delete.returning, written);
        let Some(rows) = self.bound_rows(writing, &target, delete, &[], &joined).await? else { return Ok(None) };
        let joined = described(&joined, &rows, &target, 0);
        let returning = self.bound_returning(writing, &target, &delete.returning, written, &joined).await?;
        let Some(returning) = returning else { return Ok(None) };
        Ok(Some(DeleteProgram { target, rows, returning }))
    }
}

/// Joined columns as the row set has them, behind that many computed ones.
fn described<'r>(joined: &[ColId], rows: &'r Rows, target: &Target, computed: usize) -> Vec<(ColId, &'r OutputColumn)> {
    joined.iter().copied().zip(rows.columns_behind(target, computed)).collect()
}
