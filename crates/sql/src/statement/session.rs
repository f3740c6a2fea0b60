//! Statements on the session: settings, transactions, EXPLAIN.

use super::{ObjectName, Statement};

/// Name of a setting, folded: `search_path`, `my.setting`.
pub type SettingName = String;

/// Value of SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// DEFAULT.
    Default,
    /// One value, or the values of a list setting such as `search_path`. Bare words are folded, strings are as quoted,
    /// numbers are as written.
    Values(Vec<String>),
}

/// Isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// READ UNCOMMITTED, which PostgreSQL treats as READ COMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

/// The modes of BEGIN and SET TRANSACTION; `None` if not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// READ ONLY (true), READ WRITE (false).
    pub read_only: Option<bool>,
    /// DEFERRABLE (true), NOT DEFERRABLE (false).
    pub deferrable: Option<bool>,
}

/// EXPLAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// ANALYZE: also executes the statement.
    pub analyze: bool,
    /// VERBOSE.
    pub verbose: bool,
    /// COSTS, if given. By default they are shown in formats for programs.
    pub costs: Option<bool>,
    /// TIMING; true by default. Matters only with `analyze`.
    pub timing: bool,
    /// SUMMARY, if given; otherwise as `analyze`.
    pub summary: Option<bool>,
    /// FORMAT.
    pub format: ExplainFormat,
    /// The statement.
    pub statement: Box<Statement>,
}

/// Format of EXPLAIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExplainFormat {
    /// An indented tree.
    #[default]
    Text,
    /// JSON.
    Json,
    /// XML.
    Xml,
    /// YAML.
    Yaml,
}

impl Explain {
    /// Whether costs are shown.
    pub fn shows_costs(&self) -> bool {
        self.costs.unwrap_or(self.format != ExplainFormat::Text)
    }
}

/// Phoenix's UPDATE STATISTICS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateStatistics {
    /// The table.
    pub table: ObjectName,
    /// The scope.
    pub of: StatisticsOf,
    /// SET: names in lower case.
    pub properties: Vec<(String, u64)>,
}

/// The scope of UPDATE STATISTICS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatisticsOf {
    /// ALL: rows and indexes.
    #[default]
    All,
    /// INDEX.
    Indexes,
    /// COLUMNS: rows without indexes.
    Columns,
}

/// The session state that a statement discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// All state of the session.
    All,
    /// Cached plans.
    Plans,
    /// Cached sequence values.
    Sequences,
    /// Temporary tables.
    Temp,
    /// CLOSE ALL.
    Cursors,
    /// UNLISTEN *.
    Channels,
}

/// Options of VACUUM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VacuumOptions {
    /// FULL.
    pub full: bool,
    /// ANALYZE.
    pub analyze: bool,
    /// VERBOSE.
    pub verbose: bool,
}
