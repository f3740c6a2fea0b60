//! Table files that belong to no version of their tree: whose are they?

use super::format::{Entries, Trailer};
use fjall::CompressionType;
use lsm_tree::table::Block;
use lsm_tree::table::block::BlockType;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use store::CommitNo;

/// Was the file at `path` written by an ingestion with rows of `commit`, to which no version of the tree has a number yet?
///
/// Its first block says so: a row carries the number of its commit, and a tombstone that an ingestion wrote has the
/// sequence number 0, which flushes and compactions do not give to tombstones: whether the ingestion wrote any is told
/// by `deletes`. A file without a whole block says nothing.
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
