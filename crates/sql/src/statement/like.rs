//! LIKE in CREATE TABLE.

use super::ObjectName;

/// `LIKE source INCLUDING …`: copies the columns of another relation, and the properties that are included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLike {
    /// Number of the table's own columns before it.
    pub at: usize,
    /// The other relation.
    pub source: ObjectName,
    /// What is copied besides names, types and NOT NULL.
    pub including: Vec<LikeOption>,
}

/// A property that LIKE can include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikeOption {
    /// Comments of columns, constraints and indexes.
    Comments,
    /// Compression of columns: there is nothing to copy.
    Compression,
    /// CHECK constraints.
    Constraints,
    /// Defaults.
    Defaults,
    /// Expressions of generated columns.
    Generated,
    /// Identity columns, each with a sequence of its own.
    Identity,
    /// The primary key, UNIQUE constraints and indexes.
    Indexes,
    /// Extended statistics: there are none.
    Statistics,
    /// Storage of columns: there is nothing to copy.
    Storage,
}

impl LikeOption {
    /// All options, with their keywords.
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
