//! `bennu.jobs`: background jobs, including the most recently finished ones.

use crate::rows::Rows;
use crate::source::Source;

pub(super) fn rows(source: &Source, rows: &mut Rows) {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    for job in source.live.jobs() {
        rows.add([
            ("id", i64::from(job.id).into()),
            ("kind", job.kind.into()),
            ("description", job.description.into()),
            ("state", job.state.into()),
            ("phase", Some(job.phase).filter(|phase| !phase.is_empty()).into()),
            ("rows_done", count(job.rows).into()),
            ("rows_total", count(job.rows_total).into()),
            ("bytes_done", count(job.bytes).into()),
            ("bytes_total", count(job.bytes_total).into()),
            ("attempts", job.attempts.into()),
            ("error_code", job.code.into()),
            ("error", job.error.into()),
            ("created", job.created.into()),
            ("started", job.started.into()),
            ("finished", job.finished.into()),
        ]);
    }
}
