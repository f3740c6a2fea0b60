//! A cursor over one layer's rows in a range, in scan order, with few rows in memory.

use super::rows::{Entry, Rows};
use super::run::Run;
use super::set::WriteSet;
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;
use store::{Bytes, FamilyId, KeyRange, StoreResult, TableId};

/// Number of rows copied from a layer in memory at once.
const HANDFUL: usize = 256;

/// A layer, kept alive while it is read.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The top rows of a write set that does not change meanwhile.
    Top(Arc<WriteSet>),
    /// A frozen layer.
    Frozen(Arc<Rows>),
    /// A layer in a file.
    Run(Arc<Run>),
}

/// The position of a cursor in its layer.
#[derive(Debug)]
enum Place {
    /// In memory: after this key, if any row was read.
    Behind(Option<Bytes>),
    /// In a file: the block to read next.
    Block(Option<usize>),
}

/// See the module documentation.
#[derive(Debug)]
pub(crate) struct Cursor {
    source: Source,
    family: (TableId, FamilyId),
    range: KeyRange,
    reverse: bool,
    place: Place,
    rows: VecDeque<(Bytes, Entry)>,
}

impl Cursor {
    pub(crate) fn new(source: Source, family: (TableId, FamilyId), range: KeyRange, reverse: bool) -> Self {
        let place = match &source {
            Source::Run(run) => Place::Block(first_block(run, family, &range, reverse)),
            Source::Top(_) | Source::Frozen(_) => Place::Behind(None),
        };
        Self { source, family, range, reverse, place, rows: VecDeque::new() }
    }

    /// The next row's key.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn peek(&mut self) -> StoreResult<Option<&Bytes>> {
        self.fill()?;
        Ok(self.rows.front().map(|(key, _)| key))
    }

    /// The next row.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn take(&mut self) -> StoreResult<Option<(Bytes, Entry)>> {
        self.fill()?;
        Ok(self.rows.pop_front())
    }

    fn fill(&mut self) -> StoreResult<()> {
        while self.rows.is_empty() {
            let more = match (&self.source, &self.place) {
                (Source::Run(run), Place::Block(at)) => {
                    let (run, at) = (Arc::clone(run), *at);
                    self.next_block(&run, at)?
                }
                (Source::Top(set), Place::Behind(last)) => self.handful(set.top(), last.as_ref()),
                (Source::Frozen(rows), Place::Behind(last)) => self.handful(rows, last.as_ref()),
                _ => None,
            };
            let Some(more) = more else { return Ok(()) };
            if let (Place::Behind(last), Some((key, _))) = (&mut self.place, more.last()) {
                *last = Some(key.clone());
            }
            self.rows = more.into();
        }
        Ok(())
    }

    /// Returns `None` at the end.
    fn handful(&self, rows: &Rows, last: Option<&Bytes>) -> Option<Vec<(Bytes, Entry)>> {
        let mut start = Bound::Included(self.range.start.as_ref());
        let mut end = self.range.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        match last {
            Some(last) if self.reverse => end = Bound::Excluded(last),
            Some(last) => start = Bound::Excluded(last),
            None => {}
        }
        let found = rows.some(self.family, (start, end), self.reverse, HANDFUL);
        (!found.is_empty()).then_some(found)
    }

    /// The rows of the next block in the range; `None` at the end.
    fn next_block(&mut self, run: &Run, at: Option<usize>) -> StoreResult<Option<Vec<(Bytes, Entry)>>> {
        let (table, family) = self.family;
        let Some(at) = at.filter(|at| *at < run.blocks(table, family)) else { return Ok(None) };
        let mut rows = run.block(table, family, at)?;
        let beyond = |(key, _): &(Bytes, Entry)| match self.reverse {
            true => key < &self.range.start,
            false => self.range.end.as_ref().is_some_and(|end| key >= end),
        };
        let is_last = if self.reverse { rows.first() } else { rows.last() }.is_some_and(beyond);
        let next = if self.reverse { at.checked_sub(1) } else { Some(at + 1) };
        self.place = Place::Block(next.filter(|_| !is_last));
        rows.retain(|(key, _)| self.range.contains(key));
        if self.reverse {
            rows.reverse();
        }
        Ok(Some(rows))
    }
}

/// The block at which a scan begins.
fn first_block(run: &Run, (table, family): (TableId, FamilyId), range: &KeyRange, reverse: bool) -> Option<usize> {
    if !reverse {
        return Some(run.block_of(table, family, &range.start));
    }
    match &range.end {
        Some(end) => Some(run.block_of(table, family, end)),
        None => run.blocks(table, family).checked_sub(1),
    }
}
