//! The PostgreSQL wire: startup, queries, COPY, cancel.
