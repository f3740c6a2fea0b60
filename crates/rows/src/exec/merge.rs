//! Merges the rows of several salt buckets in the order of the key without the salt byte.

use crate::RowsResult;
use std::sync::Arc;
use store::{RowBatch, Scan};

/// A stored row: key and fragment.
type Stored = (Vec<u8>, Vec<u8>);

pub(super) struct Merge {
    sources: Vec<Source>,
    reverse: bool,
    /// Has every source a current row?
    begun: bool,
}

struct Source {
    scan: Box<dyn Scan>,
    batch: Arc<RowBatch>,
    next: usize,
}

impl Source {
    /// Reads until there is a current row; false at the end.
    async fn fill(&mut self) -> RowsResult<bool> {
        while self.next >= self.batch.len() {
            let Some(batch) = self.scan.next().await? else { return Ok(false) };
            (self.batch, self.next) = (Arc::new(batch), 0);
        }
        Ok(true)
    }

    fn unsalted_key(&self) -> &[u8] {
        self.batch.key(self.next).get(1..).unwrap_or_default()
    }
}

impl Merge {
    pub(super) fn new(scans: Vec<Box<dyn Scan>>, reverse: bool) -> Self {
        let source = |scan| Source { scan, batch: Arc::default(), next: 0 };
        Self { sources: scans.into_iter().map(source).collect(), reverse, begun: false }
    }

    /// The next rows; `None` at the end.
    pub(super) async fn next(&mut self, wanted: usize) -> RowsResult<Option<Vec<Stored>>> {
        if !self.begun {
            let mut filled = Vec::with_capacity(self.sources.len());
            for mut source in self.sources.drain(..) {
                if source.fill().await? {
                    filled.push(source);
                }
            }
            (self.sources, self.begun) = (filled, true);
        }
        let mut rows = Vec::new();
        while rows.len() < wanted {
            let Some(first) = self.first() else { break };
            let Some(source) = self.sources.get_mut(first) else { break };
            rows.push((source.batch.key(source.next).to_vec(), source.batch.fragment(source.next).to_vec()));
            source.next += 1;
            if !source.fill().await? {
                self.sources.swap_remove(first);
            }
        }
        Ok((!rows.is_empty()).then_some(rows))
    }

    /// The source with the first row. A linear search, because there are few sources.
    fn first(&self) -> Option<usize> {
        let keys = self.sources.iter().enumerate().map(|(at, source)| (source.unsalted_key(), at));
        let first = if self.reverse { keys.max() } else { keys.min() };
        first.map(|(_, at)| at)
    }
}
