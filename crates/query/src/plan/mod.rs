//! A query's way from its tree to rows.
//!
//! ```text
//!   plan:     names ──SqlToRel──> logical plan ──settle, analyse, optimise──> Plan      kept by the engine
//!   execute:  Plan ──bind: parameters, session, views──> physical plan ──> batches
//! ```
//! A [`Plan`] knows neither snapshot nor time of day: parameters and `now()` are named places in it.

mod array_casts;
mod bind;
mod cast_calls;
mod checks;
mod constant_rows;
mod declared;
mod derived;
mod distinct_prefix;
mod exists_counts;
mod first_rows;
mod flatten;
mod frames;
mod group_places;
mod grouping_sets;
mod hidden_names;
mod index_exprs;
mod intervals;
mod joins;
mod limits;
mod long_choices;
mod memory;
mod merged_columns;
mod missing_from;
mod mixed_values;
mod names;
mod natural;
mod once;
mod one_group;
mod operators;
mod output;
mod output_names;
mod own_level;
mod parameters;
mod places_in_groups;
mod query_values;
mod refused_functions;
mod regproc;
mod repeated_names;
mod resolve;
mod rewrite;
mod rewrite_expr;
mod rewrite_phoenix;
mod row_exprs;
mod seen_order;
mod set_functions;
mod set_operations;
mod set_returning;
mod shadowed_names;
mod spill;
mod stop;
mod stream;
mod table_oid;
mod typed_places;
mod view;
mod width;
mod wildcard_names;
mod windows;

use crate::context::QueryContext;
use crate::error::{QueryError, QueryResult};
use crate::functions::allowance::Allowance;
use crate::held_memory::HeldMemory;
use crate::pg_semantics::{PostgresOperators, PostgresTypes, bounded, in_zone, settle};
use crate::{functions, join_order, optimizer};
use arrow::datatypes::SchemaRef;
use catalog::TableOid;
use datafusion::catalog::{TableFunctionArgs, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan, ScalarUDF, Volatility, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use datafusion::prelude::SessionConfig;
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion::sql::planner::{NullOrdering, ParserOptions, PlannerContext, SqlToRel};
use datafusion::sql::resolve::resolve_table_references;
pub(crate) use flatten::outer_references;
use futures::{FutureExt, TryStreamExt};
pub(crate) use once::{next_number as next_once, once_of_number as once_numbered};
use parameters::Parameters;
pub use refused_functions::hint_for_missing_function;
pub(crate) use repeated_names::is_of_several;
pub use resolve::WITH_ROW_IDS;
pub use row_exprs::{RowExprs, RowTable};
use sql::ast;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
pub use stop::Stop;
use types::{DataType, Datum};
pub use view::ViewDefinition;

/// How queries run.
#[derive(Clone, Debug)]
pub struct PlannerOptions {
    /// Memory that sorts, joins and aggregates share; beyond it they spill.
    pub memory_bytes: usize,
    /// Where they spill to; `None` is the system's folder for temporary files.
    pub spill_dir: Option<PathBuf>,
    /// Tasks that one query may split into.
    pub partitions: usize,
    /// Rows of a batch.
    pub batch_rows: usize,
    /// Functions beside the planner's and ours.
    pub functions: Vec<Arc<ScalarUDF>>,
}

impl Default for PlannerOptions {
    fn default() -> Self {
        let partitions = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { memory_bytes: 1 << 30, spill_dir: None, partitions, batch_rows: 8192, functions: Vec::new() }
    }
}

/// Plans and runs queries. One for an engine: it holds the memory that they share.
pub struct Planner {
    state: SessionState,
    /// The same with joins that can spill, for statements that ran out of memory.
    thrifty: SessionState,
    tasks: Arc<TaskContext>,
    memory: Arc<memory::QueryMemory>,
    types: Arc<dyn TypePlanner>,
    spill: spill::SpillFolder,
}

impl std::fmt::Debug for Planner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planner").finish_non_exhaustive()
    }
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its SQL type; its batches have the Arrow type of that.
    pub ty: DataType,
    /// The type that a column made of it has: a numeric that is computed has no number of digits.
    pub declared: DataType,
    /// Oid of the table it comes from, 0 if computed.
    pub table_oid: u32,
    /// Its number there from 1, 0 if computed.
    pub column_number: i16,
}

/// A query, planned. Good for the catalog version that it was made with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Types of its parameters.
    pub parameters: Vec<DataType>,
    /// Its columns.
    pub columns: Arc<Vec<OutputColumn>>,
    /// May another session use it? Not if it reads computed tables.
    pub cacheable: bool,
    /// What it was made of.
    pub source: PlanSource,
    /// Of the syntax, beside one of the bound tree: its answers must be equal.
    pub twin: Option<Arc<Plan>>,
    logical: LogicalPlan,
}

/// What a plan was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanSource {
    /// The bound tree.
    BoundTree,
    /// The statement's syntax, and why not the bound tree if that was tried.
    Syntax(Option<Arc<str>>),
}

/// A query as a plan, not optimised yet.
struct Logical {
    plan: LogicalPlan,
    /// Does it read computed tables?
    computed: bool,
    /// Tables and views that it names.
    relations: Vec<TableOid>,
}

/// A query that runs.
pub struct Execution {
    /// Its columns.
    pub columns: Arc<Vec<OutputColumn>>,
    /// Its rows. Errors are taken out with `QueryError::from`.
    pub stream: SendableRecordBatchStream,
}

impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl Planner {
    /// A planner.
    ///
    /// # Errors
    /// [`crate::QueryError`] when the spill folder cannot be used.
    pub fn new(options: PlannerOptions) -> QueryResult<Arc<Self>> {
        let (runtime, memory) = memory::runtime(&options)?;
        let runtime = Arc::new(runtime);
        let state = session_state(&options, &runtime, true);
        let thrifty = session_state(&options, &runtime, false);
        let tasks = state.task_ctx();
        let spill = spill::SpillFolder::new(options.spill_dir.as_ref());
        Ok(Arc::new(Self { state, thrifty, tasks, memory, types: Arc::new(PostgresTypes), spill }))
    }

    /// Plans a query. `types` are the parameter types that the client knows.
    ///
    /// # Errors
    /// All that can be wrong with a query before it runs.
    pub async fn plan(&self, cx: &QueryContext, query: &ast::Query, types: &[Option<DataType>]) -> QueryResult<Plan> {
        // On the heap: its frames are large, and its callers' are too.
        let planned = guarded(Box::pin(self.prepare(cx, query, types, &[]))).await;
        planned.map_err(|error| missing_from::explained(error, query))
    }

    /// Plans a query that may read `rows` beside tables.
    async fn prepare(
        &self,
        cx: &QueryContext,
        query: &ast::Query,
        types: &[Option<DataType>],
        rows: &[RowTable],
    ) -> QueryResult<Plan> {
        let count = sql::placeholders(&sql::Statement::Query(Box::new(query.clone())));
        let mut parameters = Parameters::new(count, types);
        let statement = self.prepared(cx, query)?;
        let Logical { plan, computed, .. } = self.logical(cx, &statement, &mut parameters, rows).await?;
        let fitting = output::Fitting::of(cx);
        let analyzer = optimizer::interruptible_analyzer(self.state.analyzer());
        let (logical, columns) = output::settle_output(plan, self.state.config_options(), &analyzer, &fitting)?;
        let logical = self.optimise(cx, bind::fold_limits(logical)?)?;
        Ok(Plan {
            parameters: parameters.types(),
            columns: Arc::new(columns),
            cacheable: !computed,
            source: PlanSource::Syntax(None),
            twin: None,
            logical,
        })
    }

    /// The tree as a plan.
    async fn logical(
        &self,
        cx: &QueryContext,
        statement: &ast::Statement,
        parameters: &mut Parameters,
        rows: &[RowTable],
    ) -> QueryResult<Logical> {
        let wrapped = PlannerStatement::Statement(Box::new(statement.clone()));
        let (tables, _) = resolve_table_references(&wrapped, true)?;
        let mut names = resolve::Names::new(&self.state, cx, Arc::clone(&self.types), rows);
        names.look_up(&tables).await?;
        Box::pin(self.plan_indexes(cx, names.tables_of(&tables))).await?;
        for (schema, view) in names.views_of(&tables) {
            let (table, computed) = Box::pin(self.view_table(cx, &view)).await?;
            names.add_view(schema, &view, table, computed);
        }
        let planner = SqlToRel::new_with_options(&names, parser_options());
        let make = |parameters: &Parameters| {
            let mut context = PlannerContext::new();
            if !parameters.is_empty() {
                context = context.with_prepare_param_data_types(parameters.fields());
            }
            let plan = planner.sql_statement_to_plan_with_context(statement.clone(), &mut context)?;
            stop::check(&cx.stop)?;
            let plan = grouping_sets::compute_groups_first(set_operations::count_equal_rows(plan)?)?;
            let plan = if names.reads_computed() { regproc::settle(plan, cx)? } else { plan };
            settled(cx, plan)
        };
        let make = |parameters: &Parameters| bounded(&cx.stop, || make(parameters));
        let make = |parameters: &Parameters| match make(parameters) {
            Err(QueryError::NoSuchFunction { signature }) => {
                let told = signature.strip_suffix("()").and_then(|name| {
                    let told = names.expect_missing(name);
                    // What comes of it is told by the call, whatever else is wrong around it.
                    drop(make(parameters));
                    told.signature()
                });
                Err(QueryError::NoSuchFunction { signature: told.unwrap_or(signature) })
            }
            made => made,
        };
        let mut plan = make(parameters)?;
        if parameters.incomplete() {
            parameters.infer(&plan)?;
            plan = make(parameters)?;
        }
        Ok(Logical { plan, computed: names.reads_computed(), relations: names.relations() })
    }

    /// Names of all functions that a query may call, in any place.
    pub fn function_names(&self) -> BTreeSet<String> {
        let rewritten = rewrite::functions().map(str::to_owned);
        let scalars = self.state.scalar_functions().keys().cloned();
        let aggregates = self.state.aggregate_functions().keys().cloned();
        let windows = self.state.window_functions().keys().cloned();
        let tables = self.state.table_functions().keys().cloned();
        rewritten.chain(scalars).chain(aggregates).chain(windows).chain(tables).collect()
    }

    /// The query in forms that the planner below knows, its columns named.
    fn prepared(&self, cx: &QueryContext, query: &ast::Query) -> QueryResult<ast::Statement> {
        let mut statement = ast::Statement::Query(Box::new(query.clone()));
        sql::catalog_calls(&mut statement);
        if resolve::reads_catalogs(&statement, cx) {
            sql::catalog_forms(&mut statement);
        }
        long_choices::shorten(&mut statement);
        checks::check(&statement, self)?;
        shadowed_names::rename(&mut statement);
        typed_places::give_types(&mut statement);
        mixed_values::unite(&mut statement);
        group_places::resolve_places(&mut statement)?;
        names::name_columns(&mut statement);
        natural::resolve(&mut statement, cx);
        rewrite::rewrite(&mut statement)?;
        once::mark(&mut statement, |name| self.is_volatile(cx, name));
        Ok(statement)
    }

    fn is_volatile(&self, cx: &QueryContext, name: &str) -> bool {
        let function = self.state.scalar_functions().get(name).cloned().or_else(|| (cx.functions)(name));
        function.is_some_and(|function| function.signature().volatility == Volatility::Volatile)
    }

    /// The scalar function of that name.
    pub(crate) fn scalar_function(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.state.scalar_functions().get(name).cloned()
    }

    /// The aggregate of that name.
    pub(crate) fn aggregate_function(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    /// The rows of DataFusion's series of bigints between constants.
    ///
    /// # Errors
    /// A step of zero.
    pub(crate) fn series(&self, args: &[Expr]) -> QueryResult<Option<Arc<dyn TableProvider>>> {
        let Some(function) = self.state.table_functions().get("generate_series") else { return Ok(None) };
        Ok(Some(function.create_table_provider_with_args(TableFunctionArgs::new(args, &self.state))?))
    }

    /// The window function of that name.
    pub(crate) fn window_function(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    /// A lowered plan with values in their representation, without subqueries.
    ///
    /// # Errors
    /// What is wrong with constants; [`QueryError::Stopped`].
    pub(crate) fn represented(&self, cx: &QueryContext, plan: LogicalPlan) -> QueryResult<LogicalPlan> {
        stop::check(&cx.stop)?;
        settled(cx, set_operations::count_equal_rows(plan)?)
    }

    /// A plan that can be kept; `columns` makes those of the answer of what the plan tells.
    pub(crate) fn finished<E: From<QueryError>>(
        &self,
        cx: &QueryContext,
        plan: LogicalPlan,
        parameters: Vec<DataType>,
        cacheable: bool,
        columns: impl FnOnce(Vec<OutputColumn>) -> Result<Vec<OutputColumn>, E>,
    ) -> Result<Plan, E> {
        let fitting = output::Fitting::of(cx);
        let analyzer = optimizer::interruptible_analyzer(self.state.analyzer());
        let (plan, found) = output::settle_output(plan, self.state.config_options(), &analyzer, &fitting)?;
        let columns = Arc::new(columns(found)?);
        let logical = self.optimise(cx, bind::fold_limits(plan)?)?;
        Ok(Plan { parameters, columns, cacheable, source: PlanSource::BoundTree, twin: None, logical })
    }

    fn optimise(&self, cx: &QueryContext, plan: LogicalPlan) -> QueryResult<LogicalPlan> {
        let plan = stop::stoppable_constants(plan)?;
        let optimizer = optimizer::interruptible(self.state.optimizer(), &cx.stop);
        Ok(optimizer.optimize(plan, &optimizer::Context::new(&self.state), |_, _| {})?)
    }

    /// Runs a plan.
    ///
    /// # Errors
    /// [`crate::QueryError::ParameterCount`], [`crate::QueryError::Type`] for parameters; store failures.
    pub async fn execute(self: &Arc<Self>, cx: &QueryContext, plan: &Plan, params: &[Datum]) -> QueryResult<Execution> {
        let scalars = bind::parameter_scalars(&plan.parameters, params)?;
        let bound = join_order::ordered(bind::bind(&plan.logical, cx, &scalars)?, cx).await?;
        let bound = stop::stoppable(bound, &cx.stop)?;
        let physical = self.physical(&bound, cx.hints.sort_merge_joins).await?;
        let stream = stream::with_fall_back(Arc::clone(self), bound, physical)?;
        let (schema, folder) = (stream.schema(), self.spill.clone());
        let stream = stream.map_err(move |error| folder.named(error));
        let stream: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(schema, stream));
        Ok(Execution { columns: Arc::clone(&plan.columns), stream })
    }

    /// The operators of a bound plan.
    pub(crate) async fn physical(&self, bound: &LogicalPlan, thrifty: bool) -> QueryResult<Arc<dyn ExecutionPlan>> {
        self.physical_in(bound, self.state(thrifty)).await
    }

    fn state(&self, thrifty: bool) -> &SessionState {
        if thrifty { &self.thrifty } else { &self.state }
    }

    async fn physical_in(&self, bound: &LogicalPlan, state: &SessionState) -> QueryResult<Arc<dyn ExecutionPlan>> {
        let fresh = once::fresh(bound)?;
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(operators::Operators)]);
        guarded(async { Ok(planner.create_physical_plan(fresh.as_ref().unwrap_or(bound), state).await?) }).await
    }

    /// Refuses what computes one value of several rows, or several of one, in a clause of a writing statement.
    ///
    /// # Errors
    /// 42803 for aggregates, 42P20 for window functions, 0A000 for sets.
    pub fn check_clause(&self, expr: &ast::Expr, clause: &str) -> QueryResult<()> {
        checks::check_clause(expr, clause, self)
    }

    /// What of a SELECT computes a row of many, or many of one, in PostgreSQL's words.
    pub fn many_rows_in(&self, select: &ast::Select) -> Option<&'static str> {
        checks::many_rows_in(select, self)
    }

    /// Is there a function of that name, whatever its kind?
    pub fn has_function(&self, name: &str) -> bool {
        self.state.scalar_functions().contains_key(name)
            || self.state.aggregate_functions().contains_key(name)
            || self.state.window_functions().contains_key(name)
            || self.state.table_functions().contains_key(name)
    }

    pub(crate) fn bound(&self, cx: &QueryContext, plan: &Plan, params: &[Datum]) -> QueryResult<LogicalPlan> {
        let scalars = bind::parameter_scalars(&plan.parameters, params)?;
        bind::bind(&plan.logical, cx, &scalars)
    }

    /// A part of the memory that queries share, for what a statement or a connection holds beside its plan. Nothing yet.
    pub fn hold(&self, holder: &'static str) -> HeldMemory {
        HeldMemory::of(self.tasks.memory_pool(), holder)
    }

    /// What is held of the memory that queries share, under the names of metrics.
    pub fn memory_figures(&self) -> Vec<(&'static str, u64)> {
        self.memory.figures()
    }

    pub(crate) fn tasks(&self) -> &Arc<TaskContext> {
        &self.tasks
    }
}

/// The plan with values in their representation, without subqueries.
fn settled(cx: &QueryContext, plan: LogicalPlan) -> QueryResult<LogicalPlan> {
    let zone = functions::Zone::of_session(&cx.time_zone, cx.settings.style());
    let settled = settle(plan)?;
    stop::check(&cx.stop)?;
    let settled = match &zone {
        Some(zone) => in_zone(settled, zone)?,
        None => settled,
    };
    let settled = constant_rows::tabulate(settled)?;
    let flattened = flatten::flatten(once::share(settled)?)?;
    // Walks of it end early in a stopped statement: what they found is not to be used.
    stop::check(&cx.stop)?;
    Ok(seen_order::keep(flattened)?)
}

/// The planner below is large; should it panic, one statement fails and not the server.
pub(crate) async fn guarded<T, E: From<QueryError>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let caught = AssertUnwindSafe(work).catch_unwind().await;
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(QueryError::internal(format!("the planner failed: {text}")).into())
    })
}

impl checks::FunctionKinds for Planner {
    fn is_aggregate(&self, name: &str) -> bool {
        rewrite::is_aggregate(name) || self.state.aggregate_functions().contains_key(name)
    }

    fn is_window(&self, name: &str) -> bool {
        self.state.window_functions().contains_key(name)
    }

    fn is_scalar(&self, name: &str) -> bool {
        self.state.scalar_functions().contains_key(name)
    }
}

impl Plan {
    /// May it answer otherwise when it runs again on the same state?
    pub fn is_volatile(&self) -> bool {
        once::is_volatile(&self.logical)
    }

    /// The Arrow schema of its batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(self.logical.schema().inner())
    }
}

fn session_state(options: &PlannerOptions, runtime: &Arc<RuntimeEnv>, hash_joins: bool) -> SessionState {
    let mut builder = SessionStateBuilder::new()
        .with_config(config(options, runtime, hash_joins))
        .with_runtime_env(Arc::clone(runtime))
        .with_default_features();
    let ours = functions::all().into_iter().chain(options.functions.iter().cloned());
    builder.scalar_functions().get_or_insert_with(Vec::new).extend(ours);
    builder.aggregate_functions().get_or_insert_with(Vec::new).extend(own_aggregates());
    builder.expr_planners().get_or_insert_with(Vec::new).insert(0, Arc::new(PostgresOperators));
    let mut state = optimizer::install(builder).build();
    // Calls of functions are made with these.
    let options = Arc::clone(state.config_options());
    state.execution_props_mut().config_options = Some(options);
    state
}

/// Aggregates in place of the planner's own.
fn own_aggregates() -> impl Iterator<Item = Arc<AggregateUDF>> {
    let extremes = functions::extremes().into_iter();
    extremes.chain(functions::afresh()).chain(functions::regressions()).chain([functions::array_agg()])
}

fn config(options: &PlannerOptions, runtime: &RuntimeEnv, hash_joins: bool) -> SessionConfig {
    // The planner makes merge joins only of inputs in several parts.
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

/// Rows of a hash join's build side up to which one task is to build it, on a machine with one core.
const ROWS_BUILT_ALONE: usize = 2_000_000;

/// Settings that differ from the planner's defaults, each for a reason.
fn tune(options: &mut ConfigOptions, hash_joins: bool) {
    options.optimizer.prefer_hash_join = hash_joins;
    // A table that one task builds for all spares both sides being dealt out by hash: each row of them is copied then.
    // The more cores wait for that task, the sooner it is worth dealing.
    let alone = ROWS_BUILT_ALONE / options.execution.target_partitions.max(1);
    options.optimizer.hash_join_single_partition_threshold_rows = alone;
    options.optimizer.hash_join_single_partition_threshold = alone * 64;
    // Keys of a join's smaller side become point reads of the larger: worth it far beyond the default of 150.
    options.optimizer.hash_join_inlist_pushdown_max_distinct_values = 4096;
    options.optimizer.hash_join_inlist_pushdown_max_size = 1 << 20;
    // Rows of an ordered query in FROM come in its order, as people expect.
    options.sql_parser.enable_subquery_sort_elimination = false;
    // A merge of ordered partitions needs a little buffer, not a gigabyte of it.
    options.execution.sort_pushdown_buffer_capacity = 1 << 20;
    options.execution.collect_statistics = false;
    // Fields of the two sides of a UNION differ in their SQL type's name now and then, and that is all.
    options.execution.skip_physical_aggregate_schema_check = true;
}

fn parser_options() -> ParserOptions {
    ParserOptions {
        parse_float_as_decimal: true,
        enable_ident_normalization: true,
        support_varchar_with_length: true,
        enable_options_value_normalization: false,
        collect_spans: false,
        map_string_types_to_utf8view: false,
        default_null_ordering: NullOrdering::NullsMax,
    }
}
