//! LOCK TABLE.

use super::ObjectName;

/// LOCK TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockTables {
    /// The tables, in the order in which they are locked.
    pub names: Vec<ObjectName>,
    /// The lock mode.
    pub mode: TableLockMode,
    /// NOWAIT: fail rather than wait.
    pub no_wait: bool,
}

/// Modes of LOCK TABLE, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLockMode {
    /// ACCESS SHARE: protects the table's definition.
    AccessShare,
    /// ROW SHARE.
    RowShare,
    /// ROW EXCLUSIVE: held by every writer.
    RowExclusive,
    /// SHARE UPDATE EXCLUSIVE.
    ShareUpdateExclusive,
    /// SHARE: blocks writers.
    Share,
    /// SHARE ROW EXCLUSIVE.
    ShareRowExclusive,
    /// EXCLUSIVE: allows only readers.
    Exclusive,
    /// ACCESS EXCLUSIVE: blocks readers, too.
    AccessExclusive,
}

impl TableLockMode {
    /// All modes, with their keywords.
    pub const ALL: [(Self, &[&str]); 8] = [
        (Self::AccessShare, &["ACCESS", "SHARE"]),
        (Self::AccessExclusive, &["ACCESS", "EXCLUSIVE"]),
        (Self::RowShare, &["ROW", "SHARE"]),
        (Self::RowExclusive, &["ROW", "EXCLUSIVE"]),
        (Self::ShareUpdateExclusive, &["SHARE", "UPDATE", "EXCLUSIVE"]),
        (Self::ShareRowExclusive, &["SHARE", "ROW", "EXCLUSIVE"]),
        (Self::Share, &["SHARE"]),
        (Self::Exclusive, &["EXCLUSIVE"]),
    ];
}
