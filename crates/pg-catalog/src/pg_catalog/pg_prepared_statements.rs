//! `pg_prepared_statements`: the session's prepared statements, of SQL and the wire protocol. Plans are not counted.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
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
