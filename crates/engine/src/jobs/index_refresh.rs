//! Makes the entries of an index anew again and again: `CREATE INDEX … WITH (refresh = '10 minutes')`.
//!
//! When it is to run follows from the index as the catalog has it: its interval, and when it was refreshed last, by whomever. A
//! refresh that fails is told in the record of the job, and is due again after the interval; the old entries stay.

use super::job::JobContext;
use super::kind::{JobKind, Outcome};
use super::refresh::{Tried, not_due, note, own_session, until_stopped};
use crate::error::EngineResult;
use crate::{Engine, Session};
use async_trait::async_trait;
use catalog::{Draft, IndexRefresh, TableOid};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The refreshes of one index.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct IndexRefreshSpec {
    /// Oid of the table.
    pub(crate) table: u32,
    /// Oid of the index.
    pub(crate) index: u32,
}

impl IndexRefreshSpec {
    /// How it is refreshed; `None` if it is gone.
    fn find(&self, engine: &Engine) -> Option<IndexRefresh> {
        let catalog = engine.catalog().current();
        let table = catalog.table_by_oid(TableOid(self.table))?;
        table.indexes.iter().find(|index| index.oid == self.index)?.refresh
    }
}

/// See the module's head.
pub(super) struct IndexRefreshes;

#[async_trait]
impl JobKind for IndexRefreshes {
    async fn run(&self, context: &JobContext) -> EngineResult<Outcome> {
        let spec: IndexRefreshSpec = context.spec()?;
        let engine = context.engine()?;
        let Some(refresh) = spec.find(&engine) else {
            return Ok(Outcome::Obsolete("the index was dropped".to_string()));
        };
        let own = refresh.job == Some(context.job().id());
        let (Some(every), Some(due)) = (refresh.every.filter(|_| own), refresh.due()) else {
            return Ok(Outcome::Done);
        };
        if let Some(later) = not_due(context, &engine, due, every)? {
            return Ok(later);
        }
        context.phase("refreshing").await?;
        let session = own_session(context, &engine)?;
        drop(engine);
        let done = refresh_now(context, session, spec).await;
        context.check()?;
        note(context, done).await?;
        Ok(Outcome::Later(Duration::ZERO))
    }

    /// The index stays as it is, and no job refreshes it any more.
    async fn undo(&self, context: &JobContext) -> EngineResult<()> {
        let spec: IndexRefreshSpec = context.spec()?;
        let own = context.job().id();
        let change = |draft: &mut Draft| {
            let oid = TableOid(spec.table);
            let table = draft.catalog().table_by_oid(oid);
            let index = table.and_then(|table| table.indexes.iter().find(|index| index.oid == spec.index));
            match index.and_then(|index| index.refresh).is_some_and(|refresh| refresh.job == Some(own)) {
                true => {
                    let forget = |refresh: &mut IndexRefresh| (refresh.every, refresh.job) = (None, None);
                    draft.change_refresh(oid, spec.index, forget).map(drop)
                }
                false => Ok(()),
            }
        };
        context.change_catalog(None::<&Tried>, change).await?;
        context.release();
        Ok(())
    }
}

async fn refresh_now(context: &JobContext, mut session: Session, spec: IndexRefreshSpec) -> EngineResult<()> {
    let key = (session.process_id(), session.secret());
    until_stopped(context, key, session.refresh_index_of(spec.table, spec.index)).await
}
