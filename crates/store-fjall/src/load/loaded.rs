//! The rows of a load into one table that are not where they will be: sorted runs, and the last rows in memory.

use super::duplicates::prefix_of;
use super::merge::Source;
use super::rows::Rows;
use super::run::RunFile;
use super::table::RunFolder;
use std::sync::Arc;
use store::{KeyRange, LoadTable, StoreResult};

/// Places in the rows in memory at which they may be cut.
const MARKS_IN_MEMORY: usize = 64;

/// Sorted rows of one load.
pub(super) struct Loaded {
    runs: Vec<RunFile>,
    rows: Arc<Rows>,
    /// What reading the runs may take.
    memory: usize,
    _folder: Arc<RunFolder>,
}

impl Loaded {
    /// Runs, and rows that are not sorted yet. Runs are read into so many bytes, if these are enough.
    pub(super) fn new(runs: Vec<RunFile>, mut rows: Rows, memory: usize, folder: Arc<RunFolder>) -> Self {
        rows.sort();
        Self { runs, rows: Arc::new(rows), memory, _folder: folder }
    }

    /// The rows within `range`, which is that of all keys where they are of several families. `readers` read at a time.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn sources(&self, range: &KeyRange, readers: usize) -> StoreResult<Vec<Source>> {
        let share = self.memory / (self.runs.len() * readers).max(1);
        let runs = self.runs.iter().map(|run| Source::of_run(run, range, share));
        let mut sources = runs.collect::<StoreResult<Vec<_>>>()?;
        sources.push(Source::of_rows(&self.rows, range));
        Ok(sources)
    }

    /// Are there none?
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.rows.bytes() == 0
    }

    /// Ranges of keys, at most `most`, that have about as many rows each and all of them together. Keys with one unique prefix
    /// are in one. The rows are of one family.
    ///
    /// # Errors
    /// Those of the prefix.
    pub(super) fn pieces(&self, of: &LoadTable, most: usize) -> StoreResult<Vec<KeyRange>> {
        let marks = self.runs.iter().flat_map(|run| run.marks().iter().map(|mark| mark.key.as_slice()));
        let step = self.rows.len().div_ceil(MARKS_IN_MEMORY).max(1);
        let in_memory = (0..self.rows.len()).step_by(step).filter_map(|at| self.rows.get(at).map(|row| row.key));
        let mut marks: Vec<&[u8]> = marks.chain(in_memory).collect();
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
