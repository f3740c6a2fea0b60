//! Large commits are atomic like others.

use super::fixture::{
    FAMILY, Fixture, OTHER, TABLE, all, create, delete, expect, expected_numbered, number, numbered, replace,
    replace_in, row, skip,
};
use std::sync::Arc;
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, KeyRange, LargeRows, LargeWrite, Mutation, OnDuplicate,
    PointRead, ScanRequest, SortedRows, Store, StoreError, StoreResult, TableId,
};

/// A store with two tables; `None` without atomic batches. If possible, the second table is bulk-loaded, so that it may
/// be stored elsewhere.
async fn fixture(store: Arc<dyn Store>) -> Option<Fixture> {
    if !store.capabilities().atomic_batches() || !store.capabilities().store_snapshots() {
        skip("the store has no atomic batches, or no snapshots of all tables");
        return None;
    }
    let f = Fixture::new(store).await;
    f.tables(vec![create(OTHER)]).await.unwrap();
    f.put_numbered(2000).await;
    if f.store.capabilities().bulk_load {
        let mut load = f.store.bulk_load(OTHER, OnDuplicate::Fail).await.unwrap();
        for number in 0..2000 {
            load.write(FAMILY, numbered(number).as_bytes(), &row(number)).await.unwrap();
        }
        load.finish().await.unwrap();
    }
    Some(f)
}

async fn apply(f: &Fixture, mutations: Vec<Mutation>, conditions: Vec<Condition>) -> StoreResult<CommitNo> {
    let commit = f.store.apply_large(Arc::new(SortedRows::new(mutations)), conditions, Durability::Sync).await?;
    f.store.sync(commit).await?;
    Ok(commit)
}

async fn rows_of(f: &Fixture, table: TableId) -> Vec<(String, u64)> {
    let request = ScanRequest::new(table, FAMILY, vec![KeyRange::all()]);
    f.scan(request).await.rows()
}

/// In both tables, with deletions, over rows in memory and on disk; scans in both directions and gets agree.
pub async fn a_large_commit_writes_and_deletes_in_all_its_tables(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let before = f.snapshot().await;
    let in_other = |at: u64| replace_in(OTHER, numbered(at), row(at + 10_000));
    let mutations = (0..3000).flat_map(|at| match at % 3 {
        0 => vec![replace(numbered(at), at + 10_000), in_other(at)],
        1 => vec![delete(numbered(at))],
        _ => vec![],
    });
    let commit = apply(&f, mutations.collect(), vec![]).await.unwrap();
    let kept = |at: u64| match at % 3 {
        0 => Some(at + 10_000),
        2 if at < 2000 => Some(at),
        _ => None,
    };
    let wanted: Vec<_> = (0..3000).filter_map(|at| Some((numbered(at), kept(at)?))).collect();
    assert!(f.rows().await == wanted);
    let mut reversed = f.scan(ScanRequest { reverse: true, ..all() }).await.rows();
    reversed.reverse();
    assert!(reversed == wanted);
    let snapshot = f.store.snapshot(commit).await.unwrap();
    for at in (0..3000).step_by(83) {
        assert_eq!(f.get_at(&numbered(at), &snapshot).await, kept(at), "{at}");
        assert_eq!(f.newest(&numbered(at)).await, kept(at), "{at}");
    }
    let other = rows_of(&f, OTHER).await;
    assert_eq!(other.iter().filter(|(_, number)| *number >= 10_000).count(), 1000);
    assert!(f.rows_at(&before).await == expected_numbered(0..2000), "a snapshot before it");
    // Later writes win.
    f.put(&[("0000", 1)]).await;
    f.write(vec![delete("0003")]).await.unwrap();
    assert_eq!((f.get("0000").await, f.get("0003").await), (Some(1), None));
}

/// A reader sees the same number in all rows of both tables.
pub async fn a_large_commit_is_seen_whole(store: Arc<dyn Store>) {
    let Some(f) = fixture(store.clone()).await else { return };
    let both = |number: u64| {
        let rows =
            (0..200).flat_map(move |at| [replace(numbered(at), number), replace_in(OTHER, numbered(at), row(number))]);
        Arc::new(SortedRows::new(rows.collect()))
    };
    let writer = tokio::spawn(async move {
        for number in 10_000..10_012 {
            let commit = store.apply_large(both(number), vec![], Durability::Sync).await.unwrap();
            store.sync(commit).await.unwrap();
        }
    });
    let mut seen = 0;
    while !writer.is_finished() {
        let snapshot = f.store.snapshot(CommitNo(0)).await.unwrap();
        let mut numbers = Vec::new();
        for (table, key) in [(TABLE, 0), (OTHER, 0), (OTHER, 199), (TABLE, 199), (OTHER, 77)] {
            let found = f.store.get_row(table, FAMILY, numbered(key).as_bytes(), &snapshot).await.unwrap();
            numbers.extend(found.as_deref().map(number).filter(|number| *number >= 10_000));
        }
        assert!(
            numbers.is_empty() || (numbers.len() == 5 && numbers.iter().all(|it| *it == numbers[0])),
            "{numbers:?}"
        );
        let newest = numbers.first().copied().unwrap_or(0);
        assert!(newest >= seen, "{newest} after {seen}");
        seen = newest;
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
    assert_eq!(f.get("0199").await, Some(10_011));
}

/// All conditions must hold, on rows that are written and on others.
pub async fn conditions_of_a_large_commit_must_hold(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let stamp = f.put(&[("0007", 7)]).await;
    let rows = || (0..1000).map(|at| replace(numbered(at), at + 10_000)).collect::<Vec<_>>();
    for wrong in [expect("0007", None), expect("0008", Some(stamp)), expect("5000", Some(stamp))] {
        let refused = apply(&f, rows(), vec![expect("0007", Some(stamp)), wrong.clone()]).await;
        assert_eq!(refused, Err(StoreError::ConditionFailed { table: TABLE, key: wrong.key }));
        assert!(f.rows().await == expected_numbered(0..2000), "nothing was written");
    }
    apply(&f, rows(), vec![expect("0007", Some(stamp)), expect("5000", None)]).await.unwrap();
    assert_eq!(f.get("0007").await, Some(10_007));
}

/// The commit number is larger than that of every snapshot without the commit, so that a reader can detect the change,
/// whatever was committed in between.
pub async fn rows_of_a_large_commit_carry_a_number_that_no_snapshot_before_had(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let mut last = CommitNo(0);
    for round in 0..3 {
        let rows = SortedRows::new((0..500).map(|at| replace(numbered(at), at + round)).collect());
        let before = Arc::new(Watched { rows, store: f.clone() });
        let commit = f.store.apply_large(before, vec![], Durability::Sync).await.unwrap();
        f.store.sync(commit).await.unwrap();
        let small = f.get_number("small").await;
        assert!(last < small && small < commit, "{last}, {small}, {commit}");
        for key in ["0000", "0499"] {
            assert_eq!(f.get_number(key).await, commit);
        }
        last = f.put(&[("other", round)]).await;
        assert!(last > commit);
    }
}

/// Rows during whose iteration another commit is made.
#[derive(Debug)]
struct Watched {
    rows: SortedRows,
    store: Fixture,
}

impl LargeWrite for Watched {
    fn families(&self) -> Vec<(TableId, FamilyId)> {
        self.rows.families()
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    fn rows(&self, table: TableId, family: FamilyId) -> StoreResult<LargeRows<'_>> {
        let f = self.store.clone();
        let beside = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(f.put(&[("small", 1)]))
        });
        beside.join().unwrap();
        self.rows.rows(table, family)
    }
}

/// Like an empty batch.
pub async fn a_large_commit_without_rows_is_fine(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let commit = f.put(&[("a", 1)]).await;
    assert_eq!(apply(&f, vec![], vec![]).await, Ok(commit));
}

/// Nothing is written.
pub async fn a_large_commit_that_cannot_be_made_leaves_nothing(store: Arc<dyn Store>) {
    let Some(f) = fixture(store).await else { return };
    let rows = (0..300).map(|at| replace(numbered(at), at + 10_000));
    let unknown = rows.clone().chain([replace_in(TableId(77), "a", row(1))]).collect();
    assert_eq!(apply(&f, unknown, vec![]).await, Err(StoreError::NoSuchTable { table: TableId(77) }));
    let failing = Arc::new(Failing(SortedRows::new(rows.collect())));
    let failed = f.store.apply_large(failing, vec![], Durability::Sync).await;
    assert!(matches!(failed, Err(StoreError::Io { .. })), "{failed:?}");
    assert!(f.rows().await == expected_numbered(0..2000));
    f.put(&[("0000", 5)]).await;
    assert_eq!(f.get("0000").await, Some(5));
}

/// A write whose last row cannot be read.
#[derive(Debug)]
struct Failing(SortedRows);

impl LargeWrite for Failing {
    fn families(&self) -> Vec<(TableId, FamilyId)> {
        self.0.families()
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn rows(&self, table: TableId, family: FamilyId) -> StoreResult<LargeRows<'_>> {
        let failure: StoreResult<(Bytes, Option<Bytes>)> =
            Err(StoreError::Io { action: "reading a row".into(), reason: "a test".into() });
        Ok(Box::new(self.0.rows(table, family)?.chain([failure])))
    }
}
