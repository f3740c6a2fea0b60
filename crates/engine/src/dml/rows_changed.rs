//! Checking a row set under its locks: has somebody changed its rows since it was read?

use super::target::{FAMILY, Row, Target};
use crate::Session;
use crate::error::EngineResult;
use crate::work::Work;
use std::collections::HashSet;
use store::{Bytes, CommitNo};
use txn::LockMode;

/// A row set under its locks.
pub(crate) enum Locked {
    /// All as it was read. For each row its newest state; `None`: deleted by the same transaction, or met before.
    Same(Vec<Option<Row>>),
    /// Others changed rows.
    Changed(Changes),
}

/// What others did to rows between the statement's look at them and their locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changes {
    /// The next look must see this commit at least.
    pub(crate) seen: CommitNo,
    /// Are rows gone? They may have moved to keys that are not locked.
    pub(crate) gone: bool,
}

impl Session {
    /// Locks the rows of these keys and compares them with what a snapshot at `read` held.
    pub(crate) async fn lock_row_set(
        &self,
        work: &mut Work,
        target: &Target,
        keys: &[Bytes],
        read: CommitNo,
        mode: LockMode,
    ) -> EngineResult<Locked> {
        self.row_writer(work, target).lock_rows(keys.iter(), mode).await?;
        let guard = self.running();
        // A snapshot of the store holds exactly the commits up to its number. Else a row is as it was read if it carries
        // the stamp that it had before the query ran.
        let by_state = self.engine.store().capabilities().store_snapshots();
        let mut rows = Vec::with_capacity(keys.len());
        let mut met = HashSet::with_capacity(keys.len());
        let (mut changed, mut gone) = (None, false);
        for key in keys {
            // A join may bring a row several times: the first counts.
            if !met.insert(key) {
                rows.push(None);
                continue;
            }
            let own = work.txn.own_write(target.storage, FAMILY, key)?.is_some();
            let newest = work.newest(target.storage, FAMILY, key).await?;
            let Some(fragment) = newest else {
                // Who deleted it has committed, or its lock would still be held.
                gone |= !own;
                rows.push(None);
                continue;
            };
            let written = fragment::header::commit_of(&fragment).unwrap_or(CommitNo(0));
            let changed_since = match by_state {
                true => written > read,
                // A look at the rows comes before the query that counts: at the first one all are new.
                false => work.looked.insert((target.storage, key.clone()), written) != Some(written),
            };
            if !own && changed_since {
                changed = changed.max(Some(written));
            }
            rows.push(Some(target.decode(key, &fragment)?));
            if met.len().is_multiple_of(1024) {
                guard.check()?;
            }
        }
        if gone {
            // What is not there has no stamp that tells when it went; the last commit of all is none before that.
            changed = changed.max(Some(self.last_of_all().await?));
        }
        Ok(changed.map_or(Locked::Same(rows), |seen| Locked::Changed(Changes { seen, gone })))
    }
}
