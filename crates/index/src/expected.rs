//! What the statistics of a table say of an access path to its rows, before anything is read.
//!
//! Pure. Whoever chooses among access paths hands over what each condition says: of the key of what is scanned, in parts, and of
//! the table, in columns.

use crate::Expected;
use crate::selectivity::Known;
use catalog::{Index, Table, TableStatistics, ValueStatistics};
use rowkey::range::Condition;

/// A table with statistics.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    table: &'a Table,
    statistics: &'a TableStatistics,
    rows: f64,
}

/// One access path: its key, and what conditions say about it. Conditions are in the same order wherever they stand.
pub struct JudgedPath<'a> {
    /// The index, with its entries as a table.
    pub index: Option<(&'a Index, &'a Table)>,
    /// For each part of the key of what is scanned its column in the table.
    pub key: &'a [Option<usize>],
    /// On these parts.
    pub conditions: &'a [Condition],
    /// Leading parts that ranges are made of.
    pub parts_used: usize,
    /// On columns of the table.
    pub columns: &'a [Condition],
    /// Can the condition of that number be judged before rows are fetched?
    pub on_entries: &'a dyn Fn(usize) -> bool,
}

impl<'a> Judged<'a> {
    /// A table of which the store says that it has so many rows now.
    pub fn new(table: &'a Table, statistics: &'a TableStatistics, now: u64) -> Self {
        // Of a table that was emptied since, the values that it had are still the best guess.
        let rows = statistics.rows_now(table.storage, now).unwrap_or(now as f64);
        Self { table, statistics, rows }
    }

    /// Rows of the table.
    pub fn rows(&self) -> f64 {
        self.rows
    }

    /// The values of a column, by its place in the table.
    pub fn column(&self, place: usize) -> Option<&'a ValueStatistics> {
        self.statistics.column(self.table.columns.get(place)?)
    }

    /// The share of rows that satisfy conditions on columns.
    pub fn share(&self, columns: &[Condition]) -> f64 {
        Known::of_all(&|place| self.column(place), self.rows).share(columns)
    }

    /// What is to be expected of an access path.
    pub fn expect(&self, path: &JudgedPath<'_>) -> Expected {
        let of_part = |part: usize| self.part(path, part);
        let rows = self.rows_of(path);
        let in_ranges = rows * Known::in_ranges(&of_part, rows, path.parts_used).share(path.conditions);
        let numbered = path.columns.iter().enumerate();
        let judged: Vec<Condition> =
            numbered.filter(|(at, _)| (path.on_entries)(*at)).map(|(_, condition)| condition.clone()).collect();
        let wanted = (rows * self.share(path.columns)).min(in_ranges);
        let fetched = (rows * self.share(&judged)).clamp(wanted, in_ranges.max(wanted));
        let nearness = of_part(0).and_then(|values| values.correlation).unwrap_or(0.0).abs();
        Expected { in_ranges, from_statistics: of_part(0).is_some(), fetched, wanted, nearness }
    }

    /// The values of a part of the key.
    fn part(&self, path: &JudgedPath<'_>, part: usize) -> Option<&'a ValueStatistics> {
        if let Some(column) = path.key.get(part).copied().flatten() {
            return self.column(column);
        }
        let (index, entries) = path.index?;
        let id = entries.key.get(part)?.column;
        self.statistics.index(index)?.expression(entries.column(id)?)
    }

    /// Entries of a partial index are fewer than rows.
    fn rows_of(&self, path: &JudgedPath<'_>) -> f64 {
        let Some((index, _)) = path.index.filter(|(index, _)| index.predicate.is_some()) else { return self.rows };
        match (self.statistics.index(index), self.statistics.rows) {
            (Some(entries), all) if all > 0.0 => (entries.rows * self.rows / all).min(self.rows),
            _ => self.rows,
        }
    }
}
