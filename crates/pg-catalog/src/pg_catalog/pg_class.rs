//! `pg_class`: tables, their indexes, views, materialized views, sequences, and the computed tables.

use super::pg_am;
use crate::oid::row_type_oid;
use crate::rows::Rows;
use crate::shown_index::ShownIndex;
use crate::source::{OWNER, Relation, Source, options, shown_columns};
use catalog::{Table, TableOid};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    let related: BTreeSet<TableOid> = source.catalog.tables().flat_map(related_by_keys).collect();
    for relation in source.relations() {
        let columns = match relation {
            // Includes dropped columns.
            Relation::Table(table) => {
                shown_columns(table).map(|(number, _)| usize::try_from(number).unwrap_or(0)).max().unwrap_or(0)
            }
            Relation::Key(_) | Relation::Index(..) => {
                ShownIndex::of(&relation).map_or(0, |index| index.columns().count())
            }
            Relation::View(view) => view.columns.len(),
            // last_value, log_cnt, is_called.
            Relation::Sequence(_) => 3,
            Relation::Computed { definition, .. } => definition.columns.split_whitespace().count(),
        };
        let (kind, method) = match relation {
            Relation::Table(table) if table.materialized.is_some() => ("m", pg_am::TABLE),
            Relation::Table(_) => ("r", pg_am::TABLE),
            Relation::Key(_) | Relation::Index(..) => ("i", pg_am::INDEX),
            Relation::View(_) => ("v", 0),
            Relation::Sequence(_) => ("S", 0),
            Relation::Computed { definition, .. } => (definition.kind.relkind(), 0),
        };
        let table = if let Relation::Table(table) = relation { Some(table) } else { None };
        let index = matches!(relation, Relation::Key(_) | Relation::Index(..));
        let storage = match relation {
            Relation::Table(table) => table.storage,
            Relation::Index(_, index) => index.storage,
            _ => 0,
        };
        let (tuples, pages) = size(&relation);
        rows.add([
            ("oid", relation.oid().into()),
            ("relname", relation.name().into()),
            ("relnamespace", relation.schema().into()),
            ("reltype", row_type_oid(&relation).into()),
            ("relowner", OWNER.into()),
            ("relam", method.into()),
            ("relfilenode", storage.into()),
            ("relpages", pages.into()),
            ("reltuples", tuples.into()),
            ("relhasindex", table.is_some_and(|table| ShownIndex::all_of(table).next().is_some()).into()),
            ("relpersistence", "p".into()),
            ("relkind", kind.into()),
            ("relnatts", columns.into()),
            ("relchecks", table.map_or(0, |table| table.checks.len()).into()),
            // PostgreSQL implements foreign keys by triggers, and clients read foreign keys only if this is true.
            ("relhastriggers", table.is_some_and(|table| related.contains(&table.oid)).into()),
            ("relhasrules", has_rules(&relation).into()),
            ("relispopulated", table.is_none_or(|table| !table.is_unpopulated()).into()),
            ("relreplident", if index { "n" } else { "d" }.into()),
            ("reloptions", table.and_then(|table| options(table)).into()),
        ]);
    }
}

/// Views have a rewrite rule for SELECT.
fn has_rules(relation: &Relation<'_>) -> bool {
    match relation {
        Relation::View(_) => true,
        Relation::Table(table) => table.materialized.is_some(),
        _ => false,
    }
}

/// PostgreSQL's page size in bytes.
const PAGE: u64 = 8192;

/// Rows and pages of the last ANALYZE; -1 and 0 before the first one and after TRUNCATE, as in PostgreSQL.
fn size(relation: &Relation<'_>) -> (f64, i64) {
    let found = match relation {
        Relation::Table(table) | Relation::Key(table) => {
            let found = table.statistics().filter(|found| found.storage == table.storage);
            found.map(|found| (found.rows, found.estimate.bytes))
        }
        Relation::Index(table, index) => {
            let found = table.statistics();
            found.and_then(|found| found.index(index).map(|found| (found.rows, found.estimate.bytes)))
        }
        Relation::View(_) | Relation::Sequence(_) | Relation::Computed { .. } => None,
    };
    found.map_or((-1.0, 0), |(rows, bytes)| (rows, i64::try_from(bytes.div_ceil(PAGE)).unwrap_or(i64::MAX)))
}

/// A table with foreign keys and the tables that they reference.
fn related_by_keys(table: &Arc<Table>) -> impl Iterator<Item = TableOid> {
    table.foreign_keys.iter().flat_map(|key| [table.oid, key.parent])
}
