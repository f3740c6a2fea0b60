//! Notices of statements.

use crate::LiveNotices;
use std::sync::Arc;

/// A notice or warning for the client. It never stops the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `NOTICE`, `WARNING`, `INFO`.
    pub severity: &'static str,
    /// SQLSTATE.
    pub code: &'static str,
    /// The message, one line.
    pub message: String,
    /// More about it.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Notice {
    /// Whether a client gets it with this value of `client_min_messages`.
    pub(crate) fn is_wanted(&self, least: &str) -> bool {
        match least {
            "error" => self.severity == "INFO",
            "warning" => self.severity != "NOTICE",
            _ => true,
        }
    }

    /// A plain notice: an operation was skipped because an object exists, or does not exist, already.
    pub(crate) fn info(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: "NOTICE", code, message: message.into(), detail: None, hint: None }
    }

    /// A warning: the statement had no effect, or an unexpected one.
    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: "WARNING", ..Self::info(code, message) }
    }
}

/// Notices of a session that were not sent yet.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Notices that are sent with the answer.
    waiting: Vec<Notice>,
    /// Notices that may be sent before the answer.
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

    /// Takes the notices since the last call that a client with this value of `client_min_messages` gets.
    pub(crate) fn take(&mut self, least: &str) -> Vec<Notice> {
        let mut notices = self.live.take();
        notices.append(&mut self.waiting);
        notices.retain(|notice| notice.is_wanted(least));
        notices
    }
}
