//! Advisory locks: locks on numbers that only have a meaning for the clients.
//!
//! A session holds a lock until it unlocks it or ends (session level), or until its transaction ends (transaction
//! level). Every granted request is counted, because a lock that was requested twice must be unlocked twice. A session
//! has one owner of advisory locks in the lock table, and its own locks never conflict with each other.

use crate::lock_table::{Asked, LockTarget};
use crate::{LockMode, LockTable, LockWait, TxnError, TxnId, TxnResult};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The key of an advisory lock. A 64-bit number and a pair of 32-bit numbers are never the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdvisoryKey {
    /// One number.
    One(i64),
    /// Two numbers.
    Two(i32, i32),
}

/// The duration of an advisory lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvisoryLevel {
    /// Until it is unlocked or the session ends.
    Session,
    /// Until the end of the transaction, or until a rollback to an earlier savepoint.
    Transaction,
}

/// The other lock owners of a session, so that deadlocks across advisory and other locks are detected.
#[derive(Debug, Default)]
pub struct SessionOwners {
    /// The last transaction of a block, and the last owner of a single statement's locks; 0 before the first.
    owners: [AtomicU64; 2],
}

impl SessionOwners {
    /// Sets the transaction of a block.
    pub fn note_block(&self, owner: TxnId) {
        self.owners[0].store(owner.0, Ordering::Relaxed);
    }

    /// Sets the owner of a single statement's locks.
    pub fn note_statement(&self, owner: TxnId) {
        self.owners[1].store(owner.0, Ordering::Relaxed);
    }

    /// Whether `owner` belongs to the session.
    pub fn has(&self, owner: TxnId) -> bool {
        self.all().any(|known| known == owner)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = TxnId> {
        self.owners.iter().map(|owner| TxnId(owner.load(Ordering::Relaxed))).filter(|owner| owner.0 != 0)
    }
}

/// The advisory locks of one session. Dropping it releases all of them.
#[derive(Debug)]
pub struct AdvisoryLocks {
    owner: TxnId,
    table: Arc<LockTable>,
    /// Held for a read or a change, never across an await. Acquired before the locks of the lock table.
    granted: Mutex<Granted>,
    /// Held while one request waits: the lock table supports one wait per owner.
    waiting: tokio::sync::Mutex<()>,
}

/// The granted requests.
#[derive(Debug, Default)]
struct Granted {
    keys: HashMap<AdvisoryKey, Counts>,
    /// The requests of the transaction, in order.
    of_transaction: Vec<(AdvisoryKey, LockMode)>,
    /// The key of a waiting request: the lock table may have granted it, so its mode must not be lowered.
    waits: Option<AdvisoryKey>,
}

/// The number of grants of one lock, by mode.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    shared: Levels,
    exclusive: Levels,
}

#[derive(Clone, Copy, Debug, Default)]
struct Levels {
    session: usize,
    transaction: usize,
}

/// A point of a transaction: the number of requests granted before.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdvisoryMark(usize);

impl Counts {
    fn of(&mut self, mode: LockMode, level: AdvisoryLevel) -> &mut usize {
        let levels = if mode == LockMode::Shared { &mut self.shared } else { &mut self.exclusive };
        match level {
            AdvisoryLevel::Session => &mut levels.session,
            AdvisoryLevel::Transaction => &mut levels.transaction,
        }
    }

    /// The strongest mode of all grants.
    fn mode(&self) -> Option<LockMode> {
        let is_held = |levels: &Levels| levels.session + levels.transaction > 0;
        match (is_held(&self.shared), is_held(&self.exclusive)) {
            (_, true) => Some(LockMode::Exclusive),
            (true, false) => Some(LockMode::Shared),
            (false, false) => None,
        }
    }
}

impl Granted {
    fn add(&mut self, key: AdvisoryKey, mode: LockMode, level: AdvisoryLevel) {
        *self.keys.entry(key).or_default().of(mode, level) += 1;
        if level == AdvisoryLevel::Transaction {
            self.of_transaction.push((key, mode));
        }
    }

    /// Removes one request. Returns false if there is none.
    fn take(&mut self, key: AdvisoryKey, mode: LockMode, level: AdvisoryLevel) -> bool {
        let count = self.keys.get_mut(&key).map(|counts| counts.of(mode, level)).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    }
}

impl AdvisoryLocks {
    /// No locks yet, for the session whose other lock owners are `others`.
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
        let (former, heard) = {
            let mut granted = self.granted.lock();
            match self.table.ask(&target, self.owner, mode, wait != LockWait::Never) {
                Asked::Granted | Asked::Raised(_) | Asked::Held => {
                    granted.add(key, mode, level);
                    return Ok(());
                }
                Asked::Refused => return Err(TxnError::LockNotAvailable { waited: false }),
                Asked::Queued { former, granted: heard } => {
                    granted.waits = Some(key);
                    (former, heard)
                }
            }
        };
        let waits = Waits { locks: self, key };
        self.table.wait(&target, self.owner, heard, former, wait).await?;
        self.granted.lock().add(key, mode, level);
        drop(waits);
        Ok(())
    }

    /// Locks `key` without waiting. Returns false if another session holds a conflicting lock.
    pub fn try_lock(&self, key: AdvisoryKey, mode: LockMode, level: AdvisoryLevel) -> bool {
        let target = self.table.key(LockTarget::Advisory(key));
        let mut granted = self.granted.lock();
        // If the waiting request is cancelled, the lock is lowered to its previous mode.
        let is_granted =
            granted.waits != Some(key) && !matches!(self.table.ask(&target, self.owner, mode, false), Asked::Refused);
        if is_granted {
            granted.add(key, mode, level);
        }
        is_granted
    }

    /// Releases one request of the session. Returns false if it has none in this mode.
    pub fn unlock(&self, key: AdvisoryKey, mode: LockMode) -> bool {
        let mut granted = self.granted.lock();
        let taken = granted.take(key, mode, AdvisoryLevel::Session);
        if taken {
            self.keep_only(&mut granted, key);
        }
        taken
    }

    /// Releases all requests of the session, or of its transaction.
    pub fn release(&self, level: AdvisoryLevel) {
        if level == AdvisoryLevel::Transaction {
            return self.go_back(AdvisoryMark(0));
        }
        let mut granted = self.granted.lock();
        let keys: Vec<AdvisoryKey> = granted.keys.keys().copied().collect();
        for key in keys {
            if let Some(counts) = granted.keys.get_mut(&key) {
                (counts.shared.session, counts.exclusive.session) = (0, 0);
            }
            self.keep_only(&mut granted, key);
        }
    }

    /// Releases all requests.
    pub fn release_all(&self) {
        self.release(AdvisoryLevel::Transaction);
        self.release(AdvisoryLevel::Session);
    }

    /// The present point of the transaction.
    pub fn mark(&self) -> AdvisoryMark {
        AdvisoryMark(self.granted.lock().of_transaction.len())
    }

    /// Releases the requests that the transaction was granted since `mark`.
    pub fn go_back(&self, mark: AdvisoryMark) {
        let mut granted = self.granted.lock();
        while granted.of_transaction.len() > mark.0 {
            let Some((key, mode)) = granted.of_transaction.pop() else { return };
            granted.take(key, mode, AdvisoryLevel::Transaction);
            self.keep_only(&mut granted, key);
        }
    }

    /// Lowers the lock of `key` to the strongest mode that is still requested, or releases it.
    fn keep_only(&self, granted: &mut Granted, key: AdvisoryKey) {
        let left = granted.keys.get(&key).and_then(Counts::mode);
        if left.is_none() {
            granted.keys.remove(&key);
        }
        if granted.waits != Some(key) {
            self.table.lower(&self.table.key(LockTarget::Advisory(key)), self.owner, left);
        }
    }
}

/// A waiting request. If it is cancelled, a grant that arrives at the same time is lowered to the mode of the granted
/// requests.
struct Waits<'a> {
    locks: &'a AdvisoryLocks,
    key: AdvisoryKey,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let mut granted = self.locks.granted.lock();
        granted.waits = None;
        self.locks.keep_only(&mut granted, self.key);
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        self.release_all();
        self.table.leave_session(self.owner);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    const KEY: AdvisoryKey = AdvisoryKey::One(7);
    const SESSION: AdvisoryLevel = AdvisoryLevel::Session;

    fn sessions() -> (Arc<LockTable>, AdvisoryLocks, AdvisoryLocks) {
        let table = Arc::new(LockTable::new());
        let locks = || AdvisoryLocks::new(Arc::clone(&table), Arc::default());
        let (one, other) = (locks(), locks());
        (table, one, other)
    }

    #[tokio::test]
    async fn a_request_that_is_given_up_leaves_what_was_held_before() {
        let (table, one, other) = sessions();
        assert!(one.try_lock(KEY, LockMode::Shared, SESSION));
        assert!(other.try_lock(KEY, LockMode::Shared, SESSION));
        let stronger = one.lock(KEY, LockMode::Exclusive, SESSION, LockWait::Forever);
        assert!(timeout(Duration::from_millis(5), stronger).await.is_err());
        assert_eq!(table.locks().len(), 2);
        // The other session has a shared lock, and can get an exclusive one after this session's unlock.
        assert!(!other.try_lock(KEY, LockMode::Exclusive, SESSION));
        assert!(one.unlock(KEY, LockMode::Shared));
        assert!(!one.unlock(KEY, LockMode::Shared));
        assert!(other.try_lock(KEY, LockMode::Exclusive, SESSION));
    }

    #[tokio::test]
    async fn one_that_was_granted_while_it_was_given_up_is_held_as_before() {
        let (table, one, other) = sessions();
        assert!(one.try_lock(KEY, LockMode::Shared, SESSION));
        assert!(other.try_lock(KEY, LockMode::Shared, SESSION));
        {
            let mut stronger = std::pin::pin!(one.lock(KEY, LockMode::Exclusive, SESSION, LockWait::Forever));
            assert!(timeout(Duration::ZERO, &mut stronger).await.is_err());
            // Granted, but the request is not polled any more.
            other.release_all();
            assert_eq!(table.locks().first().map(|lock| lock.mode), Some(LockMode::Exclusive));
        }
        assert_eq!(table.locks().first().map(|lock| lock.mode), Some(LockMode::Shared));
        drop(one);
        assert!(table.locks().is_empty());
    }
}
