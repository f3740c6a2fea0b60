//! pg_catalog and information_schema as tables.
