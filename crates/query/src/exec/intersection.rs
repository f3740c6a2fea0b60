//! Intersection of two indexes: of the scanned entries, those stay whose rowkey the other index has too.
//!
//! ```text
//!   both in rowkey order   entries 3 4 7 9 12 …      a merge of both, nothing is buffered
//!                         other   1 4 8 12 …
//!   otherwise              the rowkeys of the other index are read first, into a set within query memory
//! ```
//! Both ways keep the order of the entries. Predicates on columns of the other index are checked on its entries.

use crate::error::{QueryError, QueryResult};
use crate::exec::row_checks::RowChecks;
use crate::exec::running_scan::difference;
use crate::exec::scan::FAMILY;
use catalog::row_codec::RowCodec;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use index::IndexCodec;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;
use store::{Filter, KeyRange, RowBatch, Scan, ScanCounters, ScanRequest};
use tokio::sync::OnceCell;
use txn::ReadView;
use types::interrupt;

/// The other index, and which of its entries take part.
#[derive(Clone, Debug)]
pub(crate) struct OtherIndex {
    pub(crate) codec: IndexCodec,
    pub(crate) ranges: Vec<KeyRange>,
    pub(crate) filter: Option<Filter>,
    pub(crate) checks: RowChecks,
    /// Set if the entries of both indexes come in rowkey order.
    pub(crate) merged: Option<Merged>,
    /// Does its range start with exactly the bytes in front of the rowkeys?
    pub(crate) begins_with_prefix: bool,
    /// The rowkeys, once they are read: scans of several buckets share them.
    pub(crate) kept: Arc<OnceCell<KeptRowkeys>>,
}

/// How many leading key parts stand in front of the rowkey, in entries of either index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merged {
    pub(crate) own: usize,
    pub(crate) other: usize,
}

/// The rowkeys of the other index's entries.
#[derive(Debug)]
pub(crate) struct KeptRowkeys {
    keys: HashSet<Box<[u8]>>,
    _memory: MemoryReservation,
}

/// The inputs of an intersection in a running scan.
#[derive(Clone, Debug)]
pub(crate) struct Intersection {
    /// The index that is scanned.
    pub(crate) codec: IndexCodec,
    pub(crate) table: Arc<RowCodec>,
    pub(crate) other: OtherIndex,
    pub(crate) pool: Arc<dyn MemoryPool>,
    pub(crate) reverse: bool,
}

/// The cost and the entries read of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IntersectionStep {
    pub(crate) cost: ScanCounters,
    /// Entries read of the other index.
    pub(crate) others: u64,
}

impl Intersection {
    pub(crate) fn new(
        codec: IndexCodec,
        table: &Arc<RowCodec>,
        other: OtherIndex,
        pool: &Arc<dyn MemoryPool>,
        reverse: bool,
    ) -> Self {
        Self { codec, table: Arc::clone(table), other, pool: Arc::clone(pool), reverse }
    }

    /// Returns the entries whose rowkeys both indexes have. `walk` is the position of the merge after the last call.
    ///
    /// # Errors
    /// Errors of the store; corrupt entries; more rowkeys than fit into query memory.
    pub(crate) async fn of(
        &mut self,
        walk: &mut Option<Walk>,
        reader: &ReadView,
        entries: &RowBatch,
    ) -> QueryResult<(RowBatch, IntersectionStep)> {
        match self.other.merged {
            Some(merged) => self.merge(walk, reader, entries, merged).await,
            None => self.look_up(reader, entries).await,
        }
    }

    async fn look_up(&mut self, reader: &ReadView, entries: &RowBatch) -> QueryResult<(RowBatch, IntersectionStep)> {
        let mut met = IntersectionStep::default();
        let kept = Arc::clone(&self.other.kept);
        let kept = kept.get_or_try_init(|| self.other.read(reader, &self.table, &self.pool, &mut met)).await?;
        let (mut both, mut rowkey) = (Vec::new(), Vec::new());
        for (at, (key, fragment)) in entries.keys().zip(entries.fragments()).enumerate() {
            self.codec.rowkey_into(&self.table, key, fragment, &mut rowkey)?;
            if kept.keys.contains(rowkey.as_slice()) {
                both.push(at);
            }
        }
        Ok((entries.select(both), met))
    }

    async fn merge(
        &mut self,
        walk: &mut Option<Walk>,
        reader: &ReadView,
        entries: &RowBatch,
        merged: Merged,
    ) -> QueryResult<(RowBatch, IntersectionStep)> {
        let mut met = IntersectionStep::default();
        let Some(first) = entries.keys().next() else { return Ok((entries.select([]), met)) };
        if walk.is_none() {
            let prefix = prefix_of(&self.codec, first, merged.own)?;
            let from = first.get(prefix..).unwrap_or_default();
            let scan = self.other.begin(reader, from, self.reverse).await?;
            *walk = Some(Walk { scan, batch: None, prefix, last: Vec::new() });
        }
        let Some(walk) = walk else { return Err(QueryError::internal("no walk through an index")) };
        let mut both = Vec::new();
        for (at, key) in entries.keys().enumerate() {
            let rowkey = key.get(walk.prefix..).unwrap_or_default();
            if walk.comes_before_last(rowkey, self.reverse) {
                return Err(QueryError::internal("entries out of the order of their rowkeys"));
            }
            if walk.reach(rowkey, &mut self.other, merged, self.reverse, &mut met).await? {
                both.push(at);
            }
        }
        Ok((entries.select(both), met))
    }
}

impl OtherIndex {
    fn request(&self, ranges: Vec<KeyRange>, reverse: bool) -> ScanRequest {
        ScanRequest {
            reverse,
            filter: self.filter.clone(),
            ..ScanRequest::new(self.codec.entries().table().storage_id(), FAMILY, ranges)
        }
    }

    /// Starts a scan at the entry of rowkey `from`, if the start of the range fixes the bytes in front of the rowkey.
    async fn begin(&self, reader: &ReadView, from: &[u8], reverse: bool) -> QueryResult<Box<dyn Scan>> {
        let mut ranges = self.ranges.clone();
        if let ([range], false, true) = (ranges.as_mut_slice(), reverse, self.begins_with_prefix) {
            let start = [range.start.as_ref(), from].concat();
            if range.end.as_deref().is_none_or(|end| start.as_slice() < end) {
                range.start = start.into();
            }
        }
        Ok(reader.scan(self.request(ranges, reverse)).await?)
    }

    /// Reads all rowkeys.
    async fn read(
        &self,
        reader: &ReadView,
        table: &RowCodec,
        pool: &Arc<dyn MemoryPool>,
        met: &mut IntersectionStep,
    ) -> QueryResult<KeptRowkeys> {
        let memory = MemoryConsumer::new("rowkeys of an index").register(pool);
        let (mut keys, mut rowkey, mut checks) = (HashSet::new(), Vec::new(), self.checks.clone());
        if !self.ranges.is_empty() {
            let mut scan = reader.scan(self.request(self.ranges.clone(), false)).await?;
            while let Some(batch) = scan.next().await? {
                interrupt::check()?;
                met.others += batch.len() as u64;
                let batch = checks.apply(&batch)?.unwrap_or(batch);
                let mut bytes = 0;
                for (key, fragment) in batch.keys().zip(batch.fragments()) {
                    self.codec.rowkey_into(table, key, fragment, &mut rowkey)?;
                    bytes += rowkey.len() + size_of::<Box<[u8]>>() * 2;
                    keys.insert(rowkey.clone().into_boxed_slice());
                }
                memory.try_grow(bytes)?;
            }
            met.cost = scan.counters();
        }
        Ok(KeptRowkeys { keys, _memory: memory })
    }
}

fn add(all: &mut ScanCounters, more: ScanCounters) {
    all.seeks += more.seeks;
    all.rows_read += more.rows_read;
    all.rows_returned += more.rows_returned;
    all.bytes_read += more.bytes_read;
    all.block_rows += more.block_rows;
}

/// The position in the entries of the other index during a merge.
pub(crate) struct Walk {
    scan: Box<dyn Scan>,
    /// The entries that were read, the next of them, and the bytes in front of their rowkeys.
    batch: Option<(RowBatch, usize, usize)>,
    /// Bytes in front of the rowkey in the scanned entries.
    prefix: usize,
    /// The rowkey of the last call.
    last: Vec<u8>,
}

impl std::fmt::Debug for Walk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walk").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Walk {
    /// Remembers the rowkey; does it violate the rowkey order?
    fn comes_before_last(&mut self, rowkey: &[u8], reverse: bool) -> bool {
        let before = if reverse { Ordering::Greater } else { Ordering::Less };
        let is_before = !self.last.is_empty() && rowkey.cmp(&self.last) == before;
        self.last.clear();
        self.last.extend_from_slice(rowkey);
        is_before
    }

    /// Advances to the entry of a rowkey or the first one behind it; does the entry exist?
    async fn reach(
        &mut self,
        rowkey: &[u8],
        other: &mut OtherIndex,
        merged: Merged,
        reverse: bool,
        met: &mut IntersectionStep,
    ) -> QueryResult<bool> {
        loop {
            let Some((batch, next, prefix)) = &mut self.batch else {
                match self.read(other, merged, met).await? {
                    true => continue,
                    false => return Ok(false),
                }
            };
            while *next < batch.len() {
                let found = batch.key(*next).get(*prefix..).unwrap_or_default().cmp(rowkey);
                match if reverse { found.reverse() } else { found } {
                    Ordering::Less => *next += 1,
                    found => return Ok(found == Ordering::Equal),
                }
            }
            self.batch = None;
        }
    }

    /// Reads the next batch; is there one?
    async fn read(&mut self, other: &mut OtherIndex, merged: Merged, met: &mut IntersectionStep) -> QueryResult<bool> {
        loop {
            interrupt::check()?;
            let before = self.scan.counters();
            let batch = self.scan.next().await?;
            add(&mut met.cost, difference(self.scan.counters(), before));
            let Some(batch) = batch else { return Ok(false) };
            met.others += batch.len() as u64;
            let batch = other.checks.apply(&batch)?.unwrap_or(batch);
            let prefix = batch.keys().next().map(|first| prefix_of(&other.codec, first, merged.other)).transpose()?;
            if let Some(prefix) = prefix {
                self.batch = Some((batch, 0, prefix));
                return Ok(true);
            }
        }
    }
}

/// The length in bytes of the first `parts` parts of an entry's key.
fn prefix_of(codec: &IndexCodec, key: &[u8], parts: usize) -> QueryResult<usize> {
    let mut slots = Vec::new();
    let entries = codec.entries();
    entries.key_schema().split(key, &mut slots).map_err(|error| entries.corrupted(&error))?;
    Ok(parts.checked_sub(1).and_then(|last| slots.get(last)).map_or(0, |(_, end)| *end))
}
