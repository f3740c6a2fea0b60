//! Stopping a statement from elsewhere.

use engine::Engine;
use std::sync::Arc;

/// Stops what a session runs, from any task or thread. Made by [`crate::Session::cancel_handle`].
#[derive(Clone, Debug)]
pub struct CancelHandle {
    pub(crate) engine: Arc<Engine>,
    pub(crate) process: i32,
    pub(crate) secret: i32,
}

impl CancelHandle {
    /// Cancels the statement that runs now, which fails with 57014. Nothing happens between statements.
    pub fn cancel(&self) {
        self.engine.cancel(self.process, self.secret);
    }
}
