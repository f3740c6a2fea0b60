//! One step of a history, and the choice of the next.

use super::ledger::Ledger;
use crate::random::Random;

/// An operation on the store. Each contains all parameters, so that a list of steps is reproducible.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Creates a table.
    Create { table: u32, families: u16 },
    /// Drops a table.
    Drop { table: u32 },
    /// Replaces a table by an empty one, in one batch.
    Truncate { table: u32, by: u32 },
    /// Writes and deletes rows in one batch.
    Write { puts: Vec<(u32, u64)>, deletes: Vec<(u32, u64)>, synced: bool },
    /// A bulk load, into the tables of `beside` with the same rows, too.
    Load { table: u32, beside: Vec<u32>, rows: Rows, replace: bool, ending: Ending },
    /// A flush, with `major` also a compaction.
    Flush { table: u32, major: bool },
    /// Waits for background work.
    Pause,
}

/// The rows of a load: `first`, `first + stride`, ...
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) first: u64,
    pub(crate) stride: u64,
    pub(crate) count: u64,
    /// Whether the rows are in key order.
    pub(crate) sorted: bool,
}

/// The end of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The load is finished.
    Finish,
    /// The last row is a duplicate of the first.
    Duplicate,
    /// The load is dropped.
    Abandon,
}

impl Rows {
    /// The row numbers in the order of writing.
    pub(crate) fn numbers(self) -> impl Iterator<Item = u64> {
        let place = move |at: u64| if self.sorted { at } else { (at * 7_919) % self.count };
        (0..self.count).map(move |at| self.first + place(at) * self.stride)
    }
}

/// Chooses steps at random.
pub(crate) struct Chooser {
    random: Random,
    most_tables: u64,
}

impl Chooser {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let most_tables = 1 + random.below(4);
        Self { random, most_tables }
    }

    /// Chooses the step after those of `ledger`.
    pub(crate) fn next(&mut self, ledger: &Ledger) -> Step {
        let tables: Vec<u32> = ledger.tables.keys().copied().collect();
        if tables.is_empty() || ((tables.len() as u64) < self.most_tables && self.random.percent(15)) {
            let families = if self.random.percent(12) { 2 } else { 1 };
            return Step::Create { table: ledger.next_table, families };
        }
        let table = tables[self.random.below(tables.len() as u64) as usize];
        match self.random.below(100) {
            0..30 => self.write(&tables, ledger),
            30..72 => self.load(table, &tables, ledger),
            72..79 => Step::Drop { table },
            79..87 => Step::Truncate { table, by: ledger.next_table },
            87..95 => Step::Flush { table, major: self.random.percent(40) },
            _ => Step::Pause,
        }
    }

    fn write(&mut self, tables: &[u32], ledger: &Ledger) -> Step {
        let (mut puts, mut deletes) = (Vec::new(), Vec::new());
        // Some are large commits.
        let count = if self.random.percent(20) { 40 + self.random.below(100) } else { 1 + self.random.below(8) };
        for _ in 0..count {
            let table = tables[self.random.below(tables.len() as u64) as usize];
            match self.stored(table, ledger).filter(|_| self.random.percent(35)) {
                Some(number) => deletes.push((table, number)),
                None => puts.push((table, self.random.below(4_000))),
            }
        }
        Step::Write { puts, deletes, synced: self.random.percent(75) }
    }

    /// A row of the table.
    fn stored(&mut self, table: u32, ledger: &Ledger) -> Option<u64> {
        let from = self.random.below(4_000);
        let rows = &ledger.tables.get(&table)?.rows;
        rows.range(from..).chain(rows.range(..from)).next().map(|(number, _)| *number)
    }

    fn load(&mut self, table: u32, tables: &[u32], ledger: &Ledger) -> Step {
        let stride = 1 + self.random.below(7);
        let count = match self.random.below(10) {
            0..2 => 1 + self.random.below(8),
            2..9 => 20 + self.random.below(100),
            _ => 200 + self.random.below(200),
        };
        let others = tables.iter().copied().filter(|other| *other != table);
        let beside: Vec<u32> = if self.random.percent(40) { others.collect() } else { Vec::new() };
        // Most start after the existing rows, so that appends succeed.
        let all = beside.iter().chain([&table]).filter_map(|table| ledger.tables.get(table)?.rows.last_key_value());
        let behind = all.map(|(last, _)| last + 1).max().unwrap_or(0);
        let first = if self.random.percent(70) { behind } else { self.random.below(2_000) };
        let rows = Rows { first, stride, count, sorted: self.random.percent(60) };
        let ending = match self.random.below(10) {
            0..6 => Ending::Finish,
            6..8 => Ending::Duplicate,
            _ => Ending::Abandon,
        };
        Step::Load { table, beside, rows, replace: self.random.percent(30), ending }
    }
}
