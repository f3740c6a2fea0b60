//! What a backend can do beyond the minimum.

/// The scope of a guarantee. Each scope includes the smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// One row of one family: every store guarantees this.
    Row,
    /// All rows of one region.
    Region,
    /// All rows of all tables.
    Store,
}

/// Declared once by each backend; the layers above check this and never which backend it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The scope in which a [`crate::Snapshot`] is consistent. With [`Scope::Row`] each row that is read at it is
    /// whole, committed, and at least as new as the commit that the snapshot was requested for; two rows, or two reads
    /// of one row, may be from different times.
    pub snapshot: Scope,
    /// The scope in which a [`crate::WriteBatch`] is atomic.
    pub atomic_batch: Scope,
    /// [`crate::TableChange`]s are atomic with the rows of their batch. Otherwise a batch has either one table change
    /// or rows, and a caller that needs both logs an intent.
    pub table_changes: bool,
    /// No other process writes to the store while it is open. Otherwise rows may change under a reader, and the layers
    /// above check for changes by others.
    pub exclusive: bool,
    /// Overwritten and deleted cells can be read: [`crate::FamilySpec::versions`] above 1 and
    /// [`crate::ScanRequest::times`] are supported.
    pub history: bool,
    /// A coprocessor of the layer above can add mutations to the batch that changes a row.
    pub observers: bool,
    /// Scans evaluate [`crate::Filter`] predicates. Otherwise every batch is returned undecided.
    pub filter: bool,
    /// [`crate::Store::bulk_load`] makes all rows visible atomically.
    pub bulk_load: bool,
    /// Longest rowkey in bytes.
    pub max_key_bytes: usize,
    /// Longest fragment in bytes.
    pub max_fragment_bytes: usize,
}

impl Capabilities {
    /// Returns true if every batch is atomic.
    pub fn atomic_batches(&self) -> bool {
        self.atomic_batch == Scope::Store
    }

    /// Returns true if a snapshot is a consistent, repeatable state of all tables.
    pub fn store_snapshots(&self) -> bool {
        self.snapshot == Scope::Store
    }
}
