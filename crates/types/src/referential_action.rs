//! Actions of foreign keys.

use serde::{Deserialize, Serialize};

/// The action on referencing rows when the referenced row is deleted or its key is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// An error if referencing rows exist when the constraint is checked.
    NoAction,
    /// An error at once if referencing rows exist.
    Restrict,
    /// Deletes the referencing rows, or updates their foreign key.
    Cascade,
    /// Sets the foreign key to NULL.
    SetNull,
    /// Sets the foreign key to its defaults.
    SetDefault,
}

impl ReferentialAction {
    /// Returns the action in SQL.
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
