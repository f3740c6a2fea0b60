//! Ids of the parts of a statement. No id is reused.

use std::num::NonZeroU32;

/// A column. Every node gives new ids to the columns that it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColId(NonZeroU32);

impl ColId {
    /// The id of the column at `index` in `Bound::cols`; `None` beyond 2^32 - 2.
    pub fn at(index: usize) -> Option<Self> {
        u32::try_from(index).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// Its index in `Bound::cols`.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A reference to a table: a table named twice in FROM has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelId(pub u32);

/// A CTE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CteId(pub u32);

/// A parameter, counted from 0: `$1` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u16);

/// A byte range of the statement's text; empty for parts without a position (a view's column, a default).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}
