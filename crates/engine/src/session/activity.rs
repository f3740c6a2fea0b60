//! The activity of sessions for `pg_stat_activity`: noted where a statement begins and ends.

use crate::TransactionStatus;
use crate::session::running::Entry;
use crate::settings::Effective;
use pg_catalog::SessionInfo;
use query::Settings;
use std::net::SocketAddr;
use std::sync::Arc;
use store::Clock;

/// The identity of a session, which does not change.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) user: String,
    pub(crate) address: Option<SocketAddr>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// The current or last activity of a session.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Text of its last statement.
    query: Arc<str>,
    query_start: Option<i64>,
    /// Start of its transaction block.
    block_start: Option<i64>,
    /// When it last began or ended a statement.
    changed: i64,
    status: TransactionStatus,
    settings: Arc<Effective>,
}

impl Activity {
    pub(crate) fn new(now: i64, settings: Arc<Effective>) -> Self {
        let status = TransactionStatus::Idle;
        Self { query: Arc::from(""), query_start: None, block_start: None, changed: now, status, settings }
    }

    /// Notes that a statement begins.
    pub(crate) fn begin(&mut self, query: &Arc<str>, now: i64) {
        (self.query, self.query_start, self.changed) = (Arc::clone(query), Some(now), now);
    }

    /// Notes that a statement was answered, though its rows may still be read.
    pub(crate) fn end(&mut self, status: TransactionStatus, block_start: Option<i64>, settings: &Arc<Effective>) {
        (self.status, self.block_start) = (status, block_start);
        if !Arc::ptr_eq(&self.settings, settings) {
            self.settings = Arc::clone(settings);
        }
    }

    /// Notes that the last row of a statement was read.
    pub(crate) fn rest(&mut self, now: i64) {
        self.changed = now;
    }

    /// The session's row of `pg_stat_activity`.
    pub(crate) fn info(&self, entry: &Entry, active: bool) -> SessionInfo {
        let state = match self.status {
            _ if active => "active",
            TransactionStatus::Idle => "idle",
            TransactionStatus::InTransaction => "idle in transaction",
            TransactionStatus::Failed => "idle in transaction (aborted)",
        };
        SessionInfo {
            process_id: entry.process,
            user: entry.client.user.clone(),
            application_name: self.settings.get("application_name").unwrap_or_default(),
            client: entry.client.address,
            backend_start: entry.started,
            xact_start: self.block_start.or(self.query_start.filter(|_| active)),
            query_start: self.query_start,
            state_change: self.changed,
            state,
            query: self.query.to_string(),
        }
    }
}

/// Microseconds since 1970.
pub(crate) fn micros(clock: &dyn Clock) -> i64 {
    clock.micros()
}
