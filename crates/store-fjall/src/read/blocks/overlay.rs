//! Everything outside the base run: for each key the newest version visible at the snapshot, in key order.
//!
//! Streamed: one entry of each source is held, and a few hundred of the memtable.

use super::{Run, View};
use crate::error::storage;
use crate::read::range::StoredRange;
use fjall::Slice;
use lsm_tree::{InternalValue, Memtable, Table, ValueType};
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;
use std::vec;
use store::StoreResult;

/// Entries copied from the memtable at once: finding the place again costs as much as some tens of them.
const MEMTABLE_CHUNK: usize = 256;

/// The newest visible version of a key outside the base run.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) key: Slice,
    pub(crate) seqno: u64,
    /// `None`: a tombstone.
    pub(crate) fragment: Option<Slice>,
}

/// The changes of one range, in key order.
pub(crate) struct Overlay {
    seqno: u64,
    /// From the newest to the oldest; those at their end are taken out.
    sources: Vec<Source>,
    next: Option<Change>,
}

/// One source and its next visible entry.
struct Source {
    head: InternalValue,
    rest: Entries,
}

/// Entries by key, newest first; also those that are not visible.
enum Entries {
    Memtable(MemtableEntries),
    Run(RunEntries),
}

impl Overlay {
    /// The changes of `range` in `view`, from which the base run was taken out.
    ///
    /// # Errors
    /// I/O failures and damaged bytes.
    pub(crate) fn open(view: &View, range: &StoredRange, seqno: u64) -> StoreResult<Self> {
        let memtable = Entries::Memtable(MemtableEntries::new(view.memtable.clone(), range));
        let runs = view.runs.iter().map(|run| Entries::Run(RunEntries::new(run, range)));
        let mut overlay = Self { seqno, sources: Vec::new(), next: None };
        for mut entries in std::iter::once(memtable).chain(runs) {
            if let Some(head) = entries.next_visible(seqno)? {
                overlay.sources.push(Source { head, rest: entries });
            }
        }
        overlay.advance()?;
        Ok(overlay)
    }

    /// Sources that hold something.
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

    /// Finds the smallest key and its newest version, and passes over its others.
    fn advance(&mut self) -> StoreResult<()> {
        // Few sources: looking at each is cheaper than keeping a heap. On a tie the newer source wins.
        let mut sources = self.sources.iter();
        let Some(mut newest) = sources.next() else {
            self.next = None;
            return Ok(());
        };
        for source in sources {
            if source.head.key < newest.head.key {
                newest = source;
            }
        }
        let InternalValue { key, value } = newest.head.clone();
        let mut at = 0;
        while let Some(source) = self.sources.get_mut(at) {
            if source.pass(&key.user_key, self.seqno)? {
                at += 1;
            } else {
                self.sources.remove(at);
            }
        }
        let fragment = (!key.is_tombstone()).then_some(value);
        self.next = Some(Change { key: key.user_key, seqno: key.seqno, fragment });
        Ok(())
    }
}

impl Source {
    /// Goes behind `key`; `false` when nothing is left.
    fn pass(&mut self, key: &[u8], seqno: u64) -> StoreResult<bool> {
        while self.head.key.user_key == key {
            match self.rest.next_visible(seqno)? {
                Some(head) => self.head = head,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl Entries {
    fn next_visible(&mut self, seqno: u64) -> StoreResult<Option<InternalValue>> {
        loop {
            let next = match self {
                Self::Memtable(entries) => entries.next_entry(),
                Self::Run(entries) => entries.next_entry()?,
            };
            match next {
                Some(entry) if entry.key.seqno >= seqno => {}
                next => return Ok(next),
            }
        }
    }
}

/// Entries of a memtable, copied chunk by chunk: its own iterator borrows it.
pub(crate) struct MemtableEntries {
    memtable: Arc<Memtable>,
    chunk: VecDeque<InternalValue>,
    /// Where the next chunk begins: at this key, or behind it.
    from: Bound<Slice>,
    last: Option<InternalValue>,
    end: Option<Slice>,
    done: bool,
}

impl MemtableEntries {
    /// The entries of `range`.
    pub(crate) fn new(memtable: Arc<Memtable>, range: &StoredRange) -> Self {
        let from =
            if range.start.is_empty() { Bound::Unbounded } else { Bound::Included(range.start.as_slice().into()) };
        let end = range.end.as_deref().map(Slice::from);
        Self { memtable, chunk: VecDeque::new(), from, last: None, end, done: false }
    }

    /// How many there are, at most `most`.
    pub(crate) fn count_up_to(mut self, most: u64) -> u64 {
        (0..most).take_while(|_| self.next_entry().is_some()).count() as u64
    }

    fn next_entry(&mut self) -> Option<InternalValue> {
        if self.chunk.is_empty() && !self.done {
            self.refill();
        }
        self.chunk.pop_front()
    }

    fn refill(&mut self) {
        // Within a key the highest number comes first: so this is in front of every version of `key`.
        let before = |key: &Slice| InternalValue::from_components(key.clone(), [], u64::MAX, ValueType::Value).key;
        let start = match (&self.last, &self.from) {
            (Some(last), _) => Bound::Excluded(last.key.clone()),
            (None, Bound::Included(key)) => Bound::Included(before(key)),
            (None, _) => Bound::Unbounded,
        };
        let end = self.end.as_ref().map_or(Bound::Unbounded, |key| Bound::Excluded(before(key)));
        let entries = self.memtable.items.range((start, end)).take(MEMTABLE_CHUNK);
        self.chunk
            .extend(entries.map(|entry| InternalValue { key: entry.key().clone(), value: entry.value().clone() }));
        self.done = self.chunk.len() < MEMTABLE_CHUNK;
        self.last = self.chunk.back().cloned();
    }
}

/// Entries of a run, table by table.
struct RunEntries {
    range: (Bound<Slice>, Bound<Slice>),
    tables: vec::IntoIter<Table>,
    open: Option<Box<dyn Iterator<Item = lsm_tree::Result<InternalValue>> + Send>>,
}

impl RunEntries {
    fn new(run: &Run, range: &StoredRange) -> Self {
        let tables: Vec<Table> = run.overlapping(range).cloned().collect();
        let (start, end) = range.bounds();
        Self { range: (start.map(Slice::from), end.map(Slice::from)), tables: tables.into_iter(), open: None }
    }

    fn next_entry(&mut self) -> StoreResult<Option<InternalValue>> {
        loop {
            if let Some(next) = self.open.as_mut().and_then(Iterator::next) {
                return next.map(Some).map_err(|error| storage("scanning rows")(&error));
            }
            let Some(table) = self.tables.next() else { return Ok(None) };
            self.open = Some(Box::new(table.range(self.range.clone())));
        }
    }
}
