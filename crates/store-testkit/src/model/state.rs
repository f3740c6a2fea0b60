//! Tables, commit numbers, and which commits are durable and published.

use super::staged::Staged;
use super::table::{ModelTable, Rows};
use std::collections::{BTreeMap, BTreeSet};
use store::{
    Bytes, Capabilities, CheckReport, CommitNo, Durability, FamilyId, KeyRange, StoreError, StoreResult, StoreStats,
    TableId, Timestamp, WriteBatch,
};

#[derive(Debug, Default)]
pub(super) struct State {
    tables: BTreeMap<TableId, ModelTable>,
    /// The last commit applied.
    last: CommitNo,
    /// The last durable commit; all commits before it are durable, too.
    durable: CommitNo,
    /// Commits after `durable` that are hidden until they are durable.
    hidden: BTreeSet<CommitNo>,
    /// The last assigned timestamp: stamps are monotonic.
    stamp: Timestamp,
    syncs: u64,
    closed: bool,
}

/// The checked and stamped changes of a commit.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) created: BTreeMap<TableId, ModelTable>,
    pub(super) dropped: BTreeSet<TableId>,
    pub(super) rows: BTreeMap<(TableId, FamilyId, Bytes), Option<Bytes>>,
}

impl State {
    pub(super) fn must_be_open(&self) -> StoreResult<()> {
        if self.closed { Err(StoreError::Closed) } else { Ok(()) }
    }

    pub(super) fn last(&self) -> CommitNo {
        self.last
    }

    /// The last published commit: the one before the first hidden commit.
    pub(super) fn published(&self) -> CommitNo {
        self.hidden.first().map_or(self.last, |first| CommitNo(first.0 - 1))
    }

    /// The table, if it exists at `commit`.
    pub(super) fn table(&self, table: TableId, commit: CommitNo) -> StoreResult<&ModelTable> {
        let found = self.tables.get(&table).filter(|found| found.is_alive(commit));
        found.ok_or(StoreError::NoSuchTable { table })
    }

    /// The rows of a family, if its table exists at `commit`.
    pub(super) fn rows(&self, table: TableId, family: FamilyId, commit: CommitNo) -> StoreResult<&Rows> {
        let rows = self.table(table, commit)?.families.get(&family);
        rows.ok_or(StoreError::NoSuchFamily { table, family })
    }

    /// Returns true if this id was ever used.
    pub(super) fn is_used(&self, table: TableId) -> bool {
        self.tables.contains_key(&table)
    }

    /// The number and stamp of the next commit.
    pub(super) fn next(&self, now: Timestamp) -> (CommitNo, Timestamp) {
        (CommitNo(self.last.0 + 1), now.max(self.stamp))
    }

    /// Applies the batch atomically.
    pub(super) fn apply(
        &mut self,
        batch: &WriteBatch,
        durability: Durability,
        now: Timestamp,
        limits: &Capabilities,
    ) -> StoreResult<CommitNo> {
        if batch.is_empty() {
            return Ok(self.last);
        }
        let changes = Staged::new(self, now, limits).batch(batch)?;
        let commit = self.install(changes, now);
        if durability == Durability::Sync {
            self.hidden.insert(commit);
        }
        Ok(commit)
    }

    /// Makes `changes` the newest state.
    pub(super) fn install(&mut self, changes: Changes, now: Timestamp) -> CommitNo {
        let (commit, stamp) = self.next(now);
        self.tables.extend(changes.created);
        for ((table, family, key), fragment) in changes.rows {
            let family = self.tables.get_mut(&table).and_then(|table| table.families.get_mut(&family));
            // Always found: checked when the batch was staged.
            if let Some(rows) = family {
                rows.put(key, commit, fragment);
            }
        }
        for table in changes.dropped {
            if let Some(table) = self.tables.get_mut(&table) {
                table.died = Some(commit);
            }
        }
        (self.last, self.stamp) = (commit, stamp);
        commit
    }

    /// Makes everything durable and visible.
    pub(super) fn sync(&mut self) {
        self.durable = self.last;
        self.hidden.clear();
        self.syncs += 1;
    }

    pub(super) fn close(&mut self) {
        self.sync();
        self.closed = true;
    }

    pub(super) fn durable_part(&self) -> Self {
        let tables = self.tables.iter().filter_map(|(&id, table)| Some((id, table.up_to(self.durable)?)));
        Self {
            tables: tables.collect(),
            last: self.durable,
            durable: self.durable,
            stamp: self.stamp,
            ..Self::default()
        }
    }

    pub(super) fn check(&self) -> CheckReport {
        let mut report = CheckReport::default();
        for (&id, table) in self.tables.iter().filter(|(_, table)| table.is_alive(self.last)) {
            for (&family, rows) in &table.families {
                let mut count = 0;
                for (key, fragment) in rows.range(&KeyRange::all(), self.last) {
                    count += 1;
                    report.bytes += (key.len() + fragment.len()) as u64;
                    if let Err(error) = fragment::Fragment::parse(fragment) {
                        let what = format!("row {key:02X?}: {error}");
                        report.problems.push(store::Problem { place: Some((id, family)), what });
                    }
                }
                report.rows.push((id, family, count));
            }
        }
        report
    }

    pub(super) fn stats(&self) -> StoreStats {
        StoreStats { values: vec![("commits_total", self.last.0), ("syncs_total", self.syncs)] }
    }
}
