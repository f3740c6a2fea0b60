//! pg_catalog, information_schema and Bennu's own schema as computed tables.
//!
//! ```text
//!   catalog::Catalog ─┐
//!                     ├─ PgCatalog ──schemas──> pg_catalog.*, information_schema.*   rows computed when a scan begins
//!   LiveState ────────┘          └──function──> pg_get_userbyid(), format_type(), …  bound to the same state
//! ```
//!
//! Invariants:
//! - Every row is computed from one [`catalog::Catalog`] and one [`LiveState`]; nothing is stored.
//! - A table is always empty only if Bennu does not have its objects.
//! - Oids and column names are those of PostgreSQL 15, so that queries of its clients have the same meaning.
//! - `oid` and `regproc` are `bigint` (queries show a `regproc` as a name), `name` and `"char"` are text, vectors are
//!   lists.
//!
//! Read next: `engine` (provides both for every statement).

mod bennu;
mod default_text;
mod definition;
mod deparse;
mod functions;
mod information_schema;
mod live_state;
mod oid;
mod pg_catalog;
mod relation;
mod rows;
mod schema;
mod sequence_table;
mod shown_foreign_key;
mod shown_index;
mod source;
mod table;

pub use definition::PG_TYPE_KEY;
pub use live_state::{
    BuildInfo, CursorInfo, FunctionInfo, JobInfo, LiveState, LockInfo, LockedObject, PreparedInfo, SessionInfo,
    SettingInfo, TimeZoneInfo,
};
pub use relation::Relation;
pub use schema::PgCatalog;
