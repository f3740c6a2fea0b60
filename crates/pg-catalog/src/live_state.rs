//! What the tables and functions must know beside the definitions: the session and its settings.

use async_trait::async_trait;
use std::fmt::Debug;

/// A setting as `pg_settings` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    /// Its name.
    pub name: String,
    /// Its value, as SHOW prints it.
    pub value: String,
    /// The value of a fresh server.
    pub default: String,
    /// One sentence.
    pub description: String,
    /// `bool`, `integer`, `real`, `string` or `enum`.
    pub kind: &'static str,
    /// The values of an `enum`.
    pub values: Vec<String>,
    /// Can it only be shown?
    pub read_only: bool,
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
    /// All settings.
    fn settings(&self) -> Vec<SettingInfo>;
    /// The last value that a sequence gave; `None` before the first.
    fn last_value(&self, sequence: &catalog::Sequence) -> Option<i64>;
    /// The text of a view's query, with schemas before names that the session's search path would not find.
    fn view_query(&self, view: &catalog::View) -> String;
    /// Where a sequence stands: its last value, and whether that was handed out; otherwise it is the next one.
    async fn position(&self, sequence: &catalog::Sequence) -> (i64, bool);
}
