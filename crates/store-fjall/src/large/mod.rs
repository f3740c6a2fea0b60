//! Large commits: too large to be held in memory, or to be written under the commit lock.
//!
//! ```text
//!   rows ──stamp──> one run per keyspace    no lock; the runs are not installed yet      write.rs
//!            └────> staged file, synced     with more than one keyspace                 staged.rs
//!   commit lock:                                                                        finish.rs
//!     check conditions and placements;  sync the journal
//!     with deletions: flush the keyspaces, raise their replay floors                    replay_floors.rs
//!     one keyspace:      install its run: the switch of its version is the commit
//!     more than one:     journal {intent: staged file}, sync = the commit;  install the runs;  journal {no intent}
//!   recovery with an intent: write its rows again from the staged file                  redo.rs
//! ```
//! - A run is a new level-0 run on top of its keyspace, with one sequence number above all existing rows.
//! - Nothing is committed between an intent and its end, so recovery may install the runs of an intent again.
//! - A staged file without an intent belongs to a commit that was not made.
//! - Rows carry the number of their commit. It is reserved before they are written, far above those of concurrent
//!   commits, because a row with a larger number than a snapshot must have been written after that snapshot. So only
//!   one large commit is in progress at a time (`Admission::large`).
//! - A commit that is refused under the lock (for example by a failed condition) deletes the files of its runs.

mod finish;
pub(crate) mod redo;
mod staged;
mod targets;
mod write;

use crate::commit::conditions::Conditions;
use crate::commit::pipeline::Fence;
use crate::inner::Inner;
use finish::{Checks, finish};
use staged::StagedFile;
use store::{CommitNo, Condition, Durability, LargeWrite, StoreError, StoreResult};
use targets::Targets;
use write::Runs;

/// Attempts of a commit whose tables were moved, or whose number was reached by other commits.
const ATTEMPTS: usize = 5;

/// Applies a large commit, if no other commit has written to the tables of `fences`. Blocks. The caller holds the
/// permit of the one large commit, and syncs the returned commit.
///
/// # Errors
/// As [`store::Store::apply_large`].
pub(crate) fn apply(
    inner: &Inner,
    write: &dyn LargeWrite,
    conditions: &[Condition],
    fences: &[Fence],
    durability: Durability,
) -> StoreResult<CommitNo> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match attempt(inner, write, conditions, fences, durability) {
            Err(StoreError::TableChanged { .. }) if attempts < ATTEMPTS => {}
            other => return other,
        }
    }
}

fn attempt(
    inner: &Inner,
    write: &dyn LargeWrite,
    conditions: &[Condition],
    fences: &[Fence],
    durability: Durability,
) -> StoreResult<CommitNo> {
    let pipeline = &inner.pipeline;
    let state = pipeline.publisher.newest().clone();
    fences.iter().try_for_each(|fence| fence.check(&state.tables))?;
    let mut conditions = Conditions::new(conditions);
    // Before the tables are looked up, because a failed condition takes precedence over a dropped table.
    conditions.check(&state)?;
    let targets = Targets::of(&state.tables, write)?;
    drop(state);
    let stamp = pipeline.reserve_ahead()?;
    let mut staged = match targets.all.len() {
        0 | 1 => None,
        _ => Some(StagedFile::create(&inner.folder.staged(), stamp.commit)?),
    };
    let runs = Runs::write(inner, &targets, write, stamp, staged.as_mut())?;
    if let Some(staged) = &mut staged {
        staged.end()?;
    }
    runs.settle(inner)?;
    conditions.check(&pipeline.publisher.newest().clone())?;
    let checks = Checks { conditions: &conditions, fences };
    let commit = finish(inner, &targets, runs, &checks, stamp, staged.as_mut(), durability)?;
    if let Some(staged) = staged {
        // The end of the intent must be durable before the staged rows are deleted.
        pipeline.group_sync.sync_blocking()?;
        staged.delete();
    }
    pipeline.group_sync.soon(commit);
    Ok(commit)
}
