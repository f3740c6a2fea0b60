//! A session: one client, its settings, prepared statements and transaction block.

pub(crate) mod activity;
pub(crate) mod advisory;
pub(crate) mod end;
pub(crate) mod exported_snapshots;
pub(crate) mod held;
pub(crate) mod live_notices;
pub(crate) mod notice;
pub(crate) mod prepared;
pub(crate) mod running;
pub(crate) mod search_path;
pub(crate) mod sequences;
pub(crate) mod set_config;
pub(crate) mod state;
pub(crate) mod timer;

use crate::block::Block;
use crate::error::{ClientFault, EngineResult, Fault, fail};
use crate::session::activity::Client;
use crate::session::advisory::release_at_end;
use crate::session::end::SessionEnd;
use crate::session::notice::Notices;
use crate::session::prepared::PreparedStatements;
use crate::session::running::{Entry, RunGuard};
use crate::session::search_path::KnownPath;
use crate::session::sequences::Taken;
use crate::session::set_config::SetConfigs;
use crate::session::timer::StatementTimer;
use crate::settings::{Keepalive, Settings};
use crate::statement::script::Script;
use crate::statement::shapes::ByShape;
use crate::statement::{Source, Written};
use crate::threads::turn;
use crate::{Answer, Engine, EngineError, Notice, Prepared};
use builtins::TimeZone;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;
use store::CommitNo;
use txn::LockOwner;
use types::{DataType, Datum, interrupt};

/// Transaction status of a session between statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// In no transaction block.
    Idle,
    /// In a transaction block.
    InTransaction,
    /// In a failed transaction block: only ROLLBACK or ROLLBACK TO is accepted.
    Failed,
}

/// How long a client may be idle, and the error when that time is over.
#[derive(Clone, Debug)]
pub struct IdleLimit {
    /// The time.
    pub time: Duration,
    /// The error for the client.
    pub fault: ClientFault,
}

/// A session. One task uses it at a time.
#[derive(Debug)]
pub struct Session {
    pub(crate) engine: Arc<Engine>,
    pub(crate) user: String,
    pub(crate) settings: Settings,
    pub(crate) block: Block,
    pub(crate) prepared: Arc<PreparedStatements>,
    /// The session's own last commit, which its reads include.
    pub(crate) last_commit: CommitNo,
    pub(crate) notices: Notices,
    /// Sequence values that the session took.
    pub(crate) taken: Arc<Taken>,
    pub(crate) set_configs: Arc<SetConfigs>,
    /// Hints of the running statement.
    pub(crate) hints: Arc<query::ScanHints>,
    /// Whether EXPLAIN is compiling.
    pub(crate) explaining: bool,
    pub(crate) entry: Arc<Entry>,
    pub(crate) known_path: KnownPath,
    /// The guard of the running statement.
    guard: Option<Arc<RunGuard>>,
    /// The time limit of the last statement.
    timer: Option<StatementTimer>,
    /// The text of the running statement, to which positions in its expressions refer.
    pub(crate) written: Written,
}

impl Session {
    pub(crate) fn new(engine: Arc<Engine>, user: String, address: Option<SocketAddr>, settings: Settings) -> Self {
        let client = Client { user: user.clone(), address, clock: Arc::clone(engine.clock()) };
        let entry = engine.running().enter(client, settings.effective());
        Self {
            engine,
            user,
            settings,
            block: Block::Idle,
            prepared: Arc::default(),
            last_commit: CommitNo(0),
            notices: Notices::default(),
            taken: Arc::default(),
            set_configs: Arc::default(),
            hints: Arc::default(),
            explaining: false,
            entry,
            known_path: KnownPath::default(),
            guard: None,
            timer: None,
            written: Written::default(),
        }
    }

    /// The process id that a cancel request names.
    pub fn process_id(&self) -> i32 {
        self.entry.process
    }

    /// The secret key that a cancel request must send.
    pub fn secret(&self) -> i32 {
        self.entry.secret
    }

    /// A handle to request termination, and to wait for it, while the session is in use.
    pub fn ending(&self) -> SessionEnd {
        SessionEnd::of(&self.entry)
    }

    /// The transaction status.
    pub fn status(&self) -> TransactionStatus {
        self.block.status()
    }

    /// Notices since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.notices.take(self.settings.get("client_min_messages").unwrap_or("notice"))
    }

    /// Reported settings that changed since the last call.
    pub fn take_changed_parameters(&mut self) -> Vec<(&'static str, String)> {
        self.settings.take_changed()
    }

    /// All reported settings, for the start of a connection.
    pub fn reported_parameters(&self) -> Vec<(&'static str, String)> {
        self.settings.reported()
    }

    /// The statements of a simple query in order. The whole text must parse before any of it runs.
    ///
    /// # Errors
    /// 42601 and other parser errors; 57014 if it is cancelled.
    pub fn parse(&self, text: &str) -> Result<Vec<Script>, EngineError> {
        let shape = self.by_shape(text);
        if let ByShape::Ready(ready) = &shape {
            let (source, text) = (Arc::clone(&ready.source), Arc::clone(&ready.text));
            return Ok(vec![Script { source, text, shape }]);
        }
        let sources = self.read(text, &[])?;
        let script =
            |source: Source| Script { text: Arc::clone(&source.text), source: Arc::new(source), shape: shape.clone() };
        Ok(sources.into_iter().map(script).collect())
    }

    /// Parses the statements of `text`. A large text is parsed under a guard of its own, so that it can be cancelled.
    fn read(&self, text: &str, types: &[Option<DataType>]) -> EngineResult<Vec<Source>> {
        if !is_large(text) {
            let began = Instant::now();
            let parsed = sql::parse(text);
            self.engine.counters().parse.add_since(began);
            return Ok(Source::all(text, parsed?, types));
        }
        let guard = self.running();
        let read = || -> EngineResult<Vec<Source>> {
            let memory = self.engine.hold("the trees of a statement");
            memory.try_grow(sql::tree_bytes(text))?;
            let (parsed, memory) = (sql::parse(text)?, Arc::new(memory));
            let sources = Source::all(text, parsed, types).into_iter();
            Ok(sources.map(|source| source.held_by(Arc::clone(&memory))).collect())
        };
        let read = turn::apart(|| interrupt::under(Some(guard.host()), read));
        read.or_else(|error| guard.check().and(Err(error)))
    }

    /// Runs one statement of a simple query.
    ///
    /// # Errors
    /// Errors of the statement. The session continues.
    pub async fn run(&mut self, statement: &Script) -> Result<Answer, EngineError> {
        self.begin_statement();
        let Script { source, text, shape } = statement;
        let made = match shape {
            ByShape::Candidate(candidate) => self.ready(source, candidate).await,
            _ => None,
        };
        let ready = match shape {
            ByShape::Ready(ready) => Some(ready),
            _ => made.as_ref(),
        };
        let done = match ready {
            Some(ready) => {
                self.engine.counters().parameterized.add(1);
                self.watched_dispatch(text, &ready.source, Some(&ready.prepared), &ready.params).await
            }
            None => self.watched_dispatch(text, source, None, &[]).await,
        };
        let done = self.followed(done);
        self.end_statement(done)
    }

    /// Called before each statement of a simple query of several: they form one implicit transaction, and those after
    /// a COMMIT or ROLLBACK form another one.
    pub fn begin_in_batch(&mut self) {
        self.begin_implicit();
    }

    /// Ends a simple query of several statements: commits if `ok`, else rolls back.
    ///
    /// # Errors
    /// Errors of the commit.
    pub async fn end_batch(&mut self, ok: bool) -> Result<(), EngineError> {
        self.end_implicit(ok).await
    }

    /// Prepares one statement. Parameter types that are not given are inferred.
    ///
    /// # Errors
    /// 42601 also for several statements.
    pub async fn prepare(&mut self, text: &str, types: &[Option<DataType>]) -> Result<Arc<Prepared>, EngineError> {
        let mut sources = self.read(text, types)?;
        if sources.len() > 1 {
            return fail(Fault::SeveralStatements);
        }
        let Some(source) = sources.pop() else { return Ok(Arc::new(Prepared::empty())) };
        let source = Arc::new(source);
        self.begin_statement();
        let guard = self.running();
        let large = is_large(&source.text);
        let done = {
            let preparing = pin!(self.prepare_source(Arc::clone(&source)));
            guard.over(preparing, large).await
        };
        self.end_statement(done)
    }

    /// Runs a prepared statement.
    ///
    /// # Errors
    /// Errors of the statement. The session continues.
    pub async fn execute(&mut self, prepared: &Arc<Prepared>, params: &[Datum]) -> Result<Answer, EngineError> {
        let Some(source) = &prepared.source else { return Ok(Answer::Empty) };
        self.begin_statement();
        let done = self.watched_dispatch(&source.text, source, Some(prepared), params).await;
        let done = self.followed(done);
        self.end_statement(done)
    }

    /// As [`Self::dispatch`], but can be stopped during computations.
    async fn watched_dispatch(
        &mut self,
        text: &Arc<str>,
        source: &Arc<Source>,
        prepared: Option<&Arc<Prepared>>,
        params: &[Datum],
    ) -> EngineResult<Answer> {
        // Short statements on an in-memory store may never wait. Without this, a client that sends one after the
        // other would block all other tasks of its thread.
        tokio::task::consume_budget().await;
        let guard = self.running();
        let done = pin!(self.dispatch(text, source, prepared, params));
        guard.over(done, is_large(text)).await
    }

    /// Wraps the answer so that its end is reported to the block, or releases the locks of a single-statement
    /// transaction.
    pub(crate) fn followed(&self, done: EngineResult<Answer>) -> EngineResult<Answer> {
        match self.block {
            Block::Open(_) => done.map(|answer| self.block.watch(answer)),
            Block::Idle => release_at_end(&self.entry, done),
        }
    }

    /// Locks of a statement outside its block.
    pub(crate) fn own_locks(&self) -> LockOwner {
        let owner = LockOwner::new(Arc::clone(self.engine.locks()));
        self.entry.note_statement_locks(owner.id());
        owner
    }

    /// Makes the statements up to [`Self::sync`] one implicit transaction, unless a block is open.
    pub fn begin_pipeline(&mut self) {
        self.begin_implicit();
    }

    /// Ends a pipeline of the extended protocol: commits its implicit transaction, or rolls it back after an error.
    ///
    /// # Errors
    /// Errors of the commit.
    pub async fn sync(&mut self) -> Result<(), EngineError> {
        if self.in_implicit() { self.end_implicit(true).await } else { Ok(()) }
    }

    /// Marks an open transaction block as failed after an error in the front end.
    pub fn fail(&mut self) {
        self.block.fail();
        self.entry.note_end(self.block.status(), self.block.started(), self.settings.effective());
    }

    /// The time zone for input and output of the session's timestamps.
    pub fn time_zone(&self) -> TimeZone {
        self.settings.effective().zone
    }

    /// When to probe whether the client is still connected.
    pub fn keepalive(&self) -> Keepalive {
        self.settings.effective().keepalive
    }

    /// How long the client may be idle now; `None` is forever.
    pub fn idle_limit(&self) -> Option<IdleLimit> {
        let settings = self.settings.effective();
        let (time, fault) = match self.block.status() {
            TransactionStatus::Idle => (settings.idle_timeout, ClientFault::IdleSession),
            _ => (settings.idle_in_block_timeout, ClientFault::IdleInTransaction),
        };
        time.map(|time| IdleLimit { time, fault })
    }

    /// The guard of the running statement.
    pub(crate) fn running(&self) -> Arc<RunGuard> {
        match &self.guard {
            Some(guard) => Arc::clone(guard),
            None => Arc::new(self.entry.begin(self.settings.effective().statement_timeout)),
        }
    }

    /// Lets the running statement continue without timeout and cancel requests: a cursor is read by other statements,
    /// which can be stopped.
    pub(crate) fn detach_guard(&mut self) {
        self.guard = Some(Arc::new(RunGuard::unbounded()));
    }

    pub(crate) fn begin_statement(&mut self) {
        self.engine.counters().statements.add(1);
        self.block.release_if_failed();
        // Changes that set_config() noted while rows were read. Their values were checked then.
        if self.block.status() == TransactionStatus::Failed || self.make_noted_changes().is_err() {
            self.set_configs.forget();
        }
        self.guard = None;
        let guard = self.running();
        (self.timer, self.guard) = (Some(guard.timer()), Some(guard));
    }

    pub(crate) fn end_statement<T>(&mut self, done: Result<T, EngineError>) -> Result<T, EngineError> {
        self.guard = None;
        self.written.memory = None;
        let done = done.and_then(|done| self.make_noted_changes().map(|()| done));
        if done.is_err() {
            self.set_configs.forget();
            self.engine.counters().failed.add(1);
            self.block.fail();
        }
        self.entry.note_end(self.block.status(), self.block.started(), self.settings.effective());
        done
    }

    /// Notes which statement runs, for `pg_stat_activity`.
    pub(crate) fn note(&self, query: &Arc<str>) {
        self.entry.note_begin(query);
    }
}

/// Parsing, compiling and freeing a longer text takes longer than other tasks of the thread should wait.
const LARGE_TEXT: usize = 16 * 1024;

pub(crate) fn is_large(text: &str) -> bool {
    text.len() > LARGE_TEXT
}

impl Drop for Session {
    fn drop(&mut self) {
        self.entry.release_advisory();
        self.engine.running().leave(self.entry.process);
    }
}
