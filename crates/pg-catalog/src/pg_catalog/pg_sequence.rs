//! `pg_sequence` and `pg_sequences`: the options and last values of sequences.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn plain(source: &Source, rows: &mut Rows) {
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

pub(super) fn named(source: &Source, rows: &mut Rows) {
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
