//! pg_catalog, information_schema and Bennu's own schema as tables.
//!
//! ```text
//!   catalog::Catalog ─┐
//!                     ├─ PgCatalog ──schemas──> pg_catalog.*, information_schema.*   rows made when a scan begins
//!   LiveState ────────┘          └──function──> pg_get_userbyid(), format_type(), …  bound to the same state
//! ```
//!
//! Invariants:
//! - Every row is computed from one [`catalog::Catalog`] and one [`LiveState`]; nothing is kept.
//! - A table that is always empty is one of objects that cannot exist here; what may exist is computed.
//! - Oids and column names are those of PostgreSQL 15, so that its clients' queries mean the same.
//! - `oid` and `regproc` are `bigint` (DataFusion shows a `regproc` as a name), `name` and `"char"` are text, vectors
//!   are lists.
//!
//! Read next: `engine` (which hands both to every statement).

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
