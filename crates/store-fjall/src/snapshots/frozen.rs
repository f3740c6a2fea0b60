//! A state without fjall's snapshot: one image per keyspace.

use crate::commit::publish::State;
use crate::placement::TableMap;
use crate::read::{Image, Position, ReadSource, Views};
use fjall::{AbstractTree, Keyspace};
use std::collections::HashMap;
use std::sync::Arc;
use store::{FamilyId, StoreResult, TableId};

/// The content of a state for a long-running reader.
pub(crate) struct Frozen {
    seqno: u64,
    pub(crate) tables: Arc<TableMap>,
    views: Arc<Views>,
    /// Images by keyspace id.
    images: HashMap<u64, (Keyspace, Arc<Image>)>,
}

impl Frozen {
    /// Takes the images while the snapshot of `state` protects the tree versions.
    pub(crate) fn take(state: &State) -> Self {
        let seqno = state.snapshot.seqno();
        let mut images = HashMap::new();
        for family in state.tables.iter().flat_map(|(_, table)| &table.families) {
            let keyspace = &family.place.keyspace;
            let image = || (keyspace.clone(), Arc::new(Image::take_alone(keyspace, seqno)));
            images.entry(keyspace.id()).or_insert_with(image);
        }
        Self { seqno, tables: state.tables.clone(), views: state.views.clone(), images }
    }

    /// Where readers find a family's rows.
    ///
    /// # Errors
    /// [`store::StoreError::NoSuchTable`], [`store::StoreError::NoSuchFamily`].
    pub(crate) fn source(&self, table: TableId, family: FamilyId) -> StoreResult<ReadSource> {
        let (_, place) = self.tables.place(table, family)?;
        let (keyspace, seqno) = (place.keyspace.clone(), self.seqno);
        // Always found: the images were taken for the same tables.
        let image = self.images.get(&keyspace.id()).map(|(_, image)| Arc::clone(image));
        let image = image.unwrap_or_else(|| Arc::new(Image::take(&keyspace, seqno)));
        let position = Position::Image { seqno, image };
        Ok(ReadSource { keyspace, prefix: place.prefix.clone(), position, views: self.views.clone() })
    }

    /// Keyspace id, memtable id and bytes of the flushed memtables that only such states keep in memory.
    pub(crate) fn retained(&self) -> impl Iterator<Item = ((u64, u64), u64)> {
        let flushed = |keyspace: &Keyspace, image: &Image| {
            let sealed = keyspace.sealed_memtable_count() as u64;
            image.memtable.id().saturating_add(sealed) < keyspace.tree.active_memtable().id()
        };
        let retained = self.images.iter().filter(move |(_, (keyspace, image))| flushed(keyspace, image));
        let bytes = retained.map(|(id, (_, image))| ((*id, image.memtable.id()), image.memtable_bytes()));
        bytes.filter(|(_, bytes)| *bytes > 0)
    }
}
