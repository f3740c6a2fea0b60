//! Checks a row set under its locks: whether other transactions changed its rows since they were read.
//!
//! A row is unchanged if it carries the same commit stamp as when it was read. Stamps are only compared for equality:
//! the stamps of different rows have no order, and neither do a stamp and a snapshot number.

use super::target::{FAMILY, Row, Target};
use crate::Session;
use crate::block::work::Work;
use crate::error::EngineResult;
use std::collections::HashSet;
use store::{Bytes, CommitNo, StoreError};
use txn::{LockMode, ReadView};

/// Number of rows whose stamps are read at once; rows may be large.
const GROUP: usize = 16;

/// The stamp of a row when it was read; `None` if it was not read or did not exist.
pub(crate) type StampRead = Option<CommitNo>;

/// Result of locking a row set.
pub(crate) enum Locked {
    /// No row changed. For each key the newest row; `None` if this transaction deleted it, or if the key is a
    /// duplicate.
    Same(Vec<Option<Row>>),
    /// Other transactions changed rows.
    Changed(Changes),
}

/// Changes by other transactions between the read of the rows and their locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changes {
    /// The next read must include this commit.
    pub(crate) seen: CommitNo,
    /// Whether rows were deleted. They may have moved to keys that are not locked.
    pub(crate) gone: bool,
}

impl Session {
    /// The stamps that the rows had when a query read them in `view`. Must be called before waiting for their locks.
    pub(crate) async fn stamps_read(
        &self,
        work: &Work,
        target: &Target,
        view: &ReadView,
        keys: &[Bytes],
    ) -> EngineResult<Vec<StampRead>> {
        if !view.store().capabilities().store_snapshots() {
            // Without store snapshots a second read may see a newer state. A row that had the same stamp before the
            // query ran and has it after the lock is the row that the query read.
            let looked = |key: &Bytes| work.looked.get(&(target.storage, key.clone())).copied();
            return Ok(keys.iter().map(looked).collect());
        }
        let mut stamps = Vec::with_capacity(keys.len());
        for keys in keys.chunks(GROUP) {
            match view.get_many(target.storage, FAMILY, keys).await {
                Ok(found) => stamps.extend(found.iter().map(|row| row.as_deref().map(stamp_of))),
                // The snapshot may expire during a long lock wait. Rows without a known stamp count as changed and
                // are read again.
                Err(StoreError::SnapshotTooOld { .. }) => stamps.resize(stamps.len() + keys.len(), None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(stamps)
    }

    /// Locks the rows of these keys and compares the stamp of each with the one read before.
    pub(crate) async fn lock_row_set(
        &self,
        work: &mut Work,
        target: &Target,
        (keys, read): (&[Bytes], &[StampRead]),
        mode: LockMode,
    ) -> EngineResult<Locked> {
        self.row_writer(work, target).lock_rows(keys.iter(), mode).await?;
        let guard = self.running();
        let looks = !self.engine.store().capabilities().store_snapshots();
        let mut rows = Vec::with_capacity(keys.len());
        let mut met = HashSet::with_capacity(keys.len());
        let (mut changed, mut gone) = (false, false);
        for (key, read) in keys.iter().zip(read) {
            // A join may return a row several times; only the first counts.
            if !met.insert(key) {
                rows.push(None);
                continue;
            }
            let own = work.txn.own_write(target.storage, FAMILY, key)?.is_some();
            let newest = work.newest(target.storage, FAMILY, key).await?;
            let Some(fragment) = newest else {
                // The transaction that deleted the row has committed, or the row would still be locked.
                gone |= !own;
                rows.push(None);
                continue;
            };
            let written = stamp_of(&fragment);
            if looks {
                work.looked.insert((target.storage, key.clone()), written);
            }
            changed |= !own && *read != Some(written);
            rows.push(Some(target.decode(key, &fragment)?));
            if met.len().is_multiple_of(1024) {
                guard.check()?;
            }
        }
        if !changed && !gone {
            return Ok(Locked::Same(rows));
        }
        // The transactions that changed or deleted rows have committed by now.
        let seen = self.latest_commit().await?;
        Ok(Locked::Changed(Changes { seen, gone }))
    }
}

fn stamp_of(fragment: &[u8]) -> CommitNo {
    fragment::header::commit_of(fragment).unwrap_or_default()
}
