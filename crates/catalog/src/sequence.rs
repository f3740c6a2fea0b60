//! A sequence definition. Its current value is in `sequence_values`.

use crate::{ColumnId, SchemaId, TableOid};
use serde::{Deserialize, Serialize};
use types::DataType;

/// A sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// Its oid, from the same counter as the oids of tables.
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
    /// CACHE as declared. It has no effect: values are never cached per session.
    pub cache: i64,
    /// CYCLE: whether it wraps around at its bound.
    pub cycle: bool,
    /// OWNED BY: the column that owns it.
    pub owner: Option<SequenceOwner>,
    /// The first value of this generation: `start`, or the value of RESTART.
    pub first: i64,
    /// Increased by RESTART, which invalidates the values of earlier generations.
    pub generation: u64,
    /// Catalog version at which it last changed.
    pub version: u64,
}

/// The column that owns a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceOwner {
    /// Its table.
    pub table: TableOid,
    /// The column.
    pub column: ColumnId,
    /// Whether it belongs to GENERATED … AS IDENTITY, and is part of the column.
    pub identity: bool,
}

impl Sequence {
    /// Changes the options; `restart` is the next value.
    pub fn count_as(&mut self, counting: Counting, restart: Option<i64>) {
        let Counting { ty, start, increment, min, max, cache, cycle } = counting;
        (self.ty, self.start, self.increment, self.min, self.max) = (ty, start, increment, min, max);
        (self.cache, self.cycle) = (cache, cycle);
        if let Some(first) = restart {
            (self.first, self.generation) = (first, self.generation + 1);
        }
    }

    /// The value after `last`; `None` if the sequence is exhausted.
    pub fn after(&self, last: i64) -> Option<i64> {
        let next = last.checked_add(self.increment).filter(|next| (self.min..=self.max).contains(next));
        let again = || if self.increment > 0 { self.min } else { self.max };
        next.or_else(|| self.cycle.then(again))
    }
}

/// A sequence to be created.
#[derive(Clone, Debug)]
pub struct NewSequence {
    /// An existing schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its options.
    pub counting: Counting,
    /// OWNED BY: the column that owns it.
    pub owner: Option<SequenceOwner>,
}

/// The options of a sequence.
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
    /// CYCLE: whether it wraps around at its bound.
    pub cycle: bool,
}
