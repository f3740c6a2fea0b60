//! The lock table: row and table locks of transactions, and advisory locks.
//!
//! A lock exists while it has holders or waiters: a map entry in one of many shards, selected by hash. Writers hold
//! their table in shared mode and their rows in one of the four modes of [`LockMode`]; DDL holds the table in exclusive
//! mode.

use crate::deadlock::find_cycle;
use crate::lock_queue::{Attempt, LockQueue};
use crate::{AdvisoryKey, SessionOwners, TxnError, TxnResult};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{Bytes, TableId};
use tokio::sync::oneshot;

/// A transaction as a lock owner. Unique in its process, ascending by start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(pub u64);

/// Lock modes, from weak to strong: a mode that is compatible with another one is compatible with all weaker ones. Rows
/// have PostgreSQL's four modes; tables are locked shared or exclusive.
///
/// ```text
///                    KEY SHARE   SHARE   NO KEY UPDATE   UPDATE
///   KeyShare                                                x
///   Shared                                     x            x
///   NoKeyExclusive                 x           x            x
///   Exclusive            x         x           x            x
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// FOR KEY SHARE, used by foreign keys: the key columns of the row cannot change.
    KeyShare,
    /// FOR SHARE: the row cannot change.
    Shared,
    /// FOR NO KEY UPDATE: the row changes, but not its key columns.
    NoKeyExclusive,
    /// FOR UPDATE: the only holder.
    Exclusive,
}

impl LockMode {
    /// Whether two transactions cannot hold a lock in these modes at the same time.
    pub fn conflicts_with(self, other: Self) -> bool {
        match self.min(other) {
            Self::KeyShare => self.max(other) == Self::Exclusive,
            Self::Shared => self.max(other) >= Self::NoKeyExclusive,
            Self::NoKeyExclusive | Self::Exclusive => true,
        }
    }
}

/// How long a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Until the lock is granted.
    Forever,
    /// At most this long, then it fails.
    AtMost(Duration),
    /// Not at all.
    Never,
}

/// How a lock was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obtained {
    /// Without waiting.
    AtOnce,
    /// The transaction already held the lock.
    Before,
    /// After waiting: the locked object may have changed.
    AfterWait,
}

/// The object of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LockTarget {
    /// A table.
    Table(TableId),
    /// A row, by rowkey.
    Row(TableId, Bytes),
    /// A key of advisory locks.
    Advisory(AdvisoryKey),
}

/// A lock held or waited for, for `pg_locks`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    /// The holder or waiter.
    pub owner: TxnId,
    /// The locked object.
    pub target: LockTarget,
    /// The mode that is held or requested.
    pub mode: LockMode,
    /// Whether it is held; false if waited for.
    pub granted: bool,
}

/// A lock target with its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LockKey {
    hash: u64,
    target: LockTarget,
}

impl LockKey {
    pub(crate) fn target(&self) -> &LockTarget {
        &self.target
    }
}

impl Hash for LockKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Passes the precomputed hash of a key through, which is also used to select the shard.
#[derive(Debug, Default)]
struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        // Only `write_u64` is used; this implements the rest of the trait.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Shard = HashMap<LockKey, LockQueue, BuildHasherDefault<Ready>>;

/// Number of shards: enough to make contention rare.
const SHARDS: usize = 64;

/// All locks of a process on one store.
#[derive(Debug)]
pub struct LockTable {
    /// Each mutex guards its locks; held for one operation, never across an await. If both are acquired, `waiting`
    /// comes first.
    shards: Box<[Mutex<Shard>]>,
    /// The lock that each waiting transaction waits for. Held during a deadlock search, so that if two waits close a
    /// cycle together, at least one search finds it.
    waiting: Mutex<HashMap<TxnId, LockKey>>,
    /// Sessions with advisory locks, by the owner of these locks. Waiting for one owner of a session means waiting for
    /// all owners of the session. Acquired after `waiting`.
    sessions: Mutex<HashMap<TxnId, Arc<SessionOwners>>>,
    hasher: RandomState,
    next_id: AtomicU64,
}

impl Default for LockTable {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            waiting: Mutex::default(),
            sessions: Mutex::default(),
            hasher: RandomState::new(),
            next_id: AtomicU64::new(1),
        }
    }
}

impl LockTable {
    /// A table without locks.
    pub fn new() -> Self {
        Self::default()
    }

    /// All locks held or waited for, in no order.
    pub fn locks(&self) -> Vec<HeldLock> {
        let mut all = Vec::new();
        for shard in &self.shards {
            for (key, queue) in shard.lock().iter() {
                let lock = |owner, mode, granted| HeldLock { owner, target: key.target.clone(), mode, granted };
                all.extend(queue.holders().map(|(owner, mode)| lock(owner, mode, true)));
                all.extend(queue.waiters().map(|(owner, mode)| lock(owner, mode, false)));
            }
        }
        all
    }

    /// The holders of a table lock, in any mode.
    pub fn holders(&self, table: TableId) -> Vec<TxnId> {
        let key = self.key(LockTarget::Table(table));
        let Some(shard) = self.shard(&key) else { return Vec::new() };
        shard.get(&key).map(|queue| queue.holders().map(|(owner, _)| owner).collect()).unwrap_or_default()
    }

    pub(crate) fn next_id(&self) -> TxnId {
        TxnId(self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn key(&self, target: LockTarget) -> LockKey {
        LockKey { hash: self.hasher.hash_one(&target), target }
    }

    /// Registers a session: the owner of its advisory locks, and its other lock owners.
    pub(crate) fn enter_session(&self, owner: TxnId, others: Arc<SessionOwners>) {
        self.sessions.lock().insert(owner, others);
    }

    /// Removes the session of this owner.
    pub(crate) fn leave_session(&self, owner: TxnId) {
        self.sessions.lock().remove(&owner);
    }

    /// Acquires the lock if there is no conflict, else adds a waiter. The caller awaits the grant with the receiver.
    pub(crate) fn ask(&self, key: &LockKey, owner: TxnId, mode: LockMode, may_wait: bool) -> Asked {
        let Some(mut shard) = self.shard(key) else { return Asked::Refused };
        match shard.entry(key.clone()) {
            Entry::Vacant(free) => {
                free.insert(LockQueue::held_by(owner, mode));
                Asked::Granted
            }
            Entry::Occupied(mut taken) => match taken.get_mut().attempt(owner, mode) {
                Attempt::Granted => Asked::Granted,
                Attempt::Raised(former) => Asked::Raised(former),
                Attempt::Held => Asked::Held,
                Attempt::MustWait if may_wait => {
                    let queue = taken.get_mut();
                    Asked::Queued { former: queue.mode_of(owner), granted: queue.enqueue(owner, mode) }
                }
                Attempt::MustWait => Asked::Refused,
            },
        }
    }

    /// Awaits the grant of a queued request.
    ///
    /// # Errors
    /// [`TxnError::Deadlock`], [`TxnError::LockNotAvailable`]; then `owner` is removed from the queue.
    pub(crate) async fn wait(
        &self,
        key: &LockKey,
        owner: TxnId,
        granted: oneshot::Receiver<()>,
        former: Option<LockMode>,
        wait: LockWait,
    ) -> TxnResult<()> {
        let mut guard = WaitGuard { table: self, key, owner, former, armed: true };
        if let Some(circle) = self.note_wait(key, owner) {
            return Err(TxnError::Deadlock { circle });
        }
        let heard = match wait {
            LockWait::AtMost(limit) => tokio::time::timeout(limit, granted).await.is_ok_and(|heard| heard.is_ok()),
            LockWait::Forever | LockWait::Never => granted.await.is_ok(),
        };
        if !heard {
            return Err(TxnError::LockNotAvailable { waited: true });
        }
        guard.armed = false;
        self.waiting.lock().remove(&owner);
        Ok(())
    }

    /// Lowers the mode of a held lock, or releases it.
    pub(crate) fn lower(&self, key: &LockKey, owner: TxnId, mode: Option<LockMode>) {
        self.change(key, |queue| queue.lower(owner, mode));
    }

    fn note_wait(&self, key: &LockKey, owner: TxnId) -> Option<Vec<TxnId>> {
        let mut waiting = self.waiting.lock();
        waiting.insert(owner, key.clone());
        let sessions = self.sessions.lock();
        find_cycle(owner, |txn| {
            let Some(key) = waiting.get(&txn) else { return Vec::new() };
            // A request that was granted meanwhile has no blockers.
            let shard = self.shard(key);
            let queue = shard.as_ref().and_then(|shard| shard.get(key));
            let mut blockers = queue.map(|queue| queue.blockers(txn, owner)).unwrap_or_default();
            add_other_owners(&sessions, &mut blockers);
            blockers
        })
    }

    fn change(&self, key: &LockKey, change: impl FnOnce(&mut LockQueue)) {
        let Some(mut shard) = self.shard(key) else { return };
        if let Some(queue) = shard.get_mut(key) {
            change(queue);
            if queue.is_unused() {
                shard.remove(key);
            }
        }
    }

    fn shard(&self, key: &LockKey) -> Option<MutexGuard<'_, Shard>> {
        // The upper bits, because the map uses the lower ones. Always in bounds.
        self.shards.get((key.hash >> 48) as usize % SHARDS).map(Mutex::lock)
    }
}

/// Adds all owners of the sessions that `owners` belong to.
fn add_other_owners(sessions: &HashMap<TxnId, Arc<SessionOwners>>, owners: &mut Vec<TxnId>) {
    for (advisory, others) in sessions {
        if owners.iter().any(|owner| owner == advisory || others.has(*owner)) {
            let session = std::iter::once(*advisory).chain(others.all());
            let others: Vec<TxnId> = session.filter(|owner| !owners.contains(owner)).collect();
            owners.extend(others);
        }
    }
}

/// The result of a lock request.
#[derive(Debug)]
pub(crate) enum Asked {
    Granted,
    /// Granted; held in this weaker mode before.
    Raised(LockMode),
    Held,
    /// `former` is the weaker mode in which the lock is already held.
    Queued {
        former: Option<LockMode>,
        granted: oneshot::Receiver<()>,
    },
    Refused,
}

/// Ends a wait after an error, a timeout, or cancellation.
struct WaitGuard<'a> {
    table: &'a LockTable,
    key: &'a LockKey,
    owner: TxnId,
    former: Option<LockMode>,
    armed: bool,
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        self.table.waiting.lock().remove(&self.owner);
        self.table.change(self.key, |queue| {
            // Granted at the same time: the grant was not received, so the previous mode is restored.
            if !queue.stop_waiting(self.owner) {
                queue.lower(self.owner, self.former);
            }
        });
    }
}
