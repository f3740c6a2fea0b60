//! One lock: its holders and their modes, and its waiters in request order.
//!
//! ```text
//!   holders [A shared][B shared]   waiters  [C exclusive][D shared][E exclusive]
//! ```
//! D waits although it does not conflict with A and B: otherwise C could starve. Granting starts at the front; a waiter
//! is passed over only by waiters that do not conflict with it. An upgrade (A shared requests exclusive) goes to the
//! front, since all waiters behind it wait for A anyway.

use crate::{LockMode, TxnId};
use std::collections::VecDeque;
use tokio::sync::oneshot;

/// A lock with at least one holder or waiter.
#[derive(Debug)]
pub(crate) struct LockQueue {
    /// The first holder is separate: most row locks have only one, which then needs no allocation.
    holder: Option<Holder>,
    more: Vec<Holder>,
    waiters: VecDeque<Waiter>,
}

/// A holder and its strongest mode.
type Holder = (TxnId, LockMode);

#[derive(Debug)]
struct Waiter {
    owner: TxnId,
    mode: LockMode,
    /// Signals the grant.
    granted: oneshot::Sender<()>,
}

/// The result of a lock request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Granted; not held before.
    Granted,
    /// Granted; held in this weaker mode before.
    Raised(LockMode),
    /// Already held, in this mode or a stronger one.
    Held,
    /// A conflicting holder or earlier waiter exists.
    MustWait,
}

impl LockQueue {
    /// A lock with `owner` as the only holder.
    pub(crate) fn held_by(owner: TxnId, mode: LockMode) -> Self {
        Self { holder: Some((owner, mode)), more: Vec::new(), waiters: VecDeque::new() }
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.holder.is_none() && self.waiters.is_empty()
    }

    pub(crate) fn holders(&self) -> impl Iterator<Item = (TxnId, LockMode)> {
        self.holder.into_iter().chain(self.more.iter().copied())
    }

    pub(crate) fn waiters(&self) -> impl Iterator<Item = (TxnId, LockMode)> {
        self.waiters.iter().map(|waiter| (waiter.owner, waiter.mode))
    }

    /// The mode in which `owner` holds the lock.
    pub(crate) fn mode_of(&self, owner: TxnId) -> Option<LockMode> {
        self.holders().find(|(holder, _)| *holder == owner).map(|(_, mode)| mode)
    }

    /// Acquires the lock if there is no conflict.
    pub(crate) fn attempt(&mut self, owner: TxnId, mode: LockMode) -> Attempt {
        let former = self.mode_of(owner);
        if former.is_some_and(|held| held >= mode) {
            return Attempt::Held;
        }
        let stands_behind = former.is_none() && self.waiters.iter().any(|waiter| waiter.mode.conflicts_with(mode));
        if stands_behind || !self.fits(owner, mode) {
            return Attempt::MustWait;
        }
        self.hold(owner, mode);
        former.map_or(Attempt::Granted, Attempt::Raised)
    }

    /// Adds a waiter; the receiver gets the grant.
    pub(crate) fn enqueue(&mut self, owner: TxnId, mode: LockMode) -> oneshot::Receiver<()> {
        let (granted, receiver) = oneshot::channel();
        let waiter = Waiter { owner, mode, granted };
        if self.mode_of(owner).is_some() {
            self.waiters.push_front(waiter);
        } else {
            self.waiters.push_back(waiter);
        }
        receiver
    }

    /// Lowers the mode of a holder or releases the lock, and grants it to waiters.
    pub(crate) fn lower(&mut self, owner: TxnId, mode: Option<LockMode>) {
        match mode {
            Some(mode) => {
                let held = self.holder.iter_mut().chain(&mut self.more).find(|(holder, _)| *holder == owner);
                if let Some((_, held)) = held {
                    *held = mode.min(*held);
                }
            }
            None if self.holder.is_some_and(|(holder, _)| holder == owner) => self.holder = self.more.pop(),
            None => self.more.retain(|(holder, _)| *holder != owner),
        }
        self.grant();
    }

    /// Removes a waiter. Returns false if `owner` was not waiting, because the lock was granted meanwhile.
    pub(crate) fn stop_waiting(&mut self, owner: TxnId) -> bool {
        let before = self.waiters.len();
        self.waiters.retain(|waiter| waiter.owner != owner);
        let waited = self.waiters.len() < before;
        self.grant();
        waited
    }

    /// The transactions that `owner` waits for: conflicting holders, and `sought` if it waits in front of `owner`.
    /// Empty if `owner` does not wait here.
    ///
    /// With a conflicting holder, other waiters are omitted, because they only wait for the same holders. (A waiter
    /// that does not conflict with `owner` does not block it, but then both wait for the same one before them.) Without
    /// a conflicting holder, `owner` waits for the conflicting waiters in front of it.
    pub(crate) fn blockers(&self, owner: TxnId, sought: TxnId) -> Vec<TxnId> {
        let place = |txn| self.waiters.iter().position(|waiter| waiter.owner == txn);
        let Some(at) = place(owner) else { return Vec::new() };
        let Some(mode) = self.waiters.get(at).map(|waiter| waiter.mode) else { return Vec::new() };
        let in_the_way = |(holder, held): &(TxnId, LockMode)| *holder != owner && held.conflicts_with(mode);
        let mut blockers: Vec<TxnId> = self.holders().filter(in_the_way).map(|(holder, _)| holder).collect();
        if blockers.is_empty() {
            blockers.extend(self.waiters().take(at).filter(in_the_way).map(|(waiter, _)| waiter));
        } else if place(sought).is_some_and(|sought| sought < at) {
            blockers.push(sought);
        }
        blockers
    }

    /// Whether the mode is compatible with all other holders.
    fn fits(&self, owner: TxnId, mode: LockMode) -> bool {
        self.holders().all(|(holder, held)| holder == owner || !held.conflicts_with(mode))
    }

    fn hold(&mut self, owner: TxnId, mode: LockMode) {
        let held = self.holder.iter_mut().chain(&mut self.more).find(|(holder, _)| *holder == owner);
        if let Some((_, held)) = held {
            *held = mode.max(*held);
        } else if self.holder.is_none() {
            self.holder = Some((owner, mode));
        } else {
            self.more.push((owner, mode));
        }
    }

    fn grant(&mut self) {
        let mut at = 0;
        // The strongest mode passed over: a mode compatible with it is compatible with all of them.
        let mut passed: Option<LockMode> = None;
        while let Some((owner, mode)) = self.waiters.get(at).map(|waiter| (waiter.owner, waiter.mode)) {
            if passed.is_some_and(|passed| passed.conflicts_with(mode)) || !self.fits(owner, mode) {
                if mode == LockMode::Exclusive {
                    return;
                }
                passed = passed.max(Some(mode));
                at += 1;
                continue;
            }
            self.hold(owner, mode);
            if let Some(waiter) = self.waiters.remove(at) {
                // A receiver that was dropped gives the lock back in `WaitGuard`.
                let _ = waiter.granted.send(());
            }
        }
    }
}
