//! Many sorted sources into one sorted stream in which each key comes once.

use super::rows::{Row, Rows};
use super::run::Run;
use crate::error::engine;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use store::{FamilyId, StoreResult};

/// One sorted source of rows.
pub(crate) enum Source {
    /// A run on disk.
    Run(Run),
    /// Rows in memory and the index of the next.
    Rows(Arc<Rows>, usize),
    /// Rows of a keyspace.
    Stored(Stored),
}

/// Rows that are in a keyspace already.
pub(crate) struct Stored {
    pub(super) iter: fjall::Iter,
    /// The length of the slot in front of the keys.
    pub(super) prefix: usize,
    pub(super) family: FamilyId,
    /// Does the table have them, or do they belong to the load?
    pub(super) origin: Origin,
    /// The row read last.
    pub(super) row: (fjall::Slice, fjall::Slice),
}

impl Source {
    /// Goes to the next row; false at the end.
    ///
    /// # Errors
    /// I/O failures.
    pub(super) fn advance(&mut self) -> StoreResult<bool> {
        match self {
            Self::Run(run) => run.advance(),
            Self::Rows(rows, next) => {
                *next += 1;
                Ok(rows.get(*next - 1).is_some())
            }
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
            Self::Run(run) => run.row(),
            Self::Rows(rows, next) => {
                rows.get(next.wrapping_sub(1)).unwrap_or(Row { family: FamilyId::default(), key: &[], fragment: &[] })
            }
            Self::Stored(Stored { prefix, family, row: (key, fragment), .. }) => {
                Row { family: *family, key: key.get(*prefix..).unwrap_or_default(), fragment }
            }
        }
    }
}

/// What the stream made of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It came once, from the load.
    New,
    /// It came once, from the table.
    Stored,
    /// It came more than once.
    Twice,
}

/// The stream.
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// (family, key, source) of each source's row; a copy of the key, so that the heap owns its order.
    heap: BinaryHeap<Reverse<(FamilyId, Vec<u8>, usize)>>,
    /// Key buffers to be used again.
    spare: Vec<Vec<u8>>,
}

impl Merge {
    /// Later sources win over earlier ones.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn new(sources: Vec<Source>) -> StoreResult<Self> {
        let mut merge = Self { heap: BinaryHeap::with_capacity(sources.len()), sources, spare: Vec::new() };
        for index in 0..merge.sources.len() {
            merge.refill(index)?;
        }
        Ok(merge)
    }

    /// Has no source a row?
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Calls `each` for every key in order with the fragment that wins.
    ///
    /// # Errors
    /// I/O failures and those of `each`.
    pub(crate) fn run(
        mut self,
        mut each: impl FnMut(FamilyId, &[u8], &[u8], Origin) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let mut fragment = Vec::new();
        while let Some((family, key, origin)) = self.next_row(&mut fragment)? {
            each(family, &key, &fragment, origin)?;
            self.spare.push(key);
        }
        Ok(())
    }

    /// The next key, with the fragment that wins.
    ///
    /// # Errors
    /// I/O failures.
    pub(crate) fn next_row(&mut self, fragment: &mut Vec<u8>) -> StoreResult<Option<(FamilyId, Vec<u8>, Origin)>> {
        let Some(Reverse((family, key, index))) = self.heap.pop() else { return Ok(None) };
        let mut origin = self.take(index, fragment);
        self.refill(index)?;
        while let Some(Reverse((_, _, again))) = self.heap.pop_if_same(family, &key) {
            self.take(again, fragment);
            origin = Origin::Twice;
            self.refill(again)?;
        }
        Ok(Some((family, key, origin)))
    }

    fn take(&self, index: usize, fragment: &mut Vec<u8>) -> Origin {
        fragment.clear();
        match self.sources.get(index) {
            None => Origin::New,
            Some(source) => {
                fragment.extend_from_slice(source.row().fragment);
                if let Source::Stored(stored) = source { stored.origin } else { Origin::New }
            }
        }
    }

    fn refill(&mut self, index: usize) -> StoreResult<()> {
        let Some(source) = self.sources.get_mut(index) else {
            return Ok(());
        };
        if source.advance()? {
            let row = source.row();
            let mut key = self.spare.pop().unwrap_or_default();
            key.clear();
            key.extend_from_slice(row.key);
            self.heap.push(Reverse((row.family, key, index)));
        }
        Ok(())
    }
}

/// Looks before it pops.
trait PopIfSame {
    fn pop_if_same(&mut self, family: FamilyId, key: &[u8]) -> Option<Reverse<(FamilyId, Vec<u8>, usize)>>;
}

impl PopIfSame for BinaryHeap<Reverse<(FamilyId, Vec<u8>, usize)>> {
    fn pop_if_same(&mut self, family: FamilyId, key: &[u8]) -> Option<Reverse<(FamilyId, Vec<u8>, usize)>> {
        let Reverse((next_family, next_key, _)) = self.peek()?;
        if *next_family == family && next_key == key { self.pop() } else { None }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn rows(list: &[(&str, &str)]) -> Source {
        let mut rows = Rows::default();
        list.iter().for_each(|(key, fragment)| rows.push(FamilyId(0), key.as_bytes(), fragment.as_bytes()));
        Source::Rows(Arc::new(rows), 0)
    }

    #[test]
    fn each_key_comes_once_and_the_last_source_wins() {
        let sources = vec![rows(&[("a", "1"), ("c", "1"), ("c", "2")]), rows(&[("b", "3"), ("c", "4")]), rows(&[])];
        let mut seen = Vec::new();
        let merge = Merge::new(sources).unwrap();
        let each = |_, key: &[u8], fragment: &[u8], origin| {
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
