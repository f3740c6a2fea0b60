//! ALTER TABLE … RENAME TO for views, sequences and indexes, which PostgreSQL accepts too.

use crate::Session;
use crate::error::EngineResult;
use catalog::RelationKind;
use sql::{AlterAction, AlterTable};

impl Session {
    /// Renames the view, sequence or index that ALTER TABLE names. False for another relation or action.
    pub(super) async fn renamed_other(&mut self, alter: &AlterTable) -> EngineResult<bool> {
        let ([AlterAction::RenameTable { to }], false) = (alter.actions.as_slice(), alter.materialized) else {
            return Ok(false);
        };
        let (name, if_exists) = (&alter.name, alter.if_exists);
        let kind = self.relation_kind(&self.engine.catalog().current(), name);
        match kind {
            Some(RelationKind::View) => self.rename_view(name, if_exists, to).await?,
            Some(RelationKind::Sequence) => self.rename_sequence(name, if_exists, to).await?,
            Some(RelationKind::Index) => self.rename_index(name, if_exists, to).await?,
            Some(RelationKind::Table | RelationKind::MaterializedView) | None => return Ok(false),
        }
        Ok(true)
    }
}
