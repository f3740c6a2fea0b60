//! Fixtures of the cases: rows that encode a number, and a table for them.

use fragment::{Fragment, Layout, LayoutColumn};
use std::sync::Arc;
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, FamilySpec, Filter, FixedPredicate, KeyRange, Mutation,
    PointRead, ScanRequest, Snapshot, Store, StoreError, StoreResult, TableChange, TableId, TableSpec, WriteBatch,
};

/// The table that every fixture creates.
pub(crate) const TABLE: TableId = TableId(1001);
/// A second table.
pub(crate) const OTHER: TableId = TableId(1002);
/// The family of both tables.
pub(crate) const FAMILY: FamilyId = FamilyId(0);

/// A store with an empty [`TABLE`].
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
}

impl Fixture {
    pub(crate) async fn new(store: Arc<dyn Store>) -> Self {
        let fixture = Self { store };
        fixture.tables(vec![create(TABLE)]).await.unwrap();
        fixture
    }

    /// Applies and syncs `batch`.
    pub(crate) async fn commit(&self, batch: WriteBatch) -> StoreResult<CommitNo> {
        let commit = self.store.apply(batch, Durability::Sync).await?;
        self.store.sync(commit).await?;
        Ok(commit)
    }

    /// Creates and drops tables, in one batch if the store supports it.
    pub(crate) async fn tables(&self, tables: Vec<TableChange>) -> StoreResult<CommitNo> {
        if self.store.capabilities().table_changes {
            return self.commit(WriteBatch { tables, ..WriteBatch::default() }).await;
        }
        let mut last = CommitNo(0);
        for change in tables {
            last = self.commit(WriteBatch { tables: vec![change], ..WriteBatch::default() }).await?;
        }
        Ok(last)
    }

    /// Adds `number` to a row of [`TABLE`] (0 if missing): an optimistic read-modify-write with retries.
    pub(crate) async fn add(&self, key: &str, number: u64, durability: Durability) -> CommitNo {
        loop {
            let old = self.store.get_newest(TABLE, FAMILY, key.as_bytes()).await.unwrap();
            let read = old.as_deref().and_then(fragment::header::commit_of);
            let sum = old.as_deref().map_or(0, self::number) + number;
            // Lets other tasks write in between.
            tokio::task::yield_now().await;
            let on_top = WriteBatch { conditions: vec![expect(key, read)], ..batch(vec![replace(key, sum)]) };
            match self.store.apply(on_top, durability).await {
                Ok(commit) => return commit,
                Err(StoreError::ConditionFailed { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }

    pub(crate) async fn write(&self, mutations: Vec<Mutation>) -> StoreResult<CommitNo> {
        self.commit(batch(mutations)).await
    }

    /// Writes rows of [`TABLE`] in one commit.
    pub(crate) async fn put(&self, rows: &[(&str, u64)]) -> CommitNo {
        self.write(rows.iter().map(|(key, number)| replace(key, *number)).collect()).await.unwrap()
    }

    /// Writes `count` rows `0000`, `0001`, ... with the numbers 0, 1, ...
    pub(crate) async fn put_numbered(&self, count: u64) -> CommitNo {
        self.write((0..count).map(|number| replace(numbered(number), number)).collect()).await.unwrap()
    }

    /// A snapshot with everything applied so far.
    pub(crate) async fn snapshot(&self) -> Snapshot {
        let last = self.store.apply(WriteBatch::default(), Durability::Sync).await.unwrap();
        self.store.sync(last).await.unwrap();
        self.store.snapshot(last).await.unwrap()
    }

    /// The number of a row of [`TABLE`] at `snapshot`.
    pub(crate) async fn get_at(&self, key: &str, snapshot: &Snapshot) -> Option<u64> {
        self.store.get_row(TABLE, FAMILY, key.as_bytes(), snapshot).await.unwrap().map(|fragment| number(&fragment))
    }

    /// The number of a row of [`TABLE`].
    pub(crate) async fn get(&self, key: &str) -> Option<u64> {
        self.get_at(key, &self.snapshot().await).await
    }

    /// The number of a row in the newest state.
    pub(crate) async fn newest(&self, key: &str) -> Option<u64> {
        self.store.get_newest(TABLE, FAMILY, key.as_bytes()).await.unwrap().map(|fragment| number(&fragment))
    }

    /// The commit number of a row of [`TABLE`].
    pub(crate) async fn get_number(&self, key: &str) -> CommitNo {
        let found = self.store.get_newest(TABLE, FAMILY, key.as_bytes()).await.unwrap();
        found.as_deref().and_then(fragment::header::commit_of).unwrap()
    }

    /// All rows of [`TABLE`].
    pub(crate) async fn rows(&self) -> Vec<(String, u64)> {
        self.rows_at(&self.snapshot().await).await
    }

    pub(crate) async fn rows_at(&self, snapshot: &Snapshot) -> Vec<(String, u64)> {
        self.scan_at(all(), snapshot).await.rows()
    }

    pub(crate) async fn scan(&self, request: ScanRequest) -> Scanned {
        self.scan_at(request, &self.snapshot().await).await
    }

    pub(crate) async fn scan_at(&self, request: ScanRequest, snapshot: &Snapshot) -> Scanned {
        self.try_scan(request, snapshot).await.unwrap()
    }

    /// Runs a scan to its end, and checks properties of every scan.
    pub(crate) async fn try_scan(&self, request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Scanned> {
        let (keys, values) = (request.keys, request.values);
        let mut scan = self.store.scan(request, snapshot).await?;
        let mut scanned = Scanned::default();
        while let Some(batch) = scan.next().await? {
            assert!(!batch.is_empty(), "a scan hands out no empty batch");
            assert_eq!(batch.keys().count(), if keys { batch.len() } else { 0 });
            assert_eq!(batch.fragments().count(), if values { batch.len() } else { 0 });
            scanned.count += batch.len();
            scanned.batches += 1;
            scanned.undecided |= batch.undecided();
            scanned.keys.extend(batch.keys().map(Bytes::copy_from_slice));
            scanned.fragments.extend(batch.fragments().map(Bytes::copy_from_slice));
        }
        assert!(scan.next().await?.is_none(), "the end stays the end");
        assert_eq!(scan.counters().rows_returned, scanned.count as u64);
        Ok(scanned)
    }
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) count: usize,
    pub(crate) batches: usize,
    pub(crate) undecided: bool,
    pub(crate) keys: Vec<Bytes>,
    pub(crate) fragments: Vec<Bytes>,
}

impl Scanned {
    pub(crate) fn rows(&self) -> Vec<(String, u64)> {
        assert_eq!(self.keys.len(), self.fragments.len());
        let keys = self.keys.iter().map(|key| String::from_utf8_lossy(key).into_owned());
        keys.zip(self.numbers()).collect()
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.fragments.iter().map(|fragment| number(fragment)).collect()
    }
}

/// A table with [`FAMILY`] and one region.
pub(crate) fn create(id: TableId) -> TableChange {
    create_split(id, &[])
}

pub(crate) fn create_split(id: TableId, splits: &[&str]) -> TableChange {
    let splits = splits.iter().map(|split| Bytes::copy_from_slice(split.as_bytes())).collect();
    TableChange::Create(TableSpec { id, families: vec![FamilySpec::new(FAMILY)], splits })
}

pub(crate) fn batch(mutations: Vec<Mutation>) -> WriteBatch {
    WriteBatch { mutations, ..WriteBatch::default() }
}

pub(crate) fn key(key: impl AsRef<[u8]>) -> Bytes {
    Bytes::copy_from_slice(key.as_ref())
}

pub(crate) fn numbered(number: u64) -> String {
    format!("{number:04}")
}

pub(crate) fn replace(key: impl AsRef<[u8]>, number: u64) -> Mutation {
    replace_in(TABLE, key, row(number))
}

pub(crate) fn replace_in(table: TableId, key: impl AsRef<[u8]>, fragment: Vec<u8>) -> Mutation {
    Mutation::Replace { table, family: FAMILY, key: self::key(key), fragment }
}

pub(crate) fn delete(key: impl AsRef<[u8]>) -> Mutation {
    Mutation::Delete { table: TABLE, family: FAMILY, key: self::key(key) }
}

pub(crate) fn expect(key: impl AsRef<[u8]>, expect: Option<CommitNo>) -> Condition {
    Condition { table: TABLE, family: FAMILY, key: self::key(key), expect }
}

/// A scan of all rows in [`TABLE`].
pub(crate) fn all() -> ScanRequest {
    ranges(vec![KeyRange::all()])
}

pub(crate) fn ranges(ranges: Vec<KeyRange>) -> ScanRequest {
    ScanRequest::new(TABLE, FAMILY, ranges)
}

pub(crate) fn range(start: &str, end: &str) -> KeyRange {
    KeyRange { start: key(start), end: Some(key(end)) }
}

/// Columns of [`layout`].
pub(crate) const NUMBER: usize = 0;
pub(crate) const GROUP: usize = 1;

/// The columns of the rows: number (8 bytes), group (4 bytes, NULL for some), text.
pub(crate) fn layout() -> Layout {
    let column = |(qualifier, width)| LayoutColumn { qualifier, width };
    Layout::new(7, [(0, Some(8)), (1, Some(4)), (2, None)].map(column).to_vec())
}

/// A row that encodes `number`. Its group is the last digit, NULL for 9; the length of its text varies.
pub(crate) fn row(number: u64) -> Vec<u8> {
    let digit = (number % 10) as u32;
    let text = format!("row {number}").repeat(digit as usize);
    let group = (digit != 9).then(|| digit.to_be_bytes());
    let cells = [Some(&number.to_be_bytes()[..]), group.as_ref().map(|group| &group[..]), Some(text.as_bytes())];
    let mut fragment = Vec::new();
    fragment::encode_dense(&layout(), &cells, &mut fragment).unwrap();
    fragment
}

/// The number that a row encodes; the row must be exactly the one of [`row`].
pub(crate) fn number(fragment: &[u8]) -> u64 {
    let layout = layout();
    let view = Fragment::parse(fragment).unwrap().dense(&layout).unwrap();
    let number = u64::from_be_bytes(view.cell(0).unwrap().try_into().unwrap());
    assert_eq!(unstamped(fragment), row(number), "the row {number} is not as it was written");
    number
}

/// The fragment with a zero stamp, as before it was written to a store.
pub(crate) fn unstamped(fragment: &[u8]) -> Vec<u8> {
    let mut fragment = fragment.to_vec();
    fragment::stamp(&mut fragment, store::Timestamp(0), CommitNo(0)).unwrap();
    fragment
}

/// A filter on rows of [`layout`] without predicates.
pub(crate) fn empty() -> Filter {
    Filter { layout: layout().id(), ..Filter::default() }
}

/// A filter `lo <= column <= hi`.
pub(crate) fn between(column: usize, lo: &[u8], hi: &[u8]) -> Filter {
    let predicate = FixedPredicate {
        offset: layout().fixed_offset(column).unwrap(),
        width: lo.len() as u8,
        null_bit: layout().null_bit(column),
        lo: Bytes::copy_from_slice(lo),
        hi: Bytes::copy_from_slice(hi),
    };
    Filter { predicates: vec![predicate], ..empty() }
}

/// The rows of a scan result.
pub(crate) fn expected(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|&(key, number)| (key.to_string(), number)).collect()
}

/// The rows of a scan result for these numbered rows.
pub(crate) fn expected_numbered(numbers: impl Iterator<Item = u64>) -> Vec<(String, u64)> {
    numbers.map(|number| (numbered(number), number)).collect()
}

/// Reports that a case does not apply to a store.
pub(crate) fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}
