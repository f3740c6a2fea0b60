//! Actions of foreign keys.

use serde::{Deserialize, Serialize};

/// What becomes of rows that refer to a row which goes away or gets another key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// There may be none when it is checked.
    NoAction,
    /// There may be none, at once.
    Restrict,
    /// They go away or get the new key.
    Cascade,
    /// They refer to nothing.
    SetNull,
    /// They refer to what their defaults say.
    SetDefault,
}

impl ReferentialAction {
    /// In SQL.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }
}
