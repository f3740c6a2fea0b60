//! Incremental refreshes: recompute only the groups whose rows have changed since the last refresh.
//!
//! ```text
//!   writers   row ──> a change log row for its group, in the same transaction        row_writer/changed_groups.rs
//!   REFRESH   in one snapshot S of table, log and view, and in one transaction:
//!             deletes the view's rows of the logged groups, inserts these groups as of S, deletes the log rows
//! ```
//! Log rows committed after S stay for the next refresh; groups without a log row in S have not changed since the
//! previous refresh. So the view equals its query in S. The commit is atomic, so a crash before it changes nothing.
//!
//! The refresh recomputes all rows if the log is incomplete: for the first refresh and after WITH NO DATA, which drops
//! the log; if a statement has changed too many groups to log; after TRUNCATE and other rewrites of the table; and if
//! the grouping key of a deleted row cannot be computed.

mod shape;
mod texts;

use crate::block::work::Work;
use crate::dml::{FAMILY, Target};
use crate::error::{EngineResult, Fault, fail};
use crate::row_program::Names;
use crate::row_writer::{Old, RowWriter};
use crate::{Chunk, Session};
use catalog::{Catalog, ChangeLog, Draft, Incremental, Materialized, Table};
use futures::StreamExt;
use query::{Plan, QueryContext};
pub(super) use shape::Shape;
use sql::ObjectName;
use std::sync::Arc;
use store::{Bytes, TableId};
use texts::{Texts, Which};
use txn::{LockMode, ReadView};

/// The queries of a refresh, planned for one snapshot.
struct Groups {
    view: ReadView,
    /// The materialized view.
    of: Materialized,
    /// A catalog that includes the change log as a table.
    catalog: Arc<Catalog>,
    texts: Texts,
    everything: Arc<Plan>,
    log_rows: Arc<Plan>,
    log: Arc<Table>,
}

/// The view and its base table. Both are locked, so their definitions do not change.
struct Refreshed {
    table: Arc<Table>,
    base: Arc<Table>,
    made_of: Incremental,
    log: ChangeLog,
}

impl Session {
    /// REFRESH of an incremental view: recomputes the changed groups, or all groups.
    pub(super) async fn refresh_groups(&mut self, name: &ObjectName) -> EngineResult<()> {
        match self.refresh_as_logged(name, false).await {
            // Computing the key of a deleted row fails; a full refresh computes keys of existing rows only.
            Err(error) if error.code().starts_with("22") => self.refresh_as_logged(name, true).await,
            done => done,
        }
    }

    async fn refresh_as_logged(&mut self, name: &ObjectName, in_full: bool) -> EngineResult<()> {
        let began = self.engine.now();
        let mut work = self.take_transaction()?;
        let table = self.lock_materialized(work.txn.locks(), name).await?;
        let found = self.lock_base(&mut work, &table).await?;
        // Makes the next snapshot include all rows written before the locks.
        let last = self.latest_commit().await?;
        self.note_commit(last);
        let groups = self.plan_groups(&found).await?;
        let known = !in_full && !table.is_unpopulated() && found.base.storage == found.made_of.of_storage;
        if !known || self.has_rows(&groups, &groups.everything).await? {
            self.refill(&table).await?;
            self.take_log_rows(&mut work, &groups).await?;
            return self.end_work(work).await;
        }
        self.replace_groups(&mut work, &found, &groups).await?;
        self.end_work(work).await?;
        let note = |view: &mut catalog::Materialized| view.refreshed = view.refreshed.max(Some(began));
        self.change_catalog(|draft| draft.change_materialized(table.oid, note).map(drop)).await
    }

    /// Locks the base table in shared mode, so that its definition does not change and writers continue. Creates the
    /// change log if there is none, under a short exclusive lock.
    async fn lock_base(&mut self, work: &mut Work, table: &Arc<Table>) -> EngineResult<Refreshed> {
        let Some(made_of) = table.materialized.as_ref().and_then(|view| view.incremental.clone()) else {
            return fail(Fault::Internal { detail: "an incremental view that is none".to_string() });
        };
        let log_of = |base: &Table| base.change_logs.iter().find(|log| log.view == table.oid).cloned();
        let now = self.engine.catalog().current().table_by_oid(made_of.base).cloned();
        if now.is_some_and(|base| log_of(&base).is_none()) {
            self.add_log(table, &made_of).await?;
        }
        let base = self.lock_by_oid(work.txn.locks(), made_of.base, LockMode::Shared).await?;
        match log_of(&base) {
            Some(log) => Ok(Refreshed { table: Arc::clone(table), base, made_of, log }),
            None => fail(Fault::Internal { detail: "an incremental view without a change log".to_string() }),
        }
    }

    async fn add_log(&mut self, table: &Table, made_of: &Incremental) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let base = self.lock_by_oid(&mut locks, made_of.base, LockMode::Exclusive).await?;
        self.change_catalog(|draft| draft.add_change_log(base.oid, made_of.log(table.oid)).map(drop)).await
    }

    async fn plan_groups(&mut self, found: &Refreshed) -> EngineResult<Groups> {
        let of = found.table.materialized.clone().unwrap_or_default();
        let (view, current) = self.read_state().await?;
        let mut draft = Draft::of(&current);
        let log = draft.show_table(found.log.rows(&found.base))?;
        let catalog = Arc::new(draft.catalog().clone());
        let texts = Texts::new(&catalog, &found.table, &found.made_of, &log)?;
        Ok(Groups {
            everything: self.plan_query(&catalog, &of, &texts.everything()).await?,
            log_rows: self.plan_keys(&catalog, Names::of_materialized(&of), &texts.log_rows()).await?,
            of,
            view,
            catalog,
            texts,
            log,
        })
    }

    /// Plans the queries for the old and the new rows of the changed groups.
    async fn plan_parts(&mut self, found: &Refreshed, groups: &Groups) -> EngineResult<Vec<(Arc<Plan>, Arc<Plan>)>> {
        let Groups { catalog, of, texts, .. } = groups;
        let schema = catalog.schema_name(&found.table).to_string();
        let mut kinds = vec![Which::WithoutNull];
        let nulls = self.plan_query(catalog, of, &texts.nulls()).await?;
        if self.has_rows(groups, &nulls).await? {
            kinds.push(Which::WithNull);
        }
        let mut parts = Vec::with_capacity(kinds.len());
        for which in kinds {
            let old = texts.old_rows(&schema, &found.table, which);
            let old = self.plan_keys(catalog, Names::of_materialized(of), &old).await?;
            let new = self.plan_query(catalog, of, &texts.new_rows(which)?).await?;
            parts.push((old, new));
        }
        Ok(parts)
    }

    async fn plan_query(&mut self, catalog: &Arc<Catalog>, of: &Materialized, text: &str) -> EngineResult<Arc<Plan>> {
        let query = sql::parse_query(text)?;
        self.plan_in(catalog, Names::of_materialized(of), &query).await
    }

    async fn has_rows(&mut self, groups: &Groups, plan: &Arc<Plan>) -> EngineResult<bool> {
        let context = self.query_context(groups.view.clone());
        Ok(!self.collect(context, Arc::clone(plan), Vec::new(), self.hold_rows()).await?.is_empty())
    }

    async fn replace_groups(&mut self, work: &mut Work, found: &Refreshed, groups: &Groups) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        work.txn.note_epoch(found.table.storage_id(), found.table.version);
        self.compile_indexes(&catalog, &found.table).await?;
        let target = Target::new(&catalog, &found.table, self.time_zone())?;
        let parts = self.plan_parts(found, groups).await?;
        for (old, _) in &parts {
            self.delete_old_rows(work, &target, groups, old).await?;
        }
        work.txn.end_statement()?;
        for (_, new) in &parts {
            let view = self.query_context(groups.view.clone());
            let context = QueryContext { search_path: groups.of.search_path.clone(), ..view };
            self.write_query_rows(work, &target, Arc::clone(new), context).await?;
        }
        self.take_log_rows(work, groups).await
    }

    async fn delete_old_rows(
        &mut self,
        work: &mut Work,
        target: &Target,
        groups: &Groups,
        plan: &Arc<Plan>,
    ) -> EngineResult<()> {
        let mut chunks = self.stream(self.query_context(groups.view.clone()), Arc::clone(plan), Vec::new())?;
        let guard = self.running();
        while let Some(chunk) = chunks.next().await {
            let keys = keys_of(chunk?, plan, &target.codec)?;
            let fragments = groups.view.get_many(target.storage, FAMILY, &keys).await?;
            let mut writer = RowWriter::new(work, target, &guard);
            for (key, fragment) in keys.into_iter().zip(fragments) {
                let Some(fragment) = fragment else { continue };
                let row = target.decode(&key, &fragment)?;
                writer.write(&Old::Row { key, row }, None).await?;
            }
            guard.check()?;
        }
        Ok(())
    }

    /// Deletes the log rows of the snapshot.
    async fn take_log_rows(&mut self, work: &mut Work, groups: &Groups) -> EngineResult<()> {
        let codec = catalog::RowCodec::new(&groups.log)?;
        let storage: TableId = groups.log.storage_id();
        let mut chunks =
            self.stream(self.query_context(groups.view.clone()), Arc::clone(&groups.log_rows), Vec::new())?;
        while let Some(chunk) = chunks.next().await {
            for key in keys_of(chunk?, &groups.log_rows, &codec)? {
                work.txn.delete(storage, FAMILY, key).await?;
            }
            self.running().check()?;
        }
        Ok(())
    }
}

/// Encodes the rowkeys from a chunk of key columns.
fn keys_of(chunk: Chunk, plan: &Plan, codec: &catalog::RowCodec) -> EngineResult<Vec<Bytes>> {
    let types: Vec<_> = plan.columns.iter().map(|column| column.ty).collect();
    let rows = chunk.into_rows(&types)?;
    let key = |row: &Vec<types::Datum>| {
        let mut key = Vec::with_capacity(32);
        codec.encode_key_values(row, &mut key)?;
        Ok(key.into())
    };
    rows.iter().map(key).collect()
}
