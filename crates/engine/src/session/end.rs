//! Termination of sessions.

use crate::session::running::Entry;
use std::sync::Arc;

/// Terminates a session when its server stops. The front end reports it to the client and disconnects.
#[derive(Clone, Debug)]
pub struct SessionEnd {
    entry: Arc<Entry>,
}

impl SessionEnd {
    pub(crate) fn of(entry: &Arc<Entry>) -> Self {
        Self { entry: Arc::clone(entry) }
    }

    /// Requests termination: the running statement and all later ones fail with 57P01.
    pub fn ask(&self) {
        self.entry.end_with_server();
    }

    /// Whether termination was requested.
    pub fn is_asked(&self) -> bool {
        self.entry.is_terminated()
    }

    /// Completes when termination is requested.
    pub async fn asked(&self) {
        self.entry.terminated().await;
    }
}
