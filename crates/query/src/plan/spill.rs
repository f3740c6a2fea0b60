//! Where queries spill, and what is said when it is full.

use crate::error::QueryError;
use arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use std::io;
use std::path::{Path, PathBuf};

/// The folder's failures in words that name it.
#[derive(Clone, Debug)]
pub(super) struct SpillFolder {
    path: PathBuf,
}

impl SpillFolder {
    /// `None` is the system's folder for temporary files.
    pub(super) fn new(path: Option<&PathBuf>) -> Self {
        Self { path: path.cloned().unwrap_or_else(std::env::temp_dir) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// An error of a running query; it only writes to that folder.
    pub(super) fn named(&self, error: DataFusionError) -> DataFusionError {
        match full(&error) {
            Some(reason) => {
                QueryError::SpillFull { folder: self.path.display().to_string(), reason: reason.to_string() }.into()
            }
            None => error,
        }
    }
}

/// The system's error that there is no room, if it is one.
fn full(error: &DataFusionError) -> Option<&io::Error> {
    let io = match error {
        DataFusionError::IoError(io) => io,
        DataFusionError::ArrowError(arrow, _) => match arrow.as_ref() {
            ArrowError::IoError(_, io) => io,
            ArrowError::ExternalError(inner) => return full(inner.downcast_ref()?),
            _ => return None,
        },
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => return full(inner),
        DataFusionError::Shared(inner) => return full(inner),
        DataFusionError::External(inner) => match inner.downcast_ref::<DataFusionError>() {
            Some(inner) => return full(inner),
            None => inner.downcast_ref()?,
        },
        _ => return None,
    };
    let is_full =
        |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge);
    is_full(io.kind()).then_some(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_folder_is_named_however_the_error_came() {
        let folder = SpillFolder { path: "/var/spill".into() };
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let arrow = ArrowError::IoError("writing".to_owned(), full());
        let shared = DataFusionError::Shared(std::sync::Arc::new(DataFusionError::IoError(full())));
        for error in [DataFusionError::IoError(full()), DataFusionError::ArrowError(Box::new(arrow), None), shared] {
            let told = QueryError::from(folder.named(error));
            assert!(matches!(&told, QueryError::SpillFull { folder, .. } if folder == "/var/spill"), "{told:?}");
        }
        let other = QueryError::from(folder.named(DataFusionError::IoError(io::ErrorKind::NotFound.into())));
        assert!(!matches!(other, QueryError::SpillFull { .. }), "{other:?}");
    }
}
