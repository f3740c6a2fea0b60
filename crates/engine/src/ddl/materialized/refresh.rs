//! REFRESH MATERIALIZED VIEW: fills new storage for the rows and each index, and swaps it in one catalog change.
//!
//! The new storage is unpublished until then. If the process dies, the old rows stay, and the next start drops the new
//! storage.

use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::{CatalogResult, Draft, Materialized, PreparedRewrite, Table, TableOid};
use sql::RefreshMaterializedView;
use std::sync::Arc;

impl Session {
    /// REFRESH MATERIALIZED VIEW.
    pub(crate) async fn refresh_materialized_view(&mut self, refresh: &RefreshMaterializedView) -> EngineResult<()> {
        if refresh.concurrently {
            return self.refresh_concurrently(&refresh.name).await;
        }
        let mut locks = self.own_locks();
        let table = self.lock_materialized(&mut locks, &refresh.name).await?;
        match refresh.with_data {
            true if table.is_incremental() => {
                drop(locks);
                self.refresh_groups(&refresh.name).await
            }
            true => self.refill(&table).await,
            false => {
                // The change log is dropped.
                self.lock_bases(&mut locks, |view, _| view.oid == table.oid).await?;
                let empty = |view: &mut Materialized| (view.populated, view.refreshed) = (false, None);
                self.change_catalog(|draft| {
                    draft.truncate(table.oid)?;
                    draft.drop_change_log(table.oid)?;
                    draft.change_materialized(table.oid, empty).map(drop)
                })
                .await
            }
        }
    }

    /// Recomputes all rows. The caller has locked the view.
    pub(super) async fn refill(&mut self, table: &Arc<Table>) -> EngineResult<()> {
        let Some(made_of) = &table.materialized else {
            return fail(Fault::Internal { detail: "a materialized view without a query".to_string() });
        };
        let began = self.engine.now();
        let planned = self.plan_materialized(table, made_of).await?;
        let prepared = self.change_catalog(|draft| draft.prepare_rewrite(table)).await?;
        let done = match self.fill_prepared(&prepared, planned).await {
            Ok(()) => self.change_catalog(|draft| adopt(draft, &prepared, began)).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => Ok(()),
            Err(error) => self.give_up_rewrite(&prepared, table, error).await,
        }
    }

    async fn fill_prepared(&mut self, prepared: &PreparedRewrite, planned: super::Planned) -> EngineResult<()> {
        let new = prepared.table();
        // The index entries are built from the rows after all rows are loaded.
        let rows = Arc::new(Table { indexes: Vec::new(), ..new.as_ref().clone() });
        self.load_materialized(&rows, planned).await?;
        for index in &new.indexes {
            match index.unique && self.engine.dual().is_some() {
                // Also reserves the unique values.
                true => self.make_entries(new, index).await?,
                false => self.fill_entries(new, index).await?,
            }
        }
        Ok(())
    }
}

fn adopt(draft: &mut Draft, prepared: &PreparedRewrite, began: i64) -> CatalogResult<()> {
    draft.adopt_rewrite(prepared)?;
    fill(draft, prepared.table().oid, began).map(drop)
}

/// Marks the view as populated and refreshed at `began`, from the current storage of its base table.
pub(super) fn fill(draft: &mut Draft, view: TableOid, began: i64) -> CatalogResult<Arc<Table>> {
    let made_of = draft.table(view)?.materialized.clone();
    let base = made_of.and_then(|view| view.incremental).map(|it| draft.table(it.base)).transpose()?;
    draft.change_materialized(view, |view| {
        (view.populated, view.refreshed) = (true, Some(began));
        if let (Some(incremental), Some(base)) = (&mut view.incremental, &base) {
            incremental.of_storage = base.storage;
        }
    })
}
