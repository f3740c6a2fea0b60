//! What the tables and functions must know beside the definitions: the session and its settings.

use async_trait::async_trait;
use builtins::lists::Routine;
use datafusion::common::Result;
use std::fmt::Debug;
use std::net::SocketAddr;
use types::DataType;

/// A setting as `pg_settings` shows it. Values are without their units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What its numbers count: `ms`, `kB`.
    pub unit: Option<&'static str>,
    /// What it belongs to.
    pub category: &'static str,
    /// One sentence.
    pub description: String,
    /// When it can be changed: `user`, `postmaster`, or `internal`, which is never.
    pub context: &'static str,
    /// `bool`, `integer`, `real`, `string` or `enum`.
    pub kind: &'static str,
    /// Where its value is from: `default`, `configuration file`, `client` or `session`.
    pub source: &'static str,
    /// Its least and greatest number.
    pub range: Option<(i64, i64)>,
    /// The values of an `enum`.
    pub values: Vec<String>,
    /// The value of a fresh server.
    pub boot: String,
    /// What RESET goes back to.
    pub reset: String,
}

/// A function of the embedding program as `pg_proc` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionInfo {
    /// Its name, folded.
    pub name: String,
    /// Types of its arguments.
    pub arguments: Vec<DataType>,
    /// Type of its value.
    pub returns: DataType,
    /// Does it give the same value for the same arguments, always?
    pub immutable: bool,
    /// Is it NULL whenever an argument is?
    pub strict: bool,
}

/// Oids of the embedding program's functions: made of their names, in a range that no counter of the catalog reaches.
const EMBEDDED: u32 = 1 << 29;

impl FunctionInfo {
    /// The row of `pg_proc`.
    pub(crate) fn routine(&self) -> Routine {
        Routine {
            oid: EMBEDDED | (hash(&self.name) & (EMBEDDED - 1)),
            name: self.name.clone(),
            kind: 'f',
            volatility: if self.immutable { 'i' } else { 'v' },
            parallel: 's',
            strict: self.strict,
            returns_set: false,
            result: self.returns.oid(),
            arguments: self.arguments.iter().map(DataType::oid).collect(),
            variadic: 0,
            defaults: 0,
            aggregate: ('n', 0),
            shown: None,
        }
    }
}

/// FNV-1a: the same for a name in every run.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// What a lock is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockedObject {
    /// A table, by the store's number of it.
    Table(u32),
    /// A row of that table.
    Row(u32),
    /// One number of clients.
    Number(i64),
    /// Two numbers of clients.
    Numbers(i32, i32),
}

/// A lock as `pg_locks` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// Number of the transaction that holds it or waits.
    pub owner: u64,
    /// The session of that transaction, if it is one's.
    pub process_id: Option<i32>,
    /// What is locked.
    pub object: LockedObject,
    /// Does it keep out all others?
    pub exclusive: bool,
    /// Held, rather than waited for?
    pub granted: bool,
}

/// A time zone as `pg_timezone_names` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZoneInfo {
    /// Its name.
    pub name: &'static str,
    /// What its time is called now.
    pub abbreviation: String,
    /// Seconds east of UTC now.
    pub offset: i32,
    /// Is it summer time now?
    pub is_dst: bool,
}

/// A session as `pg_stat_activity` shows it. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// What `pg_backend_pid()` says in it.
    pub process_id: i32,
    /// Its user.
    pub user: String,
    /// Its `application_name`.
    pub application_name: String,
    /// Where its client is; `None` is in the server's own process.
    pub client: Option<SocketAddr>,
    /// When it began.
    pub backend_start: i64,
    /// When its transaction began, if it is in one.
    pub xact_start: Option<i64>,
    /// When its last statement began.
    pub query_start: Option<i64>,
    /// When `state` last changed.
    pub state_change: i64,
    /// `active`, `idle`, `idle in transaction` or `idle in transaction (aborted)`.
    pub state: &'static str,
    /// Its last statement.
    pub query: String,
}

/// A job as `bennu.jobs` shows it. Times are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    /// Its number.
    pub id: u32,
    /// The kind of work.
    pub kind: String,
    /// What it is for.
    pub description: String,
    /// Where it stands.
    pub state: &'static str,
    /// The step that it is at; empty if at none.
    pub phase: String,
    /// Rows done.
    pub rows: u64,
    /// Rows to be done, estimated.
    pub rows_total: u64,
    /// Bytes of rows done.
    pub bytes: u64,
    /// Bytes of rows to be done, estimated.
    pub bytes_total: u64,
    /// Attempts that ended with an error.
    pub attempts: u32,
    /// SQLSTATE of the last error.
    pub code: Option<String>,
    /// The last error.
    pub error: Option<String>,
    /// When it was made.
    pub created: i64,
    /// When it was first worked on.
    pub started: Option<i64>,
    /// When it ended.
    pub finished: Option<i64>,
}

/// A build under way as `pg_stat_progress_create_index` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildInfo {
    /// The number of its job.
    pub job: u32,
    /// Oid of the table.
    pub table: u32,
    /// Oid of the index.
    pub index: u32,
    /// Of an index that takes the place of another one?
    pub reindex: bool,
    /// In PostgreSQL's words.
    pub phase: String,
    /// Rows done.
    pub rows: u64,
    /// Rows to be done, estimated.
    pub rows_total: u64,
}

/// A prepared statement as `pg_prepared_statements` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedInfo {
    /// Its name.
    pub name: String,
    /// What the client sent to prepare it.
    pub statement: String,
    /// When, in microseconds since 1970.
    pub prepared: i64,
    /// Types of its parameters.
    pub parameters: Vec<DataType>,
    /// By PREPARE of SQL, rather than by the protocol?
    pub from_sql: bool,
}

/// A cursor as `pg_cursors` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorInfo {
    /// Its name.
    pub name: String,
    /// The statement that declared it.
    pub statement: String,
    /// When, in microseconds since 1970.
    pub declared: i64,
}

/// Implemented by `engine` for each statement.
#[async_trait]
pub trait LiveState: Debug + Send + Sync {
    /// The session's user. The only role that there is, since there are none to create.
    fn user(&self) -> &str;
    /// What `search_path` means now, in order; without the implicit `pg_catalog`.
    fn search_path(&self) -> &[String];
    /// The session's process id.
    fn process_id(&self) -> i32;
    /// One setting as SHOW prints it; `None` if there is no such setting.
    fn setting(&self, name: &str) -> Option<String>;
    /// The store's estimate of a table's bytes, on disk and in memory.
    fn table_bytes(&self, table: &catalog::Table) -> u64;
    /// The functions of the embedding program.
    fn functions(&self) -> Vec<FunctionInfo>;
    /// All locks of the server.
    fn locks(&self) -> Vec<LockInfo>;
    /// All time zones.
    fn time_zones(&self) -> Vec<TimeZoneInfo>;
    /// All sessions of the server.
    fn sessions(&self) -> Vec<SessionInfo>;
    /// All jobs, by number.
    fn jobs(&self) -> Vec<JobInfo>;
    /// Builds of indexes that are under way.
    fn index_builds(&self) -> Vec<BuildInfo>;
    /// Cancels what a session runs, and with `end` the session itself. False: there is no such session.
    fn stop_session(&self, process_id: i32, end: bool) -> bool;
    /// Lets other sessions read what the session's transaction reads, as long as that lasts.
    ///
    /// # Errors
    /// When the transaction cannot export what it reads.
    fn export_snapshot(&self) -> Result<String>;
    /// The session's named prepared statements.
    fn prepared_statements(&self) -> Vec<PreparedInfo>;
    /// The cursors that its transaction declared and has not closed.
    fn cursors(&self) -> Vec<CursorInfo>;
    /// All settings.
    fn settings(&self) -> Vec<SettingInfo>;
    /// The last value that a sequence gave; `None` before the first.
    fn last_value(&self, sequence: &catalog::Sequence) -> Option<i64>;
    /// The text of a view's query, whose names are looked up in `path`, with schemas before those that the session's search
    /// path would not find.
    fn view_query(&self, query: &str, path: &[String]) -> String;
    /// Where a sequence stands: its last value, and whether that was handed out; otherwise it is the next one.
    async fn position(&self, sequence: &catalog::Sequence) -> (i64, bool);
}
