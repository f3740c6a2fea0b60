//! DROP INDEX CONCURRENTLY.
//!
//! The statement sets the index WriteOnly together with the job's record, so that statements no longer read it. Until
//! it is detached all writers maintain it, so that a cancelled job can make it public again.

use super::index_build::remove;
use super::job::JobContext;
use super::kind::{JobKind, Outcome};
use crate::error::EngineResult;
use async_trait::async_trait;
use catalog::{CatalogError, IndexState, TableOid};
use serde::{Deserialize, Serialize};

/// The drop of one index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DropSpec {
    /// Oid of the table.
    pub(crate) table: u32,
    /// Oid of the index.
    pub(crate) index: u32,
}

/// The job kind of [`DropSpec`]. See the module documentation.
pub(super) struct IndexDrop;

#[async_trait]
impl JobKind for IndexDrop {
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome> {
        let spec: DropSpec = context.spec()?;
        context.phase("waiting for old writers").await?;
        context.stoppable(remove(context, spec.table, spec.index)).await?;
        Ok(Outcome::Done)
    }

    async fn undo(&self, context: &JobContext) -> EngineResult<()> {
        let spec: DropSpec = context.spec()?;
        let public = |draft: &mut catalog::Draft| {
            match draft.set_build_state(TableOid(spec.table), spec.index, IndexState::Public) {
                // The index is gone: it was dropped before the cancellation.
                Ok(_) | Err(CatalogError::NoSuchTable { .. }) => Ok(()),
                Err(error) => Err(error),
            }
        };
        context.change_catalog(None::<&DropSpec>, public).await?;
        context.release();
        Ok(())
    }
}
