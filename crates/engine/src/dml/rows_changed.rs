//! Checking a row set under its locks: has somebody changed its rows since it was read?

use super::target::{FAMILY, Row, Target};
use crate::Session;
use crate::error::EngineResult;
use crate::transaction_block::Work;
use std::collections::HashSet;
use store::{Bytes, CommitNo};

/// A row set under its locks.
pub(crate) enum Locked {
    /// All as it was read. For each row its newest state; `None`: deleted meanwhile, or met before.
    Same(Vec<Option<Row>>),
    /// Others changed rows, the last time at this commit.
    Changed(CommitNo),
}

impl Session {
    /// Locks the rows of these keys and compares them with what a snapshot at `read` held.
    pub(crate) async fn lock_row_set(
        &self,
        work: &mut Work,
        target: &Target,
        keys: &[Bytes],
        read: CommitNo,
    ) -> EngineResult<Locked> {
        self.lock_rows(work, target, keys.iter()).await?;
        let guard = self.running();
        let mut rows = Vec::with_capacity(keys.len());
        let mut met = HashSet::with_capacity(keys.len());
        let mut changed = CommitNo(0);
        for key in keys {
            // A join may bring a row several times: the first counts.
            if !met.insert(key) {
                rows.push(None);
                continue;
            }
            let own = work.txn.own_write(target.storage, FAMILY, key).is_some();
            let newest = work.newest(target.storage, FAMILY, key).await?;
            let Some(fragment) = newest else {
                rows.push(None);
                continue;
            };
            let written = fragment::header::commit_of(&fragment).unwrap_or(CommitNo(0));
            if !own && written > read {
                changed = changed.max(written);
            }
            rows.push(Some(target.decode(key, &fragment)?));
            if met.len().is_multiple_of(1024) {
                guard.check()?;
            }
        }
        Ok(if changed > CommitNo(0) { Locked::Changed(changed) } else { Locked::Same(rows) })
    }
}
