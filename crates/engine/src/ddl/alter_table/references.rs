//! Checks all rows against the foreign keys that an ALTER TABLE adds or whose columns it retypes, before the change is
//! published.

use super::step::{Step, apply};
use crate::Session;
use crate::ddl::rewrite::Rewrite;
use crate::error::EngineResult;
use catalog::{Catalog, ForeignKey, PreparedRewrite, Table};
use std::sync::Arc;
use txn::{LockMode, LockOwner};

impl Session {
    /// Locks the tables that retyped columns reference, to block their writers. Referencing tables need no lock: their
    /// writers lock the altered table ([`Session::lock_parents`]).
    pub(super) async fn lock_parents_of_retyped(
        &mut self,
        locks: &mut LockOwner,
        table: &Table,
        rewrite: &Rewrite,
    ) -> EngineResult<()> {
        let keys = table.foreign_keys.iter().filter(|key| rewrite.retypes(&key.columns) && key.parent != table.oid);
        let catalog = self.engine.catalog().current();
        let mut parents: Vec<_> = keys.filter_map(|key| catalog.table_by_oid(key.parent)).collect();
        parents.sort_by_key(|parent| parent.storage);
        for parent in parents {
            self.lock_by_oid(locks, parent.oid, LockMode::Exclusive).await?;
        }
        Ok(())
    }

    /// Refuses a row that violates an added or retyped foreign key after the steps. `rows` are the rewritten rows, if
    /// any. The caller locks all tables concerned against writers.
    ///
    /// # Errors
    /// 23503; 42804 and other errors of a new foreign key.
    pub(in crate::ddl) async fn check_changed_references(
        &mut self,
        old: &Table,
        steps: &[Step],
        rewrite: &Rewrite,
        rows: Option<&PreparedRewrite>,
    ) -> EngineResult<()> {
        let makes = |step: &Step| matches!(step, Step::AddForeignKey(key) if key.validated);
        if !steps.iter().any(makes) && rewrite.retyped.is_empty() {
            return Ok(());
        }
        let mut draft = self.trial_draft(&self.engine.catalog().current());
        for step in steps {
            apply(&mut draft, old.oid, step.clone())?;
        }
        if let Some(rows) = rows {
            draft.adopt_rewrite(rows)?;
        }
        let catalog = Arc::new(draft.catalog().clone());
        // Commits from before the tables were locked may not be published yet.
        let last = self.latest_commit().await?;
        self.note_commit(last);
        for (child, key) in changed_keys(&catalog, old, rewrite) {
            self.check_references(&catalog, &child, &key).await?;
        }
        Ok(())
    }
}

/// The validated foreign keys, with their tables, that are new or have a retyped column on either side.
fn changed_keys(catalog: &Catalog, old: &Table, rewrite: &Rewrite) -> Vec<(Arc<Table>, ForeignKey)> {
    let changed = |child: &Table, key: &ForeignKey| {
        let own = child.oid == old.oid;
        let is_new = own && old.foreign_keys.iter().all(|before| before.oid != key.oid);
        let retyped =
            (own && rewrite.retypes(&key.columns)) || (key.parent == old.oid && rewrite.retypes(&key.parent_columns));
        key.validated && (is_new || retyped)
    };
    let keys = catalog.tables().flat_map(|child| child.foreign_keys.iter().map(move |key| (child, key)));
    keys.filter(|(child, key)| changed(child, key)).map(|(child, key)| (Arc::clone(child), key.clone())).collect()
}
