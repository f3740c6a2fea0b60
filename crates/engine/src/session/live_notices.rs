//! Notices of the running statement, for front ends that can send them before its answer.

use crate::{Notice, Session};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::Notify;

/// Notices of the running statement. A front end takes them while it waits, or gets them with the notices of the
/// answer.
#[derive(Debug, Default)]
pub struct LiveNotices {
    /// Locked for one look-up or change, never across an await.
    waiting: Mutex<Vec<Notice>>,
    arrived: Notify,
}

impl LiveNotices {
    /// Completes when there are notices.
    pub async fn arrived(&self) {
        loop {
            let next = self.arrived.notified();
            if !self.waiting.lock().is_empty() {
                return;
            }
            next.await;
        }
    }

    /// Takes the notices since the last call.
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

    /// Sends the client a notice during the statement, if its front end can.
    pub(crate) fn send_live_notice(&self, notice: Notice) {
        let least = self.settings.get("client_min_messages").unwrap_or("notice");
        if notice.is_wanted(least) {
            self.notices.live.add(notice);
        }
    }
}
