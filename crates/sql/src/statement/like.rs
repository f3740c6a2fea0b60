//! LIKE in CREATE TABLE.

use super::ObjectName;

/// `LIKE source INCLUDING …`: the columns of another relation, and what else of it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLike {
    /// Behind so many columns of the table's own.
    pub at: usize,
    /// The other relation.
    pub source: ObjectName,
    /// What is included beside names, types and NOT NULL.
    pub including: Vec<LikeOption>,
}

/// What LIKE can include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikeOption {
    /// Comments of columns, constraints and indexes.
    Comments,
    /// Of columns: there is nothing to copy.
    Compression,
    /// CHECK constraints.
    Constraints,
    /// Defaults.
    Defaults,
    /// Expressions of generated columns.
    Generated,
    /// Identities, each with a sequence of its own.
    Identity,
    /// The primary key, UNIQUE constraints and indexes.
    Indexes,
    /// Extended statistics: there are none.
    Statistics,
    /// Of columns: there is nothing to copy.
    Storage,
}

impl LikeOption {
    /// All of them, with their words.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Comments, "COMMENTS"),
        (Self::Compression, "COMPRESSION"),
        (Self::Constraints, "CONSTRAINTS"),
        (Self::Defaults, "DEFAULTS"),
        (Self::Generated, "GENERATED"),
        (Self::Identity, "IDENTITY"),
        (Self::Indexes, "INDEXES"),
        (Self::Statistics, "STATISTICS"),
        (Self::Storage, "STORAGE"),
    ];
}
