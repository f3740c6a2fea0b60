//! Notices of a statement under way, for front ends that can send them before its answer.

use crate::{Notice, Session};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::Notify;

/// Notices of the statement under way. A front end takes them while it waits, or has them among those of the answer.
#[derive(Debug, Default)]
pub struct LiveNotices {
    /// Held for one look or change, never across an await.
    waiting: Mutex<Vec<Notice>>,
    arrived: Notify,
}

impl LiveNotices {
    /// Completes when there are some.
    pub async fn arrived(&self) {
        loop {
            let next = self.arrived.notified();
            if !self.waiting.lock().is_empty() {
                return;
            }
            next.await;
        }
    }

    /// Those that have come since the last call.
    pub fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut self.waiting.lock())
    }

    pub(crate) fn add(&self, notice: Notice) {
        self.waiting.lock().push(notice);
        self.arrived.notify_waiters();
    }
}

impl Session {
    /// Notices that need not wait for the end of the statement.
    pub fn live_notices(&self) -> Arc<LiveNotices> {
        Arc::clone(&self.notices.live)
    }

    /// Tells the client something now, if its front end can.
    pub(crate) fn tell_now(&self, notice: Notice) {
        let least = self.settings.get("client_min_messages").unwrap_or("notice");
        if notice.is_wanted(least) {
            self.notices.live.add(notice);
        }
    }
}
