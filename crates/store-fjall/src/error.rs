//! From fjall's errors and the operating system's to the contract's.
//!
//! What was being done is taken as something to be shown, so that nothing is put together unless it failed.

use std::fmt::Display;
use std::io::ErrorKind;
use store::StoreError;

/// All that fjall says once one of its own threads has failed.
pub(crate) const POISONED: &str = "an earlier write or flush failed";

/// An I/O failure while `action` was done.
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

/// A failure of fjall while `action` was done: damaged bytes are [`StoreError::Corrupted`], all else is I/O.
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

/// As [`engine`] for failures of the LSM tree itself.
pub(crate) fn storage(action: impl Display) -> impl FnOnce(&lsm_tree::Error) -> StoreError {
    move |error| match error {
        lsm_tree::Error::Io(inner) => failed(&action, inner),
        _ => StoreError::Corrupted { detail: format!("{action}: {}", damage(error)) },
    }
}

/// What is wrong with the bytes, in words.
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
