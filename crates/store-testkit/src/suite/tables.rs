//! Tables are created and dropped in batches, independently of each other.

use super::fixture::{
    FAMILY, Fixture, OTHER, TABLE, all, batch, create, expect, expected, number, replace, replace_in, row, skip,
};
use std::sync::Arc;
use store::{
    FamilyId, FamilySpec, KeyRange, Mutation, OnDuplicate, PointRead, ScanRequest, Store, StoreError, TableChange,
    TableId, TableSpec, WriteBatch,
};

/// The same key in several tables and families gives separate rows.
pub async fn tables_and_families_are_apart(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let places =
        [(TableId(2001), FamilyId(1)), (TableId(2001), FamilyId(2)), (TableId(2002), FamilyId(1)), (TABLE, FAMILY)];
    let families = || vec![FamilySpec::new(FamilyId(1)), FamilySpec::new(FamilyId(2))];
    let make = |id| TableChange::Create(TableSpec { id: TableId(id), families: families(), splits: Vec::new() });
    f.tables(vec![make(2001), make(2002)]).await.unwrap();
    for ((table, family), number) in places.into_iter().zip(0..) {
        let rows = (0..3u64).map(|i| Mutation::Replace {
            table,
            family,
            key: vec![i as u8].into(),
            fragment: row(number * 10 + i),
        });
        f.write(rows.collect()).await.unwrap();
    }
    f.write(vec![Mutation::Delete { table: TableId(2001), family: FamilyId(2), key: vec![1].into() }]).await.unwrap();
    let snapshot = f.snapshot().await;
    for ((table, family), numbers) in
        places.into_iter().zip([vec![0, 1, 2], vec![10, 12], vec![20, 21, 22], vec![30, 31, 32]])
    {
        let scanned = f.scan(ScanRequest::new(table, family, vec![KeyRange::all()])).await;
        assert_eq!(scanned.numbers(), numbers, "{table} {family}");
        let first = f.store.get_row(table, family, &[0], &snapshot).await.unwrap();
        assert_eq!(first.as_deref().map(number), Some(numbers[0]));
    }
    let absent = f.scan(ScanRequest::new(TableId(2002), FamilyId(2), vec![KeyRange::all()])).await;
    assert_eq!(absent.count, 0);
}

/// With conditions on the table created in the same batch.
pub async fn a_table_and_its_rows_are_made_together(store: Arc<dyn Store>) {
    if !store.capabilities().table_changes {
        return skip("table changes are no step with the rows of their batch");
    }
    let f = Fixture::new(store).await;
    let nothing_there = store::Condition { table: OTHER, ..expect("b", None) };
    let made = WriteBatch {
        tables: vec![create(OTHER)],
        conditions: vec![nothing_there],
        mutations: vec![replace("a", 1), replace_in(OTHER, "b", row(2))],
    };
    f.commit(made).await.unwrap();
    assert_eq!(f.rows().await, expected(&[("a", 1)]));
    let other = f.scan(ScanRequest::new(OTHER, FAMILY, vec![KeyRange::all()])).await;
    assert_eq!(other.rows(), expected(&[("b", 2)]));
}

/// A second creation fails and changes nothing.
pub async fn a_table_is_made_once(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("a", 1)]).await;
    assert_eq!(f.tables(vec![create(TABLE)]).await, Err(StoreError::TableExists { table: TABLE }));
    assert_eq!(f.rows().await, expected(&[("a", 1)]));
}

/// Invisible to reads and writes.
pub async fn a_dropped_table_is_gone(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.tables(vec![create(OTHER)]).await.unwrap();
    f.write(vec![replace_in(OTHER, "a", row(1)), replace("a", 2)]).await.unwrap();
    f.tables(vec![TableChange::Drop(OTHER)]).await.unwrap();
    must_be_unknown(&f, OTHER).await;
    assert_eq!(f.tables(vec![TableChange::Drop(OTHER)]).await, Err(StoreError::NoSuchTable { table: OTHER }));
    assert_eq!(f.rows().await, expected(&[("a", 2)]));
    let report = f.store.check().await.unwrap();
    assert!(report.rows.iter().all(|&(table, _, rows)| table != OTHER || rows == 0), "{report:?}");
}

/// As in TRUNCATE.
pub async fn a_table_takes_the_place_of_another_in_one_batch(store: Arc<dyn Store>) {
    if !store.capabilities().table_changes {
        return skip("table changes are no step with the rows of their batch");
    }
    let f = Fixture::new(store).await;
    f.put(&[("a", 1)]).await;
    let swap = WriteBatch {
        tables: vec![create(OTHER), TableChange::Drop(TABLE)],
        mutations: vec![replace_in(OTHER, "b", row(2))],
        ..WriteBatch::default()
    };
    f.commit(swap).await.unwrap();
    must_be_unknown(&f, TABLE).await;
    let other = f.scan(ScanRequest::new(OTHER, FAMILY, vec![KeyRange::all()])).await;
    assert_eq!(other.rows(), expected(&[("b", 2)]));
}

/// A failed batch drops no table, either.
pub async fn a_batch_that_fails_makes_no_table(store: Arc<dyn Store>) {
    if !store.capabilities().table_changes {
        return skip("table changes are no step with the rows of their batch");
    }
    let f = Fixture::new(store).await;
    f.put(&[("a", 1)]).await;
    let refused = WriteBatch {
        tables: vec![create(OTHER)],
        conditions: vec![expect("a", None)],
        mutations: vec![replace_in(OTHER, "b", row(2))],
    };
    assert!(f.commit(refused).await.is_err());
    must_be_unknown(&f, OTHER).await;
    let refused = WriteBatch { tables: vec![TableChange::Drop(TABLE)], ..batch(vec![replace("a", 2)]) };
    assert_eq!(f.commit(refused).await, Err(StoreError::NoSuchTable { table: TABLE }));
    assert_eq!(f.rows().await, expected(&[("a", 1)]));
    // The id is still unused.
    f.tables(vec![create(OTHER)]).await.unwrap();
}

/// Every call returns the specific error.
pub async fn unknown_tables_and_families_are_told(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    must_be_unknown(&f, OTHER).await;
    let (s, snapshot, family) = (&f.store, f.snapshot().await, FamilyId(9));
    let unknown = StoreError::NoSuchFamily { table: TABLE, family };
    assert_eq!(s.get_row(TABLE, family, b"a", &snapshot).await, Err(unknown.clone()));
    assert_eq!(s.get_newest(TABLE, family, b"a").await, Err(unknown.clone()));
    assert_eq!(
        f.try_scan(ScanRequest { families: vec![family], ..all() }, &snapshot).await.err(),
        Some(unknown.clone())
    );
    assert_eq!(s.split(TABLE, family, &[KeyRange::all()], 2).await, Err(unknown.clone()));
    assert_eq!(s.estimate(TABLE, family, &[KeyRange::all()]).await, Err(unknown));
}

/// ORMs and test suites create thousands of tables.
pub async fn many_tables_live_side_by_side(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let id = |number: u64| TableId(3000 + number as u32);
    for hundred in 0..3 {
        let numbers = hundred * 100..hundred * 100 + 100;
        let tables = numbers.clone().map(|number| create(id(number))).collect();
        let mutations = numbers.map(|number| replace_in(id(number), "k", row(number))).collect();
        f.tables(tables).await.unwrap();
        f.write(mutations).await.unwrap();
    }
    f.tables((0..300).step_by(3).map(|number| TableChange::Drop(id(number))).collect()).await.unwrap();
    for table in 0..300 {
        let found = f.store.get_newest(id(table), FAMILY, b"k").await;
        if table % 3 == 0 {
            assert_eq!(found, Err(StoreError::NoSuchTable { table: id(table) }));
        } else {
            assert_eq!(number(&found.unwrap().unwrap()), table);
        }
    }
}

/// Checks that every call returns `NoSuchTable`.
async fn must_be_unknown(f: &Fixture, table: TableId) {
    let (s, snapshot, all) = (&f.store, f.snapshot().await, [KeyRange::all()]);
    let unknown = StoreError::NoSuchTable { table };
    assert_eq!(s.get_row(table, FAMILY, b"a", &snapshot).await, Err(unknown.clone()));
    assert_eq!(s.get_newest(table, FAMILY, b"a").await, Err(unknown.clone()));
    let request = ScanRequest::new(table, FAMILY, all.to_vec());
    assert_eq!(f.try_scan(request, &snapshot).await.err(), Some(unknown.clone()));
    assert_eq!(s.split(table, FAMILY, &all, 2).await, Err(unknown.clone()));
    assert_eq!(s.estimate(table, FAMILY, &all).await, Err(unknown.clone()));
    assert_eq!(s.regions(table).await, Err(unknown.clone()));
    assert_eq!(f.write(vec![replace_in(table, "a", row(1))]).await, Err(unknown.clone()));
    let condition = store::Condition { table, ..expect("a", None) };
    let conditional =
        WriteBatch { conditions: vec![condition], ..batch(vec![replace("zz", 0), super::fixture::delete("zz")]) };
    assert_eq!(f.commit(conditional).await, Err(unknown.clone()));
    if s.capabilities().bulk_load {
        assert_eq!(s.bulk_load(table, OnDuplicate::Fail).await.err(), Some(unknown));
    }
}

/// Versions, time to live, and a cell per column: unsupported options are refused.
pub async fn what_a_family_cannot_keep_is_refused(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    let can = f.store.capabilities();
    if can.history {
        return skip("the store keeps history");
    }
    let family = FamilySpec { versions: 3, ..FamilySpec::new(FAMILY) };
    let table = TableSpec { id: OTHER, families: vec![family], splits: Vec::new() };
    let refused = f.tables(vec![TableChange::Create(table)]).await;
    assert!(matches!(refused, Err(StoreError::Unsupported { .. })), "{refused:?}");
    must_be_unknown(&f, OTHER).await;
    f.tables(vec![create(OTHER)]).await.unwrap();
}

/// A time range without history is refused; qualifiers are a hint and may be ignored.
pub async fn what_a_scan_cannot_read_is_refused(store: Arc<dyn Store>) {
    let f = Fixture::new(store).await;
    f.put(&[("a", 1)]).await;
    let snapshot = f.snapshot().await;
    let some = ScanRequest { qualifiers: Some(vec![0]), ..all() };
    assert_eq!(f.scan_at(some, &snapshot).await.count, 1);
    if f.store.capabilities().history {
        return skip("the store keeps history");
    }
    let times = Some(store::Timestamp(0)..store::Timestamp(1));
    let refused = f.store.scan(ScanRequest { times, ..all() }, &snapshot).await.err();
    assert!(matches!(refused, Some(StoreError::Unsupported { .. })), "{refused:?}");
}
