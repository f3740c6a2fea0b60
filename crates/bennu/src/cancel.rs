//! Cancels a statement from another task or thread.

use engine::Engine;
use std::sync::Arc;

/// Cancels a session's statement from any task or thread. Created by [`crate::Session::cancel_handle`].
#[derive(Clone, Debug)]
pub struct CancelHandle {
    pub(crate) engine: Arc<Engine>,
    pub(crate) process: i32,
    pub(crate) secret: i32,
}

impl CancelHandle {
    /// Cancels the running statement, which fails with 57014. Does nothing between statements.
    pub fn cancel(&self) {
        self.engine.cancel(self.process, self.secret);
    }
}
