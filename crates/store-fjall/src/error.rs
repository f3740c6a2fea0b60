//! Converts errors of fjall and the operating system to [`StoreError`].
//!
//! The action is any `Display`, so that its text is only formatted after a failure.

use std::fmt::Display;
use std::io::ErrorKind;
use store::StoreError;

/// The reason of every call after one of fjall's own threads has failed: fjall reports no other.
pub(crate) const POISONED: &str = "an earlier write or flush failed";

/// Converts an I/O error of `action`.
pub(crate) fn io(action: impl Display) -> impl FnOnce(std::io::Error) -> StoreError {
    move |error| failed(&action, &error)
}

fn failed(action: &dyn Display, error: &std::io::Error) -> StoreError {
    let (action, reason) = (action.to_string(), error.to_string());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            StoreError::DiskFull { action, reason }
        }
        _ => StoreError::Io { action, reason },
    }
}

/// Converts a fjall error of `action`: damaged bytes are [`StoreError::Corrupted`], everything else is I/O.
pub(crate) fn engine(action: impl Display) -> impl FnOnce(fjall::Error) -> StoreError {
    move |error| match &error {
        fjall::Error::Storage(inner) => storage(action)(inner),
        fjall::Error::JournalRecovery(_)
        | fjall::Error::InvalidVersion(_)
        | fjall::Error::Decompress(_)
        | fjall::Error::InvalidTrailer
        | fjall::Error::InvalidTag(_)
        | fjall::Error::Unrecoverable => StoreError::Corrupted { detail: format!("{action}: {error:?}") },
        fjall::Error::Io(inner) => failed(&action, inner),
        _ => StoreError::Io { action: action.to_string(), reason: describe(&error) },
    }
}

/// As [`engine`] for errors of lsm-tree.
pub(crate) fn storage(action: impl Display) -> impl FnOnce(&lsm_tree::Error) -> StoreError {
    move |error| match error {
        lsm_tree::Error::Io(inner) => failed(&action, inner),
        _ => StoreError::Corrupted { detail: format!("{action}: {}", damage(error)) },
    }
}

/// Describes the damage.
fn damage(error: &lsm_tree::Error) -> String {
    match error {
        lsm_tree::Error::ChecksumMismatch { .. } => "its bytes do not match their checksum".to_owned(),
        lsm_tree::Error::Decompress(_) => "it cannot be decompressed".to_owned(),
        lsm_tree::Error::InvalidHeader(what) => format!("its header ({what}) is not one"),
        lsm_tree::Error::InvalidTrailer => "its trailer is not one".to_owned(),
        lsm_tree::Error::InvalidTag((what, tag)) => format!("{what} {tag} is unknown"),
        lsm_tree::Error::InvalidVersion(version) => format!("its format {version} is unknown"),
        lsm_tree::Error::Unrecoverable => "files are missing or damaged".to_owned(),
        other => format!("{other:?}"),
    }
}

fn describe(error: &fjall::Error) -> String {
    match error {
        fjall::Error::Poisoned => POISONED.to_owned(),
        other => format!("{other:?}"),
    }
}
