//! Tells whether one task has a thread of the runtime for itself.
//!
//! Each statement takes a snapshot, which records the task on its thread. A task that is alone may block its thread for
//! a sync; otherwise the other tasks of the thread would wait.

use crate::seam;
use std::cell::Cell;
use tokio::task::{self, Id};

thread_local! {
    static LAST: Cell<Use> = const { Cell::new(Use { task: None, shared: false }) };
}

/// The record of a thread.
#[derive(Clone, Copy)]
struct Use {
    /// The task that used the thread last.
    task: Option<Id>,
    /// Whether another task used the thread since the last query.
    shared: bool,
}

/// Records that the current task uses this thread.
pub(crate) fn note() {
    let task = task::try_id();
    LAST.with(|last| {
        let before = last.get();
        let shared = before.shared || (before.task.is_some() && before.task != task);
        last.set(Use { task, shared });
    });
}

/// Returns true if more than one task used this thread since the last call.
pub(crate) fn is_shared() -> bool {
    if let Some(chosen) = seam::chance() {
        return chosen;
    }
    LAST.with(|last| {
        let now = last.get();
        last.set(Use { shared: false, ..now });
        now.shared
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thread_is_shared_while_tasks_take_turns() {
        let alone = task::spawn(async {
            note();
            is_shared();
            note();
            is_shared()
        });
        assert!(!alone.await.unwrap(), "alone");
        let other = task::spawn(async {
            note();
            is_shared()
        });
        assert!(other.await.unwrap(), "after another one");
        let again = task::spawn(async {
            note();
            (is_shared(), is_shared())
        });
        assert_eq!(again.await.unwrap(), (true, false), "told once");
    }
}
