//! Is the disk full? Asked once, when a flush has failed and nobody says why.
//!
//! Free space cannot be looked up without calls that are not safe, so as much is written as a flush would have written:
//! a memtable's worth, in a file that is taken away again.

use crate::error::io;
use crate::seam::files;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use store::{StoreError, StoreResult};

/// The file that is written.
pub(crate) const PROBE: &str = "space.probe";
/// A memtable holds no more (see `open/mod.rs`).
const FLUSH: usize = 64 << 20;
const PIECE: usize = 1 << 20;

/// What the operating system says when the folder's disk has no room for a flush; `None` if it has.
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
    // Not zeros, which some file systems keep without room.
    let piece: Vec<u8> = (0..PIECE).map(|at| (at.wrapping_mul(0x9E37_79B1) >> 13) as u8).collect();
    for _ in 0..FLUSH / PIECE {
        file.write_all(&piece).map_err(io("writing a file"))?;
    }
    files::sync_data(&file).map_err(io("syncing a file"))
}
