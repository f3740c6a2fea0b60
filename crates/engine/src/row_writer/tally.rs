//! Counts of written rows, by kind of change.

use super::Old;
use catalog::Table;

/// Row counts of one statement or load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// New rows.
    pub(crate) inserted: u64,
    /// Rows written without looking for an existing row.
    pub(crate) upserted: u64,
    /// Existing rows that were changed.
    pub(crate) updated: u64,
    /// Deleted rows.
    pub(crate) deleted: u64,
}

impl Tally {
    /// The sum of all counts.
    pub(crate) fn rows(&self) -> u64 {
        self.inserted + self.upserted + self.updated + self.deleted
    }

    /// Adds the counts of `other`.
    pub(crate) fn add(&mut self, other: Self) {
        self.inserted += other.inserted;
        self.upserted += other.upserted;
        self.updated += other.updated;
        self.deleted += other.deleted;
    }

    /// Adds the counts to the statistics of a table.
    pub(crate) fn note(&self, table: &Table) {
        table.live.count(self.inserted, self.updated + self.upserted, self.deleted);
    }

    /// Counts a row that was written in place of `old`.
    pub(super) fn count(&mut self, old: &Old) {
        match old {
            Old::Unread => self.upserted += 1,
            Old::Unique | Old::Missing => self.inserted += 1,
            Old::Row { .. } => self.updated += 1,
        }
    }
}
