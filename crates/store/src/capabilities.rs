//! What a backend can do beyond the minimum.

/// Told once by each backend; the layers above ask this and never which backend it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// A [`crate::WriteBatch`] over many rows, tables and families is all or nothing.
    pub atomic_batch: bool,
    /// A [`crate::Snapshot`] covers all tables at one commit number.
    pub global_snapshot: bool,
    /// [`crate::Filter`] predicates are applied by the scan. Without it every row comes back undecided.
    pub filter: bool,
    /// [`crate::Store::bulk_load`] installs all rows at once.
    pub bulk_load: bool,
    /// Longest rowkey in bytes.
    pub max_key_bytes: usize,
    /// Longest fragment in bytes.
    pub max_fragment_bytes: usize,
}
