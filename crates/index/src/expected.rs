//! Estimates from the statistics of a table how many rows an access path reads.
//!
//! Pure functions. The caller provides each condition twice: on the key parts of the path, and on columns of the table.

use crate::Expected;
use crate::selectivity::Known;
use catalog::{Index, Table, TableStatistics, ValueStatistics};
use rowkey::range::Condition;

/// A table with statistics.
#[derive(Clone, Copy, Debug)]
pub struct TableEstimator<'a> {
    table: &'a Table,
    statistics: &'a TableStatistics,
    rows: f64,
}

/// One access path: its key and its conditions. Both condition lists are in the same order.
pub struct EstimatorPath<'a> {
    /// The index and its entries as a table.
    pub index: Option<(&'a Index, &'a Table)>,
    /// For each part of the path's key, its column in the table.
    pub key: &'a [Option<usize>],
    /// The conditions on key parts.
    pub conditions: &'a [Condition],
    /// The number of leading parts that key ranges use.
    pub parts_used: usize,
    /// The conditions on columns of the table.
    pub columns: &'a [Condition],
    /// Whether the condition with that number can be checked before rows are fetched.
    pub on_entries: &'a dyn Fn(usize) -> bool,
}

impl<'a> TableEstimator<'a> {
    /// A table that now has `now` rows according to the store.
    pub fn new(table: &'a Table, statistics: &'a TableStatistics, now: u64) -> Self {
        // After TRUNCATE, the statistics of the old rows are still the best guess.
        let rows = statistics.rows_now(table.storage, now).unwrap_or(now as f64);
        Self { table, statistics, rows }
    }

    /// The estimated rows of the table.
    pub fn rows(&self) -> f64 {
        self.rows
    }

    /// The statistics of a column, by its position in the table.
    pub fn column(&self, place: usize) -> Option<&'a ValueStatistics> {
        self.statistics.column(self.table.columns.get(place)?)
    }

    /// The fraction of rows that satisfy conditions on columns.
    pub fn share(&self, columns: &[Condition]) -> f64 {
        Known::of_all(&|place| self.column(place), self.rows).share(columns)
    }

    /// Estimates the rows of an access path.
    pub fn expect(&self, path: &EstimatorPath<'_>) -> Expected {
        let of_part = |part: usize| self.part(path, part);
        let rows = self.rows_of(path);
        let in_ranges = rows * Known::in_ranges(&of_part, rows, path.parts_used).share(path.conditions);
        let numbered = path.columns.iter().enumerate();
        let judged: Vec<Condition> =
            numbered.filter(|(at, _)| (path.on_entries)(*at)).map(|(_, condition)| condition.clone()).collect();
        let wanted = (rows * self.share(path.columns)).min(in_ranges);
        let fetched = (rows * self.share(&judged)).clamp(wanted, in_ranges.max(wanted));
        let clustering = of_part(0).and_then(|values| values.correlation).unwrap_or(0.0).abs();
        Expected { in_ranges, from_statistics: of_part(0).is_some(), fetched, wanted, clustering }
    }

    /// The statistics of a key part.
    fn part(&self, path: &EstimatorPath<'_>, part: usize) -> Option<&'a ValueStatistics> {
        if let Some(column) = path.key.get(part).copied().flatten() {
            return self.column(column);
        }
        let (index, entries) = path.index?;
        let id = entries.key.get(part)?.column;
        self.statistics.index(index)?.expression(entries.column(id)?)
    }

    /// The rows of the path: a partial index has fewer entries than the table has rows.
    fn rows_of(&self, path: &EstimatorPath<'_>) -> f64 {
        let Some((index, _)) = path.index.filter(|(index, _)| index.predicate.is_some()) else { return self.rows };
        match (self.statistics.index(index), self.statistics.rows) {
            (Some(entries), all) if all > 0.0 => (entries.rows * self.rows / all).min(self.rows),
            _ => self.rows,
        }
    }
}
