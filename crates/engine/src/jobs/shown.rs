//! Jobs as SHOW JOBS and the system catalogs show them.

use super::Job;
use super::index_build::BuildSpec;
use super::kind::{INDEX_BUILD, from_json};
use crate::statement::stream;
use crate::{Answer, ColumnDesc, Session};
use catalog::{JobRecord, JobState};
use pg_catalog::{BuildInfo, JobInfo};
use std::sync::Arc;
use types::{DataType, Datum};

/// The columns of SHOW JOBS.
pub(crate) fn columns() -> Arc<Vec<ColumnDesc>> {
    let column =
        |(name, ty): (&str, DataType)| ColumnDesc { name: name.to_string(), ty, table_oid: 0, column_number: 0 };
    let all = [
        ("id", DataType::BigInt),
        ("kind", DataType::Text),
        ("description", DataType::Text),
        ("state", DataType::Text),
        ("phase", DataType::Text),
        ("rows_done", DataType::BigInt),
        ("rows_total", DataType::BigInt),
        ("error", DataType::Text),
    ];
    Arc::new(all.map(column).to_vec())
}

impl Session {
    /// SHOW JOBS.
    pub(crate) fn show_jobs(&self) -> Answer {
        let count = |count: u64| Datum::Int8(i64::try_from(count).unwrap_or(i64::MAX));
        let text = |text: &str| Datum::Text(text.to_string());
        let optional = |value: &str| if value.is_empty() { Datum::Null } else { text(value) };
        let row = |job: Arc<Job>| {
            let record = job.record();
            vec![
                Datum::Int8(i64::from(record.id)),
                text(&record.kind),
                text(&record.description),
                text(record.state.name()),
                optional(&record.phase),
                count(record.counts.rows),
                count(record.counts.rows_total),
                record.error.map_or(Datum::Null, |(_, message)| Datum::Text(message)),
            ]
        };
        let rows = self.engine.jobs().all().into_iter().map(row).collect();
        Answer::Rows(stream::ready(columns(), rows, "SHOW JOBS"))
    }
}

/// The job's row of `bennu.jobs`.
pub(crate) fn job_info(record: JobRecord) -> JobInfo {
    let (code, error) = record.error.unzip();
    JobInfo {
        id: record.id,
        kind: record.kind,
        description: record.description,
        state: record.state.name(),
        phase: record.phase,
        rows: record.counts.rows,
        rows_total: record.counts.rows_total,
        bytes: record.counts.bytes,
        bytes_total: record.counts.bytes_total,
        attempts: record.attempts,
        code,
        error,
        created: record.created,
        started: record.started,
        finished: record.finished,
    }
}

/// The build's row of `pg_stat_progress_create_index`, while it is in progress.
pub(crate) fn build_info(record: &JobRecord) -> Option<BuildInfo> {
    let under_way = matches!(record.state, JobState::Pending | JobState::Running);
    let spec: BuildSpec = from_json(&record.spec).ok().filter(|_| record.kind == INDEX_BUILD && under_way)?;
    Some(BuildInfo {
        job: record.id,
        table: spec.table,
        index: spec.index,
        reindex: spec.replaces.is_some(),
        phase: if record.phase.is_empty() { "initializing".to_string() } else { record.phase.clone() },
        rows: record.counts.rows,
        rows_total: record.counts.rows_total,
    })
}
