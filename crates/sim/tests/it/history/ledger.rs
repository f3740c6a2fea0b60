//! The expected content after the steps so far.

use super::step::{Ending, Step};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The expected tables and rows. Cheap to clone: one is kept per step.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) tables: BTreeMap<u32, Arc<Table>>,
    /// The next table id. Ids are not reused.
    pub(crate) next_table: u32,
    /// The number of the last step, which rows contain as their writer.
    pub(crate) step: u64,
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) families: u16,
    /// The writing step of each row, by row number.
    pub(crate) rows: BTreeMap<u64, u64>,
}

impl Table {
    /// The family of a row.
    pub(crate) fn family_of(&self, number: u64) -> u16 {
        (number % u64::from(self.families)) as u16
    }
}

/// The expected result of a step without faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Acknowledged.
    Done,
    /// A duplicate-key error, without effect.
    Duplicate,
    /// Abandoned by the caller, without effect.
    Nothing,
}

impl Ledger {
    /// Table ids start at `first_table`.
    pub(crate) fn new(first_table: u32) -> Self {
        Self { tables: BTreeMap::new(), next_table: first_table, step: 0 }
    }

    /// Applies `step`, and returns its expected result.
    pub(crate) fn take(&mut self, step: &Step) -> Due {
        self.step += 1;
        match step {
            Step::Create { table, families } => self.create(*table, *families),
            Step::Drop { table } => drop(self.tables.remove(table)),
            Step::Truncate { table, by } => {
                let families = self.tables.remove(table).map_or(1, |old| old.families);
                self.create(*by, families);
            }
            Step::Write { puts, deletes, .. } => {
                let writer = self.step;
                for (table, number) in puts {
                    self.rows(*table).insert(*number, writer);
                }
                for (table, number) in deletes {
                    self.rows(*table).remove(number);
                }
            }
            Step::Load { .. } => return self.load(step),
            Step::Flush { .. } | Step::Pause => {}
        }
        Due::Done
    }

    fn create(&mut self, table: u32, families: u16) {
        self.tables.insert(table, Arc::new(Table { families, rows: BTreeMap::new() }));
        self.next_table = self.next_table.max(table + 1);
    }

    fn load(&mut self, step: &Step) -> Due {
        let Step::Load { table, beside, rows, replace, ending } = step else { return Due::Nothing };
        if *ending == Ending::Abandon {
            return Due::Nothing;
        }
        let writer = self.step;
        let tables = || beside.iter().chain([table]);
        let stored = tables().any(|table| rows.numbers().any(|number| self.rows(*table).contains_key(&number)));
        if (*ending == Ending::Duplicate || stored) && !replace {
            return Due::Duplicate;
        }
        tables().for_each(|table| self.rows(*table).extend(rows.numbers().map(|number| (number, writer))));
        Due::Done
    }

    fn rows(&mut self, table: u32) -> &mut BTreeMap<u64, u64> {
        &mut Arc::make_mut(self.tables.entry(table).or_default()).rows
    }
}
