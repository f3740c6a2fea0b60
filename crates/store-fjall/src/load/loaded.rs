//! The rows of a table's load that are not in keyspaces: sorted runs, and the last rows in memory.

use super::duplicates::prefix_of;
use super::merge::Source;
use super::packed::PackedRows;
use super::rows::Rows;
use super::run::RunFile;
use super::table::RunFolder;
use std::sync::Arc;
use store::{KeyRange, LoadTable, StoreResult};

/// Number of possible cut points among the rows in memory.
const MARKS_IN_MEMORY: usize = 64;

/// Sorted rows of one load.
pub(super) struct Loaded {
    runs: Vec<RunFile>,
    rows: Arc<Rows>,
    packed: Option<Arc<PackedRows>>,
    /// Memory limit for reading the runs.
    memory: usize,
    _folder: Arc<RunFolder>,
}

impl Loaded {
    /// Takes runs and unsorted rows, and sorts these with at most `threads` threads. The runs are read with at most
    /// `memory` bytes, or with the minimum if that is more.
    pub(super) fn new(
        runs: Vec<RunFile>,
        (mut rows, mut packed): (Rows, Option<PackedRows>),
        threads: usize,
        memory: usize,
        folder: Arc<RunFolder>,
    ) -> Self {
        rows.sort();
        if let Some(packed) = &mut packed {
            packed.sort(threads);
        }
        Self { runs, rows: Arc::new(rows), packed: packed.map(Arc::new), memory, _folder: folder }
    }

    /// The rows within `range`, which must be unbounded if the rows are of several families. `readers` is the number of
    /// concurrent readers.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn sources(&self, range: &KeyRange, readers: usize) -> StoreResult<Vec<Source>> {
        let share = self.memory / (self.runs.len() * readers).max(1);
        let runs = self.runs.iter().map(|run| Source::of_run(run, range, share));
        let mut sources = runs.collect::<StoreResult<Vec<_>>>()?;
        sources.push(Source::of_rows(&self.rows, range));
        sources.extend(self.packed.iter().map(|packed| Source::of_packed(packed, range)));
        Ok(sources)
    }

    /// Returns true if there are no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.rows.bytes() == 0 && self.packed.as_ref().is_none_or(|packed| packed.len() == 0)
    }

    /// Splits all keys into at most `most` ranges with about equally many rows. Keys with the same unique prefix are in
    /// the same range. The rows must be of one family.
    ///
    /// # Errors
    /// Errors of the prefix function.
    pub(super) fn pieces(&self, of: &LoadTable, most: usize) -> StoreResult<Vec<KeyRange>> {
        let marks = self.runs.iter().flat_map(|run| run.marks().iter().map(|mark| mark.key.as_slice()));
        let in_memory = marked(self.rows.len()).filter_map(|at| self.rows.get(at).map(|row| row.key));
        let packed = self.packed.iter().flat_map(|packed| marked(packed.len()).filter_map(|at| packed.key(at)));
        let packed: Vec<Vec<u8>> = packed.collect();
        let mut marks: Vec<&[u8]> = marks.chain(in_memory).chain(packed.iter().map(Vec::as_slice)).collect();
        marks.sort_unstable();
        let mut pieces = vec![KeyRange::all()];
        for cut in (1..most).filter_map(|piece| marks.get(piece * marks.len() / most)) {
            let cut = prefix_of(of, cut)?.unwrap_or(cut);
            let first = marks.first().copied().unwrap_or_default();
            if let Some(last) = pieces.last_mut().filter(|last| *last.start < *cut && first < cut) {
                last.end = Some(cut.to_vec().into());
                pieces.push(KeyRange { start: cut.to_vec().into(), end: None });
            }
        }
        Ok(pieces)
    }
}

/// The indexes of possible cut points among `rows` rows.
fn marked(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(rows.div_ceil(MARKS_IN_MEMORY).max(1))
}
