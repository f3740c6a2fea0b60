//! Layers of written rows.

use super::cursor::Source;
use super::file::SpillFile;
use super::rows::{Entry, Rows, Written};
use super::run::Run;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use store::{Bytes, FamilyId, StoreResult, TableId};

/// Rows that no longer change.
#[derive(Clone, Debug)]
enum Layer {
    Memory(Arc<Rows>),
    Run(Arc<Run>),
}

impl Layer {
    fn get(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Entry>> {
        match self {
            Self::Memory(rows) => Ok(rows.get(table, family, key).cloned()),
            Self::Run(run) => run.get(table, family, key),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Memory(rows) => rows.len(),
            Self::Run(run) => run.len(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Memory(rows) => rows.bytes(),
            Self::Run(run) => run.bytes(),
        }
    }

    fn writes_to(&self, table: TableId, family: FamilyId) -> bool {
        match self {
            Self::Memory(rows) => rows.family(table, family).is_some(),
            Self::Run(run) => run.writes_to(table, family),
        }
    }
}

/// The uncommitted writes of a transaction or of a statement (head of `writes`).
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteSet {
    /// From the oldest.
    layers: Vec<Layer>,
    top: Rows,
}

impl WriteSet {
    /// Nothing written?
    pub(crate) fn is_empty(&self) -> bool {
        self.top.is_empty() && self.layers.is_empty()
    }

    /// Rows written; those of several layers count in each.
    pub(crate) fn len(&self) -> usize {
        self.top.len() + self.layers.iter().map(Layer::len).sum::<usize>()
    }

    /// Memory that one more write would hold.
    pub(crate) fn cost(key: &[u8], written: &Written) -> usize {
        Rows::cost(key, written)
    }

    /// Memory held, about.
    pub(crate) fn bytes(&self) -> usize {
        self.top.bytes() + self.layers.iter().map(Layer::bytes).sum::<usize>()
    }

    /// Memory that would go by spilling.
    pub(crate) fn rows_in_memory(&self) -> usize {
        let frozen = self.layers.iter().filter(|layer| matches!(layer, Layer::Memory(_))).map(Layer::bytes);
        self.top.bytes() + frozen.sum::<usize>()
    }

    /// Bytes of rows in memory and in files, about.
    pub(crate) fn row_bytes(&self) -> u64 {
        let of_layer = |layer: &Layer| match layer {
            Layer::Memory(rows) => rows.bytes() as u64,
            Layer::Run(run) => run.row_bytes(),
        };
        self.top.bytes() as u64 + self.layers.iter().map(of_layer).sum::<u64>()
    }

    /// Are some of its rows in a file?
    pub(crate) fn has_runs(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer, Layer::Run(_)))
    }

    /// The rows that still change.
    pub(crate) fn top(&self) -> &Rows {
        &self.top
    }

    pub(crate) fn families(&self) -> BTreeSet<(TableId, FamilyId)> {
        let mut families: BTreeSet<_> = self.top.families().map(|(id, _)| *id).collect();
        for layer in &self.layers {
            match layer {
                Layer::Memory(rows) => families.extend(rows.families().map(|(id, _)| *id)),
                Layer::Run(run) => families.extend(run.families()),
            }
        }
        families
    }

    /// Is any row of this family written?
    pub(crate) fn writes_to(&self, table: TableId, family: FamilyId) -> bool {
        self.top.family(table, family).is_some() || self.layers.iter().any(|layer| layer.writes_to(table, family))
    }

    /// What the row has become; `None` when it was not written.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn get(&self, table: TableId, family: FamilyId, key: &[u8]) -> StoreResult<Option<Written>> {
        if let Some(entry) = self.top.get(table, family, key) {
            return Ok(entry.clone());
        }
        for layer in self.layers.iter().rev() {
            if let Some(entry) = layer.get(table, family, key)? {
                return Ok(entry);
            }
        }
        Ok(None)
    }

    /// Its layers from the oldest, to be read while `set` is kept.
    pub(crate) fn sources(set: &Arc<Self>) -> Vec<Source> {
        let layers = set.layers.iter().map(|layer| match layer {
            Layer::Memory(rows) => Source::Frozen(Arc::clone(rows)),
            Layer::Run(run) => Source::Run(Arc::clone(run)),
        });
        layers.chain([Source::Top(Arc::clone(set))]).collect()
    }

    /// Writes or overwrites one row.
    pub(crate) fn put(&mut self, table: TableId, family: FamilyId, key: Bytes, written: Written) {
        self.top.put(table, family, key, Some(written));
    }

    /// Makes the row what it was; `None`: not written.
    pub(crate) fn restore(&mut self, table: TableId, family: FamilyId, key: Bytes, before: Entry) {
        if before.is_none() && self.layers.is_empty() {
            self.top.remove(table, family, &key);
        } else {
            self.top.put(table, family, key, before);
        }
    }

    /// Are all its rows on top?
    pub(crate) fn is_flat(&self) -> bool {
        self.layers.is_empty()
    }

    /// Takes the writes of `later`, which win.
    pub(crate) fn absorb(&mut self, later: &mut Self) {
        if self.is_empty() {
            std::mem::swap(self, later);
        } else if later.is_flat() {
            for (table, family, key, entry) in later.take_rows() {
                self.top.put(table, family, key, entry);
            }
        } else {
            self.stack(later);
        }
    }

    /// Puts the layers of `later` on its own. Returns how many it had, with its rows frozen.
    pub(crate) fn stack(&mut self, later: &mut Self) -> usize {
        self.freeze();
        let layers = self.layers.len();
        let later = std::mem::take(later);
        self.layers.extend(later.layers);
        self.top = later.top;
        layers
    }

    /// All rows, by table, family and key, of a set without runs.
    pub(crate) fn into_flat_rows(mut self) -> impl Iterator<Item = (TableId, FamilyId, Bytes, Written)> {
        for layer in std::mem::take(&mut self.layers).into_iter().rev() {
            if let Layer::Memory(rows) = layer {
                for (table, family, key, entry) in Arc::unwrap_or_clone(rows).into_rows() {
                    if self.top.get(table, family, &key).is_none() {
                        self.top.put(table, family, key, entry);
                    }
                }
            }
        }
        self.top.into_rows().filter_map(|(table, family, key, entry)| Some((table, family, key, entry?)))
    }

    /// The rows on top, which it then has no more.
    pub(crate) fn take_rows(&mut self) -> impl Iterator<Item = (TableId, FamilyId, Bytes, Entry)> + use<> {
        std::mem::take(&mut self.top).into_rows()
    }

    /// Drops what is above the first `layers`.
    pub(crate) fn truncate(&mut self, layers: usize) {
        self.layers.truncate(layers);
        self.top = Rows::default();
    }

    /// From now on the rows on top no longer change; new ones come above them.
    fn freeze(&mut self) {
        if !self.top.is_empty() {
            self.layers.push(Layer::Memory(Arc::new(std::mem::take(&mut self.top))));
        }
    }

    /// Brings all rows in memory to `file`. It can be dropped half-way: each row is then where it was or in the file.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) async fn spill(&mut self, file: &Arc<SpillFile>) -> io::Result<()> {
        self.freeze();
        for layer in &mut self.layers {
            if let Layer::Memory(rows) = layer {
                let (rows, file) = (Arc::clone(rows), Arc::clone(file));
                let run = tokio::task::spawn_blocking(move || Run::write(&rows, file)).await;
                *layer = Layer::Run(Arc::new(run.map_err(io::Error::other)??));
            }
        }
        Ok(())
    }
}
