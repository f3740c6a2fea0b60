//! A sequence: how it counts. Where it stands is in `sequence_values`.

use crate::{ColumnId, SchemaId, TableOid};
use serde::{Deserialize, Serialize};
use types::DataType;

/// A sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// Its oid, of the same counter as those of tables.
    pub oid: TableOid,
    /// Its schema.
    pub schema: SchemaId,
    /// Its name.
    pub name: String,
    /// smallint, integer or bigint.
    pub ty: DataType,
    /// Its first value.
    pub start: i64,
    /// Added for each value; never 0.
    pub increment: i64,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// As declared: values are handed out one by one all the same.
    pub cache: i64,
    /// Begins again at the other end?
    pub cycle: bool,
    /// The column that it goes with.
    pub owner: Option<SequenceOwner>,
    /// The first value of this generation: `start`, or what RESTART asked for.
    pub first: i64,
    /// Grows with RESTART: what was handed out before it counts no more.
    pub generation: u64,
    /// Catalog version at which it last changed.
    pub version: u64,
}

/// The column that a sequence goes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceOwner {
    /// Its table.
    pub table: TableOid,
    /// The column.
    pub column: ColumnId,
    /// Of GENERATED … AS IDENTITY, which is part of the column.
    pub identity: bool,
}

impl Sequence {
    /// Counts in another way from now on; `restart` is the next value.
    pub fn count_as(&mut self, counting: Counting, restart: Option<i64>) {
        let Counting { ty, start, increment, min, max, cache, cycle } = counting;
        (self.ty, self.start, self.increment, self.min, self.max) = (ty, start, increment, min, max);
        (self.cache, self.cycle) = (cache, cycle);
        if let Some(first) = restart {
            (self.first, self.generation) = (first, self.generation + 1);
        }
    }

    /// The value behind `last`; `None`: there is none.
    pub fn after(&self, last: i64) -> Option<i64> {
        let next = last.checked_add(self.increment).filter(|next| (self.min..=self.max).contains(next));
        let again = || if self.increment > 0 { self.min } else { self.max };
        next.or_else(|| self.cycle.then(again))
    }
}

/// A sequence to be made.
#[derive(Clone, Debug)]
pub struct NewSequence {
    /// An existing schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// How it counts.
    pub counting: Counting,
    /// The column that it goes with.
    pub owner: Option<SequenceOwner>,
}

/// How a sequence counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counting {
    /// smallint, integer or bigint.
    pub ty: DataType,
    /// The first value.
    pub start: i64,
    /// Never 0.
    pub increment: i64,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// At least 1.
    pub cache: i64,
    /// Begins again at the other end?
    pub cycle: bool,
}
