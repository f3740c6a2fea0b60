//! Random operations on a store and on the model, whose results must be equal after each step.
//!
//! The seed determines the run; a failure prints the seed and the step.

use super::fixture::{FAMILY, Fixture, GROUP, NUMBER, TABLE, all, batch, between, delete, expect, layout, replace};
use crate::{ModelStore, Random};
use std::sync::Arc;
use store::{
    CommitNo, Durability, Filter, KeyRange, Mutation, NullTest, OnDuplicate, PointRead, ScanRequest, Snapshot, Store,
    StoreError, WriteBatch,
};

/// Without flushes, so that all rows are in memory.
pub async fn operations_agree_with_the_model(store: Arc<dyn Store>) {
    Run::new(store, 0xBE77_0001, false).await.steps(400).await;
}

/// With flushes, compactions and loads.
pub async fn operations_with_flushes_agree_with_the_model(store: Arc<dyn Store>) {
    Run::new(store, 0xBE77_0002, true).await.steps(400).await;
}

/// Runs `steps` random operations from `seed`, with flushes. For longer runs than those of the suite.
pub async fn run(store: Arc<dyn Store>, seed: u64, steps: usize) {
    Run::new(store, seed, true).await.steps(steps).await;
}

struct Run {
    store: Fixture,
    model: Fixture,
    random: Random,
    flushes: bool,
    seed: u64,
    /// Pairs of snapshots of the same state, held for some steps.
    held: Vec<(Snapshot, Snapshot)>,
}

impl Run {
    async fn new(store: Arc<dyn Store>, seed: u64, flushes: bool) -> Self {
        let model = Fixture::new(Arc::new(ModelStore::new())).await;
        Self { store: Fixture::new(store).await, model, random: Random::new(seed), flushes, seed, held: Vec::new() }
    }

    async fn steps(mut self, steps: usize) {
        for step in 0..steps {
            let what = format!("seed {:#x}, step {step}", self.seed);
            match self.random.below(100) {
                0..45 => self.write(&what).await,
                45..75 => self.scan(&what).await,
                75..87 => self.gets(&what).await,
                87..91 => self.hold().await,
                91..95 if self.flushes => self.load(&what).await,
                95.. if self.flushes => self.flush().await,
                _ => self.scan_held(&what).await,
            }
        }
        self.compare(all(), "the end").await;
    }

    /// Applies a batch of up to 12 mutations, some with conditions, which must hold for both stores or for neither.
    async fn write(&mut self, what: &str) {
        let count = 1 + self.random.below(12);
        let mutations: Vec<_> = (0..count).map(|_| self.mutation()).collect();
        let durability = if self.random.below(3) == 0 { Durability::Buffered } else { Durability::Sync };
        let condition = (self.random.below(4) == 0).then(|| self.key());
        let stale = self.random.below(4) == 0;
        let mut results = Vec::new();
        for f in [&self.store, &self.model] {
            let mut all = batch(mutations.clone());
            if let Some(key) = &condition {
                let newest = f.store.get_newest(TABLE, FAMILY, key.as_bytes()).await.unwrap();
                let found = newest.and_then(|fragment| fragment::header::commit_of(&fragment));
                let wrong = if found.is_some() { None } else { Some(CommitNo(u64::MAX)) };
                all.conditions.push(expect(key, if stale { wrong } else { found }));
            }
            results.push(apply(f, all, durability).await);
        }
        assert_eq!(results[0], results[1], "{what}: {mutations:?}");
    }

    fn mutation(&mut self) -> Mutation {
        let (key, number) = (self.key(), self.random.below(1000));
        match self.random.below(10) {
            0..5 => replace(key, number),
            5..7 => delete(key),
            _ => replace(key, number + 1000),
        }
    }

    async fn scan(&mut self, what: &str) {
        let request = self.request();
        self.compare(request, what).await;
    }

    /// Compares a scan of the newest states.
    async fn compare(&self, request: ScanRequest, what: &str) {
        let snapshots = (self.store.snapshot().await, self.model.snapshot().await);
        self.compare_at(request, &snapshots, what).await;
    }

    async fn compare_at(&self, request: ScanRequest, (a, b): &(Snapshot, Snapshot), what: &str) {
        let (a, b) = (self.store.scan_at(request.clone(), a).await, self.model.scan_at(request.clone(), b).await);
        assert_eq!(a.count, b.count, "{what}: {request:?}");
        assert_eq!(a.keys, b.keys, "{what}: {request:?}");
        assert_eq!(a.numbers(), b.numbers(), "{what}: {request:?}");
    }

    async fn gets(&mut self, what: &str) {
        let keys: Vec<_> = (0..20).map(|_| self.key()).collect();
        let (a, b) = (self.store.snapshot().await, self.model.snapshot().await);
        for key in keys {
            assert_eq!(self.store.get_at(&key, &a).await, self.model.get_at(&key, &b).await, "{what}: {key}");
            assert_eq!(self.store.newest(&key).await, self.model.newest(&key).await, "{what}: {key}");
        }
    }

    async fn hold(&mut self) {
        // Otherwise reads at an old snapshot may return newer rows.
        if !self.store.store.capabilities().store_snapshots() {
            return;
        }
        if self.held.len() > 3 {
            let one = self.random.below(self.held.len() as u64) as usize;
            self.held.swap_remove(one);
        }
        self.held.push((self.store.snapshot().await, self.model.snapshot().await));
    }

    async fn scan_held(&mut self, what: &str) {
        if self.held.is_empty() {
            return;
        }
        let request = self.request();
        let one = self.random.below(self.held.len() as u64) as usize;
        self.compare_at(request, &self.held[one], what).await;
    }

    async fn load(&mut self, what: &str) {
        if !self.store.store.capabilities().bulk_load {
            return;
        }
        let on_duplicate = if self.random.below(2) == 0 { OnDuplicate::Fail } else { OnDuplicate::Replace };
        let rows: Vec<_> = (0..self.random.below(40)).map(|_| (self.key(), self.random.below(1000))).collect();
        let mut results = Vec::new();
        for f in [&self.store, &self.model] {
            let mut load = f.store.bulk_load(TABLE, on_duplicate).await.unwrap();
            for (key, number) in &rows {
                load.write(FAMILY, key.as_bytes(), &super::fixture::row(*number)).await.unwrap();
            }
            // The store may name any of several duplicates.
            results.push(match load.finish().await {
                Ok(_) => Ok(()),
                Err(StoreError::DuplicateKey { .. }) => Err("duplicate"),
                Err(other) => panic!("{what}: {other}"),
            });
        }
        assert_eq!(results[0], results[1], "{what}: {on_duplicate:?} {rows:?}");
    }

    async fn flush(&mut self) {
        let major = self.random.below(3) == 0;
        self.store.store.flush(TABLE, major).await.unwrap();
    }

    /// A random scan: ranges, direction, limit, filter, and requested parts.
    fn request(&mut self) -> ScanRequest {
        let list = match self.random.below(3) {
            0 => vec![KeyRange::all()],
            _ => self.ranges(),
        };
        ScanRequest {
            reverse: self.random.below(2) == 0,
            limit: (self.random.below(3) == 0).then(|| self.random.below(30)),
            filter: self.filter(),
            keys: self.random.below(4) != 0,
            values: self.random.below(4) != 0,
            batch_rows: 1 + self.random.below(50) as usize,
            ..super::fixture::ranges(list)
        }
    }

    /// A range of numbers, or groups that are not NULL.
    fn filter(&mut self) -> Option<Filter> {
        if !self.store.store.capabilities().filter {
            return None;
        }
        let (lo, hi) = (self.random.below(500), 500 + self.random.below(1000));
        match self.random.below(4) {
            0 => Some(between(NUMBER, &lo.to_be_bytes(), &hi.to_be_bytes())),
            1 => {
                let group = (lo % 10) as u32;
                let test = NullTest { null_bit: layout().null_bit(GROUP), is_null: hi % 5 == 0 };
                Some(Filter { nulls: vec![test], ..between(GROUP, &group.to_be_bytes(), &[0xFF; 4]) })
            }
            _ => None,
        }
    }

    /// Sorted and disjoint ranges: pairs of neighbours in a sorted list of keys.
    fn ranges(&mut self) -> Vec<KeyRange> {
        let mut keys: Vec<_> = (0..2 + self.random.below(40)).map(|_| self.key()).collect();
        keys.sort();
        keys.dedup();
        keys.chunks_exact(2).map(|pair| super::fixture::range(&pair[0], &pair[1])).collect()
    }

    /// One of 600 keys of different lengths, few enough to collide often.
    fn key(&mut self) -> String {
        let number = self.random.below(200);
        let tail = ["", "", "\0", "z"][self.random.below(4) as usize];
        format!("{number:03}{tail}")
    }
}

/// Applies the batch, and syncs it if required. Failures are text, because commit numbers differ between stores.
async fn apply(f: &Fixture, batch: WriteBatch, durability: Durability) -> Result<(), String> {
    match f.store.apply(batch, durability).await {
        Ok(commit) if durability == Durability::Sync => f.store.sync(commit).await.map_err(|error| error.to_string()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
