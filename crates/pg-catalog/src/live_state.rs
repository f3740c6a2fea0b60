//! The state that the tables and functions need besides the catalog: sessions, settings, locks, jobs.

use async_trait::async_trait;
use builtins::lists::Routine;
use datafusion::common::Result;
use std::fmt::Debug;
use std::net::SocketAddr;
use types::DataType;

/// A row of `pg_settings`. Values are without units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The unit of its numbers: `ms`, `kB`.
    pub unit: Option<&'static str>,
    /// Its category.
    pub category: &'static str,
    /// Its description, one sentence.
    pub description: String,
    /// When it can be changed: `user`, `postmaster`, or `internal` (never).
    pub context: &'static str,
    /// `bool`, `integer`, `real`, `string` or `enum`.
    pub kind: &'static str,
    /// The source of its value: `default`, `configuration file`, `client` or `session`.
    pub source: &'static str,
    /// Its minimum and maximum.
    pub range: Option<(i64, i64)>,
    /// The values of an `enum`.
    pub values: Vec<String>,
    /// Its value on a new server.
    pub boot: String,
    /// The value that RESET restores.
    pub reset: String,
}

/// A function of the embedding program, for `pg_proc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionInfo {
    /// Its name, folded.
    pub name: String,
    /// Types of its arguments.
    pub arguments: Vec<DataType>,
    /// Type of its value.
    pub returns: DataType,
    /// IMMUTABLE: whether it always returns the same value for the same arguments.
    pub immutable: bool,
    /// STRICT: whether it returns NULL if any argument is NULL.
    pub strict: bool,
}

/// Oids of the embedding program's functions: hashes of their names, in a range that the catalog's counter does not
/// reach.
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

/// FNV-1a: a stable hash of a name.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The object of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockedObject {
    /// A table, by its storage id.
    Table(u32),
    /// A row of that table.
    Row(u32),
    /// An advisory lock with one number.
    Number(i64),
    /// An advisory lock with two numbers.
    Numbers(i32, i32),
}

/// A row of `pg_locks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// Number of the transaction that holds the lock or waits for it.
    pub owner: u64,
    /// The session of that transaction, if any.
    pub process_id: Option<i32>,
    /// The locked object.
    pub object: LockedObject,
    /// Whether the mode is exclusive.
    pub exclusive: bool,
    /// Whether it is held; false if waited for.
    pub granted: bool,
}

/// A row of `pg_timezone_names`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZoneInfo {
    /// Its name.
    pub name: &'static str,
    /// The abbreviation in use now.
    pub abbreviation: String,
    /// The offset in use now, in seconds east of UTC.
    pub offset: i32,
    /// Whether daylight saving time is in use now.
    pub is_dst: bool,
}

/// A row of `pg_stat_activity`. Times are in microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its `pg_backend_pid()`.
    pub process_id: i32,
    /// Its user.
    pub user: String,
    /// Its `application_name`.
    pub application_name: String,
    /// The client's address; `None` for a session of the embedding program.
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

/// A row of `bennu.jobs`. Times are in microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInfo {
    /// Its number.
    pub id: u32,
    /// The kind of work.
    pub kind: String,
    /// Its purpose.
    pub description: String,
    /// Its state.
    pub state: &'static str,
    /// The current step, if any.
    pub phase: String,
    /// Rows processed.
    pub rows: u64,
    /// The estimated total number of rows.
    pub rows_total: u64,
    /// Bytes processed.
    pub bytes: u64,
    /// The estimated total number of bytes.
    pub bytes_total: u64,
    /// Number of failed attempts.
    pub attempts: u32,
    /// SQLSTATE of the last error.
    pub code: Option<String>,
    /// The last error.
    pub error: Option<String>,
    /// When it was created.
    pub created: i64,
    /// When it first ran.
    pub started: Option<i64>,
    /// When it ended.
    pub finished: Option<i64>,
}

/// A row of `pg_stat_progress_create_index`: an index build in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildInfo {
    /// The number of its job.
    pub job: u32,
    /// Oid of the table.
    pub table: u32,
    /// Oid of the index.
    pub index: u32,
    /// Whether the index replaces another one.
    pub reindex: bool,
    /// The phase, as PostgreSQL names it.
    pub phase: String,
    /// Rows processed.
    pub rows: u64,
    /// The estimated total number of rows.
    pub rows_total: u64,
}

/// A row of `pg_prepared_statements`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedInfo {
    /// Its name.
    pub name: String,
    /// The statement text that the client sent.
    pub statement: String,
    /// When it was prepared, in microseconds since 1970.
    pub prepared: i64,
    /// Types of its parameters.
    pub parameters: Vec<DataType>,
    /// Whether it was prepared by SQL PREPARE; false for the wire protocol.
    pub from_sql: bool,
}

/// A row of `pg_cursors`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorInfo {
    /// Its name.
    pub name: String,
    /// The statement that declared it.
    pub statement: String,
    /// When it was declared, in microseconds since 1970.
    pub declared: i64,
}

/// Implemented by `engine` for each statement.
#[async_trait]
pub trait LiveState: Debug + Send + Sync {
    /// The session's user, which is the only role.
    fn user(&self) -> &str;
    /// The effective `search_path`, in order, without the implicit `pg_catalog`.
    fn search_path(&self) -> &[String];
    /// The session's process id.
    fn process_id(&self) -> i32;
    /// The value of a setting as SHOW prints it; `None` if there is no such setting.
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
    /// Cancels the statement of a session, or with `end` terminates the session. Returns false if there is no such
    /// session.
    fn stop_session(&self, process_id: i32, end: bool) -> bool;
    /// Exports the snapshot of the session's transaction for other sessions, until the transaction ends.
    ///
    /// # Errors
    /// If the transaction cannot export its snapshot.
    fn export_snapshot(&self) -> Result<String>;
    /// The session's named prepared statements.
    fn prepared_statements(&self) -> Vec<PreparedInfo>;
    /// The open cursors of its transaction.
    fn cursors(&self) -> Vec<CursorInfo>;
    /// All settings.
    fn settings(&self) -> Vec<SettingInfo>;
    /// The last value of a sequence; `None` before the first.
    fn last_value(&self, sequence: &catalog::Sequence) -> Option<i64>;
    /// The text of a view's query, written with search path `path`, schema-qualifying names that the session's search
    /// path does not find.
    fn view_query(&self, query: &str, path: &[String]) -> String;
    /// The position of a sequence: `last_value` and `is_called`.
    async fn position(&self, sequence: &catalog::Sequence) -> (i64, bool);
}
