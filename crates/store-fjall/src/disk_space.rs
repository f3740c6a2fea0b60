//! Tests whether the disk is full after a flush failed without a reason.
//!
//! A quota does not show in the free space, so this writes as much as a flush would have written, a memtable's worth,
//! to a file that it deletes again.

use crate::error::io;
use crate::seam::files;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use store::{StoreError, StoreResult};

/// The file written by the test.
pub(crate) const PROBE: &str = "space.probe";
/// The size limit of a memtable (see `open/mod.rs`).
const FLUSH: usize = 64 << 20;
const PIECE: usize = 1 << 20;

/// Returns the operating system's message if the folder's disk has no space for a flush.
pub(crate) fn shortage(folder: &Path) -> Option<String> {
    let path = folder.join(PROBE);
    let written = write(&path);
    if let Err(error) = std::fs::remove_file(&path) {
        tracing::warn!(%error, "removing {} failed", path.display());
    }
    match written {
        Err(StoreError::DiskFull { reason, .. }) => Some(reason),
        _ => None,
    }
}

fn write(path: &Path) -> StoreResult<()> {
    let mut file = File::create(path).map_err(io("making a file"))?;
    // Not zeros, because some file systems store zeros in no space.
    let piece: Vec<u8> = (0..PIECE).map(|at| (at.wrapping_mul(0x9E37_79B1) >> 13) as u8).collect();
    for _ in 0..FLUSH / PIECE {
        file.write_all(&piece).map_err(io("writing a file"))?;
    }
    files::sync_data(&file).map_err(io("syncing a file"))
}
