//! What a statement tells the client besides its answer.

use crate::LiveNotices;
use std::sync::Arc;

/// A notice or warning for the client. It never stops the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `NOTICE`, `WARNING`, `INFO`.
    pub severity: &'static str,
    /// SQLSTATE.
    pub code: &'static str,
    /// One line for a person.
    pub message: String,
    /// More about it.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Notice {
    /// Does a client get it whose `client_min_messages` is this?
    pub(crate) fn is_wanted(&self, least: &str) -> bool {
        match least {
            "error" => self.severity == "INFO",
            "warning" => self.severity != "NOTICE",
            _ => true,
        }
    }

    /// A plain notice: something was left out, since it was there (or not there) already.
    pub(crate) fn info(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: "NOTICE", code, message: message.into(), detail: None, hint: None }
    }

    /// A warning: the statement did nothing, or not what one may expect.
    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: "WARNING", ..Self::info(code, message) }
    }
}

/// Notices of a session that its client has not got yet.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Those that come with the answer.
    waiting: Vec<Notice>,
    /// Those that need not wait for it.
    pub(crate) live: Arc<LiveNotices>,
}

impl Notices {
    pub(crate) fn push(&mut self, notice: Notice) {
        self.waiting.push(notice);
    }

    /// Adds a [`Notice::info`].
    pub(crate) fn info(&mut self, code: &'static str, message: impl Into<String>) {
        self.push(Notice::info(code, message));
    }

    /// Adds a [`Notice::warning`].
    pub(crate) fn warning(&mut self, code: &'static str, message: impl Into<String>) {
        self.push(Notice::warning(code, message));
    }

    /// All since the last call that a client wants whose `client_min_messages` is this.
    pub(crate) fn take(&mut self, least: &str) -> Vec<Notice> {
        let mut notices = self.live.take();
        notices.append(&mut self.waiting);
        notices.retain(|notice| notice.is_wanted(least));
        notices
    }
}
