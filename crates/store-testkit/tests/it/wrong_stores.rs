//! Stores with one bug each, which the corresponding case must detect.

use async_trait::async_trait;
use bennu_store_testkit::suite::{CaseFn, cases};
use bennu_store_testkit::{LimitedStore, ModelStore, Without};
use std::sync::Arc;
use store::{
    BulkLoad, Bytes, Capabilities, CommitNo, Durability, FamilyId, KeyRange, Mutation, OnDuplicate, ReadAt, Scan,
    ScanRequest, Snapshot, Store, StoreResult, TableChange, TableId, Timestamp, Wrapper, WriteBatch,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    LimitIgnored,
    ReverseIgnored,
    FilterIgnored,
    LastRangeMissed,
    EndIncluded,
    KeysMissing,
    ScanOfNewest,
    GetOfNewest,
    StampMissing,
    ConditionsIgnored,
    BatchNotAtomic,
    MutationsReversed,
    DeletesIgnored,
    PublishedEarly,
    SyncForgotten,
    DropIgnored,
    PieceMissing,
    DuplicatesIgnored,
    LimitsUnchecked,
    MultiGetSorted,
    FlushLosesRow,
    StillOpen,
}

/// A model with a bug.
#[derive(Debug)]
struct Wrong {
    model: ModelStore,
    bug: Bug,
}

impl Wrong {
    fn has(&self, bug: Bug) -> bool {
        self.bug == bug
    }

    async fn newest(&self) -> StoreResult<Snapshot> {
        let last = self.model.apply(WriteBatch::default(), Durability::Sync).await?;
        self.model.sync(last).await?;
        self.model.snapshot(last).await
    }
}

#[async_trait]
impl Wrapper for Wrong {
    fn inner(&self) -> &dyn Store {
        &self.model
    }

    fn capabilities(&self) -> Capabilities {
        let can = self.model.capabilities();
        let max_key_bytes = if self.has(Bug::LimitsUnchecked) { 100 } else { can.max_key_bytes };
        Capabilities { max_key_bytes, ..can }
    }

    async fn snapshot(&self, at_least: CommitNo) -> StoreResult<Snapshot> {
        if self.has(Bug::PublishedEarly) { self.newest().await } else { self.model.snapshot(at_least).await }
    }

    async fn get(
        &self,
        table: TableId,
        family: FamilyId,
        keys: &[&[u8]],
        at: ReadAt<'_>,
    ) -> StoreResult<Vec<Option<Bytes>>> {
        let mut keys = keys.to_vec();
        if self.has(Bug::MultiGetSorted) {
            keys.sort_unstable();
        }
        let newest = self.newest().await?;
        let seen = match at {
            ReadAt::Snapshot(_) if self.has(Bug::GetOfNewest) => ReadAt::Snapshot(&newest),
            at => at,
        };
        let found = self.model.get(table, family, &keys, seen).await?;
        if matches!(at, ReadAt::Newest) && self.has(Bug::StampMissing) {
            return Ok(found.into_iter().map(|row| row.map(without_stamp)).collect());
        }
        Ok(found)
    }

    async fn scan(&self, mut request: ScanRequest, snapshot: &Snapshot) -> StoreResult<Box<dyn Scan>> {
        match self.bug {
            Bug::LimitIgnored => request.limit = None,
            Bug::ReverseIgnored => request.reverse = false,
            Bug::FilterIgnored => request.filter = None,
            Bug::LastRangeMissed if request.ranges.len() > 1 => _ = request.ranges.pop(),
            Bug::KeysMissing => request.keys = false,
            Bug::ScanOfNewest => return self.model.scan(request, &self.newest().await?).await,
            Bug::EndIncluded => {
                let widen = |end: &Bytes| KeyRange::point(end.clone()).end.unwrap();
                request.ranges.iter_mut().for_each(|range| range.end = range.end.as_ref().map(widen));
            }
            _ => {}
        }
        self.model.scan(request, snapshot).await
    }

    async fn split(
        &self,
        table: TableId,
        family: FamilyId,
        ranges: &[KeyRange],
        pieces: usize,
    ) -> StoreResult<Vec<Vec<KeyRange>>> {
        let mut cut = self.model.split(table, family, ranges, pieces).await?;
        if self.has(Bug::PieceMissing) && cut.len() > 1 {
            cut.pop();
        }
        Ok(cut)
    }

    async fn apply(&self, mut batch: WriteBatch, durability: Durability) -> StoreResult<CommitNo> {
        match self.bug {
            Bug::ConditionsIgnored => batch.conditions.clear(),
            Bug::MutationsReversed => batch.mutations.reverse(),
            Bug::DeletesIgnored => batch.mutations.retain(|mutation| !matches!(mutation, Mutation::Delete { .. })),
            Bug::DropIgnored => batch.tables.retain(|change| !matches!(change, TableChange::Drop(_))),
            Bug::BatchNotAtomic => {
                let without = Without { atomic_batch: true, ..Without::default() };
                let limited = LimitedStore::new(Arc::new(self.model.clone()), without);
                return Store::apply(&limited, batch, durability).await;
            }
            _ => {}
        }
        self.model.apply(batch, durability).await
    }

    async fn sync(&self, commit: CommitNo) -> StoreResult<()> {
        if self.has(Bug::SyncForgotten) { Ok(()) } else { self.model.sync(commit).await }
    }

    async fn bulk_load(&self, table: TableId, on_duplicate: OnDuplicate) -> StoreResult<Box<dyn BulkLoad>> {
        let on_duplicate = if self.has(Bug::DuplicatesIgnored) { OnDuplicate::Replace } else { on_duplicate };
        self.model.bulk_load(table, on_duplicate).await
    }

    async fn flush(&self, table: TableId, major: bool) -> StoreResult<()> {
        if self.has(Bug::FlushLosesRow) {
            let lost = |key: &'static str| Mutation::Delete { table, family: FamilyId(0), key: key.into() };
            let mutations = vec![lost("0001"), lost("001")];
            self.model.apply(WriteBatch { mutations, ..WriteBatch::default() }, Durability::Buffered).await?;
        }
        self.model.flush(table, major).await
    }

    async fn close(&self) -> StoreResult<()> {
        if self.has(Bug::StillOpen) { Ok(()) } else { self.model.close().await }
    }
}

/// Returns true if the case fails on a store with this bug. A timeout is a failure, too.
async fn fails(name: &str, bug: Bug) -> bool {
    let (_, case): (_, CaseFn) = cases().into_iter().find(|(found, _)| *found == name).expect(name);
    let store = Arc::new(Wrong { model: ModelStore::new(), bug });
    let run = tokio::time::timeout(std::time::Duration::from_secs(5), tokio::spawn(case(store)));
    run.await.map_or(true, |finished| finished.is_err())
}

#[tokio::test]
async fn each_bug_is_found_by_the_case_that_is_about_it() {
    let cases = [
        (Bug::LimitIgnored, "scan::a_limit_ends_the_scan"),
        (Bug::ReverseIgnored, "scan::a_reverse_scan_is_the_mirror_image"),
        (Bug::FilterIgnored, "filter::dense_rows_are_filtered_exactly"),
        (Bug::LastRangeMissed, "scan::hundreds_of_ranges_are_one_scan"),
        (Bug::EndIncluded, "scan::ends_of_ranges_are_half_open"),
        (Bug::KeysMissing, "scan::only_what_is_wanted_is_handed_out"),
        (Bug::ScanOfNewest, "snapshots::a_snapshot_repeats_exactly"),
        (Bug::GetOfNewest, "snapshots::a_snapshot_repeats_exactly"),
        (Bug::StampMissing, "cells::the_store_stamps_each_fragment"),
        (Bug::ConditionsIgnored, "atomicity::an_expected_commit_must_be_the_newest"),
        (Bug::ConditionsIgnored, "atomicity::concurrent_claims_of_one_key_succeed_once"),
        (Bug::BatchNotAtomic, "atomicity::a_bad_mutation_writes_nothing"),
        (Bug::ConditionsIgnored, "atomicity::concurrent_increments_all_count"),
        (Bug::MutationsReversed, "atomicity::the_last_mutation_of_a_row_wins"),
        (Bug::DeletesIgnored, "cells::a_deleted_row_is_gone"),
        (Bug::SyncForgotten, "snapshots::a_synced_commit_is_published"),
        (Bug::DropIgnored, "tables::a_dropped_table_is_gone"),
        (Bug::PieceMissing, "regions::split_pieces_are_exactly_the_ranges"),
        (Bug::DuplicatesIgnored, "bulk::a_key_twice_in_a_load_fails_it"),
        (Bug::DuplicatesIgnored, "bulk::a_key_that_is_there_fails_the_load"),
        (Bug::LimitsUnchecked, "limits::a_key_over_the_limit_is_refused"),
        (Bug::MultiGetSorted, "cells::many_rows_are_answered_in_the_order_asked"),
        (Bug::FlushLosesRow, "flushes::a_flush_changes_no_read"),
        (Bug::FlushLosesRow, "random::operations_with_flushes_agree_with_the_model"),
        (Bug::StillOpen, "flushes::a_closed_store_refuses_calls"),
    ];
    for (bug, name) in cases {
        assert!(fails(name, bug).await, "{name} does not notice {bug:?}");
    }
}

/// Publishing early is allowed: a store that publishes every commit at once passes.
#[tokio::test]
async fn a_store_that_publishes_early_passes() {
    for (name, case) in cases().into_iter().filter(|(name, _)| name.starts_with("snapshots::")) {
        let store = Arc::new(Wrong { model: ModelStore::new(), bug: Bug::PublishedEarly });
        tokio::spawn(case(store)).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn without_stamp(fragment: Bytes) -> Bytes {
    let mut fragment = fragment.to_vec();
    fragment::stamp(&mut fragment, Timestamp(0), CommitNo(0)).unwrap();
    fragment.into()
}
