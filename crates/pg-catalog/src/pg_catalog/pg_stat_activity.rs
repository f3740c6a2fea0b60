//! `pg_stat_activity`: the sessions of the server. There are no background processes, and wait events are not recorded.

use crate::rows::Rows;
use crate::source::{OWNER, Source};
use catalog::{DATABASE_NAME, DATABASE_OID};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    for session in source.live.sessions() {
        rows.add([
            ("datid", DATABASE_OID.into()),
            ("datname", DATABASE_NAME.into()),
            ("pid", session.process_id.into()),
            ("usesysid", OWNER.into()),
            ("usename", session.user.into()),
            ("application_name", session.application_name.into()),
            ("client_addr", session.client.map(|client| client.ip().to_canonical().to_string()).into()),
            ("client_port", session.client.map(|client| i32::from(client.port())).into()),
            ("backend_start", session.backend_start.into()),
            ("xact_start", session.xact_start.into()),
            ("query_start", session.query_start.into()),
            ("state_change", session.state_change.into()),
            ("state", session.state.into()),
            ("query", session.query.into()),
            ("backend_type", "client backend".into()),
        ]);
    }
}
