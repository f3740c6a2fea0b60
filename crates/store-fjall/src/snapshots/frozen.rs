//! A state without fjall's snapshot: one image of each keyspace.

use crate::commit::publish::State;
use crate::placement::TableMap;
use crate::read::{Image, Position, ReadSource, Views};
use fjall::{AbstractTree, Keyspace};
use std::collections::HashMap;
use std::sync::Arc;
use store::{FamilyId, StoreResult, TableId};

/// What a state held, for as long as somebody reads it.
pub(crate) struct Frozen {
    seqno: u64,
    pub(crate) tables: Arc<TableMap>,
    views: Arc<Views>,
    /// By the number of the keyspace.
    images: HashMap<u64, (Keyspace, Arc<Image>)>,
}

impl Frozen {
    /// Takes the images while the snapshot of `state` protects them.
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

    /// Where a family's rows are, for the readers.
    ///
    /// # Errors
    /// No such table or family.
    pub(crate) fn source(&self, table: TableId, family: FamilyId) -> StoreResult<ReadSource> {
        let (_, place) = self.tables.place(table, family)?;
        let (keyspace, seqno) = (place.keyspace.clone(), self.seqno);
        // Every keyspace of the tables has one: they are the tables that it was made of.
        let image = self.images.get(&keyspace.id()).map(|(_, image)| Arc::clone(image));
        let image = image.unwrap_or_else(|| Arc::new(Image::take(&keyspace, seqno)));
        let position = Position::Image { seqno, image };
        Ok(ReadSource { keyspace, prefix: place.prefix.clone(), position, views: self.views.clone() })
    }

    /// The memtables that are on disk by now, and would be gone but for this state: their keyspace, number and bytes.
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
