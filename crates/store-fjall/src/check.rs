//! Reading everything from disk: see [`store::Store::check`].

use crate::commit::publish::State;
use crate::inner::Inner;
use crate::read::{self, Position, ReadSource};
use crate::recovery;
use crate::regions::source;
use bytes::Bytes;
use fjall::Keyspace;
use store::{CheckReport, Problem, StoreResult};

/// Verifies every block of every keyspace, every row of every table, and the journals as far as they are durable.
///
/// # Errors
/// Only when the check itself cannot run.
pub(crate) fn all(inner: &Inner) -> StoreResult<CheckReport> {
    let state = inner.pipeline.publisher.published().clone();
    let mut report = CheckReport::default();
    for (id, table) in state.tables.iter() {
        for family in &table.families {
            let part = read::verify::verify(&source(&state, id, family.id)?)?;
            report.rows.push((id, family.id, part.rows));
            report.bytes += part.bytes;
            let place = Some((id, family.id));
            report.problems.extend(part.problems.into_iter().map(|what| Problem { place, what }));
        }
    }
    check_the_store(inner, &state, &mut report)?;
    Ok(report)
}

/// What belongs to no table: the records, rows that are being reclaimed, the journals.
fn check_the_store(inner: &Inner, state: &State, report: &mut CheckReport) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    let source = |keyspace: &Keyspace, prefix: Bytes| ReadSource {
        keyspace: keyspace.clone(),
        prefix,
        position: Position::Live(state.snapshot.clone()),
        views: state.views.clone(),
    };
    let records = read::verify::verify_records(&source(&pipeline.meta, Bytes::new()))?;
    let mut problems: Vec<String> = records.problems.into_iter().map(|what| format!("records: {what}")).collect();
    report.bytes += records.bytes;
    let reclaimed = inner.reclaim.lock().slots.clone();
    for slot in reclaimed {
        let rows = read::verify::verify(&source(&pipeline.shared, Bytes::copy_from_slice(&slot.to_be_bytes())))?;
        report.bytes += rows.bytes;
        problems.extend(rows.problems.into_iter().map(|what| format!("rows of a dropped table: {what}")));
    }
    let mark = pipeline.watermark.mark();
    problems.extend(recovery::find_damage(&inner.folder.database(), &mark, pipeline.meta.id())?);
    report.problems.extend(problems.into_iter().map(|what| Problem { place: None, what }));
    Ok(())
}
