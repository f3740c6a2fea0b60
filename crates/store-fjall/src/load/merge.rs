//! Merges several sorted sources into one sorted stream with distinct keys.

use super::packed::{PackedRows, Unpacked};
use super::packing::{Differences, Packing};
use super::rows::{Row, Rows};
use super::run::{Run, RunFile};
use crate::error::engine;
use bytes::Bytes;
use std::sync::Arc;
use store::{FamilyId, KeyRange, StoreResult};

/// One sorted source of rows.
pub(crate) enum Source {
    /// A run on disk, up to an exclusive end key.
    Run(Run, Option<Bytes>),
    /// Rows in memory, the index after the current row, and the end index.
    Rows(Arc<Rows>, usize, usize),
    /// Packed rows in memory.
    Packed(Packed),
    /// Rows of a keyspace.
    Stored(Stored),
}

/// Sorted packed rows in memory.
pub(crate) struct Packed {
    rows: Arc<PackedRows>,
    /// The index after the current row, and the end index.
    next: usize,
    end: usize,
    /// The current row.
    row: Unpacked,
}

/// Rows that are in a keyspace already.
pub(crate) struct Stored {
    pub(super) iter: fjall::Iter,
    /// Length of the slot before the keys.
    pub(super) prefix: usize,
    pub(super) family: FamilyId,
    /// Whether the rows belong to the table or to the load.
    pub(super) origin: Origin,
    /// The current row.
    pub(super) row: (fjall::Slice, fjall::Slice),
}

impl Source {
    /// The rows of a run within `range`, which must be unbounded if the rows are of several families. Reads about
    /// `bytes` bytes at a time.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn of_run(run: &RunFile, range: &KeyRange, bytes: usize) -> StoreResult<Self> {
        let mut run = run.open(&range.start, bytes)?;
        if !range.start.is_empty() {
            // Stops before the first row in the range, so that the next `advance` returns it.
            while run.advance()? {
                if *run.row().key >= *range.start {
                    run.stay();
                    break;
                }
            }
        }
        Ok(Self::Run(run, range.end.clone()))
    }

    /// The rows within `range` of sorted rows in memory, as [`Self::of_run`].
    pub(super) fn of_rows(rows: &Arc<Rows>, range: &KeyRange) -> Self {
        let end = range.end.as_ref().map_or(rows.len(), |end| rows.below(end));
        let start = if range.start.is_empty() { 0 } else { rows.below(&range.start) };
        Self::Rows(rows.clone(), start, end)
    }

    /// The rows within `range` of sorted packed rows, as [`Self::of_run`].
    pub(super) fn of_packed(rows: &Arc<PackedRows>, range: &KeyRange) -> Self {
        let (next, end) = rows.within(range);
        Self::Packed(Packed { rows: rows.clone(), next, end, row: Unpacked::new(rows.template().clone()) })
    }

    /// Advances to the next row. Returns false at the end.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn advance(&mut self) -> StoreResult<bool> {
        match self {
            Self::Run(run, end) => Ok(run.advance()? && end.as_ref().is_none_or(|end| *run.row().key < **end)),
            Self::Rows(_, next, end) => {
                *next += 1;
                Ok(*next <= *end)
            }
            Self::Packed(Packed { rows, next, end, row }) => match rows.number(*next).filter(|_| *next < *end) {
                None => Ok(false),
                Some(number) => {
                    *next += 1;
                    row.set(number);
                    Ok(true)
                }
            },
            Self::Stored(Stored { iter, row, .. }) => match iter.next() {
                None => Ok(false),
                Some(guard) => {
                    *row = guard.into_inner().map_err(engine("reading rows of the loaded table"))?;
                    Ok(true)
                }
            },
        }
    }

    fn row(&self) -> Row<'_> {
        match self {
            Self::Run(run, _) => run.row(),
            Self::Rows(rows, next, _) => {
                rows.get(next.wrapping_sub(1)).unwrap_or(Row { family: FamilyId::default(), key: &[], fragment: &[] })
            }
            Self::Packed(packed) => packed.row.row(),
            Self::Stored(Stored { prefix, family, row: (key, fragment), .. }) => {
                Row { family: *family, key: key.get(*prefix..).unwrap_or_default(), fragment }
            }
        }
    }

    /// The bits in which the keys differ.
    fn differences(&self) -> Option<&Differences> {
        match self {
            Self::Run(run, _) => run.differences(),
            Self::Rows(rows, ..) => rows.differences(),
            Self::Packed(packed) => Some(packed.rows.differences()),
            Self::Stored(_) => None,
        }
    }

    fn origin(&self) -> Origin {
        if let Self::Stored(stored) = self { stored.origin } else { Origin::New }
    }
}

/// The origin of a merged row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One source, the load.
    New,
    /// One source, the table.
    Stored,
    /// More than one source.
    Twice,
}

/// A merging iterator.
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// A binary min-heap of the sources with a row.
    heap: Vec<Top>,
    /// Maps keys to numbers that sort like the keys.
    packing: Packing,
}

/// The current row of a source, and the number of its key, which mostly decides the comparison.
struct Top {
    family: FamilyId,
    number: u128,
    source: usize,
}

impl Merge {
    /// Merges the sources. For equal keys, later sources win.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn new(sources: Vec<Source>) -> StoreResult<Self> {
        let (mut sources, mut present) = (sources, Vec::new());
        for (at, source) in sources.iter_mut().enumerate() {
            if source.advance()? {
                present.push(at);
            }
        }
        let with_rows = present.iter().filter_map(|at| sources.get(*at));
        let packing = match present.as_slice() {
            // A single source is sorted: only equal keys are looked for, and they are adjacent.
            [_] => Packing::of_nothing(),
            _ => packing_of(with_rows).unwrap_or_else(Packing::of_prefixes),
        };
        let tops = present.iter().filter_map(|at| Some(Top::of(&packing, sources.get(*at)?, *at)));
        let mut merge = Self { heap: tops.collect(), sources, packing };
        (0..merge.heap.len() / 2).rev().for_each(|at| merge.sink(at));
        Ok(merge)
    }

    /// Returns true if no source has a row.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Calls `each` for every key in order with the winning fragment, which may be changed.
    ///
    /// # Errors
    /// I/O failures and errors of `each`.
    pub(crate) fn run(
        mut self,
        mut each: impl FnMut(FamilyId, &[u8], &mut [u8], Origin) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let (mut key, mut fragment) = (Vec::new(), Vec::new());
        while let Some((family, origin)) = self.next_row(&mut key, &mut fragment)? {
            each(family, &key, &mut fragment, origin)?;
        }
        Ok(())
    }

    /// Returns the next key with the winning fragment.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn next_row(
        &mut self,
        key: &mut Vec<u8>,
        fragment: &mut Vec<u8>,
    ) -> StoreResult<Option<(FamilyId, Origin)>> {
        let Some((family, number)) = self.heap.first().map(|top| (top.family, top.number)) else { return Ok(None) };
        let mut origin = self.take(key, fragment)?;
        while let Some(top) = self.heap.first()
            && (top.family, top.number) == (family, number)
            && self.row_of(top).key == key.as_slice()
        {
            self.take(key, fragment)?;
            origin = Origin::Twice;
        }
        Ok(Some((family, origin)))
    }

    /// Copies the first row and advances its source.
    fn take(&mut self, key: &mut Vec<u8>, fragment: &mut Vec<u8>) -> StoreResult<Origin> {
        let Some(top) = self.heap.first_mut() else { return Ok(Origin::New) };
        let Some(source) = self.sources.get_mut(top.source) else { return Ok(Origin::New) };
        let (row, origin) = (source.row(), source.origin());
        key.clear();
        key.extend_from_slice(row.key);
        fragment.clear();
        fragment.extend_from_slice(row.fragment);
        if source.advance()? {
            *top = Top::of(&self.packing, source, top.source);
        } else {
            self.heap.swap_remove(0);
        }
        self.sink(0);
        Ok(origin)
    }

    fn row_of(&self, top: &Top) -> Row<'_> {
        let none = Row { family: top.family, key: &[], fragment: &[] };
        self.sources.get(top.source).map_or(none, Source::row)
    }

    fn comes_before(&self, a: &Top, b: &Top) -> bool {
        let numbers = (a.family, a.number).cmp(&(b.family, b.number));
        numbers.then_with(|| self.row_of(a).key.cmp(self.row_of(b).key)).then(a.source.cmp(&b.source)).is_lt()
    }

    /// Restores the heap order below `at`.
    fn sink(&mut self, mut at: usize) {
        loop {
            let below = [2 * at + 1, 2 * at + 2];
            let mut first = at;
            for child in below {
                if let (Some(child_top), Some(first_top)) = (self.heap.get(child), self.heap.get(first))
                    && self.comes_before(child_top, first_top)
                {
                    first = child;
                }
            }
            if first == at {
                return;
            }
            self.heap.swap(at, first);
            at = first;
        }
    }
}

/// The packing for the keys of all sources, if each knows its differences.
fn packing_of<'s>(sources: impl Iterator<Item = &'s Source>) -> Option<Packing> {
    let mut all: Option<Differences> = None;
    for source in sources {
        let differences = source.differences()?;
        all = Some(match all {
            Some(all) => all.and(differences),
            None => differences.clone(),
        });
    }
    all.map(|all| all.packing())
}

impl Top {
    fn of(packing: &Packing, of: &Source, source: usize) -> Self {
        let number = match of {
            Source::Run(run, _) => run.pack(packing),
            Source::Packed(packed) => packed.row.pack(packing),
            _ => packing.pack(of.row().key),
        };
        Self { family: of.row().family, number, source }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn rows(list: &[(&str, &str)]) -> Source {
        let mut rows = Rows::default();
        list.iter().for_each(|(key, fragment)| rows.push(FamilyId(0), key.as_bytes(), fragment.as_bytes()));
        Source::of_rows(&Arc::new(rows), &KeyRange::all())
    }

    #[test]
    fn each_key_comes_once_and_the_last_source_wins() {
        let sources = vec![rows(&[("a", "1"), ("c", "1"), ("c", "2")]), rows(&[("b", "3"), ("c", "4")]), rows(&[])];
        let mut seen = Vec::new();
        let merge = Merge::new(sources).unwrap();
        let each = |_, key: &[u8], fragment: &mut [u8], origin| {
            seen.push((
                String::from_utf8_lossy(key).into_owned(),
                String::from_utf8_lossy(fragment).into_owned(),
                origin,
            ));
            Ok(())
        };
        merge.run(each).unwrap();
        let expected = [("a", "1", Origin::New), ("b", "3", Origin::New), ("c", "4", Origin::Twice)];
        assert_eq!(seen, expected.map(|(key, fragment, origin)| (key.to_owned(), fragment.to_owned(), origin)));
    }
}
