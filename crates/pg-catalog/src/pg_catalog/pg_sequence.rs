//! `pg_sequence` and `pg_sequences`: how sequences count, and where they stand.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;

pub(super) static PG_SEQUENCE: Definition = Definition {
    oid: 2224,
    name: "pg_sequence",
    kind: Kind::Table,
    columns: "seqrelid:oid! seqtypid:oid! seqstart:int8! seqincrement:int8! seqmax:int8! seqmin:int8! seqcache:int8! \
    seqcycle:bool!",
    rows: Some(plain),
};

pub(super) static PG_SEQUENCES: Definition = Definition {
    oid: 12048,
    name: "pg_sequences",
    kind: Kind::View,
    columns: "schemaname:name sequencename:name sequenceowner:name data_type:text start_value:int8 min_value:int8 \
    max_value:int8 increment_by:int8 cycle:bool cache_size:int8 last_value:int8",
    rows: Some(named),
};

fn plain(source: &Source, rows: &mut Rows) {
    for sequence in source.catalog.sequences() {
        rows.add([
            ("seqrelid", sequence.oid.0.into()),
            ("seqtypid", sequence.ty.oid().into()),
            ("seqstart", sequence.start.into()),
            ("seqincrement", sequence.increment.into()),
            ("seqmax", sequence.max.into()),
            ("seqmin", sequence.min.into()),
            ("seqcache", sequence.cache.into()),
            ("seqcycle", sequence.cycle.into()),
        ]);
    }
}

fn named(source: &Source, rows: &mut Rows) {
    for sequence in source.catalog.sequences() {
        rows.add([
            ("schemaname", source.schema_name(sequence.schema.0).into()),
            ("sequencename", sequence.name.as_str().into()),
            ("sequenceowner", source.live.user().into()),
            ("data_type", sequence.ty.sql_name().into()),
            ("start_value", sequence.start.into()),
            ("min_value", sequence.min.into()),
            ("max_value", sequence.max.into()),
            ("increment_by", sequence.increment.into()),
            ("cycle", sequence.cycle.into()),
            ("cache_size", sequence.cache.into()),
            ("last_value", source.live.last_value(sequence).into()),
        ]);
    }
}
