//! Reading everything from disk: see [`store::Store::check`].

use crate::inner::Inner;
use crate::read;
use crate::regions::source;
use store::{CheckReport, Problem, StoreResult};

/// Verifies every block of every keyspace and every row of every table.
///
/// # Errors
/// Only when the check itself cannot run.
pub(crate) fn all(inner: &Inner) -> StoreResult<CheckReport> {
    let state = inner.pipeline.publisher.published().clone();
    let mut report = CheckReport::default();
    let mut tables: Vec<_> = state.tables.iter().collect();
    tables.sort_unstable_by_key(|(id, _)| *id);
    for (id, table) in tables {
        for family in &table.families {
            let part = read::verify::verify(&source(&state, id, family.id)?)?;
            report.rows.push((id, family.id, part.rows));
            report.bytes += part.bytes;
            let place = Some((id, family.id));
            report.problems.extend(part.problems.into_iter().map(|what| Problem { place, what }));
        }
    }
    Ok(report)
}
