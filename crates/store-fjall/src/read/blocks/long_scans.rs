//! Decides which blocks of a scan stay in the block cache.
//!
//! The first blocks of a range stay, because short ranges are often read again. A block of a long scan stays
//!
//! - if other long scans have read it recently: inserting a block costs as much as reading it again from the operating
//!   system's cache, and most large tables are scanned rarely. The second scan keeps a quarter of the blocks, the third
//!   a half, so that none takes twice the time;
//! - if there is room: all long scans together get half of the cache, small trees first. A tree that does not fit keeps
//!   a part, always the same blocks, because blocks that a scan evicts before its end are of no use.

use super::View;
use super::table::Caching;
use crate::seam::Instant;
use lsm_tree::Table;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// The first blocks of a range, which are always cached.
const SHORT_BLOCKS: u32 = 32;

/// Long scans older than this are forgotten.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// Approximate number of counters per block: blocks that begin in the same stretch of the file share a counter.
const COUNTERS_PER_BLOCK: u64 = 4;

/// Scans after the first one until all permitted blocks are cached.
const FILLING_SCANS: u64 = 4;

/// The long scans of a store's trees.
#[derive(Default)]
pub(crate) struct LongScans {
    /// By tree id. The mutex is held briefly.
    trees: Mutex<HashMap<u64, Arc<Tree>>>,
}

/// The long scans of one tree.
struct Tree {
    scanned_at: Mutex<Instant>,
    /// Cache bytes for all blocks of the tree.
    wanted: AtomicU64,
    /// Whether some blocks were read by more than one scan.
    read_again: AtomicBool,
    /// Tables that were read, by their id. The mutex is held briefly.
    tables: Mutex<HashMap<u64, (Instant, Arc<BlocksRead>)>>,
}

/// Number of long scans that read the blocks of a table: one counter per stretch of the file.
struct BlocksRead {
    scans: Box<[AtomicU8]>,
    /// Length of a stretch in bytes.
    stretch: u64,
}

/// The cache policy of one scan for the blocks of one run.
pub(crate) struct ScanCaching {
    scans: Arc<LongScans>,
    tree: u64,
    /// Number of data blocks in the tree.
    data_blocks: u64,
    granted: u64,
    /// Blocks read so far, up to [`SHORT_BLOCKS`], and their uncompressed bytes.
    blocks: u32,
    bytes: u64,
    long: Option<LongScan>,
}

struct LongScan {
    tree: Arc<Tree>,
    /// The share of blocks that may stay, as a fraction of 2^32.
    share: u64,
    /// The current table.
    table: Option<(u64, Arc<BlocksRead>)>,
}

impl LongScans {
    /// Registers a long scan of a tree and computes the share of its blocks that may stay.
    fn begin(&self, id: u64, wanted: u64, granted: u64) -> LongScan {
        let mut trees = self.trees.lock();
        trees.retain(|other, tree| *other == id || tree.scanned_at.lock().elapsed() < REMEMBERED);
        let tree = Arc::clone(trees.entry(id).or_insert_with(|| Arc::new(Tree::new())));
        *tree.scanned_at.lock() = Instant::now();
        tree.wanted.store(wanted, Ordering::Relaxed);
        let goes_first = |other: &u64, tree: &Tree| {
            tree.read_again.load(Ordering::Relaxed) && (tree.wanted.load(Ordering::Relaxed), *other) < (wanted, id)
        };
        let first = trees.iter().filter(|(other, tree)| goes_first(other, tree));
        let taken = first.fold(0_u64, |sum, (_, tree)| sum.saturating_add(tree.wanted.load(Ordering::Relaxed)));
        drop(trees);
        let left = granted.saturating_sub(taken);
        let share = (u128::from(left) << 32) / u128::from(wanted.max(1));
        LongScan { tree, share: u64::try_from(share).unwrap_or(u64::MAX), table: None }
    }
}

impl Tree {
    fn new() -> Self {
        Self {
            scanned_at: Mutex::new(Instant::now()),
            wanted: AtomicU64::new(0),
            read_again: AtomicBool::new(false),
            tables: Mutex::default(),
        }
    }

    fn table(&self, table: &Table) -> Arc<BlocksRead> {
        let mut tables = self.tables.lock();
        tables.retain(|_, (read_at, _)| read_at.elapsed() < REMEMBERED);
        let none = || BlocksRead::none(table.metadata.file_size, table.metadata.data_block_count);
        let new = || (Instant::now(), Arc::new(none()));
        let (read_at, blocks) = tables.entry(table.id()).or_insert_with(new);
        *read_at = Instant::now();
        Arc::clone(blocks)
    }
}

impl BlocksRead {
    fn none(file_size: u64, data_blocks: u64) -> Self {
        let stretch = (file_size / data_blocks.max(1) / COUNTERS_PER_BLOCK).max(1);
        Self { scans: (0..=file_size / stretch).map(|_| AtomicU8::new(0)).collect(), stretch }
    }

    /// Counts a scan of the block at `offset`. Returns the number of scans before, saturating above [`FILLING_SCANS`].
    fn count(&self, offset: u64) -> u64 {
        let at = usize::try_from(offset / self.stretch).unwrap_or(usize::MAX);
        let Some(counter) = self.scans.get(at) else { return 0 };
        let before = u64::from(counter.load(Ordering::Relaxed));
        if before <= FILLING_SCANS {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        before
    }
}

impl ScanCaching {
    /// The policy for the blocks of a run of `view`.
    pub(crate) fn new(scans: &Arc<LongScans>, view: &View) -> Self {
        let (tree, data_blocks, granted) = (view.files.tree_id, view.data_blocks, view.cache_bytes / 2);
        Self { scans: Arc::clone(scans), tree, data_blocks, granted, blocks: 0, bytes: 0, long: None }
    }

    /// The caching of the next block: the one at `offset` of `table`.
    pub(super) fn of_block(&mut self, table: &Table, offset: u64) -> Caching {
        if self.blocks < SHORT_BLOCKS {
            return Caching::Fill;
        }
        // Assumes that the blocks of a tree have similar sizes.
        let wanted = self.data_blocks.saturating_mul(self.bytes / u64::from(SHORT_BLOCKS));
        let begin = || self.scans.begin(self.tree, wanted, self.granted);
        self.long.get_or_insert_with(begin).of_block(table, offset)
    }

    /// Records the size of the block that was read.
    pub(super) fn has_read(&mut self, bytes: usize) {
        if self.blocks < SHORT_BLOCKS {
            self.blocks += 1;
            self.bytes += bytes as u64;
        }
    }
}

impl LongScan {
    fn of_block(&mut self, table: &Table, offset: u64) -> Caching {
        let blocks = match &self.table {
            Some((id, blocks)) if *id == table.id() => blocks,
            _ => &self.table.insert((table.id(), self.tree.table(table))).1,
        };
        let scans = blocks.count(offset);
        if scans == 0 {
            return Caching::Look;
        }
        self.tree.read_again.store(true, Ordering::Relaxed);
        // The upper half of a product with an odd constant: spreads evenly, and equally in every scan.
        let spread = offset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        // The second scan keeps the first quarter of the permitted blocks, and so on.
        if spread * FILLING_SCANS < self.share.min(1 << 32) * scans && spread < self.share {
            Caching::Fill
        } else {
            Caching::Look
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: u64 = 1 << 32;

    fn read_again(scan: &LongScan) {
        scan.tree.read_again.store(true, Ordering::Relaxed);
    }

    #[test]
    fn small_trees_go_first_and_what_cannot_stay_gets_the_rest() {
        let scans = LongScans::default();
        let small = scans.begin(1, 40, 100);
        assert!(small.share >= WHOLE);
        // A tree that was read once takes nothing.
        assert_eq!(scans.begin(2, 1000, 100).share, WHOLE / 10);
        read_again(&small);
        let large = scans.begin(2, 1000, 100);
        assert_eq!(large.share, WHOLE * 6 / 100);
        read_again(&large);
        assert!(scans.begin(1, 40, 100).share >= WHOLE);
        assert!(scans.begin(3, 60, 100).share >= WHOLE);
        assert_eq!(scans.begin(3, 120, 100).share, WHOLE / 2);
    }

    #[test]
    fn scans_of_blocks_are_counted_apart() {
        let blocks = BlocksRead::none(1 << 20, 256);
        assert_eq!([0, 3 << 10, 0, 0, 3 << 10].map(|offset| blocks.count(offset)), [0, 0, 1, 2, 1]);
        assert_eq!((blocks.count((1 << 20) - 1), blocks.count(1 << 20), blocks.count(u64::MAX)), (0, 0, 0));
        assert!((0..1000).all(|_| blocks.count(0) <= FILLING_SCANS + 1));
        assert!(blocks.count(0) > FILLING_SCANS);
    }
}
