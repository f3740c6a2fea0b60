//! Do all who use a thread of the runtime wait for a sync?
//!
//! Each statement takes a snapshot and each commit waits, so whoever does either is noted, by thread. A task may block
//! its thread for a sync when nobody else has to stand still meanwhile: when all who were there lately wait as well.

use std::cell::RefCell;
use tokio::task::{self, Id};

/// A thread with more users than this is never blocked: it always has something to do, and a group gathers on it.
const MANY: usize = 16;

thread_local! {
    static USERS: RefCell<Users> = const { RefCell::new(Users { round: 0, seen: Vec::new() }) };
}

/// Who uses a thread.
struct Users {
    /// Counts the questions.
    round: u64,
    /// The tasks of the last rounds, and when each was seen last: `MANY` at most.
    seen: Vec<(Option<Id>, u64)>,
}

/// Notes that the present task uses this thread.
pub(crate) fn note() {
    let task = task::try_id();
    USERS.with_borrow_mut(|users| {
        let round = users.round;
        match users.seen.iter_mut().find(|(seen, _)| *seen == task) {
            Some((_, last)) => *last = round,
            None => {
                if users.seen.len() < MANY {
                    users.seen.push((task, round));
                }
            }
        }
    });
}

/// Are the `waiting` tasks of this thread all that used it in this round and the one before? Begins a new round.
pub(crate) fn all_wait(waiting: usize) -> bool {
    USERS.with_borrow_mut(|users| {
        let before = users.round.saturating_sub(1);
        let crowded = users.seen.len() == MANY;
        users.seen.retain(|(_, last)| *last >= before);
        users.round += 1;
        !crowded && users.seen.len() <= waiting
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A task that uses the thread `times` times.
    async fn user(times: usize) {
        task::spawn(async move { (0..times).for_each(|_| note()) }).await.unwrap();
    }

    #[tokio::test]
    async fn all_wait_when_as_many_wait_as_use_the_thread() {
        user(3).await;
        assert!(all_wait(1), "alone");
        user(1).await;
        assert!(!all_wait(1), "two in the last two rounds");
        user(1).await;
        assert!(all_wait(2), "both wait");
        assert!(all_wait(1), "the first is forgotten");
        assert!(all_wait(0), "and the second");
    }

    #[tokio::test]
    async fn a_crowded_thread_is_never_blocked() {
        for _ in 0..MANY {
            user(1).await;
        }
        assert!(!all_wait(MANY));
    }
}
