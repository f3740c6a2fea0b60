//! Filters: exact for dense rows of the filter's layout, undecided for all others.

use super::fixture::{
    Fixture, GROUP, NUMBER, Scanned, TABLE, all, between, delete, empty, layout, numbered, range, ranges, replace,
    replace_in, row, skip,
};
use fragment::{Layout, Verdict};
use std::sync::Arc;
use store::{Bytes, Filter, Mutation, NullTest, ScanRequest, Store};

/// In both directions, over flushed and unflushed rows.
pub async fn dense_rows_are_filtered_exactly(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(1000).await;
    f.store.flush(TABLE, true).await.unwrap();
    f.write((0..1000).step_by(10).map(|number| replace(numbered(number), number + 1)).collect()).await.unwrap();
    let numbers = (0..1000u64).map(|number| if number % 10 == 0 { number + 1 } else { number });
    for (lo, hi) in [(100, 200), (0, 0), (999, 5000), (500, 499), (0, u64::MAX), (101, 101)] {
        let expected: Vec<_> = numbers.clone().filter(|number| (lo..=hi).contains(number)).collect();
        let request = with(between(NUMBER, &lo.to_be_bytes(), &hi.to_be_bytes()));
        assert_eq!(passing(&f.scan(request.clone()).await, &request), expected, "{lo}..={hi}");
        let reverse = ScanRequest { reverse: true, ..request };
        let mut found = passing(&f.scan(reverse.clone()).await, &reverse);
        found.reverse();
        assert_eq!(found, expected, "{lo}..={hi} in reverse");
    }
}

/// NULL fails for any bounds, although its bytes are zero.
pub async fn nulls_fail_comparisons(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(50).await;
    let request = with(between(GROUP, &[0; 4], &[0xFF; 4]));
    let found = passing(&f.scan(request.clone()).await, &request);
    assert_eq!(found, (0..50).filter(|number| number % 10 != 9).collect::<Vec<_>>());
    let request = with(between(GROUP, &0u32.to_be_bytes(), &0u32.to_be_bytes()));
    assert_eq!(passing(&f.scan(request.clone()).await, &request), [0, 10, 20, 30, 40]);
}

/// `IS NULL` and `IS NOT NULL`, also of variable-width columns.
pub async fn null_tests_see_nulls(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(40).await;
    let test = |is_null| Filter { nulls: vec![NullTest { null_bit: layout().null_bit(GROUP), is_null }], ..empty() };
    let request = with(test(true));
    assert_eq!(passing(&f.scan(request.clone()).await, &request), [9, 19, 29, 39]);
    let request = with(test(false));
    assert_eq!(passing(&f.scan(request.clone()).await, &request).len(), 36);
    let text = Filter { nulls: vec![NullTest { null_bit: layout().null_bit(2), is_null: true }], ..empty() };
    let request = with(text);
    assert_eq!(passing(&f.scan(request.clone()).await, &request), Vec::<u64>::new());
}

/// Range predicates and NULL tests combined.
pub async fn all_predicates_must_hold(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(100).await;
    let mut filter = between(NUMBER, &20u64.to_be_bytes(), &59u64.to_be_bytes());
    filter.predicates.extend(between(GROUP, &3u32.to_be_bytes(), &4u32.to_be_bytes()).predicates);
    filter.nulls.push(NullTest { null_bit: layout().null_bit(GROUP), is_null: false });
    let request = with(filter.clone());
    let found = passing(&f.scan(request.clone()).await, &request);
    assert_eq!(found, [23, 24, 33, 34, 43, 44, 53, 54]);
    filter.nulls.push(NullTest { null_bit: layout().null_bit(GROUP), is_null: true });
    let request = with(filter);
    assert_eq!(passing(&f.scan(request.clone()).await, &request), Vec::<u64>::new());
}

/// Sparse rows and rows of another layout are returned.
pub async fn rows_that_cannot_be_judged_are_returned_and_marked(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.write((0..20).map(mixed).collect()).await.unwrap();
    for reverse in [false, true] {
        let filter = between(NUMBER, &4u64.to_be_bytes(), &5u64.to_be_bytes());
        let scanned = f.scan(ScanRequest { reverse, filter: Some(filter.clone()), ..all() }).await;
        assert!(scanned.undecided);
        let verdicts: Vec<_> = scanned.fragments.iter().map(|fragment| fragment::matches(&filter, fragment)).collect();
        assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Undecided).count(), 10);
        assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Pass).count(), 1);
        if f.store.capabilities().filter {
            assert_eq!(scanned.count, 11, "rows that fail are left out");
        }
        let keys = scanned.keys.clone();
        let mut sorted = keys.clone();
        sorted.sort();
        sorted.dedup();
        if reverse {
            sorted.reverse();
        }
        assert_eq!(keys, sorted, "undecided rows keep their place");
    }
}

/// Rows that fail the filter do not count.
pub async fn a_limit_counts_rows_that_pass(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put_numbered(500).await;
    let filter = between(GROUP, &4u32.to_be_bytes(), &4u32.to_be_bytes());
    let request = ScanRequest { limit: Some(3), ..with(filter) };
    assert_eq!(passing(&f.scan(request.clone()).await, &request)[..3], [4, 14, 24]);
    let reverse = ScanRequest { reverse: true, ..request };
    assert_eq!(passing(&f.scan(reverse.clone()).await, &reverse)[..3], [494, 484, 474]);
    if f.store.capabilities().filter {
        assert_eq!(f.scan(reverse).await.count, 3);
    }
}

/// Undecided rows do not count, because the caller may discard them.
pub async fn rows_that_cannot_be_judged_do_not_use_up_the_limit(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.write((0..100).map(mixed).collect()).await.unwrap();
    for reverse in [false, true] {
        let filter = between(NUMBER, &0u64.to_be_bytes(), &u64::MAX.to_be_bytes());
        let request = ScanRequest { limit: Some(10), reverse, ..with(filter) };
        assert!(passing(&f.scan(request.clone()).await, &request).len() >= 10);
    }
}

/// The filter is evaluated without returning keys or values.
pub async fn a_filter_works_without_values_and_keys(store: Arc<dyn Store>) {
    if !store.capabilities().filter {
        return skip("the store has no filters");
    }
    let f = Fixture::new(store).await;
    f.put_numbered(100).await;
    f.write(vec![delete("0010")]).await.unwrap();
    let request = with(between(GROUP, &0u32.to_be_bytes(), &1u32.to_be_bytes()));
    let counted = f.scan(ScanRequest { keys: false, values: false, ..request.clone() }).await;
    assert_eq!((counted.count, counted.undecided), (19, false));
    let keys = f.scan(ScanRequest { values: false, limit: Some(3), ..request }).await.keys;
    assert_eq!(keys, [Bytes::from("0000"), "0001".into(), "0011".into()]);
    let few = ranges(vec![range("0020", "0030"), range("0050", "0060")]);
    let filter = Some(between(GROUP, &0u32.to_be_bytes(), &1u32.to_be_bytes()));
    assert_eq!(f.scan(ScanRequest { keys: false, values: false, filter, ..few }).await.count, 4);
}

/// Also for rows that could not be evaluated.
pub async fn a_filter_without_tests_passes_all(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.write((0..20).map(mixed).collect()).await.unwrap();
    let request = ScanRequest { filter: Some(empty()), limit: Some(15), ..all() };
    assert_eq!(f.scan(request).await.count, 15);
}

fn with(filter: Filter) -> ScanRequest {
    ScanRequest { filter: Some(filter), ..all() }
}

/// The numbers of the rows that pass. A store may return other rows only in undecided batches.
fn passing(scanned: &Scanned, request: &ScanRequest) -> Vec<u64> {
    let filter = request.filter.as_ref().unwrap();
    let passes = |fragment: &&Bytes| fragment::matches(filter, fragment) == Verdict::Pass;
    let passing: Vec<_> = scanned.fragments.iter().filter(passes).collect();
    assert!(passing.len() == scanned.count || scanned.undecided, "rows that fail came back and nothing said so");
    passing.iter().map(|fragment| super::fixture::number(fragment)).collect()
}

/// Row `number`: dense if even; if odd, alternately sparse or of another layout.
fn mixed(number: u64) -> Mutation {
    let mut fragment = Vec::new();
    match number % 4 {
        1 => fragment::encode_sparse(layout().id(), &[(0, &number.to_be_bytes())], &mut fragment).unwrap(),
        3 => {
            let other = Layout::new(8, layout().columns().to_vec());
            fragment::encode_dense(&other, &[Some(&number.to_be_bytes()), None, None], &mut fragment).unwrap();
        }
        _ => fragment = row(number),
    }
    replace_in(TABLE, numbered(number), fragment)
}
