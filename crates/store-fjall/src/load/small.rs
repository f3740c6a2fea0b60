//! Ends a small load with one ordinary batch.

use super::duplicates::{Neighbours, absent};
use super::table::TableLoad;
use crate::commit::pipeline::Fence;
use crate::commit::publish::State;
use crate::inner::Inner;
use bytes::Bytes;
use store::{CommitNo, Durability, Mutation, OnDuplicate, StoreError, StoreResult, WriteBatch};

/// Attempts of the duplicate check while other commits write to the tables.
const ATTEMPTS: usize = 16;

/// Applies the sorted rows of the tables. Blocks. The caller syncs the returned commit.
///
/// # Errors
/// As [`store::BulkLoad::finish`].
pub(super) fn finish(inner: &Inner, tables: &[TableLoad]) -> StoreResult<CommitNo> {
    let mut attempts = 0;
    loop {
        let state = inner.pipeline.publisher.newest().clone();
        let mut fences = Vec::with_capacity(tables.len());
        for table in tables {
            if check_duplicates(&state, table)? {
                fences.push(Fence { table: table.id(), since: state.commit });
            }
        }
        attempts += 1;
        match apply(inner, tables, &fences) {
            Err(StoreError::TableChanged { .. }) if attempts < ATTEMPTS => {}
            other => return other,
        }
    }
}

fn apply(inner: &Inner, tables: &[TableLoad], fences: &[Fence]) -> StoreResult<CommitNo> {
    let mut batch = WriteBatch::default();
    for table in tables {
        for row in table.buffer.iter() {
            batch.mutations.push(Mutation::Replace {
                table: table.id(),
                family: row.family,
                key: Bytes::copy_from_slice(row.key),
                fragment: row.fragment.to_vec(),
            });
        }
    }
    let batch = inner.pipeline.prepare(batch)?;
    let _alone = inner.admission.lock_gate_exclusively();
    Ok(inner.pipeline.apply(batch, Durability::Sync, fences)?.0)
}

/// Fails for duplicate keys. Returns false if the table has no uniqueness to check.
fn check_duplicates(state: &State, table: &TableLoad) -> StoreResult<bool> {
    if table.of.on_duplicate == OnDuplicate::Replace && table.of.unique.is_none() {
        return Ok(false);
    }
    let mut neighbours = Neighbours::default();
    let mut before = None;
    for row in table.buffer.iter() {
        let (_, place) = state.tables.place(table.id(), row.family)?;
        let twice = before == Some((row.family, row.key));
        neighbours.next(&table.of, row.key, twice)?;
        absent(&table.of, &state.snapshot, place, row.key)?;
        before = Some((row.family, row.key));
    }
    Ok(true)
}
