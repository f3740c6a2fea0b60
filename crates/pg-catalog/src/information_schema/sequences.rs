//! `sequences`: sequences, except of identity columns.

use crate::rows::Rows;
use crate::source::Source;
use catalog::DATABASE_NAME;
use types::DataType;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for sequence in source.catalog.sequences().filter(|it| !it.owner.is_some_and(|owner| owner.identity)) {
        let bits = match sequence.ty {
            DataType::SmallInt => 16,
            DataType::Integer => 32,
            _ => 64,
        };
        rows.add([
            ("sequence_catalog", DATABASE_NAME.into()),
            ("sequence_schema", source.schema_name(sequence.schema.0).into()),
            ("sequence_name", sequence.name.as_str().into()),
            ("data_type", sequence.ty.sql_name().into()),
            ("numeric_precision", bits.into()),
            ("numeric_precision_radix", 2.into()),
            ("numeric_scale", 0.into()),
            ("start_value", sequence.start.to_string().into()),
            ("minimum_value", sequence.min.to_string().into()),
            ("maximum_value", sequence.max.to_string().into()),
            ("increment", sequence.increment.to_string().into()),
            ("cycle_option", if sequence.cycle { "YES" } else { "NO" }.into()),
        ]);
    }
}
