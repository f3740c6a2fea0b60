//! The part of a large commit under the commit lock.

use super::staged::StagedFile;
use super::targets::Targets;
use super::write::Runs;
use crate::commit::conditions::Conditions;
use crate::commit::pipeline::{Fence, Last, Pipeline};
use crate::commit::publish::State;
use crate::inner::Inner;
use crate::meta::{self, Intent};
use fjall::OwnedWriteBatch;
use store::{CommitNo, Durability, StoreResult};

/// What is checked under the commit lock.
pub(super) struct Checks<'a> {
    pub(super) conditions: &'a Conditions<'a>,
    pub(super) fences: &'a [Fence],
}

/// Checks the conditions and publishes the written runs. Blocks.
///
/// # Errors
/// Failed conditions, [`store::StoreError::TableChanged`]; [`store::StoreError::ReadOnly`] if the outcome is unknown.
pub(super) fn finish(
    inner: &Inner,
    targets: &Targets,
    runs: Runs<'_>,
    checks: &Checks<'_>,
    reserved: Last,
    staged: Option<&mut StagedFile>,
    durability: Durability,
) -> StoreResult<CommitNo> {
    let pipeline = &inner.pipeline;
    let _alone = inner.admission.lock_gate_exclusively();
    let mut last = pipeline.lock_to_write()?;
    let newest = pipeline.publisher.newest().clone();
    checks.fences.iter().try_for_each(|fence| fence.check(&newest.tables))?;
    checks.conditions.check_now(&newest, &newest.tables)?;
    targets.must_be_in(&newest.tables)?;
    if runs.all.is_empty() {
        return Ok(newest.commit);
    }
    let stamp = Last { stamp: reserved.stamp.max(last.stamp), ..reserved };
    if stamp.commit <= last.commit {
        return Err(targets.overtaken());
    }
    // Installed runs are durable at once, so all earlier commits must be durable before.
    pipeline.group_sync.sync_blocking()?;
    raise_floors(inner, &runs)?;
    let is_staged = staged.is_some();
    if let Some(staged) = staged {
        staged.keep();
        pipeline.write_locked(intent(pipeline, targets, staged)?)?;
    }
    pipeline.close_journal_numbers()?;
    pipeline.group_sync.journal().sync().map_err(|error| pipeline.read_only.set(&error))?;
    let rows = runs.rows;
    show(pipeline, runs)?;
    record(pipeline, &mut last, &newest, stamp, is_staged, durability)?;
    targets.parts().for_each(|part| part.table.changed.by(stamp.commit));
    drop(last);
    pipeline.count_rows(rows);
    Ok(stamp.commit)
}

/// Raises the replay floors of keyspaces with deletions, so that the journal does not bring deleted rows back.
fn raise_floors(inner: &Inner, runs: &Runs<'_>) -> StoreResult<()> {
    let pipeline = &inner.pipeline;
    let deleting = runs.all.iter().filter(|run| run.ingestion.deletes()).map(|run| run.keyspace);
    let mut deleting = deleting.peekable();
    if deleting.peek().is_none() {
        return Ok(());
    }
    // The flush also writes buffered batches from the memtables to tables, which must not be durable before the journal
    // is.
    pipeline.group_sync.journal().sync().map_err(|error| pipeline.read_only.set(&error))?;
    inner.floors.raise(deleting, pipeline.db.seqno())
}

/// The intent record is the commit of rows in several keyspaces: durable with the next sync of the journal.
fn intent(pipeline: &Pipeline, targets: &Targets, staged: &StagedFile) -> StoreResult<OwnedWriteBatch> {
    let mut batch = OwnedWriteBatch::with_capacity(pipeline.db.clone(), 2);
    let keyspaces = targets.all.iter().map(|target| target.keyspace.name().to_string()).collect();
    let intent = Intent { file: staged.name().to_owned(), keyspaces };
    meta::put_intent(&mut batch, &pipeline.meta, &intent)?;
    Ok(batch)
}

/// Installs each run as the newest in its keyspace, durably.
fn show(pipeline: &Pipeline, runs: Runs<'_>) -> StoreResult<()> {
    for run in runs.all {
        run.ingestion.finish().map_err(|error| pipeline.read_only.set(&error))?;
    }
    Ok(())
}

fn record(
    pipeline: &Pipeline,
    last: &mut Last,
    newest: &State,
    stamp: Last,
    staged: bool,
    durability: Durability,
) -> StoreResult<()> {
    let tables = newest.tables.clone();
    if !staged {
        pipeline.applied(last, stamp, tables, durability);
        return Ok(());
    }
    let mut batch = OwnedWriteBatch::with_capacity(pipeline.db.clone(), 2);
    meta::remove_intent(&mut batch, &pipeline.meta);
    // The caller syncs this batch before it deletes the staged file.
    pipeline.commit(last, batch, stamp, tables, durability)
}
