//! The state of a session that pg_catalog shows.

use crate::session::exported_snapshots::Exporter;
use crate::session::prepared::PreparedStatements;
use crate::settings::Effective;
use crate::{Engine, Session};
use async_trait::async_trait;
use builtins::TimeZone;
use datafusion::common::Result;
use futures::FutureExt;
use pg_catalog::{
    BuildInfo, CursorInfo, FunctionInfo, JobInfo, LiveState, LockInfo, LockedObject, PreparedInfo, SessionInfo,
    SettingInfo, TimeZoneInfo,
};
use query::{QueryError, Settings};
use std::sync::{Arc, Weak};
use store::{FamilyId, KeyRange, Store, TableId};
use txn::{AdvisoryKey, HeldLock, LockMode, LockTarget};

/// The state of a session at the start of a statement.
pub(crate) struct SessionState {
    user: String,
    process_id: i32,
    search_path: Vec<String>,
    effective: Arc<Effective>,
    catalog: Arc<catalog::CatalogCache>,
    store: Arc<dyn Store>,
    prepared: Arc<PreparedStatements>,
    cursors: Vec<CursorInfo>,
    exporter: Exporter,
    /// Sessions, jobs and locks are read when they are shown.
    engine: Weak<Engine>,
}

impl std::fmt::Debug for SessionState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionState").field("process_id", &self.process_id).finish_non_exhaustive()
    }
}

impl SessionState {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            user: session.user.clone(),
            process_id: session.process_id(),
            search_path: session.search_path(),
            effective: Arc::clone(session.settings.effective()),
            catalog: Arc::clone(session.engine.catalog()),
            store: Arc::clone(session.engine.store()),
            prepared: Arc::clone(&session.prepared),
            cursors: session.cursor_infos(),
            exporter: Exporter::of(session),
            engine: Arc::downgrade(&session.engine),
        }
    }
}

#[async_trait]
impl LiveState for SessionState {
    fn user(&self) -> &str {
        &self.user
    }

    fn search_path(&self) -> &[String] {
        &self.search_path
    }

    fn process_id(&self) -> i32 {
        self.process_id
    }

    fn setting(&self, name: &str) -> Option<String> {
        self.effective.get(name)
    }

    fn table_bytes(&self, table: &catalog::Table) -> u64 {
        let whole = [KeyRange::all()];
        // The store's own estimate. A store that must ask elsewhere has none for a function of a query, which cannot
        // wait.
        let asked = self.store.estimate(TableId(table.storage), FamilyId(0), &whole).now_or_never();
        asked.and_then(|size| size.ok()).map_or(0, |size| size.bytes)
    }

    fn last_value(&self, sequence: &catalog::Sequence) -> Option<i64> {
        self.catalog.sequence_values().last(sequence)
    }

    fn view_query(&self, query: &str, path: &[String]) -> String {
        let catalog = self.catalog.current();
        let relation = |schema: &str, name: &str| {
            let table = catalog.table(schema, name).map(|table| table.oid);
            let other = || catalog.view(schema, name).map(|view| view.oid);
            table.or_else(other).or_else(|| catalog.sequence(schema, name).map(|sequence| sequence.oid))
        };
        let first = |path: &[String], name: &str| {
            path.iter().find_map(|schema| relation(schema, name).map(|oid| (schema.clone(), oid)))
        };
        let schema_of = |name: &str| {
            let (schema, oid) = first(path, name)?;
            (first(&self.search_path, name).map(|(_, found)| found) != Some(oid)).then_some(schema)
        };
        sql::qualify(query, &schema_of).unwrap_or_else(|_| query.to_owned())
    }

    async fn position(&self, sequence: &catalog::Sequence) -> (i64, bool) {
        self.catalog.sequence_values().position(sequence).await
    }

    fn functions(&self) -> Vec<FunctionInfo> {
        let functions = self.engine.upgrade().map(|engine| engine.functions().all()).unwrap_or_default();
        let info = |function: query::RustFunction| FunctionInfo {
            name: function.name,
            arguments: function.arguments,
            returns: function.returns,
            immutable: function.immutable,
            strict: function.strict,
        };
        functions.into_iter().map(info).collect()
    }

    fn locks(&self) -> Vec<LockInfo> {
        let Some(engine) = self.engine.upgrade() else { return Vec::new() };
        let info = |lock: HeldLock| LockInfo {
            owner: lock.owner.0,
            process_id: engine.running().owner_of(lock.owner),
            object: match lock.target {
                LockTarget::Table(table) => LockedObject::Table(table.0),
                LockTarget::Row(table, _) => LockedObject::Row(table.0),
                LockTarget::Advisory(AdvisoryKey::One(number)) => LockedObject::Number(number),
                LockTarget::Advisory(AdvisoryKey::Two(first, second)) => LockedObject::Numbers(first, second),
            },
            exclusive: lock.mode == LockMode::Exclusive,
            granted: lock.granted,
        };
        engine.locks().locks().into_iter().map(info).collect()
    }

    fn time_zones(&self) -> Vec<TimeZoneInfo> {
        let now = self.engine.upgrade().map_or(0, |engine| engine.now());
        let info = |(name, zone): (&'static str, TimeZone)| TimeZoneInfo {
            name,
            abbreviation: zone.abbreviation_at(now).unwrap_or_default(),
            offset: zone.offset_at(now),
            is_dst: zone.is_dst_at(now),
        };
        TimeZone::all().map(info).collect()
    }

    fn sessions(&self) -> Vec<SessionInfo> {
        self.engine.upgrade().map(|engine| engine.running().infos()).unwrap_or_default()
    }

    fn jobs(&self) -> Vec<JobInfo> {
        let all = self.engine.upgrade().map(|engine| engine.jobs().all()).unwrap_or_default();
        all.iter().map(|job| crate::jobs::job_info(job.record())).collect()
    }

    fn index_builds(&self) -> Vec<BuildInfo> {
        let all = self.engine.upgrade().map(|engine| engine.jobs().all()).unwrap_or_default();
        all.iter().filter_map(|job| crate::jobs::build_info(&job.record())).collect()
    }

    fn stop_session(&self, process_id: i32, end: bool) -> bool {
        self.engine.upgrade().is_some_and(|engine| engine.running().stop(process_id, end))
    }

    fn export_snapshot(&self) -> Result<String> {
        match self.engine.upgrade() {
            Some(engine) => Ok(self.exporter.export(&engine, self.process_id)?),
            None => Err(QueryError::Stopped.into()),
        }
    }

    fn prepared_statements(&self) -> Vec<PreparedInfo> {
        self.prepared.infos()
    }

    fn cursors(&self) -> Vec<CursorInfo> {
        self.cursors.clone()
    }

    fn settings(&self) -> Vec<SettingInfo> {
        self.effective.infos()
    }
}
