//! One lock: who holds it and who waits, in order of asking.
//!
//! ```text
//!   holders [A shared][B shared]   waiters  [C exclusive][D shared][E exclusive]
//! ```
//! D waits although it would go with A and B: else C could wait for ever. Granting goes from the front
//! and stops at the first that does not fit. An upgrade (A shared asks for exclusive) stands in front of
//! all others, since those behind it wait for A anyway.

use crate::{LockMode, TxnId};
use std::collections::VecDeque;
use tokio::sync::oneshot;

/// A lock with at least one holder or waiter.
#[derive(Debug)]
pub(crate) struct LockQueue {
    mode: LockMode,
    /// The first holder apart: row locks have one, and then nothing is allocated.
    holder: Option<TxnId>,
    more: Vec<TxnId>,
    waiters: VecDeque<Waiter>,
}

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
    /// Held already, in this mode or a stronger one (perhaps only now).
    Held,
    /// Others hold it or asked before.
    MustWait,
}

impl LockQueue {
    /// Held by `owner` alone.
    pub(crate) fn held_by(owner: TxnId, mode: LockMode) -> Self {
        Self { mode, holder: Some(owner), more: Vec::new(), waiters: VecDeque::new() }
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.holder.is_none() && self.waiters.is_empty()
    }

    pub(crate) fn holders(&self) -> impl Iterator<Item = TxnId> {
        self.holder.into_iter().chain(self.more.iter().copied())
    }

    pub(crate) fn mode(&self) -> LockMode {
        self.mode
    }

    pub(crate) fn waiters(&self) -> impl Iterator<Item = (TxnId, LockMode)> {
        self.waiters.iter().map(|waiter| (waiter.owner, waiter.mode))
    }

    pub(crate) fn is_held_by(&self, owner: TxnId) -> bool {
        self.holders().any(|holder| holder == owner)
    }

    /// Takes the lock if nobody is in the way.
    pub(crate) fn attempt(&mut self, owner: TxnId, mode: LockMode) -> Attempt {
        if self.is_held_by(owner) {
            if mode == LockMode::Shared || self.mode == LockMode::Exclusive {
                return Attempt::Held;
            }
            if self.holders().count() == 1 {
                self.mode = LockMode::Exclusive;
                return Attempt::Held;
            }
            return Attempt::MustWait;
        }
        if self.waiters.is_empty() && self.fits(mode) {
            self.add_holder(owner, mode);
            return Attempt::Granted;
        }
        Attempt::MustWait
    }

    /// Waits for the lock; the receiver hears of the grant.
    pub(crate) fn enqueue(&mut self, owner: TxnId, mode: LockMode) -> oneshot::Receiver<()> {
        let (granted, receiver) = oneshot::channel();
        let waiter = Waiter { owner, mode, granted };
        if self.is_held_by(owner) {
            self.waiters.push_front(waiter);
        } else {
            self.waiters.push_back(waiter);
        }
        receiver
    }

    /// Gives the lock up and grants it to who may have it now.
    pub(crate) fn release(&mut self, owner: TxnId) {
        if self.holder == Some(owner) {
            self.holder = self.more.pop();
        } else {
            self.more.retain(|holder| *holder != owner);
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

    /// Whom `owner` waits for in the end: the holders; and `sought`, when it stands in line before `owner`.
    /// Nobody, when `owner` does not wait here.
    ///
    /// The others in line are left out: they wait for nothing but the same holders. (One that could
    /// share with `owner` does not stand in its way, but then both wait for the same one before them.)
    pub(crate) fn blockers(&self, owner: TxnId, sought: TxnId) -> Vec<TxnId> {
        let place = |txn| self.waiters.iter().position(|waiter| waiter.owner == txn);
        let Some(at) = place(owner) else { return Vec::new() };
        let ahead = place(sought).is_some_and(|sought| sought < at).then_some(sought);
        self.holders().filter(|holder| *holder != owner).chain(ahead).collect()
    }

    fn fits(&self, mode: LockMode) -> bool {
        self.holder.is_none() || (mode == LockMode::Shared && self.mode == LockMode::Shared)
    }

    fn add_holder(&mut self, owner: TxnId, mode: LockMode) {
        self.mode = mode;
        match self.holder {
            None => self.holder = Some(owner),
            Some(_) => self.more.push(owner),
        }
    }

    fn grant(&mut self) {
        while let Some((owner, mode)) = self.waiters.front().map(|waiter| (waiter.owner, waiter.mode)) {
            let upgrade = self.is_held_by(owner);
            if upgrade && self.holders().count() == 1 {
                self.mode = mode;
            } else if !upgrade && self.fits(mode) {
                self.add_holder(owner, mode);
            } else {
                return;
            }
            if let Some(waiter) = self.waiters.pop_front() {
                // One that no longer listens gives the lock back itself: see `WaitGuard`.
                let _ = waiter.granted.send(());
            }
        }
    }
}
