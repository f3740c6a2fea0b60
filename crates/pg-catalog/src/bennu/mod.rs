//! The tables of the schema `bennu`: what PostgreSQL has no catalog for. The schema is not listed in `pg_namespace`, so that
//! dumps and tools leave it alone; its tables are read by their whole name.

mod guideposts;
mod jobs;
mod materialized_views;
mod refreshed_indexes;

use crate::definition::{Definition, Fill, read};
use std::sync::LazyLock;

/// All of them.
pub(crate) static TABLES: LazyLock<Vec<Definition>> = LazyLock::new(|| read(include_str!("../data/bennu.txt"), ROWS));

/// What makes the rows of each, but for those that are always empty.
pub(crate) const ROWS: &[(&str, Fill)] = &[
    ("guideposts", guideposts::rows),
    ("jobs", jobs::rows),
    ("materialized_views", materialized_views::rows),
    ("refreshed_indexes", refreshed_indexes::rows),
];
