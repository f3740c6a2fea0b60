//! The rows of a range program, chunk by chunk. Rows of several salt buckets are merged in key order.

use super::conditions::holds;
use super::range_select::RangeSelect;
use super::stored_rows::StoredRows;
use crate::error::EngineResult;
use rowkey::range::Condition;
use std::sync::Arc;
use store::{Bytes, KeyRange, RowBatch, Scan};
use txn::ReadView;

/// Number of rows in a merged chunk.
const CHUNK_ROWS: usize = 1024;

/// A range program that is being read.
pub(crate) struct Cursor {
    program: Arc<RangeSelect>,
    view: ReadView,
    sources: Vec<Source>,
    /// Merge queue: the sources that have a next row, in reverse order, so that the first is at the end.
    queue: Vec<Next>,
    /// Conditions that the ranges do not cover, each with its key part.
    unsure: Vec<(usize, Condition)>,
    /// Number of rows still to return.
    left: u64,
}

/// A source and the first bytes of its next key without salt, which usually decide a comparison.
struct Next {
    head: u64,
    source: usize,
}

/// One list of ranges: its scan, the current batch and the next row in it.
pub(super) struct Source {
    ranges: Vec<KeyRange>,
    scan: Box<dyn Scan>,
    /// Row limit of the scan. After it another scan continues.
    limit: Option<u64>,
    given: u64,
    batch: Arc<RowBatch>,
    next: usize,
    /// Number of the batch in the current chunk.
    number: Option<u32>,
}

impl Source {
    pub(super) fn new(ranges: Vec<KeyRange>, scan: Box<dyn Scan>, limit: Option<u64>) -> Self {
        Self { ranges, scan, limit, given: 0, batch: Arc::default(), next: 0, number: None }
    }
}

impl Cursor {
    pub(super) fn new(
        program: Arc<RangeSelect>,
        view: ReadView,
        sources: Vec<Source>,
        unsure: Vec<(usize, Condition)>,
        left: u64,
    ) -> Self {
        Self { program, view, sources, queue: Vec::new(), unsure, left }
    }

    /// Whether the last row was returned. One more, empty chunk may be needed to find that out.
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0 || self.sources.is_empty()
    }

    /// The next rows. A chunk may be empty before [`Self::is_done`].
    pub(crate) async fn next_chunk(&mut self) -> EngineResult<StoredRows> {
        let mut rows = StoredRows::new(Arc::clone(&self.program));
        self.sources.iter_mut().for_each(|source| source.number = None);
        if self.sources.len() > 1 {
            self.merge(&mut rows).await?;
        } else if self.fill(0).await? {
            while self.left > 0 && self.take_row(0, &mut rows)? {}
        }
        Ok(rows)
    }

    /// Takes rows from all sources in key order.
    async fn merge(&mut self, rows: &mut StoredRows) -> EngineResult<()> {
        let mut at = 0;
        while at < self.sources.len() {
            if self.fill(at).await? {
                at += 1;
            }
        }
        self.queue.clear();
        (0..self.sources.len()).for_each(|at| self.enqueue(at));
        while self.left > 0 && rows.len() < CHUNK_ROWS {
            let Some(Next { source: first, .. }) = self.queue.pop() else { break };
            self.take_row(first, rows)?;
            let before = self.sources.len();
            if self.sources.get(first).is_some_and(Source::has_next) || self.fill(first).await? {
                self.enqueue(first);
            } else {
                // `swap_remove` moved the last source to this position.
                let moved = self.queue.iter_mut().filter(|next| next.source == before - 1);
                moved.for_each(|next| next.source = first);
            }
        }
        Ok(())
    }

    /// Inserts a source into the queue, by its next key.
    fn enqueue(&mut self, at: usize) {
        let key = |at: usize| self.sources.get(at).map(Source::unsalted_key).unwrap_or_default();
        let (own, reverse) = (key(at), self.program.is_reverse());
        let head = head_of(own);
        let comes_later = |other: &Next| {
            let order = other.head.cmp(&head).then_with(|| key(other.source).cmp(own));
            if reverse { order.is_lt() } else { order.is_gt() }
        };
        let place = self.queue.partition_point(comes_later);
        self.queue.insert(place, Next { head, source: at });
    }

    /// Takes the next row of a source if it satisfies the conditions. Returns false at the end of the source's batch.
    fn take_row(&mut self, at: usize, rows: &mut StoredRows) -> EngineResult<bool> {
        let Some(source) = self.sources.get_mut(at).filter(|source| source.next < source.batch.len()) else {
            return Ok(false);
        };
        let row = source.next;
        source.next += 1;
        let mut buffer = Vec::new();
        for (part, condition) in &self.unsure {
            let value = self.program.target.codec.decode_key_part(source.batch.key(row), *part, &mut buffer)?;
            if !holds(condition, &value) {
                return Ok(true);
            }
        }
        let number = *source.number.get_or_insert_with(|| rows.add_batch(&source.batch));
        rows.push(number, row);
        self.left -= 1;
        Ok(true)
    }

    /// Reads batches until a source has a next row. Removes the source at its end and returns false.
    async fn fill(&mut self, at: usize) -> EngineResult<bool> {
        let Some(source) = self.sources.get_mut(at) else { return Ok(false) };
        loop {
            if source.has_next() {
                return Ok(true);
            }
            if let Some(batch) = source.scan.next().await? {
                source.given += batch.len() as u64;
                (source.batch, source.next, source.number) = (Arc::new(batch), 0, None);
                continue;
            }
            let cut = source.limit.is_some_and(|limit| source.given >= limit) && self.left > 0;
            if !cut || !source.go_on(self.program.is_reverse()) {
                break;
            }
            // The scan had a limit, which was too small.
            let request = self.program.request(source.ranges.clone(), Some(self.left));
            source.scan = self.view.scan(request).await?;
            (source.limit, source.given) = (Some(self.left), 0);
        }
        self.sources.swap_remove(at);
        Ok(false)
    }
}

impl Source {
    /// Removes what was read from the ranges. Returns false if nothing is left.
    fn go_on(&mut self, reverse: bool) -> bool {
        let Some(last) = self.batch.len().checked_sub(1).map(|last| self.batch.key(last)) else { return false };
        let rest = if reverse {
            KeyRange { start: Bytes::new(), end: Some(Bytes::copy_from_slice(last)) }
        } else {
            let mut start = last.to_vec();
            start.push(0);
            KeyRange { start: start.into(), end: None }
        };
        self.ranges = self.ranges.iter().filter_map(|range| range.intersect(&rest)).collect();
        !self.ranges.is_empty()
    }

    /// Whether the batch has a next row.
    fn has_next(&self) -> bool {
        self.next < self.batch.len()
    }

    fn unsalted_key(&self) -> &[u8] {
        self.batch.key(self.next).get(1..).unwrap_or_default()
    }
}

/// The first bytes of a key as a number, which orders like the keys unless two numbers are equal.
fn head_of(key: &[u8]) -> u64 {
    if let Some(head) = key.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let mut head = [0; 8];
    head.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(head)
}
