//! The four tiers in which statements run, and the cache of compiled statements.
//!
//! 1. A key program: the statement names keys or short ranges of them and needs no plan at run time.
//! 2. A row program: the statement reads few rows by key and processes them without DataFusion.
//! 3. A cached generic plan: optimized once, with parameters bound at each execution.
//! 4. A custom plan, planned at each execution: only if the plan cannot be cached.
//!
//! Compiled statements are cached by text, declared parameter types and [`Environment`], and are valid for one
//! version of the catalog: after any DDL a statement is compiled again.

use crate::dml::{Target, WriteProgram};
use crate::error::{EngineResult, Fault, fail};
use crate::key_program::{self, KeyProgram};
use crate::row_program::{RowProgram, RowPrograms, parameters};
use crate::statement::Source;
use crate::{ColumnDesc, Prepared, Session};
use bind::tree::Bound;
use builtins::TimeZone;
use catalog::Catalog;
use parking_lot::Mutex;
use query::{IndexChoice, Plan};
use sql::{Statement, has_locking_subquery, without_subquery_locks};
use std::collections::HashMap;
use std::sync::Arc;
use types::DataType;

/// Maximum number of entries. When it is reached, the least recently used half is dropped.
const CAPACITY: usize = 2048;
/// Longer texts are bulk statements, which rarely repeat.
const MAX_TEXT: usize = 16 * 1024;

/// A compiled query: parameter types, columns, program.
type CompiledQuery = (Vec<DataType>, Option<Arc<Vec<ColumnDesc>>>, Program);

/// A statement ready to run against one version of the catalog.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) version: u64,
    pub(crate) environment: Environment,
    pub(crate) parameters: Vec<DataType>,
    pub(crate) columns: Option<Arc<Vec<ColumnDesc>>>,
    pub(crate) program: Program,
    /// Whether the statement has subqueries that lock rows. They run first, and the statement is compiled with their
    /// rows.
    pub(crate) locks_within: bool,
}

/// The compiled form of a statement.
#[derive(Debug)]
pub(crate) enum Program {
    /// Tier 1.
    Key(KeyProgram),
    /// Tier 2.
    Rows(Box<RowProgram>),
    /// Tiers 3 and 4.
    Query(Arc<Plan>),
    /// A write. Its row set may run in any tier.
    Write(WriteProgram),
}

impl Compiled {
    pub(crate) fn columns(&self) -> Arc<Vec<ColumnDesc>> {
        self.columns.clone().unwrap_or_default()
    }

    /// The table that is written, or the first one whose rows are locked.
    pub(crate) fn target(&self) -> Option<&Target> {
        match &self.program {
            Program::Write(program) => program.target(),
            _ => None,
        }
    }

    /// All tables whose rows are written or locked.
    pub(crate) fn targets(&self) -> Vec<&Target> {
        match &self.program {
            Program::Write(WriteProgram::Lock(program)) => program.targets().collect(),
            _ => self.target().into_iter().collect(),
        }
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        match &self.program {
            Program::Key(_) | Program::Rows(_) => true,
            Program::Query(plan) => plan.cacheable,
            Program::Write(program) => program.is_cacheable(),
        }
    }
}

/// The state of a session that determines the meaning or the plan of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Environment {
    user: String,
    search_path: Arc<Vec<String>>,
    time_zone: Arc<str>,
    zone: TimeZone,
    point_programs: bool,
    row_programs: RowPrograms,
    row_budget: u64,
    index_choice: IndexChoice,
    /// Whether a hint on access paths applies. The hints themselves are part of the text.
    hinted: bool,
}

impl Environment {
    pub(crate) fn of(session: &Session) -> Self {
        let effective = session.settings.effective();
        Self {
            user: session.user.clone(),
            search_path: Arc::clone(&effective.search_path),
            time_zone: Arc::clone(&effective.time_zone),
            zone: effective.zone,
            point_programs: effective.point_programs,
            row_programs: effective.row_programs,
            row_budget: effective.row_budget,
            index_choice: session.index_choice(),
            hinted: session.hints.has_hint(),
        }
    }

    pub(crate) fn is_of(&self, session: &Session) -> bool {
        let effective = session.settings.effective();
        (Arc::ptr_eq(&self.search_path, &effective.search_path) || self.search_path == effective.search_path)
            && self.time_zone == effective.time_zone
            && self.zone == effective.zone
            && self.point_programs == effective.point_programs
            && self.row_programs == effective.row_programs
            && self.row_budget == effective.row_budget
            && self.index_choice == session.index_choice()
            && self.hinted == session.hints.has_hint()
            && self.user == session.user
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    text: Arc<str>,
    types: Vec<Option<DataType>>,
    environment: Environment,
}

/// Compiled statements, shared by all sessions.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    /// Held for one lookup or insertion, never across an await.
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    map: HashMap<Key, (Arc<Compiled>, u64)>,
    /// Counts uses. Each entry stores the count of its last use.
    clock: u64,
}

impl PlanCache {
    pub(crate) fn len(&self) -> usize {
        self.entries.lock().map.len()
    }

    pub(crate) fn clear(&self) {
        self.entries.lock().map.clear();
    }

    fn get(&self, key: &Key, version: u64) -> Option<Arc<Compiled>> {
        let mut entries = self.entries.lock();
        entries.clock += 1;
        let now = entries.clock;
        let (compiled, used) = entries.map.get_mut(key)?;
        *used = now;
        (compiled.version == version).then(|| Arc::clone(compiled))
    }

    fn put(&self, key: Key, compiled: &Arc<Compiled>) {
        let mut entries = self.entries.lock();
        if entries.map.len() >= CAPACITY {
            let mut uses: Vec<u64> = entries.map.values().map(|(_, used)| *used).collect();
            let middle = uses.len() / 2;
            let (_, &mut median, _) = uses.select_nth_unstable(middle);
            entries.map.retain(|_, (_, used)| *used > median);
        }
        entries.clock += 1;
        let now = entries.clock;
        entries.map.insert(key, (Arc::clone(compiled), now));
    }
}

impl Session {
    /// Returns the statement compiled against the current catalog, from the cache if possible.
    pub(crate) async fn compile(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
    ) -> EngineResult<Arc<Compiled>> {
        let version = self.engine.catalog().version();
        if let Some(prepared) = prepared
            && let Some(compiled) = prepared.compiled.lock().as_ref()
            && compiled.version == version
            && compiled.environment.is_of(self)
            && compiled.is_cacheable()
        {
            return Ok(Arc::clone(compiled));
        }
        let compiled = Box::pin(self.compile_cached(source, version)).await;
        let compiled = match prepared.filter(|prepared| !prepared.parameters.is_empty()) {
            Some(prepared) if !compiled.as_ref().is_ok_and(|it| it.parameters == prepared.parameters) => {
                // The types of parameters are those that the client was sent, even if others are inferred after DDL.
                let types = prepared.parameters.iter().copied().map(Some).collect();
                let source = Arc::new(source.with_parameters(source.statement.clone(), types));
                Box::pin(self.compile_cached(&source, version)).await?
            }
            _ => compiled?,
        };
        if let Some(prepared) = prepared {
            // The client was sent the column descriptions and relies on them.
            if !prepared.is_of_shape && !same_columns(prepared.columns.as_deref(), compiled.columns.as_deref()) {
                return fail(Fault::ResultTypeChanged);
            }
            *prepared.compiled.lock() = Some(Arc::clone(&compiled));
        }
        Ok(compiled)
    }

    /// Compiles the statement with plans in place of key programs; the result is not cached.
    pub(crate) async fn compile_for_explain(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Arc<Source>,
    ) -> EngineResult<Compiled> {
        let environment = Environment::of(self);
        self.explaining = true;
        let compiled = self.compile_new(catalog, source, environment).await;
        self.explaining = false;
        compiled
    }

    /// Compiles the statement without the cache.
    pub(crate) async fn compile_once(&mut self, source: &Arc<Source>) -> EngineResult<Compiled> {
        let (catalog, environment) = (self.engine.catalog().current(), Environment::of(self));
        self.compile_new(&catalog, source, environment).await
    }

    /// Whether a statement may become a key program.
    pub(crate) fn point_programs(&self) -> bool {
        self.settings.effective().point_programs && !self.explaining
    }

    async fn compile_cached(&mut self, source: &Arc<Source>, version: u64) -> EngineResult<Arc<Compiled>> {
        let cached = self.settings.effective().plan_cache && !source.text.is_empty() && source.text.len() <= MAX_TEXT;
        let environment = Environment::of(self);
        let key = Key { text: Arc::clone(&source.text), types: source.types.clone(), environment };
        if cached && let Some(compiled) = self.engine.plans().get(&key, version) {
            self.engine.counters().cached.add(1);
            return Ok(compiled);
        }
        self.engine.counters().planned.add(1);
        let catalog = self.engine.catalog().current();
        let compiled = Arc::new(self.compile_new(&catalog, source, key.environment.clone()).await?);
        if cached && compiled.is_cacheable() {
            self.engine.plans().put(key, &compiled);
        }
        Ok(compiled)
    }

    async fn compile_new(
        &mut self,
        catalog: &Arc<Catalog>,
        source: &Arc<Source>,
        environment: Environment,
    ) -> EngineResult<Compiled> {
        let version = catalog.version();
        let locks_within = !matches!(source.statement, Statement::Query(_)) && has_locking_subquery(&source.statement);
        let (parameters, columns, program) = match &source.statement {
            Statement::Query(_) => self.compile_new_query(catalog, source).await?,
            statement => {
                let plain = locks_within.then(|| Arc::new(source.with(without_subquery_locks(statement))));
                let (parameters, program) = self.compile_write(catalog, plain.as_ref().unwrap_or(source)).await?;
                let columns = program.returning_columns();
                (parameters, columns, Program::Write(program))
            }
        };
        Ok(Compiled { version, environment, parameters, columns, program, locks_within })
    }

    /// Compiles the query to a key program or a row program if possible, else to a plan.
    async fn compile_new_query(&mut self, catalog: &Arc<Catalog>, source: &Arc<Source>) -> EngineResult<CompiledQuery> {
        let bound = self.bound_statement(catalog, source)?;
        let key = self.key_program(catalog, &bound)?;
        // EXPLAIN shows a plan in place of a key program.
        let explains_key = self.explaining && key.is_some();
        if let Some(key) = key.filter(|_| !self.explaining) {
            let parameters = parameters(&bound, &source.types)?;
            return Ok((parameters, Some(Arc::new(key.columns)), Program::Key(key.program)));
        }
        if !explains_key && let Some(rows) = self.row_program(catalog, source, &bound) {
            return Ok((rows.parameters, Some(Arc::new(rows.columns)), Program::Rows(Box::new(rows.program))));
        }
        let parameters = parameters(&bound, &source.types)?;
        let plan = self.lowered(catalog, &bound, parameters).await?;
        let columns = Arc::new(columns_of(&plan));
        Ok((plan.parameters.clone(), Some(columns), Program::Query(plan)))
    }

    /// The query as a key program, if it can be one.
    pub(crate) fn key_program(&self, catalog: &Catalog, bound: &Bound) -> EngineResult<Option<key_program::Compiled>> {
        // Key programs read by rowkey only, and do not support hints.
        if !self.settings.effective().point_programs || self.hints.has_hint() {
            return Ok(None);
        }
        key_program::compile(catalog, bound, self.time_zone())
    }

    /// Whether it was compiled against the current catalog.
    pub(crate) fn is_current(&self, compiled: &Compiled) -> bool {
        compiled.version == self.engine.catalog().version()
    }
}

pub(crate) fn same_columns(told: Option<&Vec<ColumnDesc>>, now: Option<&Vec<ColumnDesc>>) -> bool {
    match (told, now) {
        (None, None) => true,
        (Some(told), Some(now)) => {
            told.len() == now.len() && told.iter().zip(now).all(|(a, b)| a.name == b.name && a.ty == b.ty)
        }
        _ => false,
    }
}

/// The columns of a plan as front ends see them.
pub(crate) fn columns_of(plan: &Plan) -> Vec<ColumnDesc> {
    let column = |column: &query::OutputColumn| ColumnDesc {
        name: column.name.clone(),
        ty: column.ty,
        table_oid: column.table_oid,
        column_number: column.column_number,
    };
    plan.columns.iter().map(column).collect()
}
