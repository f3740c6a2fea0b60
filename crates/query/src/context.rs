//! The context in which a statement is planned and executed.

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
    /// The value as SHOW prints it; `None` if there is no such setting.
    fn get(&self, name: &str) -> Option<String>;
}

/// Looks up a function that reads the statement's state, by its case-folded name.
pub type FunctionLookup = Arc<dyn Fn(&str) -> Option<Arc<ScalarUDF>> + Send + Sync>;

/// The session state of a statement. Cheap to clone.
#[derive(Clone)]
pub struct QueryContext {
    /// The catalog version of the statement.
    pub catalog: Arc<Catalog>,
    /// The read view of the statement.
    pub reader: Reader,
    /// The schemas that unqualified names are searched in, in order. `pg_catalog` comes first unless it is listed.
    pub search_path: Vec<String>,
    /// The current user.
    pub user: String,
    /// The name of the database.
    pub database: String,
    /// The start of the statement in microseconds since 1970, UTC.
    pub statement_time: i64,
    /// The start of its transaction: `now()`.
    pub transaction_time: i64,
    /// The session's time zone, and its style of input and output.
    pub time_zone: TimeZone,
    /// The name of the time zone.
    pub zone_name: Arc<str>,
    /// Schemas whose tables are computed: `pg_catalog`, `information_schema`.
    pub schemas: Vec<(String, Arc<dyn SchemaProvider>)>,
    /// Functions beside DataFusion's that are bound to this statement: those of `pg_catalog`.
    pub functions: FunctionLookup,
    /// Tells whether the statement is cancelled.
    pub stop: Arc<dyn Stop>,
    /// The session's settings.
    pub settings: Arc<dyn Settings>,
    /// The statement's hints.
    pub hints: Arc<ScanHints>,
    /// Refreshed indexes may be read in place of rows if their refresh is not older than this, in microseconds since
    /// 1970.
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
    /// The computed schema `name`.
    pub(crate) fn computed_schema(&self, name: &str) -> Option<&Arc<dyn SchemaProvider>> {
        self.schemas.iter().find(|(schema, _)| schema == name).map(|(_, provider)| provider)
    }

    /// The schema in which new tables are created: `current_schema()`.
    pub(crate) fn current_schema(&self) -> Option<String> {
        self.catalog.creation_schema(&self.search_path).map(|schema| schema.name.clone())
    }
}
