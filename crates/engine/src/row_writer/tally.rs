//! How many rows were written, by what became of them.

use super::Old;
use catalog::Table;

/// Rows of one statement or load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Rows that were not there.
    pub(crate) inserted: u64,
    /// Rows that were written whether they were there or not.
    pub(crate) upserted: u64,
    /// Rows that were there and have a new state.
    pub(crate) updated: u64,
    /// Rows that are gone.
    pub(crate) deleted: u64,
}

impl Tally {
    /// All rows.
    pub(crate) fn rows(&self) -> u64 {
        self.inserted + self.upserted + self.updated + self.deleted
    }

    /// Adds those of another one.
    pub(crate) fn add(&mut self, other: Self) {
        self.inserted += other.inserted;
        self.upserted += other.upserted;
        self.updated += other.updated;
        self.deleted += other.deleted;
    }

    /// Notes them as changes of a table, for its statistics.
    pub(crate) fn note(&self, table: &Table) {
        table.live.count(self.inserted, self.updated + self.upserted, self.deleted);
    }

    /// Counts a row that came in place of `old`.
    pub(super) fn count(&mut self, old: &Old) {
        match old {
            Old::Unread => self.upserted += 1,
            Old::Unique | Old::Missing => self.inserted += 1,
            Old::Row { .. } => self.updated += 1,
        }
    }
}
