//! The tables of the schema `bennu`: what PostgreSQL has no catalog for. The schema is not listed in `pg_namespace`, so that
//! dumps and tools leave it alone; its tables are read by their whole name.

mod jobs;

use crate::definition::Definition;

/// All of them.
pub(crate) static TABLES: &[&Definition] = &[&jobs::JOBS];
