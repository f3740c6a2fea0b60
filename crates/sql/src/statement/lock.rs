//! LOCK TABLE.

use super::ObjectName;

/// LOCK TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockTables {
    /// The tables, in the order in which they are locked.
    pub names: Vec<ObjectName>,
    /// How.
    pub mode: TableLockMode,
    /// NOWAIT: fail rather than wait.
    pub no_wait: bool,
}

/// Modes of LOCK TABLE, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLockMode {
    /// ACCESS SHARE: the table's definition stays.
    AccessShare,
    /// ROW SHARE.
    RowShare,
    /// ROW EXCLUSIVE: what every writer holds.
    RowExclusive,
    /// SHARE UPDATE EXCLUSIVE.
    ShareUpdateExclusive,
    /// SHARE: nobody writes.
    Share,
    /// SHARE ROW EXCLUSIVE.
    ShareRowExclusive,
    /// EXCLUSIVE: others only read.
    Exclusive,
    /// ACCESS EXCLUSIVE: others do not even read.
    AccessExclusive,
}

impl TableLockMode {
    /// All of them, with their words.
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
