//! Advisory locks: numbers that clients lock and that mean something to them alone.
//!
//! A session holds them itself, until it gives them back or ends, or has its transaction hold them, to its end. Each
//! request that was granted is kept, for a lock that was asked for twice is given back twice. The lock table knows one
//! owner for all of a session, whose own locks never stand in its way.

use crate::lock_table::{Asked, LockKey, LockTarget};
use crate::{LockMode, LockTable, LockWait, TxnError, TxnId, TxnResult};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is locked. A number of 64 bits and two of 32 are never the same lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdvisoryKey {
    /// One number.
    One(i64),
    /// Two numbers.
    Two(i32, i32),
}

/// Until when a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvisoryLevel {
    /// Until it is given back or the session ends.
    Session,
    /// To the end of the transaction, or until it is rolled back to a point before.
    Transaction,
}

/// The owners of locks in a session besides its advisory locks, so that deadlocks across both are found.
#[derive(Debug, Default)]
pub struct SessionOwners {
    /// The last transaction of its block, and the last of a statement that has its own; 0 before the first.
    owners: [AtomicU64; 2],
}

impl SessionOwners {
    /// Notes the transaction of a block.
    pub fn note_block(&self, owner: TxnId) {
        self.owners[0].store(owner.0, Ordering::Relaxed);
    }

    /// Notes the owner of a statement's own locks.
    pub fn note_statement(&self, owner: TxnId) {
        self.owners[1].store(owner.0, Ordering::Relaxed);
    }

    /// Is `owner` one of them?
    pub fn has(&self, owner: TxnId) -> bool {
        self.all().any(|known| known == owner)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = TxnId> {
        self.owners.iter().map(|owner| TxnId(owner.load(Ordering::Relaxed))).filter(|owner| owner.0 != 0)
    }
}

/// The advisory locks of one session. Dropping it gives all of them back.
#[derive(Debug)]
pub struct AdvisoryLocks {
    owner: TxnId,
    table: Arc<LockTable>,
    /// Held for a look or a change, never across an await.
    granted: Mutex<Vec<Granted>>,
    /// Held while one request waits: the lock table knows one wait of an owner.
    waiting: tokio::sync::Mutex<()>,
}

/// A request that was granted.
#[derive(Debug, PartialEq)]
struct Granted {
    key: AdvisoryKey,
    mode: LockMode,
    level: AdvisoryLevel,
}

/// A point of a transaction: how many of its requests had been granted.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdvisoryMark(usize);

impl AdvisoryLocks {
    /// None, of the session whose other owners of locks are `others`.
    pub fn new(table: Arc<LockTable>, others: Arc<SessionOwners>) -> Self {
        let owner = table.next_id();
        table.enter_session(owner, others);
        Self { owner, table, granted: Mutex::default(), waiting: tokio::sync::Mutex::default() }
    }

    /// The owner of the session's advisory locks.
    pub fn owner(&self) -> TxnId {
        self.owner
    }

    /// Locks `key`, shared or exclusive.
    ///
    /// # Errors
    /// [`TxnError::Deadlock`], [`TxnError::LockNotAvailable`].
    pub async fn lock(&self, key: AdvisoryKey, mode: LockMode, level: AdvisoryLevel, wait: LockWait) -> TxnResult<()> {
        let target = self.table.key(LockTarget::Advisory(key));
        let _turn = self.waiting.lock().await;
        match self.table.ask(&target, self.owner, mode, wait != LockWait::Never) {
            Asked::Granted | Asked::Held => {}
            Asked::Refused => return Err(TxnError::LockNotAvailable { waited: false }),
            Asked::Queued { upgrade, granted } => {
                self.table.wait(&target, self.owner, granted, upgrade, wait).await?;
            }
        }
        self.granted.lock().push(Granted { key, mode, level });
        Ok(())
    }

    /// Locks `key` if nobody is in the way; false: somebody is.
    pub fn try_lock(&self, key: AdvisoryKey, mode: LockMode, level: AdvisoryLevel) -> bool {
        let target = self.table.key(LockTarget::Advisory(key));
        let is_granted = matches!(self.table.ask(&target, self.owner, mode, false), Asked::Granted | Asked::Held);
        if is_granted {
            self.granted.lock().push(Granted { key, mode, level });
        }
        is_granted
    }

    /// Gives back one request of the session; false: it has none of this mode.
    pub fn unlock(&self, key: AdvisoryKey, mode: LockMode) -> bool {
        let mut granted = self.granted.lock();
        let wanted = Granted { key, mode, level: AdvisoryLevel::Session };
        let Some(at) = granted.iter().rposition(|granted| *granted == wanted) else { return false };
        granted.remove(at);
        self.keep_only(&granted, key);
        true
    }

    /// Gives back all requests of the session, or of its transaction.
    pub fn release(&self, level: AdvisoryLevel) {
        self.retain(|granted, _| granted.level != level);
    }

    /// Gives back everything.
    pub fn release_all(&self) {
        self.retain(|_, _| false);
    }

    /// Where the transaction is now.
    pub fn mark(&self) -> AdvisoryMark {
        let is_of_transaction = |granted: &&Granted| granted.level == AdvisoryLevel::Transaction;
        AdvisoryMark(self.granted.lock().iter().filter(is_of_transaction).count())
    }

    /// Gives back what the transaction was granted since `mark`.
    pub fn go_back(&self, mark: AdvisoryMark) {
        self.retain(|granted, before| granted.level == AdvisoryLevel::Session || before < mark.0);
    }

    /// Keeps those of which `keep` says so; it is told how many of the transaction are before each.
    fn retain(&self, keep: impl Fn(&Granted, usize) -> bool) {
        let mut granted = self.granted.lock();
        let mut before = 0;
        let mut keys = Vec::new();
        granted.retain(|granted| {
            let kept = keep(granted, before);
            before += usize::from(granted.level == AdvisoryLevel::Transaction);
            if !kept && !keys.contains(&granted.key) {
                keys.push(granted.key);
            }
            kept
        });
        keys.into_iter().for_each(|key| self.keep_only(&granted, key));
    }

    /// Holds the lock of `key` in the strongest mode that is left of it, or not at all.
    fn keep_only(&self, granted: &[Granted], key: AdvisoryKey) {
        let left = granted.iter().filter(|granted| granted.key == key).map(|granted| granted.mode).max();
        let target: LockKey = self.table.key(LockTarget::Advisory(key));
        self.table.lower(&target, self.owner, left);
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        self.release_all();
        self.table.leave_session(self.owner);
    }
}
