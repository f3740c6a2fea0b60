//! Referenced rows: looked up in their newest state, under KEY SHARE.

use super::relations::Parent;
use crate::Session;
use crate::block::work::Work;
use crate::dml::FAMILY;
use crate::error::EngineResult;
use store::Bytes;
use txn::LockMode;

impl Session {
    /// Whether a row with that key exists. It is locked, and stays until the transaction ends.
    ///
    /// # Errors
    /// 40P01, 55P03, 57014, and the store's failures.
    pub(super) async fn has_parent(&self, work: &mut Work, parent: &Parent, probe: &Bytes) -> EngineResult<bool> {
        let storage = parent.table.storage_id();
        let guard = self.running();
        let Some(index) = &parent.index else {
            guard.stoppable(work.lock(storage, probe, LockMode::KeyShare)).await?;
            return Ok(work.newest(storage, FAMILY, probe).await?.is_some());
        };
        let entries = index.index().storage_id();
        let mut rowkey = Vec::new();
        while let Some(entry) = work.txn.find_newest(entries, FAMILY, probe).await? {
            if let Some(fragment) = work.newest(entries, FAMILY, &entry).await? {
                index.rowkey_into(&parent.codec, &entry, &fragment, &mut rowkey)?;
                let rowkey = Bytes::copy_from_slice(&rowkey);
                guard.stoppable(work.lock(storage, &rowkey, LockMode::KeyShare)).await?;
                // The row's key may have changed during the lock wait.
                if work.newest(entries, FAMILY, &entry).await?.is_some() {
                    return Ok(true);
                }
            }
            guard.check()?;
        }
        Ok(false)
    }
}
