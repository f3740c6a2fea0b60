//! The build of an index while its table is written to: CREATE INDEX CONCURRENTLY and ASYNC, REINDEX CONCURRENTLY.
//!
//! ```text
//!   DeleteOnly  ──wait──>  WriteOnly  ──wait──>  backfill  ──(UNIQUE: wait, validate)──>  Public
//! ```
//! *wait*: for the writers that hold the table's lock now, and so may know the state before. New ones see the new state:
//! who writes looks at the definitions after it has the lock. So no two writers are ever more than one state apart, and that
//! is what makes each pair right:
//! - nothing and DeleteOnly: neither adds entries;
//! - DeleteOnly and WriteOnly: what one adds the other takes away with its row;
//! - WriteOnly and Public: they write the same.
//!
//! The backfill goes over the rows as they are once all writers maintain entries, each under its lock and in its newest state
//! (`backfill`), so that a row is either written after, by who maintains its entry, or found. REINDEX builds a second index
//! beside the first; then the two change their entries in one change of the catalog, and the second goes (`remove.rs`).
//!
//! What a crash leaves is the state of the index and the position of the backfill, both in the store: the job goes on from
//! there. To write an entry again is to write the same.

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
    /// Oid of the index that gets its entries in the end: REINDEX.
    pub(crate) replaces: Option<u32>,
    /// Most rows a second; 0 is no limit.
    pub(crate) rate: u64,
}

impl BuildSpec {
    /// The table and the index as they are now; `None` if one of them is gone.
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

/// See the module's head.
pub(super) struct IndexBuild;

#[async_trait]
impl JobKind for IndexBuild {
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome> {
        let spec: BuildSpec = context.spec()?;
        match run_steps(context, &spec).await {
            // It was dropped in the midst of a step.
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
            // It was done before the wish was heard. What a build has made public stays.
            context.release();
            return Ok(());
        }
        let storage = detach(context, spec.table, spec.index).await?;
        context.release();
        remove::drop_storage(context, spec.table, storage).await
    }
}

/// One step after the other, by the state in which the catalog has the index.
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
            // ALTER INDEX had its way with it.
            IndexState::Unusable | IndexState::Disabled | IndexState::Refreshed => return Ok(spec.gone()),
        }
    }
}

/// Entries of all rows; `None` if the table has other storage by now, and all begins anew.
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

/// A writer's lock of the table keeps other DDL away for the change.
async fn set_state(context: &JobContext, spec: &BuildSpec, table: &Table, state: IndexState) -> EngineResult<()> {
    let _lock = writers::share(context, table.storage_id()).await?;
    let oid = TableOid(spec.table);
    context.change_catalog(None::<&Position>, |draft| draft.set_build_state(oid, spec.index, state).map(drop)).await
}

async fn publish(context: &JobContext, spec: &BuildSpec, table: &Table, mut built: Position) -> EngineResult<()> {
    let _lock = writers::share(context, table.storage_id()).await?;
    let Some((now, index)) = spec.find(&context.engine()?.clone()) else { return Ok(()) };
    if (now.storage, index.storage) != (built.rows, built.entries) {
        // TRUNCATE came in between.
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
            // The index that it was for is gone: nothing is left to be done but to go, too.
            built.swapped = true;
            context.change_catalog(Some(&built), |_| Ok(())).await
        }
    }
}
