//! Optimizes and executes lowered plans.
//!
//! ```text
//!   lowered plan ──decorrelation, output, optimization──> Plan      cached by the engine
//!   execute:  Plan ──bind: parameters, session, read views──> physical plan ──> batches
//! ```
//! A [`Plan`] contains neither a snapshot nor the current time: parameters and `now()` are placeholders in it.

mod bind;
mod constant_rows;
mod declared;
mod distinct_prefix;
mod first_rows;
mod flatten;
mod kept_effects;
mod materialized_cte;
mod memory;
mod operators;
mod output;
mod parameters;
mod phases;
mod refused_functions;
mod row_exprs;
mod seen_order;
mod single_row;
mod spill;
mod stop;
mod stream;
mod width;

use crate::context::QueryContext;
use crate::convert::expr_to_ranges::MAX_JOIN_KEYS;
use crate::error::{QueryError, QueryResult};
use crate::functions::allowance::Allowance;
use crate::held_memory::HeldMemory;
use crate::{functions, join_order, optimizer};
use arrow::datatypes::SchemaRef;
use datafusion::catalog::{TableFunctionArgs, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::SessionConfig;
pub(crate) use flatten::outer_references;
use futures::{FutureExt, TryStreamExt};
pub(crate) use materialized_cte::{is_materialized_cte, materialized_as, next_number as next_cte_number};
pub use phases::Phases;
pub use refused_functions::hint_for_missing_function;
pub use row_exprs::RowExprs;
pub(crate) use row_exprs::RowTable;
pub(crate) use seen_order::shows_order;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
pub use stop::Stop;
use types::{DataType, Datum};

/// The resources and functions of a [`Planner`].
#[derive(Clone, Debug)]
pub struct PlannerOptions {
    /// The memory that sorts, joins and aggregates share; beyond it they spill.
    pub memory_bytes: usize,
    /// The folder to spill to; `None` is the system's folder for temporary files.
    pub spill_dir: Option<PathBuf>,
    /// The number of partitions of a query.
    pub partitions: usize,
    /// The number of rows of a batch.
    pub batch_rows: usize,
    /// Functions beside DataFusion's and ours.
    pub functions: Vec<Arc<ScalarUDF>>,
}

impl Default for PlannerOptions {
    fn default() -> Self {
        let partitions = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { memory_bytes: 1 << 30, spill_dir: None, partitions, batch_rows: 8192, functions: Vec::new() }
    }
}

/// Plans and executes queries. One per engine: it owns the memory that the queries share.
pub struct Planner {
    state: SessionState,
    /// The same with joins that can spill, for statements that ran out of memory.
    thrifty: SessionState,
    tasks: Arc<TaskContext>,
    memory: Arc<memory::QueryMemory>,
    spill: spill::SpillFolder,
    phases: phases::Totals,
}

impl std::fmt::Debug for Planner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planner").finish_non_exhaustive()
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its SQL type; its batches have the matching Arrow type.
    pub ty: DataType,
    /// The type of a column that CREATE TABLE AS makes of it: without a type modifier if the column is computed.
    pub declared: DataType,
    /// The OID of its table, 0 if computed.
    pub table_oid: u32,
    /// Its attribute number in the table, from 1; 0 if computed.
    pub column_number: i16,
}

/// A planned query. Valid for the catalog version that it was planned with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The types of its parameters.
    pub parameters: Vec<DataType>,
    /// Its result columns.
    pub columns: Arc<Vec<OutputColumn>>,
    /// May another session use it? Not if it reads computed tables.
    pub cacheable: bool,
    /// Can it not be executed? The statement must then be planned with constants in place of its parameters.
    pub needs_values: bool,
    /// The duration of the planning phases.
    pub phases: Phases,
    logical: LogicalPlan,
}

/// An executing query.
pub struct Execution {
    /// Its result columns.
    pub columns: Arc<Vec<OutputColumn>>,
    /// Its batches. Errors are converted by `QueryError::from`.
    pub stream: SendableRecordBatchStream,
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Planner {
    /// Creates a planner.
    ///
    /// # Errors
    /// [`crate::QueryError`] if the spill folder cannot be used, or if DataFusion lacks a rule that a fence names.
    pub fn new(options: PlannerOptions) -> QueryResult<Arc<Self>> {
        let (runtime, memory) = memory::runtime(&options)?;
        let runtime = Arc::new(runtime);
        let state = session_state(&options, &runtime, true)?;
        let thrifty = session_state(&options, &runtime, false)?;
        let tasks = state.task_ctx();
        let spill = spill::SpillFolder::new(options.spill_dir.as_ref());
        Ok(Arc::new(Self { state, thrifty, tasks, memory, spill, phases: phases::Totals::default() }))
    }

    /// The scalar function `name`.
    pub(crate) fn scalar_function(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.state.scalar_functions().get(name).cloned()
    }

    /// The aggregate function `name`.
    pub(crate) fn aggregate_function(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    /// DataFusion's `generate_series` of bigints between constants, as a table.
    ///
    /// # Errors
    /// A step of zero.
    pub(crate) fn series(&self, args: &[Expr]) -> QueryResult<Option<Arc<dyn TableProvider>>> {
        let Some(function) = self.state.table_functions().get("generate_series") else { return Ok(None) };
        Ok(Some(function.create_table_provider_with_args(TableFunctionArgs::new(args, &self.state))?))
    }

    /// The window function `name`.
    pub(crate) fn window_function(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    /// Decorrelates the subqueries of a lowered plan.
    ///
    /// # Errors
    /// [`QueryError::Stopped`].
    pub(crate) fn without_subqueries(&self, cx: &QueryContext, plan: LogicalPlan) -> QueryResult<LogicalPlan> {
        stop::check(&cx.stop)?;
        let flattened = flatten::flatten(constant_rows::tabulate(plan)?)?;
        // Walks of a cancelled statement end early and return incomplete results.
        stop::check(&cx.stop)?;
        Ok(kept_effects::keep(seen_order::keep(flattened)?)?)
    }

    /// Optimizes a plan for caching; `columns` adjusts the result columns that are derived from the plan.
    pub(crate) fn finished(
        &self,
        cx: &QueryContext,
        plan: LogicalPlan,
        parameters: Vec<DataType>,
        cacheable: bool,
        columns: impl FnOnce(Vec<OutputColumn>) -> QueryResult<Vec<OutputColumn>>,
    ) -> QueryResult<Plan> {
        let began = Instant::now();
        let analyzer = optimizer::interruptible_analyzer(self.state.analyzer());
        let (plan, found) = output::represent_output(plan, self.state.config_options(), &analyzer)?;
        let columns = Arc::new(columns(found)?);
        let logical = self.optimise(cx, bind::fold_limits(plan)?)?;
        let phases = Phases { optimize: began.elapsed(), ..Phases::default() };
        Ok(Plan { parameters, columns, cacheable, needs_values: false, phases, logical })
    }

    fn optimise(&self, cx: &QueryContext, plan: LogicalPlan) -> QueryResult<LogicalPlan> {
        let plan = stop::stoppable_constants(plan)?;
        let optimizer = optimizer::interruptible(self.state.optimizer(), &cx.stop);
        Ok(optimizer.optimize(plan, &optimizer::Context::new(&self.state), |_, _| {})?)
    }

    /// Executes a plan.
    ///
    /// # Errors
    /// [`crate::QueryError::ParameterCount`], [`crate::QueryError::Type`] for parameters; store failures.
    pub async fn execute(self: &Arc<Self>, cx: &QueryContext, plan: &Plan, params: &[Datum]) -> QueryResult<Execution> {
        if plan.needs_values {
            let feature = "an offset of a window frame that is no constant".to_owned();
            return Err(QueryError::Unsupported { feature });
        }
        let scalars = bind::parameter_scalars(&plan.parameters, params)?;
        let bound = join_order::ordered(bind::bind(&plan.logical, cx, &scalars)?, cx).await?;
        let bound = stop::stoppable(bound, &cx.stop)?;
        let physical = self.physical(&bound, cx.hints.sort_merge_joins).await?;
        let stream = stream::with_fall_back(Arc::clone(self), bound, physical)?;
        let (schema, folder, run) = (stream.schema(), self.spill.clone(), phases::Run::begin(self));
        let stream = stream.map_err(move |error| folder.named(error)).inspect_ok(move |_| _ = &run);
        let stream: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(schema, stream));
        Ok(Execution { columns: Arc::clone(&plan.columns), stream })
    }

    /// The physical plan of a bound plan.
    pub(crate) async fn physical(&self, bound: &LogicalPlan, thrifty: bool) -> QueryResult<Arc<dyn ExecutionPlan>> {
        self.physical_in(bound, self.state(thrifty)).await
    }

    /// The configuration of its plans.
    pub(crate) fn options(&self) -> &ConfigOptions {
        self.state.config_options()
    }

    fn state(&self, thrifty: bool) -> &SessionState {
        if thrifty { &self.thrifty } else { &self.state }
    }

    async fn physical_in(&self, bound: &LogicalPlan, state: &SessionState) -> QueryResult<Arc<dyn ExecutionPlan>> {
        let began = Instant::now();
        let fresh = materialized_cte::fresh(bound)?;
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(operators::Operators)]);
        let made = guarded(async { Ok(planner.create_physical_plan(fresh.as_ref().unwrap_or(bound), state).await?) });
        let made = made.await;
        self.phases.physical_since(began);
        made
    }

    pub(crate) fn bound(&self, cx: &QueryContext, plan: &Plan, params: &[Datum]) -> QueryResult<LogicalPlan> {
        let scalars = bind::parameter_scalars(&plan.parameters, params)?;
        bind::bind(&plan.logical, cx, &scalars)
    }

    /// An empty reservation in the memory that queries share, for what a statement or a connection holds beside its
    /// plan.
    pub fn hold(&self, holder: &'static str) -> HeldMemory {
        HeldMemory::of(self.tasks.memory_pool(), holder)
    }

    /// Adds the planning phases of a plan to the metrics.
    pub(crate) fn note_phases(&self, phases: Phases) {
        self.phases.add(phases);
    }

    /// Microseconds per planning phase, under the names of metrics.
    pub fn phase_figures(&self) -> [(&'static str, u64); 4] {
        self.phases.figures()
    }

    /// Usage of the memory that queries share, under the names of metrics.
    pub fn memory_figures(&self) -> Vec<(&'static str, u64)> {
        self.memory.figures()
    }

    pub(crate) fn tasks(&self) -> &Arc<TaskContext> {
        &self.tasks
    }
}

/// Turns a panic of DataFusion into an error of the statement, so that the server survives it.
pub(crate) async fn guarded<T, E: From<QueryError>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let caught = AssertUnwindSafe(work).catch_unwind().await;
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(QueryError::internal(format!("DataFusion failed: {text}")).into())
    })
}

impl Plan {
    /// May it return other rows when it is executed again on the same snapshot?
    pub fn is_volatile(&self) -> bool {
        materialized_cte::is_volatile(&self.logical)
    }

    pub(crate) fn into_logical(self) -> LogicalPlan {
        self.logical
    }

    /// The Arrow schema of its batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(self.logical.schema().inner())
    }
}

fn session_state(options: &PlannerOptions, runtime: &Arc<RuntimeEnv>, hash_joins: bool) -> QueryResult<SessionState> {
    let mut builder = SessionStateBuilder::new()
        .with_config(config(options, runtime, hash_joins))
        .with_runtime_env(Arc::clone(runtime))
        .with_default_features();
    let ours = functions::all().into_iter().chain(options.functions.iter().cloned());
    builder.scalar_functions().get_or_insert_with(Vec::new).extend(ours);
    builder.aggregate_functions().get_or_insert_with(Vec::new).extend(own_aggregates());
    let mut state = optimizer::install(builder)?.build();
    // Function calls are evaluated with these options.
    let options = Arc::clone(state.config_options());
    state.execution_props_mut().config_options = Some(options);
    Ok(state)
}

/// Aggregates that replace DataFusion's own.
fn own_aggregates() -> impl Iterator<Item = Arc<AggregateUDF>> {
    let extremes = functions::extremes().into_iter();
    extremes.chain(functions::recomputed_per_row()).chain(functions::regressions()).chain([functions::array_agg()])
}

fn config(options: &PlannerOptions, runtime: &RuntimeEnv, hash_joins: bool) -> SessionConfig {
    // DataFusion uses sort-merge joins only for partitioned inputs.
    let fewest = if hash_joins { 1 } else { 2 };
    let mut config = SessionConfig::new()
        .with_target_partitions(options.partitions.max(fewest))
        .with_batch_size(options.batch_rows.max(1))
        .with_information_schema(false)
        .with_round_robin_repartition(false);
    tune(config.options_mut(), hash_joins);
    let allowance = Allowance::new(options.memory_bytes, Arc::clone(&runtime.memory_pool));
    config.options_mut().extensions.insert(allowance);
    config.options_mut().execution.sort_spill_reservation_bytes = memory::bytes_for_merging(options.memory_bytes);
    config
}

/// The number of build-side rows of a hash join up to which one task builds it, on a machine with one core.
const ROWS_BUILT_ALONE: usize = 2_000_000;

/// Settings that differ from DataFusion's defaults.
fn tune(options: &mut ConfigOptions, hash_joins: bool) {
    options.optimizer.prefer_hash_join = hash_joins;
    // A hash table that one task builds for all partitions avoids hash repartitioning of both sides, which copies each
    // row. The more cores wait for that task, the sooner repartitioning pays off.
    let alone = ROWS_BUILT_ALONE / options.execution.target_partitions.max(1);
    options.optimizer.hash_join_single_partition_threshold_rows = alone;
    options.optimizer.hash_join_single_partition_threshold = alone * 64;
    // Join keys of the build side become point reads of the probe side, which pays off far beyond the default of 150.
    // The scan checks whether they are too many for its table.
    options.optimizer.hash_join_inlist_pushdown_max_distinct_values = MAX_JOIN_KEYS;
    options.optimizer.hash_join_inlist_pushdown_max_size = 1 << 20;
    // Inputs partitioned by one column of a GROUP BY need no repartitioning, however few partitions there are. An input
    // in a single partition is still repartitioned.
    options.optimizer.subset_repartition_threshold = 2;
    // Interleaving the inputs of a union, scans of ranges of the same table, would lose their order.
    options.optimizer.prefer_existing_union = true;
    // A merge of ordered partitions needs a small buffer, not DataFusion's default of a gigabyte.
    options.execution.sort_pushdown_buffer_capacity = 1 << 20;
    options.execution.collect_statistics = false;
    // The fields of the two sides of a UNION may differ in the metadata of their SQL type only.
    options.execution.skip_physical_aggregate_schema_check = true;
}
