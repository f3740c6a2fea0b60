//! Builds a fjall batch from a [`store::WriteBatch`] and the current tables, without writing yet.

use crate::commit::pipeline::{Dropped, Last, Pipeline};
use crate::commit::publish::State;
use crate::commit::rows::{EncodedRows, ITEM_BYTES};
use crate::meta;
use crate::placement::{Changed, Family, Place, Region, Table, TableMap};
use bytes::Bytes;
use fjall::OwnedWriteBatch;
use std::sync::Arc;
use store::{RegionId, StoreError, StoreResult, TableChange, TableId, TableSpec};

/// A fjall batch under construction.
pub(super) struct Building<'a> {
    pipeline: &'a Pipeline,
    base: &'a State,
    stamp: Last,
    pub(super) batch: OwnedWriteBatch,
    /// The tables after this batch, if it changes them.
    pub(super) tables: Option<TableMap>,
    pub(super) dropped: Dropped,
    /// The tables that this batch creates or writes to.
    pub(super) touched: Vec<Changed>,
    pub(super) rows: u64,
    /// Approximate journal bytes.
    pub(super) bytes: usize,
}

impl<'a> Building<'a> {
    pub(super) fn new(pipeline: &'a Pipeline, base: &'a State, stamp: Last, batch: OwnedWriteBatch) -> Self {
        Self {
            pipeline,
            base,
            stamp,
            batch,
            tables: None,
            dropped: Dropped::default(),
            touched: Vec::new(),
            rows: 0,
            bytes: ITEM_BYTES,
        }
    }

    pub(super) fn change_table(&mut self, change: TableChange) -> StoreResult<()> {
        match change {
            TableChange::Create(spec) => self.create(spec),
            TableChange::Drop(id) => self.drop_table(id),
        }
    }

    fn create(&mut self, spec: TableSpec) -> StoreResult<()> {
        let (meta, shared) = (&self.pipeline.meta, &self.pipeline.shared);
        let tables = self.tables.get_or_insert_with(|| self.base.tables.as_ref().clone());
        if tables.table(spec.id).is_ok() {
            return Err(StoreError::TableExists { table: spec.id });
        }
        spec.families.iter().try_for_each(store::FamilySpec::check_default_options)?;
        let mut families = Vec::with_capacity(spec.families.len());
        for family in &spec.families {
            families.push(Family { id: family.id, place: Place::slot(shared, tables.next.slot) });
            tables.next.slot += 1;
        }
        let mut regions = Vec::with_capacity(spec.splits.len() + 1);
        for start in region_starts(spec.splits) {
            regions.push(Region { id: RegionId(tables.next.region), start, load: Arc::default() });
            tables.next.region += 1;
        }
        let table = Table { families, regions, changed: Changed::default() };
        touch(&mut self.touched, &table.changed);
        meta::put_table(&mut self.batch, meta, spec.id, &table)?;
        meta::put_next(&mut self.batch, meta, tables.next)?;
        tables.insert(spec.id, table);
        Ok(())
    }

    fn drop_table(&mut self, id: TableId) -> StoreResult<()> {
        let meta = &self.pipeline.meta;
        let tables = self.tables.get_or_insert_with(|| self.base.tables.as_ref().clone());
        let table = tables.remove(id).ok_or(StoreError::NoSuchTable { table: id })?;
        for family in &table.families {
            self.dropped.add(&mut self.batch, meta, &family.place)?;
        }
        meta::remove_table(&mut self.batch, meta, id);
        Ok(())
    }

    pub(super) fn tables(&self) -> &TableMap {
        self.tables.as_ref().unwrap_or(&self.base.tables)
    }

    /// Stamps rows and adds them to the batch.
    ///
    /// # Errors
    /// [`StoreError::Corrupted`] for values that are not fragments.
    pub(super) fn write(&mut self, mut rows: EncodedRows) -> StoreResult<()> {
        rows.tables().for_each(|changed| touch(&mut self.touched, changed));
        self.rows += rows.len() as u64;
        self.bytes += rows.bytes();
        rows.add_to(&mut self.batch, self.stamp)
    }
}

/// Adds a table, unless it is in the list.
fn touch(touched: &mut Vec<Changed>, changed: &Changed) {
    if !touched.iter().any(|other| other.is(changed)) {
        touched.push(changed.clone());
    }
}

/// The first keys of the regions: the empty key, then each distinct split, in order.
fn region_starts(mut splits: Vec<Bytes>) -> Vec<Bytes> {
    splits.push(Bytes::new());
    splits.sort_unstable();
    splits.dedup();
    splits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_begin_at_the_empty_key_and_at_each_split_once() {
        let splits = vec![Bytes::from_static(b"m"), Bytes::from_static(b"c"), Bytes::from_static(b"m")];
        assert_eq!(region_starts(splits), [Bytes::new(), Bytes::from_static(b"c"), Bytes::from_static(b"m")]);
        assert_eq!(region_starts(Vec::new()), [Bytes::new()]);
    }
}
