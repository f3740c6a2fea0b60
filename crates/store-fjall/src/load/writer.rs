//! Writes the rows of a load: stamps them, checks for duplicates, and creates the new keyspaces.

use super::duplicates::Neighbours;
use super::merge::{Merge, Origin};
use crate::commit::pipeline::Last;
use crate::error::engine;
use crate::inner::Inner;
use crate::limits::check_own_key;
use crate::meta;
use crate::open::keyspace;
use crate::stamp;
use fjall::{Keyspace, Slice};
use std::sync::Arc;
use store::{CommitNo, FamilyId, LoadTable, StoreError, StoreResult, TableId};

/// New keyspaces, deleted on drop unless the load takes them.
pub(crate) struct NewKeyspaces {
    inner: Arc<Inner>,
    pub(super) made: Vec<(FamilyId, Keyspace)>,
}

impl NewKeyspaces {
    pub(super) fn none(inner: &Arc<Inner>) -> Self {
        Self { inner: inner.clone(), made: Vec::new() }
    }

    /// The keyspace of a table with one family.
    ///
    /// # Errors
    /// [`StoreError::Closed`] if there is none.
    pub(super) fn only(&self) -> StoreResult<&Keyspace> {
        self.made.first().map(|(_, home)| home).ok_or(StoreError::Closed)
    }

    /// Creates a keyspace. The commit number makes its name unique.
    pub(super) fn make(&mut self, table: TableId, family: FamilyId, number: CommitNo) -> StoreResult<()> {
        let name = format!("{}{}-{}-{}", meta::OWN, table.0, family.0, number.0);
        let made = keyspace(&self.inner.pipeline.db, &self.inner.pipeline.watermark, &name)?;
        self.made.push((family, made));
        Ok(())
    }
}

impl Drop for NewKeyspaces {
    fn drop(&mut self) {
        let unused = self.made.drain(..).map(|(_, keyspace)| keyspace);
        self.inner.reclaim.lock().keyspaces.extend(unused);
    }
}

/// Checks rows, which must come in order, for duplicates and stamps them.
pub(crate) struct Writer {
    pub(super) of: LoadTable,
    pub(super) stamp: Last,
    neighbours: Neighbours,
}

impl Writer {
    /// Reserves a stamp for the rows of a load, without making a commit.
    ///
    /// # Errors
    /// I/O failures; [`StoreError::Closed`].
    pub(super) fn new(inner: &Inner, of: LoadTable) -> StoreResult<Self> {
        Ok(Self::with_stamp(of, inner.pipeline.reserve_stamp()?))
    }

    /// Continues with the stamp of a load.
    pub(super) fn with_stamp(of: LoadTable, stamp: Last) -> Self {
        Self { of, stamp, neighbours: Neighbours::default() }
    }

    /// Stamps a new row in place.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] if the bytes are not a fragment.
    pub(super) fn stamp(&self, fragment: &mut [u8]) -> StoreResult<()> {
        stamp::write(fragment, self.stamp.stamp, self.stamp.commit)
    }

    /// Writes each row to the new keyspace of its family.
    pub(super) fn write_all(&mut self, merge: Merge, homes: &[(FamilyId, Keyspace)]) -> StoreResult<()> {
        let mut ingestions = Vec::with_capacity(homes.len());
        for (family, home) in homes {
            ingestions.push((*family, home.start_ingestion().map_err(engine("beginning an ingestion"))?));
        }
        // Entries of an index without included columns all have the same value, which is allocated once.
        let mut value = Slice::empty();
        merge.run(|family, key, fragment, origin| {
            self.check(key, origin)?;
            let found = ingestions.iter_mut().find(|(id, _)| *id == family);
            let (_, ingestion) = found.ok_or(StoreError::NoSuchFamily { table: self.of.table, family })?;
            self.stamp_new(fragment, origin)?;
            if *value != *fragment {
                value = Slice::new(fragment);
            }
            ingestion.write(key, value.clone()).map_err(engine("writing a run"))
        })?;
        for (_, ingestion) in ingestions {
            ingestion.finish().map_err(engine("installing a run"))?;
        }
        Ok(())
    }

    /// # Errors
    /// [`StoreError::DuplicateKey`].
    pub(super) fn check(&mut self, key: &[u8], origin: Origin) -> StoreResult<()> {
        check_own_key(key)?;
        self.neighbours.next(&self.of, key, origin == Origin::Twice)
    }

    /// Stamps a row in place, unless it was stored in the table.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] if the bytes are not a fragment.
    pub(super) fn stamp_new(&self, fragment: &mut [u8], origin: Origin) -> StoreResult<()> {
        if origin == Origin::Stored { Ok(()) } else { self.stamp(fragment) }
    }
}
