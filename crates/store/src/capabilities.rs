//! What a backend can do beyond the minimum.

/// How far a promise of a store reaches. Each holds for what is smaller too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// One row of one family: what every store keeps.
    Row,
    /// All rows of one region.
    Region,
    /// All rows of all tables.
    Store,
}

/// Told once by each backend; the layers above ask this and never which backend it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// What one [`crate::Snapshot`] shows as of one moment. With [`Scope::Row`] each row that is read at it is
    /// whole, was committed, and holds the commit that the snapshot was asked for; two rows, or two reads of
    /// one row, may be of different moments.
    pub snapshot: Scope,
    /// Which rows of a [`crate::WriteBatch`] are written all or not at all.
    pub atomic_batch: Scope,
    /// [`crate::TableChange`]s are one step with the rows of their batch. Without it a batch has either one table
    /// change or rows, and who needs both keeps a logged intent.
    pub table_changes: bool,
    /// While it is open, no other process writes to it. Else what is read may change under its reader, and the layers
    /// above look for changes by others.
    pub exclusive: bool,
    /// Overwritten and deleted cells can be read: [`crate::FamilySpec::versions`] above 1 and
    /// [`crate::ScanRequest::times`] are taken.
    pub history: bool,
    /// A function of the layer above can add mutations to the batch in which a row changes.
    pub observers: bool,
    /// [`crate::Filter`] predicates are applied by the scan. Without it every row comes back undecided.
    pub filter: bool,
    /// [`crate::Store::bulk_load`] installs all rows at once.
    pub bulk_load: bool,
    /// Longest rowkey in bytes.
    pub max_key_bytes: usize,
    /// Longest fragment in bytes.
    pub max_fragment_bytes: usize,
}

impl Capabilities {
    /// Is every batch all or nothing?
    pub fn atomic_batches(&self) -> bool {
        self.atomic_batch == Scope::Store
    }

    /// Does a snapshot show all tables at one moment, again and again?
    pub fn store_snapshots(&self) -> bool {
        self.snapshot == Scope::Store
    }
}
