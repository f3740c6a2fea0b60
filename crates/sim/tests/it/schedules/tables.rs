//! The expected tables after a number of commits.

use std::collections::BTreeMap;

/// An expected row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of the deed that wrote it.
    pub(crate) writer: u64,
    /// The commit that published the row.
    pub(crate) commit: u64,
    /// Rows of a load carry a number that was reserved when the load began.
    pub(crate) loaded: bool,
}

/// A row as read: its writer and its stamp.
pub(crate) type Read = (u64, u64);

impl Row {
    pub(crate) fn is(&self, read: Read) -> bool {
        let stamped = if self.loaded { read.1 <= self.commit } else { read.1 == self.commit };
        self.writer == read.0 && stamped
    }
}

/// Tables by id, rows by number.
pub(crate) type Tables = BTreeMap<u32, BTreeMap<u64, Row>>;

/// One change of a deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Create(u32),
    Drop(u32),
    Put(u32, u64),
    Delete(u32, u64),
}

impl Change {
    /// The table of the change.
    pub(crate) fn table(self) -> u32 {
        let (Self::Create(table) | Self::Drop(table) | Self::Put(table, _) | Self::Delete(table, _)) = self;
        table
    }
}

/// The changes of one commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deed {
    pub(crate) changes: Vec<Change>,
    /// Table, row, and expected last writer.
    pub(crate) conditions: Vec<(u32, u64, Option<u64>)>,
    pub(crate) loads: bool,
    pub(crate) fails_on_duplicates: bool,
    /// Published only once durable.
    pub(crate) sync: bool,
}

impl Deed {
    /// Applies the deed to the tables as `writer` with this commit number. The error is the reason to refuse it.
    pub(crate) fn apply(&self, tables: &mut Tables, writer: u64, commit: u64) -> Result<(), String> {
        for (table, row, expected) in &self.conditions {
            let found = tables.get(table).and_then(|rows| rows.get(row)).map(|row| row.writer);
            if found != *expected {
                return Err(format!("row {row} of table {table} was {found:?}, and must have been {expected:?}"));
            }
        }
        for change in &self.changes {
            self.change(tables, *change, Row { writer, commit, loaded: self.loads })?;
        }
        Ok(())
    }

    fn change(&self, tables: &mut Tables, change: Change, row: Row) -> Result<(), String> {
        let no = |table: u32| format!("there was no table {table}");
        match change {
            Change::Create(table) if tables.contains_key(&table) => return Err(format!("table {table} was there")),
            Change::Create(table) => drop(tables.insert(table, BTreeMap::new())),
            Change::Drop(table) => drop(tables.remove(&table).ok_or_else(|| no(table))?),
            Change::Put(table, number) => {
                let before = tables.get_mut(&table).ok_or_else(|| no(table))?.insert(number, row);
                if before.is_some() && self.fails_on_duplicates {
                    return Err(format!("row {number} of table {table} was there: {before:?}"));
                }
            }
            Change::Delete(table, number) => drop(tables.get_mut(&table).ok_or_else(|| no(table))?.remove(&number)),
        }
        Ok(())
    }
}

/// Describes the difference between an expected table and the one read (`None` if there is no such table).
pub(crate) fn difference(due: Option<&BTreeMap<u64, Row>>, read: Option<&BTreeMap<u64, Read>>) -> Option<String> {
    let (due, read) = match (due, read) {
        (None, None) => return None,
        (Some(due), Some(read)) => (due, read),
        (due, read) => return Some(format!("is there: {}; must be: {}", read.is_some(), due.is_some())),
    };
    let lost = due.iter().find(|(number, row)| !read.get(number).is_some_and(|read| row.is(*read)));
    let extra = read.iter().find(|(number, read)| !due.get(number).is_some_and(|row| row.is(**read)));
    if lost.is_none() && extra.is_none() {
        return None;
    }
    Some(format!("{} rows instead of {}; due {lost:?}, read {extra:?}", read.len(), due.len()))
}
