//! The folder that queries spill to, and the error when it is full.

use crate::error::QueryError;
use datafusion::common::DataFusionError;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Adds the folder's path to errors of spilling.
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

    /// Converts a disk-full error of an executing query, which writes to this folder only.
    pub(super) fn named(&self, error: DataFusionError) -> DataFusionError {
        match full(&error) {
            Some(reason) => {
                QueryError::SpillFull { folder: self.path.display().to_string(), reason: reason.to_string() }.into()
            }
            None => error,
        }
    }
}

/// The I/O error that reports a full disk, however deeply it is wrapped.
fn full<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        let io = error.downcast_ref::<io::Error>();
        if let Some(io) = io.filter(|io| is_full(io.kind())) {
            return Some(io);
        }
        // The inner error of an `io::Error` is not its `source`.
        next = match io.and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

fn is_full(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::error::ArrowError;

    #[test]
    fn a_full_folder_is_named_however_the_error_came() {
        let folder = SpillFolder { path: "/var/spill".into() };
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let arrow = ArrowError::IoError("writing".to_owned(), full());
        let shared = DataFusionError::Shared(std::sync::Arc::new(DataFusionError::IoError(full())));
        // As the writer of Arrow files reports it.
        let inner = io::Error::other(DataFusionError::IoError(full()));
        let written = ArrowError::IoError("writing".to_owned(), inner);
        let wrapped = [arrow, written].map(|error| DataFusionError::ArrowError(Box::new(error), None));
        for error in wrapped.into_iter().chain([DataFusionError::IoError(full()), shared]) {
            let told = QueryError::from(folder.named(error));
            assert!(matches!(&told, QueryError::SpillFull { folder, .. } if folder == "/var/spill"), "{told:?}");
        }
        let other = QueryError::from(folder.named(DataFusionError::IoError(io::ErrorKind::NotFound.into())));
        assert!(!matches!(other, QueryError::SpillFull { .. }), "{other:?}");
    }
}
