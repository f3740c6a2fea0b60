//! Queries of tables with all forms of keys and indexes: composite, salted, descending and nullable keys over text,
//! numeric, date, timestamptz, bytea and bigint, with arrays and floats as other columns. Predicates are mostly on keys
//! and indexed columns.

mod aggregates;
mod conditions;
mod expr;
mod shapes;
mod subqueries;
mod tables;
mod values;

use crate::random::Random;
pub(crate) use tables::statements;
use tables::{TABLES, Table};
use values::Kind;

/// Generates query `number` of the seed.
pub(crate) fn query(seed: u64, number: u64) -> String {
    let mut maker = Maker { random: Random::new(seed ^ 0x4B45_5953, number), aliases: 0 };
    shapes::query(&mut maker)
}

/// State of a query's generation: random choices and unused aliases.
pub(crate) struct Maker {
    random: Random,
    aliases: usize,
}

/// Columns that an expression may name.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    columns: Vec<(String, Kind)>,
    /// Remaining nesting depth of subqueries.
    queries: usize,
}

impl Maker {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn once_in(&mut self, n: usize) -> bool {
        self.random.once_in(n)
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        self.random.of(all)
    }

    fn alias(&mut self, letter: &str) -> String {
        self.aliases += 1;
        format!("{letter}{}", self.aliases)
    }

    /// A table with a new alias: its FROM item, definition and alias.
    fn table(&mut self) -> (String, &'static Table, String) {
        let table = &TABLES[self.below(TABLES.len())];
        let alias = self.alias("t");
        (format!("{} AS {alias}", table.name), table, alias)
    }

    /// Joins the results of `count` calls of `make`.
    fn list(&mut self, count: usize, separator: &str, mut make: impl FnMut(&mut Self) -> String) -> String {
        (0..count).map(|_| make(self)).collect::<Vec<_>>().join(separator)
    }
}

impl Scope {
    fn of(table: &Table, alias: &str, queries: usize) -> Self {
        let columns = table.columns.iter().map(|column| (format!("{alias}.{}", column.name), column.kind)).collect();
        Self { columns, queries }
    }

    /// The columns of both scopes.
    fn with(&self, other: &Self) -> Self {
        Self {
            columns: [self.columns.clone(), other.columns.clone()].concat(),
            queries: self.queries.min(other.queries),
        }
    }

    fn of_kind(&self, kind: Kind) -> Vec<&String> {
        self.columns.iter().filter(|(_, of)| *of == kind).map(|(name, _)| name).collect()
    }
}
