//! Which keyspace and key prefix hold the rows of a (table, family).
//!
//! ```text
//!   shared keyspace    00 00 00 07 | rowkey  -> fragment      a slot: where every table starts
//!   own keyspace       rowkey                -> fragment      where a bulk load moves a table
//! ```
//! fjall supports about 500 keyspaces and stalls commits while it creates one, whereas test suites create thousands of
//! tables, so small tables share a keyspace. The map is immutable per state, so that a reader with an older snapshot
//! finds a table at its place of that time.

use bytes::Bytes;
use fjall::{Keyspace, Slice};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{CommitNo, FamilyId, KeyRange, RegionId, RowBatch, StoreError, StoreResult, TableId};

/// Next free ids; stored in the meta keyspace in the same batch as the objects that use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextIds {
    /// Next slot.
    pub(crate) slot: u32,
    /// Next region.
    pub(crate) region: u64,
}

/// All tables of one state.
#[derive(Clone)]
pub(crate) struct TableMap {
    tables: BTreeMap<TableId, Arc<Table>>,
    /// The ids for the next table.
    pub(crate) next: NextIds,
}

/// One table.
#[derive(Clone)]
pub(crate) struct Table {
    /// Its families, few.
    pub(crate) families: Vec<Family>,
    /// Its regions in key order; the first begins at the empty key.
    pub(crate) regions: Vec<Region>,
    /// The last commit that wrote to it.
    pub(crate) changed: Changed,
}

/// The last commit that wrote to a table since it was created or the store was opened, shared by all states. Written
/// under the commit lock, so the holder of that lock can tell whether a table changed since a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed(Arc<AtomicU64>);

impl Changed {
    /// Records a commit. The caller holds the commit lock.
    pub(crate) fn by(&self, commit: CommitNo) {
        self.0.store(commit.0, Ordering::Relaxed);
    }

    /// Returns true if both belong to the same table.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns true if a commit later than `commit` wrote to the table. The caller holds the commit lock.
    pub(crate) fn since(&self, commit: CommitNo) -> bool {
        self.0.load(Ordering::Relaxed) > commit.0
    }
}

/// One family of a table.
#[derive(Clone)]
pub(crate) struct Family {
    /// The id.
    pub(crate) id: FamilyId,
    /// The place of the rows.
    pub(crate) place: Place,
}

/// The place of a family's rows.
#[derive(Clone)]
pub(crate) struct Place {
    /// The keyspace.
    pub(crate) keyspace: Keyspace,
    /// The prefix of each rowkey: the slot, or empty in an own keyspace.
    pub(crate) prefix: Bytes,
    /// The slot, if the keyspace is the shared one.
    pub(crate) slot: Option<u32>,
}

/// A range of rowkeys with its counters, which all states share.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// The id.
    pub(crate) id: RegionId,
    /// The first key.
    pub(crate) start: Bytes,
    /// The counters since the store was opened.
    pub(crate) load: Arc<RegionLoad>,
}

/// Counters of one region. Relaxed atomics suffice, because they are statistics only.
#[derive(Debug, Default)]
pub(crate) struct RegionLoad {
    /// Rows read by key.
    pub(crate) reads: AtomicU64,
    /// Rows written.
    pub(crate) writes: AtomicU64,
}

impl TableMap {
    /// An empty map.
    pub(crate) fn new(next: NextIds) -> Self {
        Self { tables: BTreeMap::new(), next }
    }

    /// The table with this id.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`].
    pub(crate) fn table(&self, id: TableId) -> StoreResult<&Arc<Table>> {
        self.tables.get(&id).ok_or(StoreError::NoSuchTable { table: id })
    }

    /// The table and the place of one of its families.
    ///
    /// # Errors
    /// [`StoreError::NoSuchTable`], [`StoreError::NoSuchFamily`].
    pub(crate) fn place(&self, id: TableId, family: FamilyId) -> StoreResult<(&Table, &Place)> {
        let table = self.table(id)?;
        let found = table.families.iter().find(|candidate| candidate.id == family);
        let family = found.ok_or(StoreError::NoSuchFamily { table: id, family })?;
        Ok((table, &family.place))
    }

    /// All tables, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TableId, &Arc<Table>)> {
        self.tables.iter().map(|(id, table)| (*id, table))
    }

    /// The number of tables.
    pub(crate) fn len(&self) -> usize {
        self.tables.len()
    }

    /// Adds or replaces a table.
    pub(crate) fn insert(&mut self, id: TableId, table: Table) {
        self.tables.insert(id, Arc::new(table));
    }

    /// Removes a table.
    pub(crate) fn remove(&mut self, id: TableId) -> Option<Arc<Table>> {
        self.tables.remove(&id)
    }
}

fn add_reads(region: Option<&Region>, rows: u64) {
    if let Some(region) = region {
        region.load.reads.fetch_add(rows, Ordering::Relaxed);
    }
}

impl Table {
    /// The region that contains `key`.
    pub(crate) fn region_of(&self, key: &[u8]) -> Option<&Region> {
        let after = self.regions.partition_point(|region| region.start.as_ref() <= key);
        self.regions.get(after.checked_sub(1)?)
    }

    /// Counts the rows of a scan's batch. Without keys, all rows count for the region where the scan begins.
    pub(crate) fn count_scanned(&self, batch: &RowBatch, begins: &[u8]) {
        match batch.key_ends().len() < batch.len() {
            true => add_reads(self.region_of(begins), batch.len() as u64),
            false => self.count_reads(batch.len(), batch.keys()),
        }
    }

    /// Counts rows that were read, by their keys.
    pub(crate) fn count_reads<'k>(&self, rows: usize, keys: impl Iterator<Item = &'k [u8]>) {
        if let [only] = self.regions.as_slice() {
            return add_reads(Some(only), rows as u64);
        }
        let (mut current, mut rows) = (None, 0);
        for key in keys {
            let region = self.region_of(key);
            if region.map(|region| region.id) != current.map(|region: &Region| region.id) {
                add_reads(current, std::mem::take(&mut rows));
                current = region;
            }
            rows += 1;
        }
        add_reads(current, rows);
    }

    /// Counts one row written.
    pub(crate) fn count_write(&self, key: &[u8]) {
        if let Some(region) = self.region_of(key) {
            region.load.writes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The rowkeys of the region at `index`.
    pub(crate) fn region_range(&self, index: usize) -> KeyRange {
        let start = self.regions.get(index).map_or_else(Bytes::new, |region| region.start.clone());
        KeyRange { start, end: self.regions.get(index + 1).map(|next| next.start.clone()) }
    }
}

impl Place {
    /// Rows behind `slot` in the shared keyspace.
    pub(crate) fn slot(shared: &Keyspace, slot: u32) -> Self {
        let prefix = Bytes::copy_from_slice(&slot.to_be_bytes());
        Self { keyspace: shared.clone(), prefix, slot: Some(slot) }
    }

    /// Rows in a keyspace of their own.
    pub(crate) fn own(keyspace: Keyspace) -> Self {
        Self { keyspace, prefix: Bytes::new(), slot: None }
    }

    /// The key within the keyspace.
    pub(crate) fn key(&self, rowkey: &[u8]) -> Slice {
        self.with_key(rowkey, |key| Slice::from(key))
    }

    /// Calls `f` with the key within the keyspace, which is assembled on the stack if it is short.
    pub(crate) fn with_key<R>(&self, rowkey: &[u8], f: impl FnOnce(&[u8]) -> R) -> R {
        if self.prefix.is_empty() {
            return f(rowkey);
        }
        let mut stack = [0_u8; 128];
        let Some(buffer) = stack.get_mut(..self.prefix.len() + rowkey.len()) else {
            return f(&[&self.prefix, rowkey].concat());
        };
        let (head, tail) = buffer.split_at_mut(self.prefix.len());
        head.copy_from_slice(&self.prefix);
        tail.copy_from_slice(rowkey);
        f(buffer)
    }
}
