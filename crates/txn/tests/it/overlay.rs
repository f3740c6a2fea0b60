//! Compares the reads of a transaction with own writes to a plain sorted map.

use crate::map_store::MapStore;
use crate::spill::Anything;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::{Bytes, FamilyId, Filter, FixedPredicate, KeyRange, ScanRequest, Store, TableId};
use txn::{LockTable, ReadView, Transaction, TransactionOptions};

const T: TableId = TableId(16);
const F: FamilyId = FamilyId(0);

type Write = (u8, Option<u8>);

/// Keys of one and two bytes, some of them prefixes of others.
fn key(n: u8) -> Bytes {
    if n.is_multiple_of(3) { Bytes::from(vec![n / 3]) } else { Bytes::from(vec![n / 3, n]) }
}

/// A row that the filter evaluates by its first byte, or sometimes one that it cannot evaluate.
fn row(value: u8) -> Bytes {
    if value == 9 { Bytes::new() } else { Bytes::from(vec![value; 2]) }
}

/// Evaluates a row that the store could not decide, as the caller of a scan does.
fn passes(row: &[u8], at_most: Option<u8>) -> bool {
    at_most.is_none_or(|most| row.first().is_some_and(|value| *value <= most))
}

fn begin(store: &Arc<MapStore>) -> Transaction {
    begin_with(store, usize::MAX)
}

/// Its writes are spilled when they need more than `max_write_bytes`.
fn begin_with(store: &Arc<MapStore>, max_write_bytes: usize) -> Transaction {
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    let options = TransactionOptions { max_write_bytes, ..TransactionOptions::default() };
    let mut txn = Transaction::begin(store, &Arc::new(LockTable::new()), options);
    txn.set_write_memory(Arc::new(Anything));
    txn
}

async fn write(txn: &mut Transaction, writes: &[Write]) {
    for (n, value) in writes {
        match value {
            Some(value) => txn.put(T, F, key(*n), row(*value)).await.unwrap(),
            None => txn.delete(T, F, key(*n)).await.unwrap(),
        }
    }
}

#[derive(Clone, Debug)]
struct Case {
    committed: Vec<Write>,
    earlier: Vec<Write>,
    last: Vec<Write>,
    bounds: Vec<u8>,
    reverse: bool,
    limit: Option<u64>,
    at_most: Option<u8>,
    keys: bool,
    values: bool,
    batch_rows: usize,
    max_write_bytes: usize,
}

fn writes(most: usize) -> impl Strategy<Value = Vec<Write>> {
    prop::collection::vec((0u8..60, prop::option::weighted(0.7, 0u8..10)), 0..most)
}

fn case() -> impl Strategy<Value = Case> {
    let bounds = prop::collection::btree_set(0u8..25, 0..6).prop_map(|set| set.into_iter().collect::<Vec<_>>());
    let shape = (any::<bool>(), prop::option::of(0u64..20), prop::option::of(0u8..10), any::<bool>(), any::<bool>());
    let memory = prop_oneof![Just(usize::MAX), 0usize..1500];
    (writes(60), writes(25), writes(25), bounds, shape, 1usize..9, memory).prop_map(
        |(committed, earlier, last, bounds, (reverse, limit, at_most, keys, values), batch_rows, max_write_bytes)| {
            Case {
                committed,
                earlier,
                last,
                bounds,
                reverse,
                limit,
                at_most,
                keys,
                values,
                batch_rows,
                max_write_bytes,
            }
        },
    )
}

impl Case {
    /// Every second gap between bounds; everything without bounds.
    fn ranges(&self) -> Vec<KeyRange> {
        if self.bounds.is_empty() {
            return vec![KeyRange::all()];
        }
        let end = |bounds: &[u8]| bounds.get(1).map(|end| Bytes::from(vec![*end]));
        self.bounds.chunks(2).map(|pair| KeyRange { start: vec![pair[0]].into(), end: end(pair) }).collect()
    }

    fn filter(&self) -> Option<Filter> {
        let hi = Bytes::from(vec![self.at_most?]);
        let predicate = FixedPredicate { offset: 0, width: 1, null_bit: (0, 0), lo: Bytes::from(vec![0]), hi };
        Some(Filter { layout: 0, predicates: vec![predicate], nulls: Vec::new() })
    }

    fn request(&self) -> ScanRequest {
        ScanRequest {
            reverse: self.reverse,
            limit: self.limit,
            filter: self.filter(),
            keys: self.keys,
            values: self.values,
            batch_rows: self.batch_rows,
            ..ScanRequest::new(T, F, self.ranges())
        }
    }

    /// All rows that the statement should see, in scan order, before filter and limit.
    fn expected(&self) -> Vec<(Bytes, Bytes)> {
        let mut rows = BTreeMap::new();
        for (n, value) in self.committed.iter().chain(&self.earlier).chain(&self.last) {
            match value {
                Some(value) => rows.insert(key(*n), row(*value)),
                None => rows.remove(&key(*n)),
            };
        }
        let ranges = self.ranges();
        let inside = rows.into_iter().filter(|(key, _)| ranges.iter().any(|range| range.contains(key)));
        let mut all: Vec<_> = inside.collect();
        if self.reverse {
            all.reverse();
        }
        all
    }
}

async fn view_of(case: &Case) -> (Transaction, ReadView) {
    let store = MapStore::new();
    let mut setup = begin(&store);
    write(&mut setup, &case.committed).await;
    setup.commit(store::Durability::Sync).await.unwrap();
    let mut txn = begin_with(&store, case.max_write_bytes);
    for statement in [&case.earlier, &case.last] {
        txn.begin_statement().await.unwrap();
        write(&mut txn, statement).await;
    }
    let view = txn.begin_statement().await.unwrap();
    (txn, view)
}

/// The caller's part of a scan: evaluates undecided rows, and applies the limit.
async fn scan_and_judge(view: &ReadView, case: &Case) -> Result<Vec<(Bytes, Bytes)>, TestCaseError> {
    let mut request = case.request();
    (request.keys, request.values) = (true, true);
    let mut scan = view.scan(request).await.unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = scan.next().await.unwrap() {
        prop_assert!(!batch.is_empty());
        for (key, row) in batch.keys().zip(batch.fragments()) {
            let passes = passes(row, case.at_most);
            prop_assert!(passes || batch.undecided(), "a row that fails came in a decided batch");
            let unjudged = case.at_most.is_some() && row.is_empty();
            prop_assert!(!unjudged || batch.undecided(), "a row that cannot be judged came in a decided batch");
            if passes {
                rows.push((Bytes::copy_from_slice(key), Bytes::copy_from_slice(row)));
            }
        }
    }
    if case.at_most.is_none() {
        prop_assert!(rows.len() as u64 <= case.limit.unwrap_or(u64::MAX), "the limit was overrun");
    }
    prop_assert_eq!(scan.counters().rows_returned >= rows.len() as u64, true);
    rows.truncate(usize::try_from(case.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX));
    Ok(rows)
}

async fn check(case: &Case) -> Result<(), TestCaseError> {
    let (_txn, view) = view_of(case).await;
    let all = case.expected();
    let mut expected: Vec<_> = all.iter().filter(|row| passes(&row.1, case.at_most)).cloned().collect();
    expected.truncate(usize::try_from(case.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX));
    prop_assert_eq!(scan_and_judge(&view, case).await?, expected);

    let by_key: BTreeMap<_, _> = all.into_iter().collect();
    let keys: Vec<_> = (0..60).map(key).filter(|key| case.ranges().iter().any(|r| r.contains(key))).collect();
    let many = view.get_many(T, F, &keys).await.unwrap();
    for (key, row) in keys.iter().zip(many) {
        prop_assert_eq!(row.as_ref(), by_key.get(key));
        let one = view.get(T, F, key).await.unwrap();
        prop_assert_eq!(one.as_ref(), by_key.get(key));
    }
    Ok(())
}

/// Without a filter the result is exact: the limit, keys and values are as requested.
async fn check_shape(case: &Case) -> Result<(), TestCaseError> {
    let case = Case { at_most: None, ..case.clone() };
    let (_txn, view) = view_of(&case).await;
    let mut scan = view.scan(case.request()).await.unwrap();
    let (mut rows, mut keys, mut values) = (0, 0, 0);
    while let Some(batch) = scan.next().await.unwrap() {
        prop_assert!(!batch.undecided());
        rows += batch.len();
        keys += batch.keys().count();
        values += batch.fragments().count();
    }
    let limit = usize::try_from(case.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    prop_assert_eq!(rows, case.expected().len().min(limit));
    prop_assert_eq!(keys, if case.keys { rows } else { 0 });
    prop_assert_eq!(values, if case.values { rows } else { 0 });
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_view_reads_what_a_sorted_map_would_hold(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            check(&case).await?;
            check_shape(&case).await
        })?;
    }
}

#[tokio::test]
async fn who_wrote_nothing_in_the_ranges_scans_the_store_itself() {
    let store = MapStore::new();
    let mut txn = begin(&store);
    write(&mut txn, &[(30, Some(1))]).await;
    let view = txn.begin_statement().await.unwrap();
    let away = KeyRange { start: Bytes::new(), end: Some(Bytes::from(vec![5])) };
    let request = ScanRequest { keys: false, ..ScanRequest::new(T, F, vec![away]) };
    assert!(view.scan(request).await.unwrap().next().await.unwrap().is_none());
    assert_eq!(store.scans.load(Ordering::Relaxed), 1);
}
