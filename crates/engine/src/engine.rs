//! The state that all sessions share.

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

/// The database to which PostgreSQL's tools connect by default: here another name of the only database.
const MAINTENANCE_DATABASE: &str = "postgres";

/// Options of an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Memory that all queries may use together before they spill.
    pub memory_bytes: usize,
    /// The spill folder; `None` is the system's folder for temporary files.
    pub spill_dir: Option<PathBuf>,
    /// Keeps the spill folder in place; dropped with the engine.
    pub spill_guard: Option<Arc<dyn Any + Send + Sync>>,
    /// Number of query threads; 0 is one per core.
    pub query_threads: usize,
    /// Whether index entries are written one by one beside the rows even if the store could write them atomically.
    /// For tests: a store that was written in this mode must be opened in it again.
    pub dual_write: bool,
    /// In dual-write mode: the age from which entries that writers left behind are repaired.
    pub entry_patience: Duration,
    /// Whether jobs run. Tools that only inspect a store set it to false.
    pub run_jobs: bool,
    /// Automatic statistics; off if `run_jobs` is false.
    pub auto_analyze: AutoAnalyzeOptions,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Defaults of settings for new sessions: names and values.
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

/// Parameters of a new session.
#[derive(Clone, Debug, Default)]
pub struct SessionStart {
    /// The user's name.
    pub user: String,
    /// The database; empty is the default one.
    pub database: String,
    /// Settings of the start-up message: names and values.
    pub parameters: Vec<(String, String)>,
    /// Address of the client; `None` if it is in this process.
    pub client: Option<SocketAddr>,
}

/// The engine over one store.
#[derive(Debug)]
pub struct Engine {
    store: Arc<dyn Store>,
    /// The store layer that writes entries one by one beside rows, if the store cannot write both atomically.
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
    /// Settings that the server in front determines.
    server: OnceLock<Vec<(&'static str, String)>>,
    exported: ExportedSnapshots,
    jobs: Jobs,
    auto_analyze: AutoAnalyze,
    auto_analyze_options: AutoAnalyzeOptions,
    /// Threads whose progress [`Self::health`] checks.
    watched: Arc<WatchedThreads>,
    /// Functions of the embedding program.
    functions: Arc<RustFunctions>,
    /// Declared last, because its tasks use the other fields.
    runtime: QueryRuntime,
    _spill_guard: Option<Arc<dyn Any + Send + Sync>>,
}

impl Engine {
    /// Opens the catalog in `store` and starts the query threads.
    ///
    /// # Errors
    /// A catalog that cannot be read, or invalid options.
    pub async fn open(store: Arc<dyn Store>, options: EngineOptions) -> Result<Arc<Self>, EngineError> {
        // Reports invalid defaults here, not in each session.
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
    /// 3D000 for an unknown database, and the errors of SET for the given settings.
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

    /// Notes the server's limit of sessions, how many of them are reserved for its operator, and how it detects lost
    /// clients unless the client sets that. Only the first call has an effect.
    pub fn note_server(&self, most: usize, reserved: usize, keepalive: Keepalive) {
        let seats = [(MAX_CONNECTIONS, most.to_string()), (RESERVED_CONNECTIONS, reserved.to_string())];
        self.server.get_or_init(|| seats.into_iter().chain(keepalive.settings()).collect());
    }

    /// Registers a function of the embedding program in SQL. Replaces a registered function of the same name.
    ///
    /// # Errors
    /// 42723 if SQL has a function of that name.
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

    /// The name of each table and index with its current storage, for reports about the store.
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

    /// Metrics. Their names are stable.
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

    /// Checks that the store accepts writes and that all threads that statements need make progress. For health
    /// checks, which should run on other threads.
    ///
    /// # Errors
    /// Errors of the store, if it is read-only or closed; 57P03 if something does not respond in time.
    pub async fn health(&self) -> Result<(), EngineError> {
        if let Some(handle) = self.runtime.handle() {
            progress("the query threads", &handle).await?;
        }
        self.watched.progress().await?;
        // An empty batch writes nothing, but a store that accepts no writes rejects it.
        let written = self.store.apply(store::WriteBatch::default(), store::Durability::Buffered);
        in_time("the store", written).await??;
        Ok(())
    }

    /// Adds threads to those that [`Self::health`] checks, until the return value is dropped.
    pub fn watch_threads(&self, name: String, handle: tokio::runtime::Handle) -> Watched {
        self.watched.add(name, handle)
    }

    /// Cancels all statements, makes everything durable and closes the store.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn close(&self) -> Result<(), EngineError> {
        // Jobs are closed first, so that statements that wait for jobs leave them to the next start.
        self.jobs.close();
        self.auto_analyze.close();
        self.running.cancel_all();
        self.catalog.sequence_values().release().await?;
        Ok(self.store.close().await?)
    }

    /// Cancels what the session with this process id and secret key runs. Returns false if there is no such session.
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

    /// The statistics target of automatic statistics.
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

    /// The snapshots that transaction blocks have exported.
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

/// Whether SQL has a function of that name. Some are part of the grammar.
fn is_function(name: &str) -> bool {
    const FORMS: [&str; 5] = ["coalesce", "greatest", "grouping", "least", "nullif"];
    FORMS.contains(&name) || builtins::functions_named(name).next().is_some()
}
