//! Identifies table files that belong to no version of their tree.

use super::format::{Entries, Trailer};
use fjall::CompressionType;
use lsm_tree::table::Block;
use lsm_tree::table::block::BlockType;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use store::CommitNo;

/// Returns true if the file at `path` was written by an unfinished ingestion of `commit`.
///
/// Its first block shows that: rows have the commit number in their header. Tombstones of an ingestion have sequence
/// number 0, unlike those of flushes and compactions; `deletes` says whether the ingestion wrote any. False for a file
/// without a complete block.
pub(crate) fn is_unfinished_run_of(path: &Path, commit: CommitNo, deletes: bool) -> bool {
    let first_block = File::open(path).ok().map(BufReader::new).and_then(|mut file| {
        let block = Block::from_reader(&mut file, CompressionType::Lz4).ok()?;
        (block.header.block_type == BlockType::Data).then_some(block.data)
    });
    let Some(bytes) = first_block else { return false };
    let Ok(trailer) = Trailer::of(&bytes) else { return false };
    let Ok(mut entries) = Entries::new(&bytes, &trailer) else { return false };
    let mut any = false;
    while let Ok(Some(entry)) = entries.next_entry() {
        let is_its_own = match entry.tombstone {
            true => deletes,
            false => fragment::header::commit_of(entry.value) == Some(commit),
        };
        if entry.seqno != 0 || !is_its_own {
            return false;
        }
        any = true;
    }
    any
}
