//! Size functions: the store's estimates of tables, and their sums.
//!
//! The table is stored as its primary key's index, so that index has size 0; secondary indexes have their own size.

use super::names::relation_of;
use super::{ANY, Arguments, Function, Returns, TEXT, refused, strict};
use crate::rows::Cell;
use crate::source::{Relation, Source};
use builtins::Reason;
use catalog::{Index, Table};
use datafusion::common::Result;

pub(super) static FUNCTIONS: &[Function] = &[
    strict("pg_relation_size", &[ANY, TEXT], Returns::BigInt, |source, args| {
        match args.text(1) {
            None | Some("main") => of_relation(source, args.cell(0)),
            // Tables have no other forks.
            Some("fsm" | "vm" | "init") => Ok(0_i64.into()),
            Some(_) => refused(Reason::Argument, "invalid fork name"),
        }
    })
    .optional(1),
    strict("pg_table_size", &[ANY], Returns::BigInt, relation),
    strict("pg_total_relation_size", &[ANY], Returns::BigInt, |source, args| {
        Ok(match relation_of(source, args.cell(0))? {
            Some(Relation::Table(table)) => bytes(source.live.table_bytes(table) + of_indexes(source, table)).into(),
            _ => of_relation(source, args.cell(0))?,
        })
    }),
    strict("pg_indexes_size", &[ANY], Returns::BigInt, |source, args| {
        Ok(match relation_of(source, args.cell(0))? {
            Some(Relation::Table(table)) => bytes(of_indexes(source, table)).into(),
            Some(_) => 0_i64.into(),
            None => Cell::Null,
        })
    }),
    strict("pg_database_size", &[ANY], Returns::BigInt, |source, args| {
        let known = match args.cell(0) {
            Cell::Int(oid) => *oid == i64::from(catalog::DATABASE_OID),
            Cell::Text(name) => name == catalog::DATABASE_NAME,
            _ => false,
        };
        match (known, args.cell(0)) {
            (true, _) => Ok(everything(source).into()),
            (false, Cell::Text(name)) => refused(Reason::NoSuchDatabase, format!("database \"{name}\" does not exist")),
            (false, _) => Ok(Cell::Null),
        }
    }),
    // There is one tablespace, with all tables.
    strict("pg_tablespace_size", &[ANY], Returns::BigInt, |source, _| Ok(everything(source).into())),
];

fn relation(source: &Source, args: &Arguments<'_>) -> Result<Cell> {
    of_relation(source, args.cell(0))
}

fn of_relation(source: &Source, named: &Cell) -> Result<Cell> {
    Ok(match relation_of(source, named)? {
        Some(Relation::Table(table)) => bytes(source.live.table_bytes(table)).into(),
        Some(Relation::Index(table, index)) => bytes(of_index(source, table, index)).into(),
        Some(Relation::Key(_) | Relation::Computed { .. }) => 0_i64.into(),
        Some(Relation::View(_) | Relation::Sequence(_)) => 0.into(),
        None => Cell::Null,
    })
}

fn everything(source: &Source) -> i64 {
    bytes(source.catalog.tables().map(|table| source.live.table_bytes(table) + of_indexes(source, table)).sum())
}

/// The entries of an index are stored as a table.
fn of_index(source: &Source, table: &Table, index: &Index) -> u64 {
    source.live.table_bytes(&index.entries(table))
}

fn of_indexes(source: &Source, table: &Table) -> u64 {
    table.indexes.iter().map(|index| of_index(source, table, index)).sum()
}

fn bytes(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
