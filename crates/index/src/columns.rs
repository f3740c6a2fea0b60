//! Maps columns of an index's entries to columns of the table.

use catalog::{Index, Table};

/// The mapping; columns are numbered in order of declaration.
#[derive(Clone, Debug)]
pub struct EntryColumns {
    readable: Vec<Option<usize>>,
    key: Vec<Option<usize>>,
    own_parts: usize,
}

impl EntryColumns {
    /// The mapping for an index of `table` whose entries are `entries`.
    pub fn new(table: &Table, index: &Index, entries: &Table) -> Self {
        let readable = |column: &catalog::Column| entries.columns.iter().position(|entry| entry.id == column.id);
        let source = |part: &catalog::KeyColumn| {
            let own = index.parts.iter().find(|own| own.entry == part.column);
            let id = own.map_or(Some(part.column), |own| own.column())?;
            table.columns.iter().position(|column| column.id == id)
        };
        let own = |part: &&catalog::KeyColumn| index.parts.iter().any(|own| own.entry == part.column);
        Self {
            readable: table.columns.iter().map(readable).collect(),
            key: entries.key.iter().map(source).collect(),
            own_parts: entries.key.iter().filter(own).count(),
        }
    }

    /// The column of the entries with the exact values of a table column.
    pub fn readable(&self, column: usize) -> Option<usize> {
        self.readable.get(column).copied().flatten()
    }

    /// For each part of the entries' key, the table column; `None` for an expression.
    pub fn key(&self) -> &[Option<usize>] {
        &self.key
    }

    /// The number of leading key parts that the index definition names.
    pub fn own_parts(&self) -> usize {
        self.own_parts
    }
}
