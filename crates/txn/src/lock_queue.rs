//! One lock: who holds it in which mode and who waits, in order of asking.
//!
//! ```text
//!   holders [A shared][B shared]   waiters  [C exclusive][D shared][E exclusive]
//! ```
//! D waits although it would go with A and B: else C could wait for ever. Granting goes from the front and passes over
//! one that does not fit only for those that do not stand in its way. An upgrade (A shared asks for exclusive) stands in
//! front of all others, since those behind it wait for A anyway.

use crate::{LockMode, TxnId};
use std::collections::VecDeque;
use tokio::sync::oneshot;

/// A lock with at least one holder or waiter.
#[derive(Debug)]
pub(crate) struct LockQueue {
    /// The first holder apart: most row locks have one, and then nothing is allocated.
    holder: Option<Holder>,
    more: Vec<Holder>,
    waiters: VecDeque<Waiter>,
}

/// Who holds it, in its strongest mode.
type Holder = (TxnId, LockMode);

#[derive(Debug)]
struct Waiter {
    owner: TxnId,
    mode: LockMode,
    /// Told when the lock is granted.
    granted: oneshot::Sender<()>,
}

/// What asking brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Granted, and not held before.
    Granted,
    /// Granted, and held in this weaker mode before.
    Raised(LockMode),
    /// Held already, in this mode or a stronger one.
    Held,
    /// Others hold it or asked before.
    MustWait,
}

impl LockQueue {
    /// Held by `owner` alone.
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

    /// In which mode does `owner` hold it?
    pub(crate) fn mode_of(&self, owner: TxnId) -> Option<LockMode> {
        self.holders().find(|(holder, _)| *holder == owner).map(|(_, mode)| mode)
    }

    /// Takes the lock if nobody is in the way.
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

    /// Waits for the lock; the receiver hears of the grant.
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

    /// Holds the lock in a mode that is no stronger, or not at all, and grants it to who may have it now.
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

    /// Stops waiting. False when `owner` did not wait: it was granted the lock in the meantime.
    pub(crate) fn stop_waiting(&mut self, owner: TxnId) -> bool {
        let before = self.waiters.len();
        self.waiters.retain(|waiter| waiter.owner != owner);
        let waited = self.waiters.len() < before;
        self.grant();
        waited
    }

    /// Whom `owner` waits for in the end: the holders in its way; and `sought`, when it stands in line before `owner`.
    /// Nobody, when `owner` does not wait here.
    ///
    /// The others in line are left out where a holder is in the way: they wait for nothing but the same holders. (One that
    /// could share with `owner` does not stand in its way, but then both wait for the same one before them.) Where none
    /// is, `owner` waits for those in line before it.
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

    /// Does it go with what others hold?
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
        // The strongest mode of those passed over: what goes with it goes with all of them.
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
                // One that no longer listens gives the lock back itself: see `WaitGuard`.
                let _ = waiter.granted.send(());
            }
        }
    }
}
