//! A write set: layers of written rows.

use super::cursor::Source;
use super::file::SpillFile;
use super::rows::{Entry, Rows, Written};
use super::run::Run;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use store::{Bytes, FamilyId, StoreResult, TableId};

/// Immutable rows.
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

/// The uncommitted writes of a transaction or of a statement (see the `writes` module).
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteSet {
    /// From the oldest to the newest.
    layers: Vec<Layer>,
    top: Rows,
}

impl WriteSet {
    /// Whether nothing is written.
    pub(crate) fn is_empty(&self) -> bool {
        self.top.is_empty() && self.layers.is_empty()
    }

    /// Number of rows written; a row counts once in each layer.
    pub(crate) fn len(&self) -> usize {
        self.top.len() + self.layers.iter().map(Layer::len).sum::<usize>()
    }

    /// Memory that one more write needs.
    pub(crate) fn cost(key: &[u8], written: &Written) -> usize {
        Rows::cost(key, written)
    }

    /// Approximate memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.top.bytes() + self.layers.iter().map(Layer::bytes).sum::<usize>()
    }

    /// Memory that spilling would free.
    pub(crate) fn rows_in_memory(&self) -> usize {
        let frozen = self.layers.iter().filter(|layer| matches!(layer, Layer::Memory(_))).map(Layer::bytes);
        self.top.bytes() + frozen.sum::<usize>()
    }

    /// Approximate size of the rows in memory and in files.
    pub(crate) fn row_bytes(&self) -> u64 {
        let of_layer = |layer: &Layer| match layer {
            Layer::Memory(rows) => rows.bytes() as u64,
            Layer::Run(run) => run.row_bytes(),
        };
        self.top.bytes() as u64 + self.layers.iter().map(of_layer).sum::<u64>()
    }

    /// Whether some of its rows are in a file.
    pub(crate) fn has_runs(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer, Layer::Run(_)))
    }

    /// The mutable rows.
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

    /// Whether any row of this family is written.
    pub(crate) fn writes_to(&self, table: TableId, family: FamilyId) -> bool {
        self.top.family(table, family).is_some() || self.layers.iter().any(|layer| layer.writes_to(table, family))
    }

    /// The written state of a row; `None` if it was not written.
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

    /// Its layers from the oldest to the newest, for readers that keep `set` alive.
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

    /// Restores the previous entry of a row; `None` if it was not written.
    pub(crate) fn restore(&mut self, table: TableId, family: FamilyId, key: Bytes, before: Entry) {
        if before.is_none() && self.layers.is_empty() {
            self.top.remove(table, family, &key);
        } else {
            self.top.put(table, family, key, before);
        }
    }

    /// Whether all its rows are in the top layer.
    pub(crate) fn is_flat(&self) -> bool {
        self.layers.is_empty()
    }

    /// Adds the writes of `later`, which take precedence.
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

    /// Adds the layers of `later` on top. Returns the previous number of layers, including the frozen top rows.
    pub(crate) fn stack(&mut self, later: &mut Self) -> usize {
        self.freeze();
        let layers = self.layers.len();
        let later = std::mem::take(later);
        self.layers.extend(later.layers);
        self.top = later.top;
        layers
    }

    /// All rows by table, family and key, of a set without runs.
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

    /// Takes the top rows.
    pub(crate) fn take_rows(&mut self) -> impl Iterator<Item = (TableId, FamilyId, Bytes, Entry)> + use<> {
        std::mem::take(&mut self.top).into_rows()
    }

    /// Drops all layers above the first `layers`.
    pub(crate) fn truncate(&mut self, layers: usize) {
        self.layers.truncate(layers);
        self.top = Rows::default();
    }

    /// Freezes the top rows as a new layer.
    fn freeze(&mut self) {
        if !self.top.is_empty() {
            self.layers.push(Layer::Memory(Arc::new(std::mem::take(&mut self.top))));
        }
    }

    /// Spills all rows in memory to `file`. Safe to cancel: each row is then still in memory or in the file.
    ///
    /// # Errors
    /// Errors of the operating system.
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
