//! Merges the rows of all layers in some ranges: for each key, the entry of the newest layer.

use super::cursor::{Cursor, Source};
use super::rows::{Entry, Written};
use super::set::WriteSet;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use store::{Bytes, FamilyId, KeyRange, StoreResult, TableId};

/// The next row of a cursor; the greatest head is the next row of the merge.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    key: Bytes,
    reverse: bool,
    /// The index of its layer, from the oldest, and of its cursor.
    layer: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = if self.reverse { self.key.cmp(&other.key) } else { other.key.cmp(&self.key) };
        keys.then(self.layer.cmp(&other.layer))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The merged rows of one range.
#[derive(Debug)]
pub(crate) struct Merged {
    cursors: Vec<Cursor>,
    heads: BinaryHeap<Head>,
    reverse: bool,
}

impl Merged {
    /// Merges layers, ordered from the oldest to the newest.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn new(
        sources: Vec<Source>,
        family: (TableId, FamilyId),
        range: &KeyRange,
        reverse: bool,
    ) -> StoreResult<Self> {
        let cursor = |source| Cursor::new(source, family, range.clone(), reverse);
        let cursors: Vec<Cursor> = sources.into_iter().map(cursor).collect();
        let mut merged = Self { heads: BinaryHeap::with_capacity(cursors.len()), cursors, reverse };
        for layer in 0..merged.cursors.len() {
            merged.advance(layer)?;
        }
        Ok(merged)
    }

    fn advance(&mut self, layer: usize) -> StoreResult<()> {
        if let Some(cursor) = self.cursors.get_mut(layer)
            && let Some(key) = cursor.peek()?
        {
            self.heads.push(Head { key: key.clone(), reverse: self.reverse, layer });
        }
        Ok(())
    }

    /// The next row that the transaction has written.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn next(&mut self) -> StoreResult<Option<(Bytes, Written)>> {
        while let Some(head) = self.heads.pop() {
            let newest = self.take(head.layer)?;
            while self.heads.peek().is_some_and(|other| other.key == head.key) {
                if let Some(older) = self.heads.pop() {
                    self.take(older.layer)?;
                }
            }
            if let Some((key, Some(written))) = newest {
                return Ok(Some((key, written)));
            }
        }
        Ok(None)
    }

    fn take(&mut self, layer: usize) -> StoreResult<Option<(Bytes, Entry)>> {
        let row = match self.cursors.get_mut(layer) {
            Some(cursor) => cursor.take()?,
            None => None,
        };
        self.advance(layer)?;
        Ok(row)
    }
}

/// The rows of several ranges in scan order, with lookahead.
#[derive(Debug)]
pub(crate) struct OwnRows {
    set: Arc<WriteSet>,
    family: (TableId, FamilyId),
    /// In scan order.
    ranges: VecDeque<KeyRange>,
    reverse: bool,
    range: Option<Merged>,
    ahead: VecDeque<(Bytes, Written)>,
}

impl OwnRows {
    /// `ranges` are sorted and disjoint.
    pub(crate) fn new(set: Arc<WriteSet>, family: (TableId, FamilyId), ranges: &[KeyRange], reverse: bool) -> OwnRows {
        let mut ranges: VecDeque<KeyRange> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
        if reverse {
            ranges.make_contiguous().reverse();
        }
        Self { set, family, ranges, reverse, range: None, ahead: VecDeque::new() }
    }

    /// Up to `count` next rows, fewer only at the end.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn ahead(&mut self, count: usize) -> StoreResult<&VecDeque<(Bytes, Written)>> {
        while self.ahead.len() < count {
            match self.read()? {
                Some(row) => self.ahead.push_back(row),
                None => break,
            }
        }
        Ok(&self.ahead)
    }

    /// The next row.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn take(&mut self) -> StoreResult<Option<(Bytes, Written)>> {
        match self.ahead.pop_front() {
            Some(row) => Ok(Some(row)),
            None => self.read(),
        }
    }

    fn read(&mut self) -> StoreResult<Option<(Bytes, Written)>> {
        loop {
            if let Some(range) = &mut self.range
                && let Some(row) = range.next()?
            {
                return Ok(Some(row));
            }
            let Some(range) = self.ranges.pop_front() else { return Ok(None) };
            self.range = Some(Merged::new(WriteSet::sources(&self.set), self.family, &range, self.reverse)?);
        }
    }
}
