//! `pg_prepared_statements`: the session's, of SQL and of the protocol. How often each was planned is not counted.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;

pub(super) static PG_PREPARED_STATEMENTS: Definition = Definition {
    oid: 12095,
    name: "pg_prepared_statements",
    kind: Kind::View,
    columns: "name:text statement:text prepare_time:timestamptz parameter_types:_regtype from_sql:bool \
    generic_plans:int8 custom_plans:int8",
    rows: Some(rows),
};

fn rows(source: &Source, rows: &mut Rows) {
    for prepared in source.live.prepared_statements() {
        let types: Vec<i64> = prepared.parameters.iter().map(|ty| i64::from(ty.oid())).collect();
        rows.add([
            ("name", prepared.name.into()),
            ("statement", prepared.statement.into()),
            ("prepare_time", prepared.prepared.into()),
            ("parameter_types", types.into()),
            ("from_sql", prepared.from_sql.into()),
        ]);
    }
}
