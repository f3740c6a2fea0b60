//! The keyspaces that a large commit writes to, and the order of the rows in each.

use crate::placement::{Place, Table, TableMap};
use fjall::Keyspace;
use std::sync::Arc;
use store::{FamilyId, LargeWrite, StoreError, StoreResult, TableId};

/// The keyspaces of a large commit.
pub(super) struct Targets {
    pub(super) all: Vec<Target>,
}

/// One keyspace.
pub(super) struct Target {
    pub(super) keyspace: Keyspace,
    /// In key order.
    pub(super) parts: Vec<Part>,
}

/// One family of one table.
pub(super) struct Part {
    pub(super) id: TableId,
    pub(super) family: FamilyId,
    pub(super) table: Arc<Table>,
    pub(super) place: Place,
}

impl Targets {
    /// # Errors
    /// [`StoreError::NoSuchTable`], [`StoreError::NoSuchFamily`].
    pub(super) fn of(tables: &TableMap, write: &dyn LargeWrite) -> StoreResult<Self> {
        let mut all: Vec<Target> = Vec::new();
        for (id, family) in write.families() {
            let place = tables.place(id, family)?.1.clone();
            let keyspace = place.keyspace.clone();
            let part = Part { id, family, table: tables.table(id)?.clone(), place };
            match all.iter_mut().find(|target| target.keyspace.id() == keyspace.id()) {
                Some(target) => target.parts.push(part),
                None => all.push(Target { keyspace, parts: vec![part] }),
            }
        }
        for target in &mut all {
            target.parts.sort_by(|a, b| a.place.prefix.cmp(&b.place.prefix));
        }
        Ok(Self { all })
    }

    /// Checks that the tables have not moved.
    ///
    /// # Errors
    /// [`StoreError::TableChanged`], [`StoreError::NoSuchTable`].
    pub(super) fn must_be_in(&self, tables: &TableMap) -> StoreResult<()> {
        for part in self.parts() {
            let (_, place) = tables.place(part.id, part.family)?;
            if place.keyspace.id() != part.place.keyspace.id() || place.prefix != part.place.prefix {
                return Err(StoreError::TableChanged { table: part.id });
            }
        }
        Ok(())
    }

    /// The error if concurrent commits have reached the reserved commit number.
    pub(super) fn overtaken(&self) -> StoreError {
        let table = self.parts().next().map_or(TableId(0), |part| part.id);
        StoreError::TableChanged { table }
    }

    /// The families in all keyspaces.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.all.iter().flat_map(|target| &target.parts)
    }
}
