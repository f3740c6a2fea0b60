//! Tables of the schema `bennu`, which have no equivalent in PostgreSQL. `pg_namespace` does not list the schema, so
//! that dumps and tools ignore it; its tables must be schema-qualified.

mod guideposts;
mod jobs;
mod materialized_views;
mod refreshed_indexes;

use crate::definition::{Definition, Fill, read};
use std::sync::LazyLock;

/// All tables of the schema.
pub(crate) static TABLES: LazyLock<Vec<Definition>> = LazyLock::new(|| read(include_str!("../data/bennu.txt"), ROWS));

/// The function that computes the rows of each table, except of tables that are always empty.
pub(crate) const ROWS: &[(&str, Fill)] = &[
    ("guideposts", guideposts::rows),
    ("jobs", jobs::rows),
    ("materialized_views", materialized_views::rows),
    ("refreshed_indexes", refreshed_indexes::rows),
];
