//! What writes rows of a load: their stamp, what a duplicate means, and the new keyspaces they go to.

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

/// New keyspaces; deleted unless the load takes them over.
pub(crate) struct Homes {
    inner: Arc<Inner>,
    pub(super) made: Vec<(FamilyId, Keyspace)>,
}

impl Homes {
    pub(super) fn none(inner: &Arc<Inner>) -> Self {
        Self { inner: inner.clone(), made: Vec::new() }
    }

    /// The keyspace of a table with one family.
    ///
    /// # Errors
    /// [`StoreError::Closed`] when there is none.
    pub(super) fn only(&self) -> StoreResult<&Keyspace> {
        self.made.first().map(|(_, home)| home).ok_or(StoreError::Closed)
    }

    /// The commit number makes the name one that was never used.
    pub(super) fn make(&mut self, table: TableId, family: FamilyId, number: CommitNo) -> StoreResult<()> {
        let name = format!("{}{}-{}-{}", meta::OWN, table.0, family.0, number.0);
        let made = keyspace(&self.inner.pipeline.db, &self.inner.pipeline.watermark, &name)?;
        self.made.push((family, made));
        Ok(())
    }
}

impl Drop for Homes {
    fn drop(&mut self) {
        let unused = self.made.drain(..).map(|(_, keyspace)| keyspace);
        self.inner.reclaim.lock().keyspaces.extend(unused);
    }
}

/// Judges duplicates and stamps rows, which come in order.
pub(crate) struct Writer {
    pub(super) of: LoadTable,
    pub(super) stamp: Last,
    neighbours: Neighbours,
}

impl Writer {
    /// Takes a commit number and time for the rows of a load; no commit is made by it.
    ///
    /// # Errors
    /// I/O failures; [`StoreError::Closed`].
    pub(super) fn new(inner: &Inner, of: LoadTable) -> StoreResult<Self> {
        Ok(Self::with_stamp(of, inner.pipeline.reserve_stamp()?))
    }

    /// Goes on with the numbers that a load has.
    pub(super) fn with_stamp(of: LoadTable, stamp: Last) -> Self {
        Self { of, stamp, neighbours: Neighbours::default() }
    }

    /// Stamps a new row where it is.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] for bytes that are no fragment.
    pub(super) fn stamp(&self, fragment: &mut [u8]) -> StoreResult<()> {
        stamp::write(fragment, self.stamp.stamp, self.stamp.commit)
    }

    /// Every row into the new keyspace of its family.
    pub(super) fn write_all(&mut self, merge: Merge, homes: &[(FamilyId, Keyspace)]) -> StoreResult<()> {
        let mut ingestions = Vec::with_capacity(homes.len());
        for (family, home) in homes {
            ingestions.push((*family, home.start_ingestion().map_err(engine("beginning an ingestion"))?));
        }
        // Entries of an index without included columns all have the same bytes, which need to be allocated once.
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

    /// Stamps a row where it is, unless the table had it.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] for bytes that are no fragment.
    pub(super) fn stamp_new(&self, fragment: &mut [u8], origin: Origin) -> StoreResult<()> {
        if origin == Origin::Stored { Ok(()) } else { self.stamp(fragment) }
    }
}
