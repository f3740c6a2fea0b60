//! `pg_stat_progress_create_index`: index builds that run as jobs. A job has no session, so `pid` is the job number.

use crate::rows::Rows;
use crate::source::Source;
use catalog::{DATABASE_NAME, DATABASE_OID};

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    for build in source.live.index_builds() {
        let command = if build.reindex { "REINDEX CONCURRENTLY" } else { "CREATE INDEX CONCURRENTLY" };
        rows.add([
            ("pid", i64::from(build.job).into()),
            ("datid", DATABASE_OID.into()),
            ("datname", DATABASE_NAME.into()),
            ("relid", build.table.into()),
            ("index_relid", build.index.into()),
            ("command", command.into()),
            ("phase", build.phase.into()),
            // Blocks and the sessions that a build waits for are not counted.
            ("lockers_total", 0_i64.into()),
            ("lockers_done", 0_i64.into()),
            ("current_locker_pid", 0_i64.into()),
            ("blocks_total", 0_i64.into()),
            ("blocks_done", 0_i64.into()),
            ("tuples_total", count(build.rows_total).into()),
            ("tuples_done", count(build.rows).into()),
            ("partitions_total", 0_i64.into()),
            ("partitions_done", 0_i64.into()),
        ]);
    }
}
