//! What all sessions share.

use crate::analyze::{AutoAnalyze, AutoAnalyzeOptions};
use crate::error::{EngineResult, Fault, fail};
use crate::jobs::Jobs;
use crate::row_writer::{CatalogOf, writing_entries};
use crate::session::Session;
use crate::session::exported_snapshots::ExportedSnapshots;
use crate::session::running::Running;
use crate::settings::{Keepalive, MAX_CONNECTIONS, RESERVED_CONNECTIONS, Settings};
use crate::statement::plan_cache::PlanCache;
use crate::statement::shapes::Shapes;
use crate::threads::progress::{Watched, WatchedThreads, in_time, progress};
use crate::threads::query_runtime::QueryRuntime;
use crate::{EngineError, metrics::Counters};
use catalog::CatalogCache;
use query::{Planner, PlannerOptions, RustFunction, RustFunctions};
use std::any::Any;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::{Clock, Store, SystemClock};
use txn::{DualStore, LockTable};
use types::interrupt::Host;

/// The database that PostgreSQL's tools connect to when they are told none: another name of the one database here.
const MAINTENANCE_DATABASE: &str = "postgres";

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Memory that all queries together may use before they spill.
    pub memory_bytes: usize,
    /// Where they spill; `None` is the system's folder for temporary files.
    pub spill_dir: Option<PathBuf>,
    /// Whoever keeps that folder in place, dropped with the engine.
    pub spill_guard: Option<Arc<dyn Any + Send + Sync>>,
    /// Threads that run queries; 0 is as many as cores.
    pub query_threads: usize,
    /// Are entries of indexes written beside rows, one by one, even if the store could write them in one step? For tests: a
    /// store that was written so once is to be opened so again.
    pub dual_write: bool,
    /// In that mode: what writers leave behind is repaired when it is older than this.
    pub entry_patience: Duration,
    /// Are jobs worked on? Not by who only looks at what a store has.
    pub run_jobs: bool,
    /// When statistics are made by themselves; never without jobs.
    pub auto_analyze: AutoAnalyzeOptions,
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Defaults of settings for new sessions, name and value.
    pub settings: Vec<(String, String)>,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            memory_bytes: 1 << 30,
            spill_dir: None,
            spill_guard: None,
            query_threads: 0,
            dual_write: false,
            entry_patience: Duration::from_millis(500),
            run_jobs: true,
            auto_analyze: AutoAnalyzeOptions::default(),
            clock: Arc::new(SystemClock),
            settings: Vec::new(),
        }
    }
}

/// Who begins a session, and with what settings.
#[derive(Clone, Debug, Default)]
pub struct SessionStart {
    /// The user's name.
    pub user: String,
    /// The database; empty is the default one.
    pub database: String,
    /// Settings given at the start, name and value.
    pub parameters: Vec<(String, String)>,
    /// Where its client is; `None` is in this process.
    pub client: Option<SocketAddr>,
}

/// The engine over one store.
#[derive(Debug)]
pub struct Engine {
    store: Arc<dyn Store>,
    /// The layer of the store that writes entries beside rows, where it cannot do that in one step.
    dual: Option<DualStore>,
    catalog: Arc<CatalogCache>,
    locks: Arc<LockTable>,
    planner: Arc<Planner>,
    plans: PlanCache,
    shapes: Shapes,
    running: Running,
    counters: Counters,
    clock: Arc<dyn Clock>,
    settings: Vec<(String, String)>,
    /// What the server in front of it says of itself, as settings.
    server: OnceLock<Vec<(&'static str, String)>>,
    exported: ExportedSnapshots,
    jobs: Jobs,
    auto_analyze: AutoAnalyze,
    auto_analyze_options: AutoAnalyzeOptions,
    /// Threads that must make progress.
    watched: Arc<WatchedThreads>,
    /// Functions of the embedding program.
    functions: Arc<RustFunctions>,
    /// Last: what runs on it uses the others.
    runtime: QueryRuntime,
    _spill_guard: Option<Arc<dyn Any + Send + Sync>>,
}

impl Engine {
    /// Opens the catalog in `store` and starts the query threads.
    ///
    /// # Errors
    /// A catalog that cannot be read, or options that make no sense.
    pub async fn open(store: Arc<dyn Store>, options: EngineOptions) -> Result<Arc<Self>, EngineError> {
        // Bad defaults are told at the start, not to each session.
        Settings::new(&options.settings, &[])?;
        let (store, dual) = writing_entries(store, &options);
        let catalog = CatalogCache::open_with_clock(Arc::clone(&store), Arc::clone(&options.clock)).await?;
        let threads = match options.query_threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        };
        let planner = Planner::new(PlannerOptions {
            memory_bytes: options.memory_bytes,
            spill_dir: options.spill_dir,
            partitions: threads,
            ..PlannerOptions::default()
        })?;
        let jobs = Jobs::new(catalog.found_jobs());
        if let Some(dual) = &dual {
            dual.ask(Arc::new(CatalogOf(Arc::clone(&catalog))));
        }
        let engine = Arc::new(Self {
            store,
            dual,
            catalog,
            locks: Arc::new(LockTable::new()),
            planner,
            plans: PlanCache::default(),
            shapes: Shapes::default(),
            running: Running::default(),
            counters: Counters::default(),
            clock: options.clock,
            settings: options.settings,
            server: OnceLock::new(),
            exported: ExportedSnapshots::default(),
            jobs,
            auto_analyze: AutoAnalyze::default(),
            auto_analyze_options: AutoAnalyzeOptions {
                enabled: options.auto_analyze.enabled && options.run_jobs,
                ..options.auto_analyze
            },
            watched: Arc::default(),
            functions: Arc::default(),
            runtime: QueryRuntime::start(threads)?,
            _spill_guard: options.spill_guard,
        });
        if options.run_jobs {
            engine.jobs.resume(&engine).await?;
            engine.auto_analyze.start(&engine, engine.auto_analyze_options)?;
        }
        Ok(engine)
    }

    /// Begins a session.
    ///
    /// # Errors
    /// 3D000 for an unknown database, and those of SET for the settings given.
    pub fn session(self: &Arc<Self>, start: SessionStart) -> Result<Session, EngineError> {
        let SessionStart { user, database, parameters, client } = start;
        if !database.is_empty() && database != catalog::DATABASE_NAME && database != MAINTENANCE_DATABASE {
            return fail(Fault::NoSuchDatabase { name: database });
        }
        let mut settings = Settings::new(&self.settings, &parameters)?;
        settings.belongs_to(&user)?;
        settings.know(&self.auto_analyze_options.settings())?;
        if let Some(told) = self.server.get() {
            settings.know(told)?;
        }
        Ok(Session::new(Arc::clone(self), user, client, settings))
    }

    /// How many sessions the server in front takes at a time and how many of them it keeps for its operator, and how it
    /// finds out that a client is gone, unless the client sets that itself. The first server is believed.
    pub fn note_server(&self, most: usize, reserved: usize, keepalive: Keepalive) {
        let seats = [(MAX_CONNECTIONS, most.to_string()), (RESERVED_CONNECTIONS, reserved.to_string())];
        self.server.get_or_init(|| seats.into_iter().chain(keepalive.settings()).collect());
    }

    /// Makes a function of the embedding program known to SQL, in place of one registered before under its name.
    ///
    /// # Errors
    /// 42723 when SQL has a function of that name itself.
    pub fn register_function(&self, function: RustFunction) -> Result<(), EngineError> {
        let name = function.name.clone();
        if is_function(&name) {
            return fail(Fault::DuplicateFunction { name });
        }
        self.functions.insert(function);
        self.plans.clear();
        self.shapes.clear();
        Ok(())
    }

    pub(crate) fn functions(&self) -> &Arc<RustFunctions> {
        &self.functions
    }

    /// Name of each table and index with the storage that it has now: for reports about what only the store knows.
    pub fn tables_by_storage(&self) -> Vec<(store::TableId, String)> {
        let catalog = self.catalog.current();
        let mut all = vec![(catalog::SYSTEM_TABLE, "the catalog".to_owned())];
        for table in catalog.tables() {
            let schema = catalog.schema_name(table);
            all.push((table.storage_id(), format!("{schema}.{}", table.name)));
            let index = |index: &catalog::Index| (index.storage_id(), format!("{schema}.{} (an index)", index.name));
            all.extend(table.indexes.iter().map(index));
        }
        all
    }

    /// Figures, names are stable: they are shown as metrics.
    pub fn metrics(&self) -> Vec<(&'static str, u64)> {
        let mut all = self.counters.values();
        all.push(("sessions", self.running.len() as u64));
        all.push(("plans_cached", self.plans.len() as u64));
        all.extend(self.planner.phase_figures());
        all.extend(self.planner.memory_figures());
        all.push(("catalog_version", self.catalog.version()));
        all.extend(self.store.stats().values);
        all
    }

    /// Does the store still take writes, and do all threads that statements need make progress? For health checks,
    /// which had better be made on other threads.
    ///
    /// # Errors
    /// The store's, once it is read-only or closed; 57P03 when something does not answer in time.
    pub async fn health(&self) -> Result<(), EngineError> {
        if let Some(handle) = self.runtime.handle() {
            progress("the query threads", &handle).await?;
        }
        self.watched.progress().await?;
        // An empty batch writes nothing, yet a store that takes no more writes refuses it.
        let written = self.store.apply(store::WriteBatch::default(), store::Durability::Buffered);
        in_time("the store", written).await??;
        Ok(())
    }

    /// Counts threads among those that [`Self::health`] asks, until what is returned is dropped.
    pub fn watch_threads(&self, name: String, handle: tokio::runtime::Handle) -> Watched {
        self.watched.add(name, handle)
    }

    /// Cancels all statements, makes everything durable and closes the store.
    ///
    /// # Errors
    /// The store's.
    pub async fn close(&self) -> Result<(), EngineError> {
        // First: statements that wait for jobs leave them to the next start.
        self.jobs.close();
        self.auto_analyze.close();
        self.running.cancel_all();
        Ok(self.store.close().await?)
    }

    /// Cancels what the session of this process id and secret runs. False: there is no such session.
    pub fn cancel(&self, process: i32, secret: i32) -> bool {
        self.running.cancel(process, secret)
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// See [`EngineOptions::dual_write`].
    pub(crate) fn dual(&self) -> Option<&DualStore> {
        self.dual.as_ref()
    }

    pub(crate) fn catalog(&self) -> &Arc<CatalogCache> {
        &self.catalog
    }

    pub(crate) fn locks(&self) -> &Arc<LockTable> {
        &self.locks
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// How many common values statistics have that are made by themselves.
    pub(crate) fn statistics_target(&self) -> usize {
        Settings::new(&self.settings, &[]).map_or(100, |settings| settings.effective().statistics_target)
    }

    pub(crate) fn planner(&self) -> &Arc<Planner> {
        &self.planner
    }

    pub(crate) fn plans(&self) -> &PlanCache {
        &self.plans
    }

    pub(crate) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn runtime(&self) -> &QueryRuntime {
        &self.runtime
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The states that blocks let other sessions read.
    pub(crate) fn exported_snapshots(&self) -> &ExportedSnapshots {
        &self.exported
    }

    /// Microseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        crate::session::activity::micros(self.clock.as_ref())
    }

    /// Runs a query's work on the query threads, for `host`.
    pub(crate) async fn run_query<T: Send + 'static>(
        &self,
        host: Arc<dyn Host>,
        work: impl Future<Output = EngineResult<T>> + Send + 'static,
    ) -> EngineResult<T> {
        self.runtime.run(Some(host), work).await
    }
}

/// Has SQL a function of that name? Some are forms of the grammar.
fn is_function(name: &str) -> bool {
    const FORMS: [&str; 5] = ["coalesce", "greatest", "grouping", "least", "nullif"];
    FORMS.contains(&name) || builtins::functions_named(name).next().is_some()
}
