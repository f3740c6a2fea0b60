//! The statistics views: which tables and indexes there are, what statements have changed, and when ANALYZE was. What else
//! PostgreSQL counts for each is not counted here, and NULL.

use crate::definition::{Definition, Kind};
use crate::rows::{Cell, Rows};
use crate::source::{Relation, Source};
use catalog::{DATABASE_NAME, DATABASE_OID, Table};

const TABLE_COLUMNS: &str = "relid:oid schemaname:name relname:name seq_scan:int8 seq_tup_read:int8 idx_scan:int8 \
    idx_tup_fetch:int8 n_tup_ins:int8 n_tup_upd:int8 n_tup_del:int8 n_tup_hot_upd:int8 n_live_tup:int8 n_dead_tup:int8 \
    n_mod_since_analyze:int8 n_ins_since_vacuum:int8 last_vacuum:timestamptz last_autovacuum:timestamptz \
    last_analyze:timestamptz last_autoanalyze:timestamptz vacuum_count:int8 autovacuum_count:int8 analyze_count:int8 \
    autoanalyze_count:int8";
const INDEX_COLUMNS: &str = "relid:oid indexrelid:oid schemaname:name relname:name indexrelname:name idx_scan:int8 \
    idx_tup_read:int8 idx_tup_fetch:int8";

pub(super) static PG_STAT_ALL_TABLES: Definition = Definition {
    oid: 12142,
    name: "pg_stat_all_tables",
    kind: Kind::View,
    columns: TABLE_COLUMNS,
    rows: Some(|source, rows| tables(source, rows, true, true)),
};

pub(super) static PG_STAT_USER_TABLES: Definition = Definition {
    oid: 12161,
    name: "pg_stat_user_tables",
    kind: Kind::View,
    columns: TABLE_COLUMNS,
    rows: Some(|source, rows| tables(source, rows, false, true)),
};

pub(super) static PG_STATIO_USER_TABLES: Definition = Definition {
    oid: 12179,
    name: "pg_statio_user_tables",
    kind: Kind::View,
    columns: "relid:oid schemaname:name relname:name heap_blks_read:int8 heap_blks_hit:int8 idx_blks_read:int8 \
    idx_blks_hit:int8 toast_blks_read:int8 toast_blks_hit:int8 tidx_blks_read:int8 tidx_blks_hit:int8",
    rows: Some(|source, rows| tables(source, rows, false, false)),
};

pub(super) static PG_STAT_ALL_INDEXES: Definition = Definition {
    oid: 12183,
    name: "pg_stat_all_indexes",
    kind: Kind::View,
    columns: INDEX_COLUMNS,
    rows: Some(indexes),
};

pub(super) static PG_STAT_USER_INDEXES: Definition = Definition {
    oid: 12192,
    name: "pg_stat_user_indexes",
    kind: Kind::View,
    columns: INDEX_COLUMNS,
    rows: Some(indexes),
};

pub(super) static PG_STAT_DATABASE: Definition = Definition {
    oid: 12266,
    name: "pg_stat_database",
    kind: Kind::View,
    columns: "datid:oid datname:name numbackends:int4 xact_commit:int8 xact_rollback:int8 blks_read:int8 blks_hit:int8 \
    tup_returned:int8 tup_fetched:int8 tup_inserted:int8 tup_updated:int8 tup_deleted:int8 conflicts:int8 \
    temp_files:int8 temp_bytes:int8 deadlocks:int8 checksum_failures:int8 checksum_last_failure:timestamptz \
    blk_read_time:float8 blk_write_time:float8 session_time:float8 active_time:float8 \
    idle_in_transaction_time:float8 sessions:int8 sessions_abandoned:int8 sessions_fatal:int8 sessions_killed:int8 \
    stats_reset:timestamptz",
    rows: Some(|source, rows| {
        rows.add([
            ("datid", DATABASE_OID.into()),
            ("datname", DATABASE_NAME.into()),
            ("numbackends", source.live.sessions().len().into()),
        ]);
    }),
};

/// Sessions come over TLS or not; other ways are not there.
pub(super) static PG_STAT_GSSAPI: Definition = Definition {
    oid: 12253,
    name: "pg_stat_gssapi",
    kind: Kind::View,
    columns: "pid:int4 gss_authenticated:bool principal:text encrypted:bool",
    rows: Some(|source, rows| {
        rows.add([
            ("pid", source.live.process_id().into()),
            ("gss_authenticated", false.into()),
            ("encrypted", false.into()),
        ]);
    }),
};

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

/// Changes are those since the server was started.
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

fn indexes(source: &Source, rows: &mut Rows) {
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
