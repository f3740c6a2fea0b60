//! Builds an index while its table is written to: CREATE INDEX CONCURRENTLY and ASYNC, REINDEX CONCURRENTLY.
//!
//! ```text
//!   DeleteOnly  ──wait──>  WriteOnly  ──wait──>  backfill  ──(UNIQUE: wait, validate)──>  Public
//! ```
//! *wait*: for the writers that hold the table's lock now, and so may use the previous state. New writers use the new
//! state, because a writer reads the definitions after it has the lock. So two concurrent writers are at most one
//! state apart, and each pair is compatible:
//! - no index and DeleteOnly: neither adds entries;
//! - DeleteOnly and WriteOnly: the first removes the entries that the second adds, together with their rows;
//! - WriteOnly and Public: both write the same entries.
//!
//! The backfill begins when all writers maintain the index. It reads each row under its lock in its newest state
//! (`backfill`), so that every row is either found by it or written later by a writer that maintains its entry.
//! REINDEX builds a second index beside the first; then the two swap their entries in one change of the catalog, and
//! the second is dropped (`remove.rs`).
//!
//! A crash leaves the state of the index and the position of the backfill in the store, and the job continues from
//! there. Writing an entry again has no effect.

mod abandoned;
mod backfill;
mod position;
mod remove;
mod validate;
mod writers;

pub(super) use abandoned::drop_abandoned;
pub(super) use remove::{detach, remove};
pub(crate) use validate::check_unique;
pub(super) use writers::wait_for_writers;

use super::job::JobContext;
use super::kind::{JobKind, Outcome};
use crate::Engine;
use crate::error::EngineResult;
use async_trait::async_trait;
use catalog::{Index, IndexState, Table, TableOid};
use position::Position;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The build of one index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BuildSpec {
    /// Oid of the table.
    pub(crate) table: u32,
    /// Oid of the index that is built.
    pub(crate) index: u32,
    /// Its name at the start, for messages.
    pub(crate) name: String,
    /// REINDEX: OID of the index that gets the new entries at the end.
    pub(crate) replaces: Option<u32>,
    /// Maximum number of rows per second; 0 is no limit.
    pub(crate) rate: u64,
}

impl BuildSpec {
    /// The current table and index; `None` if one of them was dropped.
    pub(super) fn find(&self, engine: &Engine) -> Option<(Arc<Table>, Index)> {
        let catalog = engine.catalog().current();
        let table = catalog.table_by_oid(TableOid(self.table))?;
        let index = table.indexes.iter().find(|index| index.oid == self.index)?;
        Some((Arc::clone(table), index.clone()))
    }

    fn gone(&self) -> Outcome {
        Outcome::Obsolete(format!("index \"{}\" was dropped while it was built", self.name))
    }
}

/// The job kind of [`BuildSpec`]. See the module documentation.
pub(super) struct IndexBuild;

#[async_trait]
impl JobKind for IndexBuild {
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome> {
        let spec: BuildSpec = context.spec()?;
        match run_steps(context, &spec).await {
            // The index was dropped during a step.
            Err(error) if error.is_undefined_table() && spec.find(&context.engine()?.clone()).is_none() => {
                Ok(spec.gone())
            }
            done => done,
        }
    }

    async fn undo(&self, context: &JobContext) -> EngineResult<()> {
        let spec: BuildSpec = context.spec()?;
        let position: Option<Position> = context.position()?;
        if position.is_some_and(|position| position.swapped) {
            context.release();
            return remove(context, spec.table, spec.index).await;
        }
        if let Some((_, index)) = spec.find(&context.engine()?.clone())
            && index.state.is_public()
        {
            // The build had finished when the cancellation arrived. A public index stays.
            context.release();
            return Ok(());
        }
        let storage = detach(context, spec.table, spec.index).await?;
        context.release();
        remove::drop_storage(context, spec.table, storage).await
    }
}

/// Runs the remaining steps, depending on the state of the index in the catalog.
async fn run_steps(context: &JobContext, spec: &BuildSpec) -> EngineResult<Outcome> {
    loop {
        context.check()?;
        let position: Option<Position> = context.position()?;
        if position.is_some_and(|position| position.swapped) {
            context.phase("waiting for old writers").await?;
            remove(context, spec.table, spec.index).await?;
            return Ok(Outcome::Done);
        }
        let Some((table, index)) = spec.find(&context.engine()?.clone()) else { return Ok(spec.gone()) };
        match index.state {
            IndexState::DeleteOnly => {
                context.phase("waiting for writers before build").await?;
                context.stoppable(wait_for_writers(context, table.storage_id())).await?;
                set_state(context, spec, &table, IndexState::WriteOnly).await?;
            }
            IndexState::WriteOnly => {
                if let Some(built) = build(context, spec, &table, &index).await? {
                    publish(context, spec, &table, built).await?;
                }
            }
            IndexState::Public => return Ok(Outcome::Done),
            // ALTER INDEX has changed its state.
            IndexState::Unusable | IndexState::Disabled | IndexState::Refreshed => return Ok(spec.gone()),
        }
    }
}

/// Adds the entries of all rows. `None`: the table has other storage now, and the build starts over.
async fn build(
    context: &JobContext,
    spec: &BuildSpec,
    table: &Arc<Table>,
    index: &Index,
) -> EngineResult<Option<Position>> {
    context.phase("waiting for writers before build").await?;
    context.stoppable(wait_for_writers(context, table.storage_id())).await?;
    context.phase("building index").await?;
    let Some(position) = backfill::run(context, spec, table, index).await? else { return Ok(None) };
    if index.unique {
        context.phase("waiting for writers before validation").await?;
        context.stoppable(wait_for_writers(context, table.storage_id())).await?;
        context.phase("index validation: scanning index").await?;
        validate::run(context, table, index).await?;
    }
    Ok(Some(position))
}

/// Sets the state under a writer's lock of the table, which excludes other DDL.
async fn set_state(context: &JobContext, spec: &BuildSpec, table: &Table, state: IndexState) -> EngineResult<()> {
    let _lock = writers::share(context, table.storage_id()).await?;
    let oid = TableOid(spec.table);
    context.change_catalog(None::<&Position>, |draft| draft.set_build_state(oid, spec.index, state).map(drop)).await
}

async fn publish(context: &JobContext, spec: &BuildSpec, table: &Table, mut built: Position) -> EngineResult<()> {
    let _lock = writers::share(context, table.storage_id()).await?;
    let Some((now, index)) = spec.find(&context.engine()?.clone()) else { return Ok(()) };
    if (now.storage, index.storage) != (built.rows, built.entries) {
        // TRUNCATE has replaced the storage meanwhile.
        return Ok(());
    }
    let oid = TableOid(spec.table);
    match spec.replaces {
        None => {
            let change =
                |draft: &mut catalog::Draft| draft.set_build_state(oid, spec.index, IndexState::Public).map(drop);
            context.change_catalog(Some(&built), change).await
        }
        Some(old) if now.indexes.iter().any(|index| index.oid == old) => {
            built.swapped = true;
            context.change_catalog(Some(&built), |draft| draft.swap_index(oid, old, spec.index).map(drop)).await
        }
        Some(_) => {
            // The index to replace was dropped, so the new one is dropped too.
            built.swapped = true;
            context.change_catalog(Some(&built), |_| Ok(())).await
        }
    }
}
