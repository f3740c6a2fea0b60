//! From a parsed statement to its answer: who does it.
//!
//! The future of a short statement is copied at each `await` on its way (the compiler does not build it in place, and a copy is of
//! the whole, begun or not), so what such a statement does not do is boxed: compiling, definitions, EXPLAIN, COPY, plans of rows.

use crate::array_parameters::spelled_out;
use crate::current_of::cursor_of;
use crate::cursor::declared;
use crate::error::{EngineResult, Fault, fail};
use crate::key_program::KeyProgram;
use crate::plan_cache::{Compiled, Program};
use crate::session::is_large;
use crate::work::Work;
use crate::{Answer, ColumnDesc, Session, stream, turn, utility};
use bind::tree::Span;
use parking_lot::Mutex;
use query::HeldMemory;
use sql::{Hint, Parsed, RowLockStrength, Statement};
use std::sync::Arc;
use txn::ReadView;
use types::{DataType, Datum};

/// How often a lone statement runs again after a deadlock, a serialization failure or a change of definitions.
const MAX_RERUNS: usize = 128;

/// The text of a client's statement that trees were read from: places in them count in it. Trees that were read from elsewhere,
/// as the expressions of a catalog are, have places in no text of the client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) text: Arc<str>,
    /// Characters before it in the text that the client sent.
    pub(crate) before: usize,
    /// For the trees of a long text, while any of them is there.
    pub(crate) memory: Option<Arc<HeldMemory>>,
}

impl Written {
    /// The character, from 1, at which a part stands in the text that the client sent.
    pub(crate) fn position(&self, span: Span) -> Option<usize> {
        if span.is_empty() {
            return None;
        }
        let before = self.text.get(..usize::try_from(span.start).ok()?)?;
        Some(self.before + before.chars().count() + 1)
    }
}

/// A statement with its text and the types that its client declared for its parameters.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its own text: plans are kept by it.
    pub(crate) text: Arc<str>,
    /// The text that its tree was read from.
    pub(crate) written: Written,
    pub(crate) statement: Statement,
    pub(crate) types: Vec<Option<DataType>>,
    pub(crate) hints: Vec<Hint>,
}

impl Source {
    /// Another form of the statement: positions count in the text as it was written.
    pub(crate) fn with(&self, statement: Statement) -> Self {
        Self {
            text: Arc::clone(&self.text),
            written: self.written.clone(),
            statement,
            types: self.types.clone(),
            hints: self.hints.clone(),
        }
    }

    /// The statement with parameters of these types.
    pub(crate) fn with_parameters(&self, statement: Statement, types: Vec<Option<DataType>>) -> Self {
        let (text, hints) = (Arc::clone(&self.text), self.hints.clone());
        Self { text, written: self.written.clone(), statement, types, hints }
    }

    /// A query that is part of the statement: positions count in the statement's text.
    pub(crate) fn part(&self, query: &sql::ast::Query) -> Self {
        let statement = Statement::Query(Box::new(query.clone()));
        Self {
            text: Arc::clone(&self.text),
            written: self.written.clone(),
            statement,
            types: Vec::new(),
            hints: self.hints.clone(),
        }
    }

    /// A query without a text of its own.
    pub(crate) fn of_query(query: &sql::ast::Query) -> Self {
        Self::of_statement(Statement::Query(Box::new(query.clone())))
    }

    /// A statement without a text of its own.
    pub(crate) fn of_statement(statement: Statement) -> Self {
        Self { text: Arc::from(""), written: Written::default(), statement, types: Vec::new(), hints: Vec::new() }
    }

    /// The same, read from that text.
    pub(crate) fn written_in(mut self, written: Written) -> Self {
        self.written = written;
        self
    }

    /// The same, with the memory that its tree is counted in.
    pub(crate) fn held_by(mut self, memory: Arc<HeldMemory>) -> Self {
        self.written.memory = Some(memory);
        self
    }

    /// The statements of `text`, in its order.
    pub(crate) fn all(text: &str, parsed: Vec<Parsed>, types: &[Option<DataType>]) -> Vec<Self> {
        // Characters are counted in one walk: a text may have very many statements.
        let (mut byte, mut before) = (0, 0);
        let source = |Parsed { statement, span, hints }: Parsed| {
            before += text.get(byte..span.start).map_or(0, |between| between.chars().count());
            byte = span.start;
            let text: Arc<str> = Arc::from(text.get(span).unwrap_or(text));
            let written = Written { text: Arc::clone(&text), before, memory: None };
            Self { text, written, statement, types: types.to_vec(), hints }
        };
        parsed.into_iter().map(source).collect()
    }
}

impl Drop for Source {
    /// Others of its thread do not wait until a large tree is freed.
    fn drop(&mut self) {
        if is_large(&self.text) {
            let statement = std::mem::replace(&mut self.statement, Statement::Commit);
            turn::apart(|| drop(statement));
        }
    }
}

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Types of `$1`, `$2`, ….
    pub parameters: Vec<DataType>,
    /// Its columns; `None` answers no rows.
    pub columns: Option<Arc<Vec<ColumnDesc>>>,
    /// Was the text empty?
    pub is_empty: bool,
    pub(crate) source: Option<Arc<Source>>,
    /// What it was compiled to last. Held to read or replace it, never across an await.
    pub(crate) compiled: Mutex<Option<Arc<Compiled>>>,
}

impl Session {
    /// The columns that a prepared statement answers with now: those of FETCH are its cursor's, which may be made after it
    /// was prepared.
    pub fn columns_now(&self, prepared: &Prepared) -> Option<Arc<Vec<ColumnDesc>>> {
        match prepared.source.as_ref().map(|source| &source.statement) {
            Some(fetch @ Statement::Fetch(_)) => utility::columns(self, fetch),
            _ => prepared.columns.clone(),
        }
    }
}

impl Prepared {
    pub(crate) fn empty() -> Self {
        Self { parameters: Vec::new(), columns: None, is_empty: true, source: None, compiled: Mutex::default() }
    }
}

/// What is compiled: everything else runs straight from its statement.
fn is_planned(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_)
            | Statement::LockingSelect(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::DeclareCursor(_)
    )
}

impl Session {
    pub(crate) async fn prepare_source(&mut self, source: Arc<Source>) -> EngineResult<Arc<Prepared>> {
        self.engine.catalog().follow().await?;
        self.know_indexes().await?;
        self.take_hints(&source.hints);
        if !is_planned(&source.statement) {
            let columns = utility::columns(self, &source.statement);
            let compiled = Mutex::default();
            let (parameters, is_empty) = (Vec::new(), false);
            return Ok(Arc::new(Prepared { parameters, columns, is_empty, source: Some(source), compiled }));
        }
        self.check_block()?;
        if let Statement::DeclareCursor(declare) = &source.statement {
            let parameters = self.compile(&declared(declare, &source), None).await?.parameters.clone();
            let compiled = Mutex::default();
            return Ok(Arc::new(Prepared {
                parameters,
                columns: None,
                is_empty: false,
                source: Some(source),
                compiled,
            }));
        }
        let compiled = self.compile(&source, None).await?;
        Ok(Arc::new(Prepared {
            parameters: compiled.parameters.clone(),
            columns: compiled.columns.clone(),
            is_empty: false,
            source: Some(source),
            compiled: Mutex::new(Some(compiled)),
        }))
    }

    pub(crate) async fn dispatch(
        &mut self,
        text: &Arc<str>,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        self.note(text);
        self.written = source.written.clone();
        match &source.statement {
            Statement::Commit => return self.commit().await.map(Answer::Done),
            Statement::Rollback => return self.rollback().map(Answer::Done),
            Statement::RollbackTo(name) => return self.rollback_to(name).map(Answer::Done),
            _ => self.check_block()?,
        }
        self.engine.catalog().follow().await?;
        self.know_indexes().await?;
        self.take_hints(&source.hints);
        self.tell_of_hints(&source.hints);
        let types = prepared.map_or(&[][..], |prepared| &prepared.parameters);
        let spelled = spelled_out(source, types, params)?;
        let (source, prepared, params) = match &spelled {
            Some(spelled) => (spelled, None, &[][..]),
            None => (source, prepared, params),
        };
        match &source.statement {
            Statement::Query(_) => self.run_query(source, prepared, params).await,
            Statement::LockingSelect(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                self.run_write(source, prepared, params).await
            }
            Statement::CreateTable(_)
            | Statement::CreateSchema { .. }
            | Statement::DropTable { .. }
            | Statement::CreateIndex(_)
            | Statement::DropIndex { .. }
            | Statement::RenameIndex { .. }
            | Statement::SetIndexOptions { .. }
            | Statement::AlterIndex { .. }
            | Statement::Reindex { .. }
            | Statement::CreateView(_)
            | Statement::DropView { .. }
            | Statement::CreateMaterializedView(_)
            | Statement::DropMaterializedView { .. }
            | Statement::RefreshMaterializedView(_)
            | Statement::CreateSequence(_)
            | Statement::AlterSequence(_)
            | Statement::DropSequence { .. }
            | Statement::DropSchema { .. }
            | Statement::AlterTable(_)
            | Statement::RenameSchema { .. }
            | Statement::ChangeOwner(_)
            | Statement::Comment(_)
            | Statement::Truncate { .. } => {
                self.engine.counters().utility.add(1);
                Box::pin(self.outside_implicit(source)).await
            }
            Statement::DeclareCursor(declare) => {
                Box::pin(self.declare_cursor(declare, source, prepared, params)).await.map(Answer::Done)
            }
            Statement::Fetch(fetch) => self.fetch(fetch).await,
            Statement::Explain(explain) => Box::pin(self.explain(explain, source)).await,
            Statement::Copy(copy) => Box::pin(self.copy(copy, source)).await,
            other => {
                self.engine.counters().utility.add(1);
                Box::pin(self.utility(other, &source.text, &source.hints)).await
            }
        }
    }

    /// DDL in a simple query of several statements: what came before it is committed first.
    async fn outside_implicit(&mut self, source: &Source) -> EngineResult<Answer> {
        let implicit = self.in_implicit();
        if implicit {
            self.end_implicit(true).await?;
        }
        let done = self.change_definitions(source).await;
        if implicit {
            self.begin_implicit();
        }
        done.map(Answer::Done)
    }

    pub(crate) async fn run_query(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let (view, compiled) = self.view_and_compile(source, prepared).await?;
        self.run_compiled(view, &compiled, prepared.is_some(), params).await
    }

    /// Runs a query that was compiled for this state.
    pub(crate) async fn run_compiled(
        &mut self,
        view: ReadView,
        compiled: &Compiled,
        prepared: bool,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        check_parameters(compiled, prepared, params)?;
        match &compiled.program {
            Program::Key(KeyProgram::Point(program)) => {
                self.engine.counters().point.add(1);
                let rows = program.run(&view, params).await?;
                Ok(Answer::Rows(stream::ready(compiled.columns(), rows, "SELECT")))
            }
            Program::Key(KeyProgram::Range(program)) => {
                self.engine.counters().point.add(1);
                let guard = self.running();
                let cursor = guard.stoppable(program.open(&view, params)).await?;
                self.read_range(cursor, compiled.columns(), guard).await.map(Answer::Rows)
            }
            Program::Rows(rows) => self.run_rows(view, compiled, rows, params).await,
            Program::Query(plan) if self.set_configs.is_called() => {
                // Settings change when the last row was made, and that is before the next statement.
                let memory = self.hold_rows();
                let rows = self.collect(self.query_context(view), Arc::clone(plan), params.to_vec(), memory).await?;
                Ok(Answer::Rows(stream::ready(compiled.columns(), rows, "SELECT")))
            }
            Program::Query(plan) => self.start_query(plan, view, params).map(Answer::Rows),
            _ => fail(Fault::Internal { detail: "a query became a write".to_string() }),
        }
    }

    /// A state to read, and the query compiled for it: the state has the tables that the definitions name, and all its
    /// rows were written by these definitions or older ones.
    pub(crate) async fn view_and_compile(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
    ) -> EngineResult<(ReadView, Arc<Compiled>)> {
        loop {
            let version = self.engine.catalog().version();
            // The state comes first: what it has of definitions, the catalog then has too.
            let view = self.read_view().await?;
            self.set_configs.begin();
            let compiled = self.compile(source, prepared).await?;
            // A transaction that repeats its reads keeps its state.
            if self.block.repeats() || self.is_read_with(version) {
                return Ok((view, compiled));
            }
        }
    }

    /// Are the definitions still those of `version`, which the catalog had before a state was taken? Then the state has them,
    /// too: the catalog shows what is published. Where no state is of the whole store there is nothing to keep in step.
    pub(crate) fn is_read_with(&self, version: u64) -> bool {
        !self.engine.store().capabilities().store_snapshots() || self.engine.catalog().version() == version
    }

    pub(crate) async fn run_write(
        &mut self,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        self.check_writable(command(&source.statement))?;
        if cursor_of(&source.statement).is_some() {
            return Box::pin(self.run_at_cursor(source, prepared, params)).await;
        }
        let mut compiled = self.compile(source, prepared).await?;
        check_parameters(&compiled, prepared.is_some(), params)?;
        let mut reruns = 0;
        loop {
            let work = self.take_transaction()?;
            let alone = !work.in_block;
            let done = self.write_once(work, source, prepared, Arc::clone(&compiled), params).await;
            let Err(error) = done else { return done };
            let outdated = self.is_outdated(&compiled).await;
            if !alone || reruns == MAX_RERUNS || !(error.is_retryable() || error.is_undefined_table() && outdated) {
                return Err(error);
            }
            // Its writes and locks are gone and nothing was told of it: it runs as if it began now.
            self.running().check()?;
            self.engine.counters().retries.add(1);
            reruns += 1;
            if outdated {
                compiled = self.compile(source, prepared).await?;
            }
        }
    }

    /// Were definitions changed since? A table that a write reads, other than its target, is not locked, and TRUNCATE
    /// gives it another storage.
    async fn is_outdated(&self, compiled: &Compiled) -> bool {
        self.engine.catalog().wait_for_change_under_way().await;
        !self.is_current(compiled)
    }

    async fn write_once(
        &mut self,
        mut work: Work,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        compiled: Arc<Compiled>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        let mut compiled = self.lock_target(&mut work, source, prepared, compiled).await?;
        let mut reruns = 0;
        let outcome = loop {
            if compiled.locks_within {
                compiled = Box::pin(self.lock_subqueries(&mut work, source, compiled, params)).await?;
            }
            let done = self.write(&mut work, &compiled, params).await;
            // A block cannot run it anew as `run_write` does, but it can go on where nothing was written yet.
            let reads_anew = work.in_block && reruns < MAX_RERUNS && work.tally.rows() == 0;
            match done {
                Err(error) if reads_anew && error.is_undefined_table() && self.is_outdated(&compiled).await => {
                    self.running().check()?;
                    self.engine.counters().retries.add(1);
                    reruns += 1;
                    compiled = self.lock_target(&mut work, source, prepared, compiled).await?;
                }
                done => break done?,
            }
        };
        let tally = work.tally;
        if let Err(error) = self.end_work(work).await {
            return Err(match compiled.target() {
                Some(target) => target.in_words(error),
                None => error,
            });
        }
        self.engine.counters().rows_written.add(outcome.rows());
        if let Some(target) = compiled.target() {
            tally.note(&target.table);
        }
        Ok(outcome.answer(&compiled))
    }
}

impl Session {
    /// Runs the subqueries that lock rows; the statement compiled with their rows, its target locked.
    async fn lock_subqueries(
        &mut self,
        work: &mut Work,
        source: &Arc<Source>,
        compiled: Arc<Compiled>,
        params: &[Datum],
    ) -> EngineResult<Arc<Compiled>> {
        loop {
            let filled = self.compile_over_locked(work, source, &compiled, params).await?;
            if self.is_current(&filled) {
                return Ok(filled);
            }
            self.running().check()?;
        }
    }
}

fn check_parameters(compiled: &Compiled, prepared: bool, params: &[Datum]) -> EngineResult<()> {
    let expected = compiled.parameters.len();
    if expected == params.len() {
        return Ok(());
    }
    if !prepared {
        return fail(Fault::NoSuchParameter { number: params.len() + 1 });
    }
    fail(Fault::ParameterCount { name: String::new(), expected, given: params.len() })
}

/// First words of the command tag.
pub(crate) fn command(statement: &Statement) -> &'static str {
    match statement {
        Statement::Insert(_) => "INSERT",
        Statement::Update(_) => "UPDATE",
        Statement::Delete(_) => "DELETE",
        Statement::LockingSelect(select) => {
            crate::row_locks::command(select.locks.first().map_or(RowLockStrength::Update, |lock| lock.strength))
        }
        _ => "statement",
    }
}
