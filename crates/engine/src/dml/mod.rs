//! Write statements.
//!
//! ```text
//!   row set (a query, or one full key) ──> rows ──lock──> newest state ──> new rows ──> row writer
//! ```
//! A row is locked before its newest state is read, and its new state is computed afterwards, so that no update is
//! lost. A row set that was read from a snapshot is checked under the locks: if other transactions changed rows
//! since, the statement runs again on a new snapshot, with the locks kept.

mod arbiters;
mod compile;
mod delete;
mod elements;
mod insert;
mod insert_rows;
mod key_match;
mod many_rows;
mod on_conflict;
mod returning;
mod row_exprs;
mod row_source;
mod rows_changed;
mod sequence_values;
mod target;
mod update;
mod value;

pub(crate) use compile::{Defaults, RowTable, Writing, keys_of};
pub(crate) use insert::{InsertProgram, set};
pub(crate) use key_match::{KeyMatch, column_of, fits_exactly, key_of, same_family};
pub(crate) use returning::Returning;
pub(crate) use row_exprs::{Exprs, Scope};
pub(crate) use row_source::RowSource;
pub(crate) use rows_changed::{Changes, Locked};
pub(crate) use target::{FAMILY, Row, Target};
pub(crate) use value::sequence_defaults;

use crate::block::row_locks::LockProgram;
use crate::block::work::{ManyRows, Work};
use crate::ddl::refuse_materialized;
use crate::error::{EngineResult, Fault, fail};
use crate::session::held::hold_answer;
use crate::session::running::RunGuard;
use crate::statement::Source;
use crate::statement::plan_cache::{Compiled, Program};
use crate::statement::stream;
use crate::{Answer, ColumnDesc, Prepared, Session};
use catalog::Catalog;
use delete::DeleteProgram;
use query::HeldMemory;
use std::sync::Arc;
use txn::LockMode;
use types::Datum;
use update::UpdateProgram;

/// Number of attempts in which a statement may lock further rows because other transactions changed those that it
/// found.
pub(crate) const MAX_ATTEMPTS: usize = 128;

/// RETURNING computes this many rows between checks for cancellation and for memory.
const ROWS_COMPUTED_AT_ONCE: usize = 64;

/// A compiled write statement.
#[derive(Debug)]
pub(crate) enum WriteProgram {
    Insert(Box<InsertProgram>),
    Update(Box<UpdateProgram>),
    Delete(Box<DeleteProgram>),
    /// Writes nothing, but locks its rows as a write does.
    Lock(Box<LockProgram>),
}

impl WriteProgram {
    /// The table that is written, or the first one whose rows are locked.
    pub(crate) fn target(&self) -> Option<&Target> {
        match self {
            Self::Insert(program) => Some(&program.target),
            Self::Update(program) => Some(&program.target),
            Self::Delete(program) => Some(&program.target),
            Self::Lock(program) => program.target(),
        }
    }

    pub(crate) fn returning(&self) -> Option<&Returning> {
        match self {
            Self::Insert(program) => program.returning.as_ref(),
            Self::Update(program) => program.returning.as_ref(),
            Self::Delete(program) => program.returning.as_ref(),
            Self::Lock(_) => None,
        }
    }

    pub(crate) fn returning_columns(&self) -> Option<Arc<Vec<ColumnDesc>>> {
        if let Self::Lock(program) = self {
            return Some(Arc::clone(&program.columns));
        }
        self.returning().map(|returning| Arc::clone(&returning.columns))
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        let own = match self {
            Self::Insert(program) => program.is_cacheable(),
            Self::Update(program) => program.is_cacheable(),
            Self::Delete(program) => program.is_cacheable(),
            Self::Lock(program) => program.is_cacheable(),
        };
        own && self.target().is_none_or(|target| target.checks.is_cacheable() && target.generated.is_cacheable())
            && self.returning().is_none_or(Returning::is_cacheable)
    }

    /// Whether expressions require [`Scope::context`].
    fn needs_context(&self) -> bool {
        let own = match self {
            Self::Insert(program) => program.needs_context(),
            Self::Update(program) => program.rows.needs_context(),
            Self::Delete(program) => program.rows.needs_context(),
            Self::Lock(program) => program.needs_context(),
        };
        own || self.returning().is_some_and(Returning::needs_context)
    }

    /// The plan of the row set, if it is a query.
    pub(crate) fn row_set(&self) -> Option<&Arc<query::Plan>> {
        match self {
            Self::Insert(program) => program.row_set(),
            Self::Update(program) => program.rows.plan(),
            Self::Delete(program) => program.rows.plan(),
            Self::Lock(program) => program.plan(),
        }
    }

    /// The number of VALUES rows.
    pub(crate) fn values(&self) -> Option<usize> {
        match self {
            Self::Insert(program) => program.values(),
            Self::Update(_) | Self::Delete(_) | Self::Lock(_) => None,
        }
    }

    /// The first words of the command tag.
    fn tag(&self) -> &'static str {
        match self {
            Self::Insert(_) => "INSERT 0",
            Self::Update(_) => "UPDATE",
            Self::Delete(_) => "DELETE",
            Self::Lock(_) => "SELECT",
        }
    }
}

/// Result of a write statement.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Rows written, as the command tag counts them.
    rows: u64,
    /// The written rows for RETURNING, each with its columns of joined tables.
    written: Vec<(Row, Row)>,
    /// Rows of RETURNING.
    returned: Vec<Row>,
    /// Memory held for `returned` until the rows are sent.
    memory: Option<HeldMemory>,
}

impl Outcome {
    /// Rows written.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether there are rows for the client.
    pub(crate) fn returns_rows(&self) -> bool {
        !self.returned.is_empty()
    }

    /// Keeps a row for RETURNING.
    pub(crate) fn keep(&mut self, returning: Option<&Returning>, row: &[Datum], joined: &[Datum]) {
        if returning.is_some() {
            self.written.push((row.to_vec(), joined.to_vec()));
        }
    }

    /// Computes RETURNING over the written rows.
    async fn compute(
        &mut self,
        returning: &Returning,
        scope: &Scope<'_>,
        memory: HeldMemory,
        guard: &RunGuard,
    ) -> EngineResult<()> {
        for rows in std::mem::take(&mut self.written).chunks(ROWS_COMPUTED_AT_ONCE) {
            if !self.returned.is_empty() {
                guard.check()?;
                tokio::task::yield_now().await;
            }
            let rows = returning.rows(rows, scope).await?;
            hold_answer(&memory, &rows)?;
            self.returned.extend(rows);
        }
        self.memory = Some(memory);
        Ok(())
    }

    pub(crate) fn answer(self, compiled: &Compiled) -> Answer {
        let Program::Write(program) = &compiled.program else { return Answer::Empty };
        match program.returning_columns() {
            Some(columns) => Answer::Rows(stream::ready(columns, self.returned, program.tag()).holding(self.memory)),
            None => Answer::Done(format!("{} {}", program.tag(), self.rows)),
        }
    }
}

impl Session {
    /// Resolves the table that a statement writes, and compiles its index expressions.
    pub(crate) async fn target(&mut self, catalog: &Arc<Catalog>, name: &sql::ObjectName) -> EngineResult<Target> {
        if let Ok(table) = self.resolve_stored(catalog, name) {
            refuse_materialized(&table, "cannot change", None)?;
        }
        let table = match self.resolve(catalog, name) {
            Err(_)
                if self.schemas_of(catalog, name).iter().any(|schema| catalog.view(schema, &name.name).is_some()) =>
            {
                return fail(Fault::Unsupported { feature: format!("writing to view \"{}\"", name.name) });
            }
            found => found?,
        };
        self.compile_indexes(catalog, &table).await?;
        self.register_indexes_of(&table)?;
        Target::new(catalog, &table, self.time_zone())
    }

    /// Locks the definitions of the target tables, and compiles again if one of them changed before.
    pub(crate) async fn lock_target(
        &mut self,
        work: &mut Work,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        mut compiled: Arc<Compiled>,
    ) -> EngineResult<Arc<Compiled>> {
        let guard = self.running();
        loop {
            for target in compiled.targets() {
                let lock = work.txn.locks().lock_table(target.storage, LockMode::Shared, work.wait);
                guard.stoppable(async { Ok(lock.await.map(drop)?) }).await?;
            }
            if let Some(target) = compiled.target() {
                self.lock_parents(work, target).await?;
            }
            if self.is_current(&compiled) {
                if let Some(target) = compiled.target() {
                    work.txn.note_epoch(target.storage, target.table.version);
                }
                return Ok(compiled);
            }
            compiled = self.compile(source, prepared).await?;
        }
    }

    /// Locks the definitions of the tables that foreign keys of the target reference.
    pub(crate) async fn lock_parents(&self, work: &mut Work, target: &Target) -> EngineResult<()> {
        let guard = self.running();
        for (storage, version) in target.relations.parents() {
            let lock = work.txn.locks().lock_table(storage, LockMode::Shared, work.wait);
            guard.stoppable(async { Ok(lock.await.map(drop)?) }).await?;
            work.txn.note_epoch(storage, version);
        }
        Ok(())
    }

    /// Writes rows, then checks foreign keys and runs referential actions.
    pub(crate) async fn write(
        &mut self,
        work: &mut Work,
        compiled: &Compiled,
        params: &[Datum],
    ) -> EngineResult<Outcome> {
        let outcome = self.write_rows(work, compiled, params).await?;
        self.check_written_references(work).await?;
        Ok(outcome)
    }

    /// Writes rows and notes the foreign key checks that are due.
    pub(crate) async fn write_rows(
        &mut self,
        work: &mut Work,
        compiled: &Compiled,
        params: &[Datum],
    ) -> EngineResult<Outcome> {
        let Program::Write(program) = &compiled.program else {
            return fail(Fault::Internal { detail: "not a write".to_string() });
        };
        let context = match program.needs_context() {
            true => Some(self.query_context(work.view(self.engine.store().as_ref(), self.last_commit).await?)),
            false => None,
        };
        let scope = Scope { params, context, env: Some(self.row_environment()), guard: self.running() };
        work.many_rows = match program.returning() {
            None if self.engine.store().capabilities().exclusive => ManyRows::Streamed,
            _ => ManyRows::Refused,
        };
        let outcome = match program {
            WriteProgram::Insert(program) => self.insert(work, program, &scope).await?,
            WriteProgram::Update(program) => self.update(work, program, &scope).await?,
            WriteProgram::Delete(program) => self.delete(work, program, &scope).await?,
            WriteProgram::Lock(program) => {
                let returned = self.lock_rows_of(work, program, &scope).await?;
                return Ok(Outcome { returned, ..Outcome::default() });
            }
        };
        let mut outcome = Outcome { rows: work.tally.rows(), ..outcome };
        if let Some(returning) = program.returning() {
            let memory = self.engine.hold("an answer");
            outcome.compute(returning, &scope, memory, &self.running()).await?;
        }
        Ok(outcome)
    }
}
