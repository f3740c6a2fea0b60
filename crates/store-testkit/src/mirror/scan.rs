//! A mirrored scan, compared row by row. Batches may differ, so rows of `b` wait until `a` returns them, too.

use super::{different, same_fragment};
use async_trait::async_trait;
use std::collections::VecDeque;
use store::{Bytes, RowBatch, Scan, ScanCounters, StoreResult};

pub(super) struct MirrorScan {
    a: Box<dyn Scan>,
    b: Box<dyn Scan>,
    /// Rows of `b` that `a` has not returned yet.
    ahead: VecDeque<Row>,
}

/// The requested parts of a row.
#[derive(Debug)]
struct Row {
    key: Option<Bytes>,
    fragment: Option<Bytes>,
}

impl MirrorScan {
    pub(super) fn new(a: Box<dyn Scan>, b: Box<dyn Scan>) -> Self {
        Self { a, b, ahead: VecDeque::new() }
    }

    /// The next row of `b`.
    async fn next_of_b(&mut self) -> StoreResult<Option<Row>> {
        if self.ahead.is_empty()
            && let Some(batch) = self.b.next().await?
        {
            self.ahead.extend(rows(&batch));
        }
        Ok(self.ahead.pop_front())
    }
}

#[async_trait]
impl Scan for MirrorScan {
    async fn next(&mut self) -> StoreResult<Option<RowBatch>> {
        let Some(batch) = self.a.next().await? else {
            return match self.next_of_b().await? {
                None => Ok(None),
                Some(row) => Err(different(format!("the scan of one ends, the other has {row:02X?}"))),
            };
        };
        for a in rows(&batch) {
            let Some(b) = self.next_of_b().await? else {
                return Err(different(format!("one scan has {a:02X?}, the other has ended")));
            };
            if !a.is_same(&b) {
                return Err(different(format!("one scan has {a:02X?}, the other {b:02X?}")));
            }
        }
        Ok(Some(batch))
    }

    fn counters(&self) -> ScanCounters {
        self.a.counters()
    }
}

impl Row {
    fn is_same(&self, other: &Row) -> bool {
        let fragments = match (&self.fragment, &other.fragment) {
            (Some(a), Some(b)) => same_fragment(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.key == other.key && fragments
    }
}

/// The rows of a batch with their requested parts.
fn rows(batch: &RowBatch) -> Vec<Row> {
    let mut keys = batch.keys().map(Bytes::copy_from_slice);
    let mut fragments = batch.fragments().map(Bytes::copy_from_slice);
    (0..batch.len()).map(|_| Row { key: keys.next(), fragment: fragments.next() }).collect()
}
