//! TPC-H: tables, rows and the 22 queries with the parameters of the specification's validation run.
//!
//! Query 15 uses WITH for its view. The results beside the queries are PostgreSQL 15's at scale 0.01.

pub(crate) mod data;
mod planning;
mod run;

pub(super) use run::{NAME, run};

/// The CREATE TABLE statements of all tables, in order.
pub(crate) const TABLES: &str = include_str!("tables.sql");

/// The queries, starting with Q1.
pub(crate) const QUERIES: [&str; 22] = [
    include_str!("q01.sql"),
    include_str!("q02.sql"),
    include_str!("q03.sql"),
    include_str!("q04.sql"),
    include_str!("q05.sql"),
    include_str!("q06.sql"),
    include_str!("q07.sql"),
    include_str!("q08.sql"),
    include_str!("q09.sql"),
    include_str!("q10.sql"),
    include_str!("q11.sql"),
    include_str!("q12.sql"),
    include_str!("q13.sql"),
    include_str!("q14.sql"),
    include_str!("q15.sql"),
    include_str!("q16.sql"),
    include_str!("q17.sql"),
    include_str!("q18.sql"),
    include_str!("q19.sql"),
    include_str!("q20.sql"),
    include_str!("q21.sql"),
    include_str!("q22.sql"),
];

/// The CREATE TABLE statement of `table`.
pub(crate) fn table(name: &str) -> Option<&'static str> {
    let head = format!("CREATE TABLE {name} ");
    TABLES.split(';').map(str::trim).find(|statement| statement.starts_with(&head))
}

#[cfg(test)]
mod tests;
