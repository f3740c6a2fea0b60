//! Reading everything from disk: see [`store::Store::check`].

use crate::inner::Inner;
use fjall::Readable;
use crate::regions::source;
use store::{CheckReport, StoreResult};

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
            let part = source(&state, id, family.id)?;
            let mut rows = 0;
            for guard in part.snapshot.prefix(&part.keyspace, &part.prefix) {
                match guard.into_inner() {
                    Ok((key, value)) => {
                        rows += 1;
                        report.bytes += (key.len() + value.len()) as u64;
                    }
                    Err(error) => report.problems.push(format!("{id} {}: {error:?}", family.id)),
                }
            }
            report.rows.push((id, family.id, rows));
        }
    }
    Ok(report)
}
