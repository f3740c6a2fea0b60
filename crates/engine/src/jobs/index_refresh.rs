//! Refreshes of an index: `CREATE INDEX … WITH (refresh = '10 minutes')`. The job itself is in `refresh`.

use super::refresh::{Refreshed, Times};
use crate::Session;
use crate::error::EngineResult;
use async_trait::async_trait;
use catalog::{Catalog, CatalogResult, Draft, TableOid};
use serde::{Deserialize, Serialize};

/// The refreshes of one index.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct IndexRefreshSpec {
    /// Oid of the table.
    pub(crate) table: u32,
    /// Oid of the index.
    pub(crate) index: u32,
}

#[async_trait]
impl Refreshed for IndexRefreshSpec {
    const DROPPED: &'static str = "the index was dropped";

    fn times(&self, catalog: &Catalog) -> Option<Times> {
        let table = catalog.table_by_oid(TableOid(self.table))?;
        let refresh = table.indexes.iter().find(|index| index.oid == self.index)?.refresh?;
        Some(Times { every: refresh.every, due: refresh.due(), job: refresh.job })
    }

    fn forget_job(&self, draft: &mut Draft) -> CatalogResult<()> {
        let forget = |refresh: &mut catalog::IndexRefresh| (refresh.every, refresh.job) = (None, None);
        draft.change_refresh(TableOid(self.table), self.index, forget).map(drop)
    }

    async fn refresh(&self, session: &mut Session) -> EngineResult<()> {
        session.refresh_index_of(self.table, self.index).await
    }
}
