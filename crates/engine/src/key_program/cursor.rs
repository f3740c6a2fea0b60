//! The rows of a range program, chunk by chunk; those of several salt buckets are merged in key order.

use super::conditions::holds;
use super::range_select::RangeSelect;
use crate::error::EngineResult;
use rowkey::range::Condition;
use std::cmp::Ordering;
use std::sync::Arc;
use store::{RowBatch, Scan};
use types::Datum;

/// Rows of a chunk that is merged.
const CHUNK_ROWS: usize = 1024;

/// A range program under way.
pub(crate) struct Cursor {
    program: Arc<RangeSelect>,
    sources: Vec<Source>,
    /// Conditions that the ranges do not cover, with their parts.
    unsure: Vec<(usize, Condition)>,
    /// Rows still wanted.
    left: u64,
}

/// One scan, its present batch and the next row in it.
struct Source {
    scan: Box<dyn Scan>,
    batch: RowBatch,
    next: usize,
}

type Rows = Vec<Vec<Datum>>;

impl Cursor {
    pub(super) fn new(
        program: Arc<RangeSelect>,
        scans: Vec<Box<dyn Scan>>,
        unsure: Vec<(usize, Condition)>,
        left: u64,
    ) -> Self {
        let sources = scans.into_iter().map(|scan| Source { scan, batch: RowBatch::default(), next: 0 }).collect();
        Self { program, sources, unsure, left }
    }

    /// Was the last row handed out? It may take one more chunk to find that out.
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0 || self.sources.is_empty()
    }

    /// The next rows; perhaps none of a batch pass. Ask again unless [`Self::is_done`].
    pub(crate) async fn next_chunk(&mut self) -> EngineResult<Rows> {
        let mut rows = Vec::new();
        match self.sources.as_mut_slice() {
            [] => {}
            [only] => {
                if !only.fill().await? {
                    self.sources.clear();
                    return Ok(rows);
                }
                rows.reserve(only.batch.len());
                while self.left > 0 && self.take_row(0, &mut rows)? {}
            }
            _ => self.merge(&mut rows).await?,
        }
        Ok(rows)
    }

    /// Takes rows in key order from all sources.
    async fn merge(&mut self, rows: &mut Rows) -> EngineResult<()> {
        let mut at = 0;
        while let Some(source) = self.sources.get_mut(at) {
            if source.fill().await? { at += 1 } else { drop(self.sources.swap_remove(at)) }
        }
        while self.left > 0 && rows.len() < CHUNK_ROWS {
            let Some(least) = self.least() else { break };
            self.take_row(least, rows)?;
            if let Some(source) = self.sources.get_mut(least)
                && !source.fill().await?
            {
                self.sources.swap_remove(least);
            }
        }
        Ok(())
    }

    /// The source whose next row comes first.
    fn least(&self) -> Option<usize> {
        let first = if self.program.is_reverse() { Ordering::Greater } else { Ordering::Less };
        let mut least: Option<(usize, &[u8])> = None;
        for (at, source) in self.sources.iter().enumerate() {
            let key = source.unsalted_key();
            if least.is_none_or(|(_, best)| key.cmp(best) == first) {
                least = Some((at, key));
            }
        }
        least.map(|(at, _)| at)
    }

    /// Takes the next row of a source if it passes. False at the end of the source's batch.
    fn take_row(&mut self, at: usize, rows: &mut Rows) -> EngineResult<bool> {
        let Some(source) = self.sources.get_mut(at).filter(|source| source.next < source.batch.len()) else {
            return Ok(false);
        };
        let (key, fragment) = (source.batch.key(source.next), source.batch.fragment(source.next));
        source.next += 1;
        let target = &self.program.target;
        let mut buffer = Vec::new();
        for (part, condition) in &self.unsure {
            let value = target.codec.decode_key_part(key, *part, &mut buffer)?;
            if !holds(condition, &value) {
                return Ok(true);
            }
        }
        rows.push(target.codec.decode_row(key, fragment, &self.program.wanted)?);
        self.left -= 1;
        Ok(true)
    }
}

impl Source {
    /// Sees to it that there is a next row; false at the end.
    async fn fill(&mut self) -> EngineResult<bool> {
        if self.next < self.batch.len() {
            return Ok(true);
        }
        match self.scan.next().await? {
            None => Ok(false),
            Some(batch) => {
                (self.batch, self.next) = (batch, 0);
                Ok(true)
            }
        }
    }

    fn unsalted_key(&self) -> &[u8] {
        self.batch.key(self.next).get(1..).unwrap_or_default()
    }
}
