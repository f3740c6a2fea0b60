//! What a statement says beside its answer.

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
