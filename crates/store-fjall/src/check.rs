//! Verifies all data on disk: see [`store::Store::check`].

use crate::commit::publish::State;
use crate::inner::Inner;
use crate::open::recovery;
use crate::read::{self, Position, ReadSource};
use crate::regions::source;
use bytes::Bytes;
use fjall::Keyspace;
use store::{CheckReport, Problem, StoreResult};

/// Verifies every block of every keyspace, every row of every table, and the durable part of the journals.
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

/// Checks the meta keyspace, the rows of dropped tables that wait for their purge, and the journals.
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::open::open;
    use crate::options::Options;
    use store::{Durability, FamilyId, FamilySpec, Mutation, TableChange, TableId, TableSpec, WriteBatch};

    fn apply(inner: &Inner, batch: WriteBatch) {
        let batch = inner.pipeline.prepare(batch).unwrap();
        let (_, dropped) = inner.pipeline.apply(batch, Durability::Buffered, &[]).unwrap();
        inner.reclaim.lock().append(dropped);
    }

    fn change(inner: &Inner, change: TableChange) {
        apply(inner, WriteBatch { tables: vec![change], ..WriteBatch::default() });
    }

    /// Damage in such rows matters because blocks of the shared keyspace also hold rows of other tables.
    #[test]
    fn rows_of_a_dropped_table_are_read_while_they_wait_for_their_purge() {
        let folder = tempfile::tempdir().unwrap();
        let inner = open(folder.path(), Options::default()).unwrap();
        let (id, family) = (TableId(1), FamilyId(0));
        let families = vec![FamilySpec::new(family)];
        change(&inner, TableChange::Create(TableSpec { id, families, splits: vec![] }));
        let mut row = Vec::new();
        fragment::encode_sparse(1, &[(1, b"value")], &mut row).unwrap();
        let put = |n: u32| Mutation::Replace {
            table: id,
            family,
            key: Bytes::copy_from_slice(&n.to_be_bytes()),
            fragment: row.clone(),
        };
        apply(&inner, WriteBatch { mutations: (0..3000).map(put).collect(), ..WriteBatch::default() });
        let shared = &inner.pipeline.shared;
        shared.rotate_memtable_and_wait().unwrap();
        change(&inner, TableChange::Drop(id));
        inner.pipeline.group_sync.sync_blocking().unwrap();
        assert_eq!(all(&inner).unwrap().problems, []);
        let tables = std::fs::read_dir(shared.path().join("tables")).unwrap();
        let table = tables.map(|table| table.unwrap().path()).next().unwrap();
        let mut bytes = std::fs::read(&table).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&table, bytes).unwrap();
        let report = all(&inner).unwrap();
        assert_eq!(report.rows, []);
        let what: Vec<_> = report.problems.iter().map(|problem| (problem.place, problem.what.as_str())).collect();
        assert!(matches!(what.as_slice(), [(None, what)] if what.starts_with("rows of a dropped table: ")), "{what:?}");
    }
}
