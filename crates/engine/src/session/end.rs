//! How a session is told to end.

use crate::session::running::Entry;
use std::sync::Arc;

/// The end of a session whose server stops: its front end says so to the client and goes.
#[derive(Clone, Debug)]
pub struct SessionEnd {
    entry: Arc<Entry>,
}

impl SessionEnd {
    pub(crate) fn of(entry: &Arc<Entry>) -> Self {
        Self { entry: Arc::clone(entry) }
    }

    /// Asks for it: the statement that runs fails with 57P01, and so does each one that follows.
    pub fn ask(&self) {
        self.entry.end_with_server();
    }

    /// Was it asked for?
    pub fn is_asked(&self) -> bool {
        self.entry.is_terminated()
    }

    /// Completes when it is asked for.
    pub async fn asked(&self) {
        self.entry.terminated().await;
    }
}
