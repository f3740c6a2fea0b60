//! `CREATE INDEX … WITH (refresh = '10 minutes')`: an index that writers do not maintain. A job rebuilds its entries at
//! this interval; only sessions that set `bennu.max_staleness` read them.
//!
//! ```text
//!   prepare    new unpublished storage               writers continue and do not write to it
//!   fill       as any index, from a current snapshot of the rows
//!   publish    the storage and the start time         drops the old storage
//! ```
//! The table is locked in shared mode, so that its definition does not change.

use super::UNIQUE_REFRESHED;
use crate::error::{EngineResult, Fault, fail};
use crate::jobs::{INDEX_REFRESH, IndexRefreshSpec};
use crate::session::search_path::qualified;
use crate::{Engine, Session};
use catalog::{CatalogError, CatalogResult, Draft, Index, JobRecord, PreparedIndex, Table, TableOid};
use sql::CreateIndex;
use std::sync::Arc;
use txn::LockMode;

/// Whether the statement has the option `refresh`.
pub(in crate::ddl) fn is_refreshed(create: &CreateIndex) -> bool {
    create.options.iter().any(|option| option.name == "refresh" && option.family.is_none())
}

/// Records an index's refresh time and refresh job in the catalog. Returns the job.
pub(in crate::ddl) fn schedule(
    draft: &mut Draft,
    (table, index): (TableOid, u32),
    refreshed: i64,
    job: Option<JobRecord>,
) -> CatalogResult<Option<JobRecord>> {
    let number = job.as_ref().map(|job| job.id);
    draft.change_refresh(table, index, |refresh| (refresh.refreshed, refresh.job) = (refreshed, number))?;
    if let Some(job) = &job {
        draft.put_job(job.clone());
    }
    Ok(job)
}

impl Engine {
    /// The record of an index's refresh job, which is not begun yet.
    pub(in crate::ddl) fn refreshing_job(self: &Arc<Self>, draft: &Draft, table: &Table, index: &Index) -> JobRecord {
        let what = format!("REFRESH INDEX {}.{}", draft.catalog().schema_name(table), index.name);
        self.jobs().record(self, INDEX_REFRESH, what, &IndexRefreshSpec { table: table.oid.0, index: index.oid })
    }
}

impl Session {
    /// CREATE INDEX … WITH (refresh = …). Writers continue, with or without CONCURRENTLY or ASYNC.
    pub(in crate::ddl) async fn create_refreshed_index(&mut self, create: &CreateIndex) -> EngineResult<()> {
        self.check_refreshes("an index")?;
        let mut locks = self.own_locks();
        let table = self.lock_stored_by_name(&mut locks, &create.table, LockMode::Shared).await?;
        let Some(new) = self.wanted_index(&table, create).await? else { return Ok(()) };
        if new.refresh.is_none() {
            // `refresh = NULL` is the same as no option.
            drop(locks);
            return Box::pin(self.create_index(create)).await;
        }
        if new.unique {
            return fail(Fault::InvalidDefinition { message: UNIQUE_REFRESHED.to_string() });
        }
        if table.materialized.is_some() {
            let message =
                "an index of a materialized view cannot be refreshed by a job: it is with the view".to_string();
            return fail(Fault::InvalidDefinition { message });
        }
        let began = self.engine.now();
        let prepared = self.change_catalog(|draft| draft.prepare_index(table.oid, new)).await?;
        let done = match self.fill_index(&prepared).await {
            Ok(()) => self.publish_refreshed(&prepared, began).await,
            Err(error) => Err(error),
        };
        self.discard_index_on_error(done, &prepared, "CREATE INDEX").await
    }

    /// Publishes the index and begins its refresh job.
    async fn publish_refreshed(&mut self, prepared: &PreparedIndex, began: i64) -> EngineResult<()> {
        let engine = Arc::clone(&self.engine);
        let (table, index) = (prepared.table().oid, prepared.index().oid);
        let turn = self.catalog_turn().await?;
        let made = engine.catalog().change_in(turn, |draft| {
            let made = draft.publish_index(prepared)?;
            let record = engine.refreshing_job(draft, &made, prepared.index());
            schedule(draft, (table, index), began, Some(record.clone()))?;
            Ok::<JobRecord, CatalogError>(record)
        });
        let record = made.await?;
        drop(self.engine.jobs().begin(&self.engine, record));
        Ok(())
    }

    /// Rebuilds the entries. The caller locks the table against other DDL.
    pub(in crate::ddl) async fn refresh_index(&mut self, table: &Table, index: &Index) -> EngineResult<()> {
        let began = self.engine.now();
        let (table, index) = (table.oid, index.oid);
        let prepared = self.change_catalog(|draft| draft.prepare_reindex(table, index)).await?;
        let done = match self.fill_index(&prepared).await {
            Ok(()) => {
                self.change_catalog(|draft| {
                    draft.publish_reindex(&prepared)?;
                    draft.change_refresh(table, index, |refresh| refresh.refreshed = began).map(drop)
                })
                .await
            }
            Err(error) => Err(error),
        };
        self.discard_index_on_error(done, &prepared, "a refresh of an index").await?;
        self.engine.jobs().look_again();
        Ok(())
    }

    /// Refreshes an index as a statement of its job. Does nothing if the index was dropped.
    pub(crate) async fn refresh_index_of(&mut self, table: u32, index: u32) -> EngineResult<()> {
        self.begin_statement();
        let done = self.refresh_found(TableOid(table), index).await;
        self.end_statement(done)
    }

    async fn refresh_found(&mut self, table: TableOid, index: u32) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let Some(found) = catalog.table_by_oid(table) else { return Ok(()) };
        let mut locks = self.own_locks();
        let locked = self.lock_stored_by_name(&mut locks, &qualified(&catalog, found), LockMode::Shared).await?;
        match locked.indexes.iter().find(|it| it.oid == index && it.refresh.is_some()) {
            Some(found) => self.refresh_index(&locked, found).await,
            None => Ok(()),
        }
    }
}
