//! Locks on rows and tables, held by transactions, and advisory ones.
//!
//! A lock exists while somebody holds it or waits: a map entry, in one of many shards by hash. Writers
//! hold their table shared and their rows in one of the four modes of [`LockMode`]; DDL holds the table exclusive.

use crate::deadlock::find_circle;
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

/// A transaction, as owner of locks. Unique in its process, in order of beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(pub u64);

/// How a lock is held, from weak to strong: what goes with a mode goes with all weaker ones. Rows have all four, those of
/// PostgreSQL; tables are held shared or exclusive.
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
    /// The row stays, and so do its key columns: KEY SHARE, which foreign keys take.
    KeyShare,
    /// With others: SHARE.
    Shared,
    /// The row changes and its key columns stay: NO KEY UPDATE.
    NoKeyExclusive,
    /// Alone: UPDATE.
    Exclusive,
}

impl LockMode {
    /// Can two transactions not hold a lock in these modes at once?
    pub fn conflicts_with(self, other: Self) -> bool {
        match self.min(other) {
            Self::KeyShare => self.max(other) == Self::Exclusive,
            Self::Shared => self.max(other) >= Self::NoKeyExclusive,
            Self::NoKeyExclusive | Self::Exclusive => true,
        }
    }
}

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Until it is granted.
    Forever,
    /// So long and then fail.
    AtMost(Duration),
    /// Not at all.
    Never,
}

/// How a lock was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obtained {
    /// It was free.
    AtOnce,
    /// The transaction had it before.
    Before,
    /// After a wait: what it guards may have changed.
    AfterWait,
}

/// What is locked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LockTarget {
    /// A table as a whole.
    Table(TableId),
    /// A row by its key.
    Row(TableId, Bytes),
    /// Numbers of clients.
    Advisory(AdvisoryKey),
}

/// A lock as shown to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    /// Who holds it or waits.
    pub owner: TxnId,
    /// What is locked.
    pub target: LockTarget,
    /// How it is held or wanted.
    pub mode: LockMode,
    /// Held, rather than waited for?
    pub granted: bool,
}

/// What is locked, with its hash.
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

/// The key brings its hash, computed once for the shard and the map.
#[derive(Debug, Default)]
struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        // Only `write_u64` is used; this keeps the trait's promise for all else.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Shard = HashMap<LockKey, LockQueue, BuildHasherDefault<Ready>>;

/// Shards: enough that two cores' worth of writers seldom meet in one.
const SHARDS: usize = 64;

/// All locks of a process on one store.
#[derive(Debug)]
pub struct LockTable {
    /// Each guards its locks; held for one operation, never across an await. When both are taken,
    /// `waiting` comes first.
    shards: Box<[Mutex<Shard>]>,
    /// What each waiting transaction waits for. Held through a deadlock search, so that of two waits
    /// that close a circle together at least one sees the other.
    waiting: Mutex<HashMap<TxnId, LockKey>>,
    /// Sessions with advisory locks, by the owner of these: who waits for one owner of a session waits for what any of
    /// them waits for. Taken after `waiting`.
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
    /// One without locks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every lock held or waited for, in no order.
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

    /// Who holds the lock of a table, in any mode.
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

    /// Makes the owner of a session's advisory locks known, with the session's others.
    pub(crate) fn enter_session(&self, owner: TxnId, others: Arc<SessionOwners>) {
        self.sessions.lock().insert(owner, others);
    }

    /// The session of this owner has no advisory locks any more.
    pub(crate) fn leave_session(&self, owner: TxnId) {
        self.sessions.lock().remove(&owner);
    }

    /// Takes the lock if nobody is in the way, else stands in line. The wait for the grant is the receiver's.
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

    /// Waits for a grant in line.
    ///
    /// # Errors
    /// [`TxnError::Deadlock`], [`TxnError::LockNotAvailable`]; then `owner` no longer stands in line.
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

    /// Holds a lock in a mode that is no stronger from now on, or not at all.
    pub(crate) fn lower(&self, key: &LockKey, owner: TxnId, mode: Option<LockMode>) {
        self.change(key, |queue| queue.lower(owner, mode));
    }

    fn note_wait(&self, key: &LockKey, owner: TxnId) -> Option<Vec<TxnId>> {
        let mut waiting = self.waiting.lock();
        waiting.insert(owner, key.clone());
        let sessions = self.sessions.lock();
        find_circle(owner, |txn| {
            let Some(key) = waiting.get(&txn) else { return Vec::new() };
            // One that was granted meanwhile is not in line any more and so has no blockers.
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
        // Upper bits: the map itself uses the lower ones. Always inside.
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

/// What asking for a lock brought.
#[derive(Debug)]
pub(crate) enum Asked {
    Granted,
    /// Granted to who held it in this weaker mode.
    Raised(LockMode),
    Held,
    /// `former`: the weaker mode in which it is held.
    Queued {
        former: Option<LockMode>,
        granted: oneshot::Receiver<()>,
    },
    Refused,
}

/// Ends a wait that was given up: by an error, a timeout, or a caller that stopped polling.
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
            // Granted in the very moment of giving up: nobody knows of it, so it is what it was before.
            if !queue.stop_waiting(self.owner) {
                queue.lower(self.owner, self.former);
            }
        });
    }
}
