//! What a statement is planned and run with.

use crate::{Reader, Stop};
use builtins::TimeZone;
use catalog::Catalog;
use datafusion::catalog::SchemaProvider;
use datafusion::logical_expr::ScalarUDF;
use index::ScanHints;
use std::fmt;
use std::sync::Arc;

/// Looks up a setting for `current_setting()`.
pub trait Settings: Send + Sync {
    /// Its value as SHOW prints it; `None` if there is no such setting.
    fn get(&self, name: &str) -> Option<String>;
}

/// Looks up a function that reads the statement's state, by its folded name.
pub type FunctionLookup = Arc<dyn Fn(&str) -> Option<Arc<ScalarUDF>> + Send + Sync>;

/// A session's side of a statement. Cheap to clone.
#[derive(Clone)]
pub struct QueryContext {
    /// The version of all definitions that the statement sees.
    pub catalog: Arc<Catalog>,
    /// The rows that it sees.
    pub reader: Reader,
    /// Schemas for names without one, in order. `pg_catalog` comes first unless it is named.
    pub search_path: Vec<String>,
    /// Who asks.
    pub user: String,
    /// The one database.
    pub database: String,
    /// Start of the statement in microseconds since 1970, UTC.
    pub statement_time: i64,
    /// Start of its transaction: `now()`.
    pub transaction_time: i64,
    /// The session's time zone, with its style of texts.
    pub time_zone: TimeZone,
    /// The zone's name.
    pub zone_name: Arc<str>,
    /// Schemas whose tables are computed: `pg_catalog`, `information_schema`.
    pub schemas: Vec<(String, Arc<dyn SchemaProvider>)>,
    /// Functions beside DataFusion's, bound to this statement: those of `pg_catalog`.
    pub functions: FunctionLookup,
    /// Whether the statement is to stop.
    pub stop: Arc<dyn Stop>,
    /// The session's settings.
    pub settings: Arc<dyn Settings>,
    /// The statement's hints.
    pub hints: Arc<ScanHints>,
    /// Indexes that are refreshed may be read in place of rows if that was then or later, in microseconds since 1970.
    pub fresh_since: Option<i64>,
}

impl fmt::Debug for QueryContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryContext")
            .field("catalog_version", &self.catalog.version())
            .field("reader", &self.reader)
            .field("search_path", &self.search_path)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl QueryContext {
    /// The computed schema of that name.
    pub(crate) fn computed_schema(&self, name: &str) -> Option<&Arc<dyn SchemaProvider>> {
        self.schemas.iter().find(|(schema, _)| schema == name).map(|(_, provider)| provider)
    }

    /// The schema that new tables go to: `current_schema()`.
    pub(crate) fn current_schema(&self) -> Option<String> {
        self.catalog.creation_schema(&self.search_path).map(|schema| schema.name.clone())
    }
}
