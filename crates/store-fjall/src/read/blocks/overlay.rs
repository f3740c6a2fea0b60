//! The overlay: for each key outside the base run, the newest version visible at the snapshot, in key order.
//!
//! Streamed: holds one entry per source, one block per run, and a few hundred entries of the memtable.

use super::format::Pause;
use super::table::DataBlock;
use super::{Entries, Malformed, Run, RunCursor, ScanCaching, View};
use crate::read::ReadSource;
use crate::read::range::StoredRange;
use fjall::Slice;
use lsm_tree::{InternalValue, Memtable, ValueType};
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;
use store::{StoreError, StoreResult};

/// Entries copied from the memtable at a time: few at first, because most scans are short, then more, because each
/// chunk needs a seek that costs as much as some tens of entries.
const MEMTABLE_CHUNKS: std::ops::RangeInclusive<usize> = 16..=256;

/// The newest visible version of a key outside the base run.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) key: Slice,
    pub(crate) seqno: u64,
    /// `None` for a tombstone.
    pub(crate) fragment: Option<SharedSlice>,
}

/// A slice of a block or memtable entry, which it keeps in memory.
#[derive(Clone, Debug)]
pub(crate) struct SharedSlice {
    owner: Slice,
    start: u32,
    end: u32,
}

impl SharedSlice {
    /// A slice of `owner`.
    pub(super) fn new(owner: &Slice, (start, end): (u32, u32)) -> Self {
        Self { owner: owner.clone(), start, end }
    }

    /// All bytes of `owner`.
    pub(crate) fn whole(owner: Slice) -> Self {
        let end = owner.len() as u32;
        Self { owner, start: 0, end }
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.owner.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// The overlay of one range, in key order.
pub(crate) struct Overlay {
    /// From the newest to the oldest; exhausted sources are removed.
    sources: Vec<Source>,
    next: Option<Change>,
}

/// One source and its next visible entry.
struct Source {
    head: Change,
    rest: Versions,
}

/// Visible versions in key order, newest first.
enum Versions {
    Memtable(MemtableEntries),
    Run(Box<RunEntries>),
}

impl Overlay {
    /// Opens the overlay of `range` over the memtable of `view` and its `runs`.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn open(source: &ReadSource, view: &View, runs: Vec<Run>, range: &StoredRange) -> StoreResult<Self> {
        let seqno = source.seqno();
        let memtable = (!view.memtable.is_empty())
            .then(|| Versions::Memtable(MemtableEntries::new(view.memtable.clone(), range, seqno)));
        let run = |run| {
            let caching = ScanCaching::new(&source.views.scans, view);
            let cursor = source.blocks(&view.files, Some(run), range);
            Versions::Run(Box::new(RunEntries { cursor, caching, range: range.clone(), block: None, key: Vec::new() }))
        };
        let mut sources = Vec::new();
        for mut versions in memtable.into_iter().chain(runs.into_iter().map(run)) {
            if let Some(head) = versions.next_version()? {
                sources.push(Source { head, rest: versions });
            }
        }
        let mut overlay = Self { sources, next: None };
        overlay.advance()?;
        Ok(overlay)
    }

    /// Number of non-empty sources.
    pub(crate) fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// The next change.
    pub(crate) fn peek(&self) -> Option<&Change> {
        self.next.as_ref()
    }

    /// Takes the next change, if its key satisfies `wanted`.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn take_if(&mut self, wanted: impl FnOnce(&[u8]) -> bool) -> StoreResult<Option<Change>> {
        if !self.next.as_ref().is_some_and(|change| wanted(&change.key)) {
            return Ok(None);
        }
        let taken = self.next.take();
        self.advance()?;
        Ok(taken)
    }

    /// Finds the newest version of the smallest key and skips its other versions.
    fn advance(&mut self) -> StoreResult<()> {
        let Some(newest) = self.newest() else {
            self.next = None;
            return Ok(());
        };
        let Some(source) = self.sources.get_mut(newest) else { return Ok(()) };
        let next = match source.rest.next_version()? {
            Some(head) => std::mem::replace(&mut source.head, head),
            None => self.sources.remove(newest).head,
        };
        let mut at = 0;
        while let Some(source) = self.sources.get_mut(at) {
            if source.pass(&next.key)? {
                at += 1;
            } else {
                self.sources.remove(at);
            }
        }
        self.next = Some(next);
        Ok(())
    }

    /// A linear search, because there are few sources and a heap would cost more. On a tie the newer source wins.
    fn newest(&self) -> Option<usize> {
        let mut sources = self.sources.iter().enumerate();
        let mut newest = sources.next()?;
        for (at, source) in sources {
            if source.head.is_before(&newest.1.head) {
                newest = (at, source);
            }
        }
        Some(newest.0)
    }
}

impl Change {
    /// Orders by key, newest first.
    fn is_before(&self, other: &Self) -> bool {
        self.key.cmp(&other.key).then(other.seqno.cmp(&self.seqno)).is_lt()
    }
}

impl Source {
    /// Skips `key`. Returns false if no entries are left.
    fn pass(&mut self, key: &[u8]) -> StoreResult<bool> {
        while self.head.key == key {
            match self.rest.next_version()? {
                Some(head) => self.head = head,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl Versions {
    fn next_version(&mut self) -> StoreResult<Option<Change>> {
        match self {
            Self::Memtable(entries) => Ok(entries.next_version()),
            Self::Run(entries) => entries.next_version(),
        }
    }
}

/// Entries of a memtable, copied in chunks, because its own iterator borrows it.
pub(crate) struct MemtableEntries {
    memtable: Arc<Memtable>,
    seqno: u64,
    chunk: VecDeque<InternalValue>,
    /// Length of the next chunk.
    chunk_len: usize,
    /// Start of the first chunk.
    start: Option<Slice>,
    /// Last entry of the previous chunk, after which the next one starts.
    last: Option<InternalValue>,
    end: Option<Slice>,
    done: bool,
}

impl MemtableEntries {
    /// The entries of `range` that are visible at `seqno`.
    pub(crate) fn new(memtable: Arc<Memtable>, range: &StoredRange, seqno: u64) -> Self {
        let start = (!range.start.is_empty()).then(|| range.start.as_slice().into());
        let end = range.end.as_deref().map(Slice::from);
        Self {
            memtable,
            seqno,
            chunk: VecDeque::new(),
            chunk_len: *MEMTABLE_CHUNKS.start(),
            start,
            last: None,
            end,
            done: false,
        }
    }

    /// Counts the entries, up to `most`.
    pub(crate) fn count_up_to(mut self, most: u64) -> u64 {
        (0..most).take_while(|_| self.next_version().is_some()).count() as u64
    }

    fn next_version(&mut self) -> Option<Change> {
        loop {
            if self.chunk.is_empty() && !self.done {
                self.refill();
            }
            let InternalValue { key, value } = self.chunk.pop_front()?;
            if key.seqno < self.seqno {
                let fragment = (!key.is_tombstone()).then(|| SharedSlice::whole(value));
                return Some(Change { key: key.user_key, seqno: key.seqno, fragment });
            }
        }
    }

    fn refill(&mut self) {
        // Versions of a key are ordered by descending sequence number, so this sorts before every version of `key`.
        let before = |key: &Slice| InternalValue::from_components(key.clone(), [], u64::MAX, ValueType::Value).key;
        let start = match (&self.last, &self.start) {
            (Some(last), _) => Bound::Excluded(last.key.clone()),
            (None, Some(key)) => Bound::Included(before(key)),
            (None, None) => Bound::Unbounded,
        };
        let end = self.end.as_ref().map_or(Bound::Unbounded, |key| Bound::Excluded(before(key)));
        let entries = self.memtable.items.range((start, end)).take(self.chunk_len);
        self.chunk
            .extend(entries.map(|entry| InternalValue { key: entry.key().clone(), value: entry.value().clone() }));
        self.done = self.chunk.len() < self.chunk_len;
        self.chunk_len = (self.chunk_len * 2).min(*MEMTABLE_CHUNKS.end());
        self.last = self.chunk.back().cloned();
    }
}

/// Entries of a run, block by block.
struct RunEntries {
    cursor: RunCursor,
    caching: ScanCaching,
    range: StoredRange,
    block: Option<OpenBlock>,
    /// Buffer for the key of the next entry.
    key: Vec<u8>,
}

struct OpenBlock {
    data: DataBlock,
    pause: Pause,
    visible_below: u64,
    base_seqno: u64,
    /// The error to return if an entry is malformed.
    damaged: StoreError,
}

impl RunEntries {
    fn next_version(&mut self) -> StoreResult<Option<Change>> {
        loop {
            if self.block.is_none() && !self.open_block()? {
                return Ok(None);
            }
            let Some(block) = &mut self.block else { return Ok(None) };
            let found = block.next_version(&mut self.key, &self.range.start);
            match found.map_err(|_| block.damaged.clone())? {
                Some(change) if self.range.is_past(&change.key) => return Ok(None),
                Some(change) => return Ok(Some(change)),
                None => self.block = None,
            }
        }
    }

    fn open_block(&mut self) -> StoreResult<bool> {
        let Some(block) = self.cursor.next_block()? else { return Ok(false) };
        let data = block.scan(&mut self.caching)?;
        let damaged = block.damaged(Malformed);
        let entries = Entries::seek(&data.bytes, &data.trailer, &self.range.start).map_err(|_| damaged.clone())?;
        let pause = entries.pause();
        let (visible_below, base_seqno) = (block.visible_below, block.base_seqno);
        self.block = Some(OpenBlock { data, pause, visible_below, base_seqno, damaged });
        Ok(true)
    }
}

impl OpenBlock {
    /// The next visible version with a key not below `start`.
    fn next_version(&mut self, key: &mut Vec<u8>, start: &[u8]) -> Result<Option<Change>, Malformed> {
        let mut entries = Entries::resume(&self.data.bytes, &self.data.trailer, &self.pause)?;
        while let Some(entry) = entries.next_entry()? {
            if entry.seqno >= self.visible_below {
                continue;
            }
            key.clear();
            key.extend_from_slice(entry.head);
            key.extend_from_slice(entry.rest);
            if key.as_slice() < start {
                continue;
            }
            self.pause = entries.pause();
            let fragment = (!entry.tombstone).then(|| SharedSlice::new(&self.data.bytes, entry.span()));
            let seqno = entry.seqno.saturating_add(self.base_seqno);
            return Ok(Some(Change { key: Slice::from(key.as_slice()), seqno, fragment }));
        }
        Ok(None)
    }
}
