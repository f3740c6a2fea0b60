//! Statistics views of tables and indexes: changed rows and ANALYZE runs. Other counters of PostgreSQL are NULL.

use crate::definition::Kind;
use crate::rows::{Cell, Rows};
use crate::source::{Relation, Source};
use catalog::{DATABASE_NAME, DATABASE_OID, Table};

pub(super) fn all_tables(source: &Source, rows: &mut Rows) {
    tables(source, rows, true, true);
}

pub(super) fn user_tables(source: &Source, rows: &mut Rows) {
    tables(source, rows, false, true);
}

pub(super) fn table_blocks(source: &Source, rows: &mut Rows) {
    tables(source, rows, false, false);
}

pub(super) fn database(source: &Source, rows: &mut Rows) {
    rows.add([
        ("datid", DATABASE_OID.into()),
        ("datname", DATABASE_NAME.into()),
        ("numbackends", source.live.sessions().len().into()),
    ]);
}

/// GSSAPI is not supported.
pub(super) fn gssapi(source: &Source, rows: &mut Rows) {
    rows.add([
        ("pid", source.live.process_id().into()),
        ("gss_authenticated", false.into()),
        ("encrypted", false.into()),
    ]);
}

fn tables(source: &Source, rows: &mut Rows, system: bool, counted: bool) {
    for relation in source.relations() {
        match &relation {
            Relation::Table(_) => {}
            Relation::Computed { definition, .. } if system && definition.kind == Kind::Table => {}
            _ => continue,
        }
        match &relation {
            Relation::Table(table) if counted => counts(source, table, &relation, rows),
            _ => rows.add([
                ("relid", relation.oid().into()),
                schema(source, &relation),
                ("relname", relation.name().into()),
            ]),
        }
    }
}

/// Numbers of changes since the server was started.
fn counts(source: &Source, table: &Table, relation: &Relation<'_>, rows: &mut Rows) {
    let count = |count: u64| Cell::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let changes = table.live.changes();
    let found = table.statistics();
    let found = found.as_deref();
    let time = |at: Option<i64>| at.map_or(Cell::Null, Cell::Int);
    let rows_now = found.filter(|found| found.storage == table.storage).map(|found| found.rows.max(0.0) as u64);
    rows.add([
        ("relid", relation.oid().into()),
        schema(source, relation),
        ("relname", relation.name().into()),
        ("n_tup_ins", count(changes.inserted)),
        ("n_tup_upd", count(changes.updated)),
        ("n_tup_del", count(changes.deleted)),
        ("n_live_tup", rows_now.map_or(Cell::Null, count)),
        ("n_mod_since_analyze", count(changes.since_analyze)),
        ("last_analyze", time(found.and_then(|found| found.analyzed))),
        ("last_autoanalyze", time(found.and_then(|found| found.auto_analyzed))),
        ("analyze_count", count(found.map_or(0, |found| found.analyzes))),
        ("autoanalyze_count", count(found.map_or(0, |found| found.auto_analyzes))),
    ]);
}

pub(super) fn indexes(source: &Source, rows: &mut Rows) {
    for relation in source.relations() {
        let (Relation::Key(table) | Relation::Index(table, _)) = &relation else { continue };
        rows.add([
            ("relid", table.oid.0.into()),
            ("indexrelid", relation.oid().into()),
            schema(source, &relation),
            ("relname", table.name.as_str().into()),
            ("indexrelname", relation.name().into()),
        ]);
    }
}

fn schema(source: &Source, relation: &Relation<'_>) -> (&'static str, Cell) {
    ("schemaname", source.schema_name(relation.schema()).into())
}
