//! A batch of rows that owns its bytes and lends rows from them.
//!
//! ```text
//!   segments   [ block 0: rows 0..97 ][ block 1: rows 97..201 ] ...      Bytes, shared with the block cache
//!   spans      (start, end) of each row's fragment within its segment's block
//!   keys       all rowkeys concatenated; key_ends has the end of each
//! ```
//! Decoding goes segment by segment and column by column: no object and no allocation per row.

use bytes::Bytes;

/// Rows in key order (or reverse). The scan request chooses whether keys and fragments are included.
#[derive(Clone, Debug, Default)]
pub struct RowBatch {
    rows: usize,
    segments: Vec<(Bytes, usize)>,
    spans: Vec<(u32, u32)>,
    keys: Vec<u8>,
    key_ends: Vec<u32>,
    undecided: bool,
}

/// Consecutive rows of a batch whose fragments lie in one block.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The block.
    pub block: &'a [u8],
    /// Start and end of each row's fragment in the block; checked to be inside.
    pub spans: &'a [(u32, u32)],
}

impl<'a> Segment<'a> {
    /// The fragments, one per row.
    pub fn fragments(self) -> impl Iterator<Item = &'a [u8]> {
        // The builder checked every span, so the fallback is never taken.
        self.spans.iter().map(move |&(start, end)| self.block.get(start as usize..end as usize).unwrap_or_default())
    }
}

impl RowBatch {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns true if the filter left rows undecided, so that the caller must evaluate its predicates again.
    pub fn undecided(&self) -> bool {
        self.undecided
    }

    /// Fragments block by block, in row order. Empty unless the scan requested fragments.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let mut first = 0;
        self.segments.iter().map(move |(block, end)| {
            let spans = self.spans.get(first..*end).unwrap_or_default();
            first = *end;
            Segment { block, spans }
        })
    }

    /// Fragments in row order.
    pub fn fragments(&self) -> impl Iterator<Item = &[u8]> {
        self.segments().flat_map(Segment::fragments)
    }

    /// Rowkeys in row order. Empty unless the scan requested keys.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.key_ends.iter().map(move |&end| {
            let key = self.keys.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            key
        })
    }

    /// The rowkey of one row; empty if there is no such key.
    pub fn key(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).and_then(|before| self.key_ends.get(before)).copied().unwrap_or(0);
        let end = self.key_ends.get(row).copied().unwrap_or(start);
        self.keys.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Marks the batch undecided: the caller evaluates the predicates for all rows.
    #[must_use]
    pub fn as_undecided(self) -> Self {
        Self { undecided: true, ..self }
    }

    /// Removes the keys and fragments that are not requested.
    #[must_use]
    pub fn reduced_to(mut self, keys: bool, values: bool) -> Self {
        if !keys {
            (self.keys, self.key_ends) = (Vec::new(), Vec::new());
        }
        if !values {
            (self.segments, self.spans) = (Vec::new(), Vec::new());
        }
        self
    }

    /// Selects rows by index, in ascending order. Their fragments stay in the shared blocks.
    #[must_use]
    pub fn select(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut chosen = Self { undecided: self.undecided, ..Self::default() };
        let mut segments = self.segments.iter().peekable();
        for row in rows {
            if let Some(span) = self.spans.get(row) {
                while let Some((block, _)) = segments.next_if(|(_, end)| *end <= row) {
                    chosen.close(block);
                }
                chosen.spans.push(*span);
            }
            if row < self.key_ends.len() {
                chosen.keys.extend_from_slice(self.key(row));
                chosen.key_ends.push(chosen.keys.len() as u32);
            }
            chosen.rows += 1;
        }
        if let Some((block, _)) = segments.next() {
            chosen.close(block);
        }
        chosen
    }

    /// Ends a segment: the rows since the last segment, if any, are in `block`.
    fn close(&mut self, block: &Bytes) {
        if self.segments.last().map_or(0, |(_, end)| *end) < self.spans.len() {
            self.segments.push((block.clone(), self.spans.len()));
        }
    }

    /// The fragment of one row; empty if there is no such fragment.
    pub fn fragment(&self, row: usize) -> &[u8] {
        let segment = self.segments.partition_point(|(_, end)| *end <= row);
        match (self.segments.get(segment), self.spans.get(row)) {
            (Some((block, _)), Some(&(start, end))) => block.get(start as usize..end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The concatenated rowkeys.
    pub fn key_bytes(&self) -> &[u8] {
        &self.keys
    }

    /// Where each rowkey ends in [`Self::key_bytes`].
    pub fn key_ends(&self) -> &[u32] {
        &self.key_ends
    }
}

/// Maximum number of key bytes reserved when the first key is pushed.
const FIRST_KEY_BYTES: usize = 64 * 1024;

/// Builds a [`RowBatch`]: begin a block, add its rows, begin the next.
#[derive(Debug, Default)]
pub struct RowBatchBuilder {
    batch: RowBatch,
    /// Fragments that are pushed one by one (from an iterator) are copied into this buffer.
    loose: Vec<u8>,
}

impl RowBatchBuilder {
    /// An empty builder with capacity for `rows` rows.
    pub fn with_capacity(rows: usize, values: bool, keys: bool) -> Self {
        let mut batch = RowBatch::default();
        if values {
            batch.spans.reserve(rows);
        }
        if keys {
            batch.key_ends.reserve(rows);
        }
        Self { batch, loose: Vec::new() }
    }

    /// The number of rows so far.
    pub fn len(&self) -> usize {
        self.batch.rows
    }

    /// Returns true if there are no rows so far.
    pub fn is_empty(&self) -> bool {
        self.batch.rows == 0
    }

    /// Adds the fragments `spans` of `block`, in this order. Adds nothing if a span is outside the block. Keys of these
    /// rows are pushed separately with [`Self::push_key`].
    #[must_use = "false: a span lies outside the block, nothing was added"]
    pub fn push_block(&mut self, block: Bytes, spans: &[(u32, u32)]) -> bool {
        let inside = |&(start, end): &(u32, u32)| start <= end && end as usize <= block.len();
        if !spans.iter().all(inside) {
            return false;
        }
        self.close_loose();
        self.batch.spans.extend_from_slice(spans);
        self.batch.rows += spans.len();
        self.batch.segments.push((block, self.batch.spans.len()));
        true
    }

    /// Reserves capacity for `bytes` bytes of fragments that are to be copied.
    pub fn reserve_fragments(&mut self, bytes: usize) {
        self.loose.reserve(bytes);
    }

    /// Adds one fragment by copying it.
    pub fn push_fragment(&mut self, fragment: &[u8]) {
        // Spans are 32-bit: begin a new block well before the limit.
        if self.loose.len() + fragment.len() > 1 << 30 {
            self.close_loose();
        }
        let start = self.loose.len() as u32;
        self.loose.extend_from_slice(fragment);
        self.batch.spans.push((start, self.loose.len() as u32));
        self.batch.rows += 1;
    }

    /// Adds rows of which only the number (and perhaps the keys) is requested.
    pub fn push_rows(&mut self, rows: usize) {
        self.batch.rows += rows;
    }

    /// Adds the rowkey of the next row, the concatenation of `head` and `rest`.
    pub fn push_key(&mut self, head: &[u8], rest: &[u8]) {
        if self.batch.keys.is_empty() {
            // Assumes that the other keys are about as long.
            let rows = self.batch.key_ends.capacity().max(1);
            self.batch.keys.reserve(rows.saturating_mul(head.len() + rest.len()).min(FIRST_KEY_BYTES));
        }
        self.batch.keys.extend_from_slice(head);
        self.batch.keys.extend_from_slice(rest);
        self.batch.key_ends.push(self.batch.keys.len() as u32);
    }

    /// Total length of the keys so far; a batch should end before this nears 4 GiB.
    pub fn key_len(&self) -> usize {
        self.batch.keys.len()
    }

    /// Marks that the filter left some rows undecided.
    pub fn mark_undecided(&mut self) {
        self.batch.undecided = true;
    }

    /// The batch.
    pub fn finish(mut self) -> RowBatch {
        self.close_loose();
        self.batch
    }

    fn close_loose(&mut self) {
        if !self.loose.is_empty() || self.batch.segments.last().map_or(0, |s| s.1) < self.batch.spans.len() {
            let block = Bytes::from(std::mem::take(&mut self.loose));
            self.batch.segments.push((block, self.batch.spans.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_loose_fragments_come_back_in_order() {
        let mut builder = RowBatchBuilder::with_capacity(4, true, true);
        builder.push_fragment(b"one");
        assert!(builder.push_block(Bytes::from_static(b"..two.three"), &[(2, 5), (6, 11)]));
        builder.push_fragment(b"");
        for key in [b"a", b"b", b"c", b"d"] {
            builder.push_key(key, b"!");
        }
        let batch = builder.finish();
        assert_eq!(batch.len(), 4);
        assert_eq!(batch.fragments().collect::<Vec<_>>(), [b"one".as_slice(), b"two", b"three", b""]);
        assert_eq!(batch.keys().collect::<Vec<_>>(), [b"a!", b"b!", b"c!", b"d!"]);
        assert!((0..4).map(|row| batch.key(row)).eq(batch.keys()));
        assert!((0..4).map(|row| batch.fragment(row)).eq(batch.fragments()));
        assert!(batch.key(4).is_empty() && batch.fragment(4).is_empty());
    }

    #[test]
    fn any_rows_can_be_selected() {
        let mut builder = RowBatchBuilder::default();
        assert!(builder.push_block(Bytes::from_static(b"abc"), &[(0, 1), (1, 2), (2, 3)]));
        builder.push_fragment(b"d");
        assert!(builder.push_block(Bytes::from_static(b"ef"), &[(0, 1), (1, 2)]));
        for key in [b"A", b"B", b"C", b"D", b"E", b"F"] {
            builder.push_key(key, &[]);
        }
        let batch = builder.finish();
        for wanted in 0..1_u32 << 6 {
            let rows: Vec<usize> = (0..6).filter(|row| wanted & 1 << row != 0).collect();
            let chosen = batch.select(rows.iter().copied());
            assert_eq!(chosen.len(), rows.len());
            assert!(chosen.fragments().eq(rows.iter().map(|row| batch.fragment(*row))), "{rows:?}");
            assert!(chosen.keys().eq(rows.iter().map(|row| batch.key(*row))), "{rows:?}");
        }
        assert_eq!(RowBatch { rows: 6, ..RowBatch::default() }.select([1, 4]).len(), 2);
    }

    #[test]
    fn a_span_outside_its_block_is_refused() {
        let mut builder = RowBatchBuilder::default();
        assert!(!builder.push_block(Bytes::from_static(b"abc"), &[(2, 4)]));
        assert!(builder.is_empty());
    }
}
