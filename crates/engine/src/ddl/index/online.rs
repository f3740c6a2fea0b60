//! CREATE INDEX CONCURRENTLY and ASYNC, REINDEX CONCURRENTLY, DROP INDEX CONCURRENTLY: a catalog change that begins a
//! job. All but ASYNC wait for the job.
//!
//! The table is locked in shared mode during the catalog change: the lock blocks other DDL and admits writers.

use super::existing::required;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::jobs::{BuildSpec, DropSpec, INDEX_BUILD, INDEX_DROP, Job};
use catalog::{CatalogResult, Draft, Index, IndexState, JobRecord, Table};
use sql::{CreateIndex, ObjectName};
use std::sync::Arc;
use txn::LockMode;

impl Session {
    /// CREATE INDEX CONCURRENTLY, CREATE INDEX … ASYNC.
    pub(in crate::ddl) async fn create_index_online(&mut self, create: &CreateIndex) -> EngineResult<()> {
        if create.is_async {
            self.check_jobs("CREATE INDEX ... ASYNC")?;
        }
        let mut locks = self.own_locks();
        let table = self.lock_indexed(&mut locks, &create.table, LockMode::Shared).await?;
        let Some(new) = self.wanted_index(&table, create).await? else { return Ok(()) };
        if self.is_shared() {
            // Builds without a job and without the table lock, so writers continue here too.
            drop(locks);
            return self.add_index_dual_write(&table, new).await;
        }
        let job = self.begin_build(&table, None, |draft| draft.begin_index(table.oid, new)).await?;
        drop(locks);
        if create.is_async {
            let message = format!("{} goes on as job {}", job.record().description, job.id());
            self.notices.info("00000", message);
            return Ok(());
        }
        self.wait_for_job(job).await
    }

    /// REINDEX CONCURRENTLY of indexes of a table.
    pub(super) async fn reindex_concurrently(
        &mut self,
        table: &Table,
        indexes: &[Index],
        verbose: bool,
    ) -> EngineResult<()> {
        let schema = self.engine.catalog().current().schema_name(table).to_string();
        for index in indexes {
            let mut locks = self.own_locks();
            let name = ObjectName { schema: Some(schema.clone()), ..ObjectName::bare(index.name.clone()) };
            // The index may have been dropped while another one was built.
            let Some((table, index)) = self.lock_index_in(&mut locks, &name, LockMode::Shared).await? else { continue };
            if index.refresh.is_some() {
                self.refresh_index(&table, &index).await?;
            } else {
                let (oid, old) = (table.oid, index.oid);
                let job = self.begin_build(&table, Some(&index), |draft| draft.begin_reindex(oid, old)).await?;
                drop(locks);
                self.wait_for_job(job).await?;
            }
            self.notice_reindexed(&index, verbose);
        }
        Ok(())
    }

    /// ALTER INDEX … REBUILD ASYNC. The caller locks the table against other DDL.
    pub(in crate::ddl) async fn rebuild_async(&mut self, table: &Table, index: &Index) -> EngineResult<()> {
        self.check_jobs("ALTER INDEX ... REBUILD ASYNC")?;
        if matches!(index.state, IndexState::DeleteOnly | IndexState::WriteOnly) {
            return fail(Fault::IndexNotBuilt { name: index.name.clone() });
        }
        let (oid, old) = (table.oid, index.oid);
        let job = self.begin_build(table, Some(index), |draft| draft.begin_reindex(oid, old)).await?;
        let message = format!("{} goes on as job {}", job.record().description, job.id());
        self.notices.info("00000", message);
        Ok(())
    }

    /// DROP INDEX CONCURRENTLY.
    pub(in crate::ddl) async fn drop_index_concurrently(
        &mut self,
        names: &[ObjectName],
        if_exists: bool,
        cascade: bool,
    ) -> EngineResult<()> {
        let ([name], false) = (names, cascade) else {
            let what = if cascade { "CASCADE" } else { "dropping multiple objects" };
            return fail(Fault::DropConcurrently { what });
        };
        self.check_jobs("DROP INDEX CONCURRENTLY")?;
        let mut locks = self.own_locks();
        let Some((table, index)) = self.lock_index_in(&mut locks, name, LockMode::Shared).await? else {
            if if_exists {
                self.skipped("00000", &format!("index \"{}\" does not exist", name.name));
                return Ok(());
            }
            return fail(Fault::NoSuchIndex { name: crate::ddl::view::shown(name) });
        };
        if index.constraint.is_some() {
            return Err(required(&index.name, &index.name, &table).into());
        }
        if index.refresh.is_some() {
            // Writers do not maintain the entries, and running queries keep reading their snapshot.
            return self.change_catalog(|draft| draft.drop_index(table.oid, index.oid).map(drop)).await;
        }
        if !index.state.is_public() {
            return fail(Fault::IndexNotBuilt { name: index.name });
        }
        let spec = DropSpec { table: table.oid.0, index: index.oid };
        let what = format!("DROP INDEX CONCURRENTLY {}", index.name);
        let record = self.engine.jobs().record(&self.engine, INDEX_DROP, what, &spec);
        let kept = record.clone();
        self.change_catalog(|draft| {
            draft.check_index_drop(table.oid, index.oid)?;
            draft.set_build_state(table.oid, index.oid, IndexState::WriteOnly)?;
            draft.put_job(kept);
            Ok(())
        })
        .await?;
        drop(locks);
        let job = self.engine.jobs().begin(&self.engine, record);
        self.wait_for_job(job).await
    }

    /// Whether other processes write to the store.
    fn is_shared(&self) -> bool {
        !self.engine.store().capabilities().exclusive
    }

    /// Refuses jobs on a store that other processes write to, because no process resumes the jobs of another that died.
    pub(super) fn check_jobs(&self, what: &str) -> EngineResult<()> {
        match self.is_shared() {
            false => Ok(()),
            true => fail(Fault::Unsupported { feature: format!("{what} in a store that other processes write to") }),
        }
    }

    /// Creates an index and its build job in one catalog change, and begins the job.
    async fn begin_build(
        &self,
        table: &Table,
        replaces: Option<&Index>,
        begin: impl FnOnce(&mut Draft) -> CatalogResult<Index>,
    ) -> EngineResult<Arc<Job>> {
        let rate = self.settings.get("bennu.job_rate")?.parse().unwrap_or(0);
        let schema = self.engine.catalog().current().schema_name(table).to_string();
        let engine = Arc::clone(&self.engine);
        let (table_oid, table_name) = (table.oid.0, table.name.clone());
        let replaced = replaces.map(|index| (index.oid, index.name.clone()));
        let turn = self.catalog_turn().await?;
        let made: CatalogResult<JobRecord> = engine
            .catalog()
            .change_in(turn, |draft| {
                let index = begin(draft)?;
                let (replaces, name) = match &replaced {
                    Some((oid, name)) => (Some(*oid), name.clone()),
                    None => (None, index.name.clone()),
                };
                let what = if replaces.is_some() { "REINDEX INDEX" } else { "CREATE INDEX" };
                let what = format!("{what} {name} ON {schema}.{table_name}");
                let spec = BuildSpec { table: table_oid, index: index.oid, name, replaces, rate };
                let record = engine.jobs().record(&engine, INDEX_BUILD, what, &spec);
                draft.put_job(record.clone());
                Ok(record)
            })
            .await;
        Ok(self.engine.jobs().begin(&self.engine, made?))
    }
}
