//! The tables of the schema `bennu`: what PostgreSQL has no catalog for. The schema is not listed in `pg_namespace`, so that
//! dumps and tools leave it alone; its tables are read by their whole name.

mod guideposts;
mod jobs;
mod materialized_views;
mod refreshed_indexes;

use crate::definition::Definition;

/// All of them.
pub(crate) static TABLES: &[&Definition] = &[
    &guideposts::GUIDEPOSTS,
    &jobs::JOBS,
    &materialized_views::MATERIALIZED_VIEWS,
    &refreshed_indexes::REFRESHED_INDEXES,
];
