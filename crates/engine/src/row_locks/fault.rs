//! What a locking clause cannot be about, in PostgreSQL's words.

use crate::EngineError;
use crate::error::Fault;
use sql::RowLockStrength;

/// 0A000: `FOR UPDATE is not allowed with GROUP BY clause`.
pub(super) fn not_allowed_with(strength: RowLockStrength, what: &str) -> EngineError {
    Fault::RowLock { message: format!("{} is not allowed with {what}", strength.words()) }.into()
}

/// 0A000: `FOR UPDATE cannot be applied to a function`.
pub(super) fn not_applied_to(strength: RowLockStrength, what: &str) -> EngineError {
    Fault::RowLock { message: format!("{} cannot be applied to {what}", strength.words()) }.into()
}

/// 42P01.
pub(super) fn not_in_from(strength: RowLockStrength, name: &str) -> EngineError {
    Fault::LockedNotInFrom { name: name.to_string(), clause: strength.words() }.into()
}
