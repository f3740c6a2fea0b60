//! Checking a row set under its locks: has somebody changed its rows since it was read?
//!
//! A row is as it was read if it still carries the stamp that it had then. Stamps of different rows have no order that
//! anything here goes by, and none with the number of a snapshot.

use super::target::{FAMILY, Row, Target};
use crate::Session;
use crate::block::work::Work;
use crate::error::EngineResult;
use std::collections::HashSet;
use store::{Bytes, CommitNo, StoreError};
use txn::{LockMode, ReadView};

/// Rows whose stamps are looked up at once: what is behind a key may be large.
const GROUP: usize = 16;

/// The stamp that a row carried when it was read; `None`: nobody has read it, or it was not there.
pub(crate) type StampRead = Option<CommitNo>;

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
    /// The stamps that rows carried when a query found them in `view`. To be asked before their locks are waited for.
    pub(crate) async fn stamps_read(
        &self,
        work: &Work,
        target: &Target,
        view: &ReadView,
        keys: &[Bytes],
    ) -> EngineResult<Vec<StampRead>> {
        if !view.store().capabilities().store_snapshots() {
            // Another read may be of another moment. Who looked at the row before its query ran, and sees the same stamp
            // after it, knows that the query saw that one.
            let looked = |key: &Bytes| work.looked.get(&(target.storage, key.clone())).copied();
            return Ok(keys.iter().map(looked).collect());
        }
        let mut stamps = Vec::with_capacity(keys.len());
        for keys in keys.chunks(GROUP) {
            match view.get_many(target.storage, FAMILY, keys).await {
                Ok(found) => stamps.extend(found.iter().map(|row| row.as_deref().map(stamp_of))),
                // After a long wait for other locks: rows whose stamps are not known count as changed, and are read again.
                Err(StoreError::SnapshotTooOld { .. }) => stamps.resize(stamps.len() + keys.len(), None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(stamps)
    }

    /// Locks the rows of these keys and compares each with the stamp that it was read with.
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
        // Whoever changed or deleted one has committed by now.
        let seen = self.last_of_all().await?;
        Ok(Locked::Changed(Changes { seen, gone }))
    }
}

fn stamp_of(fragment: &[u8]) -> CommitNo {
    fragment::header::commit_of(fragment).unwrap_or_default()
}
