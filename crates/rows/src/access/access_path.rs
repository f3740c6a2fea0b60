//! An access path to the rows of a table: by the rowkey, or by an index.

use super::{BoundIndex, Direction, KeyTest, Target, Width, width};
use bind::tree::{ColId, Scalar};
use catalog::{Index, RowCodec, RowReader, RowResult, Table};
use index::{CandidatePath, EntryColumns, Expected, IndexCodec, Reach, Source};
use rowkey::range::KeyRanges;
use std::sync::Arc;
use store::TableSize;

/// What is scanned: rows or index entries.
#[derive(Debug)]
pub(crate) enum Scanned {
    /// The table's rows.
    Rows(RowCodec),
    /// Covering entries; the reader decodes the columns of the scan from them.
    Covering(IndexCodec, RowReader),
    /// Entries whose rows are fetched. The row codec is the table's.
    Fetching(IndexCodec, RowCodec),
}

impl Scanned {
    /// The codec of the scanned rows or entries.
    pub(crate) fn codec(&self) -> &RowCodec {
        match self {
            Self::Rows(codec) => codec,
            Self::Covering(index, _) | Self::Fetching(index, _) => index.entries(),
        }
    }
}

/// An access path to the rows.
#[derive(Debug)]
pub(crate) struct AccessPath {
    pub(crate) scanned: Scanned,
    /// For each part of the scanned key its column in the table.
    pub(crate) key: Vec<Option<usize>>,
    /// Key parts that are expressions, over the columns of the scan.
    pub(crate) computed: Vec<(Scalar, Target)>,
    /// The number of leading parts that identify a row.
    pub(crate) unique_parts: usize,
    /// For each condition its test of the key.
    pub(crate) tests: Vec<KeyTest>,
    pub(crate) direction: Direction,
    /// The index, if the path uses one, with its entries as a table.
    pub(crate) index: Option<(Index, Arc<Table>)>,
    /// The position of the index in a hint.
    pub(crate) preferred: Option<usize>,
    /// Is a single range read in place of several?
    pub(crate) one_range: bool,
}

impl AccessPath {
    /// The path by the rowkey, with `tests` still empty.
    pub(crate) fn by_rowkey(table: &Arc<Table>) -> RowResult<Self> {
        let codec = RowCodec::new(table)?;
        let key: Vec<Option<usize>> = codec.key_columns().iter().copied().map(Some).collect();
        let unique_parts = key.len();
        let (computed, tests, direction) = (Vec::new(), Vec::new(), Direction::Any);
        let (index, preferred, one_range) = (None, None, false);
        let scanned = Scanned::Rows(codec);
        Ok(Self { scanned, key, computed, unique_parts, tests, direction, index, preferred, one_range })
    }

    /// The path by an index, for a scan of the columns `wanted`, with `tests` still empty.
    pub(crate) fn by_index(table: &Arc<Table>, index: &Index, wanted: &[usize]) -> RowResult<Self> {
        let codec = IndexCodec::new(table, index)?;
        let entries = Arc::clone(codec.entries().table());
        let columns = EntryColumns::new(table, index, &entries);
        let places: Option<Vec<usize>> = wanted.iter().map(|column| columns.readable(*column)).collect();
        let unique_parts = if index.unique { columns.own_parts() } else { columns.key().len() };
        let scanned = match places {
            Some(places) => {
                let reader = RowReader::new(codec.entries(), &places)?;
                Scanned::Covering(codec, reader)
            }
            None => Scanned::Fetching(codec, RowCodec::new(table)?),
        };
        let (computed, tests, direction) = (Vec::new(), Vec::new(), Direction::Any);
        Ok(Self {
            scanned,
            key: columns.key().to_vec(),
            computed,
            unique_parts,
            tests,
            direction,
            index: Some((index.clone(), entries)),
            preferred: None,
            one_range: false,
        })
    }

    /// Adds the index's expressions, over a scan of these columns.
    pub(crate) fn compute(&mut self, index: &Index, bound: &BoundIndex, cols: &[(usize, ColId)]) {
        let key = &self.scanned.codec().table().key;
        for (part, of) in index.parts.iter().zip(&bound.parts) {
            let (Some(expression), Some(of)) = (part.expression(), of) else { continue };
            let at = key.iter().position(|key| key.column == part.entry);
            self.computed.extend(of.over(cols).zip(at.map(|part| Target { part, ty: expression.ty })));
        }
    }

    /// The key part that a column is.
    pub(crate) fn part_of(&self, column: usize) -> Option<usize> {
        self.key.iter().position(|own| *own == Some(column))
    }

    /// How few rows the tests leave.
    pub(crate) fn width(&self) -> Width {
        width(&self.tests, self.unique_parts)
    }

    /// The estimates of the path, for the choice among access paths.
    pub(crate) fn described(&self, ranges: &KeyRanges, size: TableSize, expected: Option<Expected>) -> CandidatePath {
        let source = match &self.scanned {
            Scanned::Rows(_) => Source::Table,
            Scanned::Covering(..) => Source::Covering,
            Scanned::Fetching(..) => Source::Fetching,
        };
        let reach = Reach::of(ranges.access, ranges.ranges.len());
        CandidatePath {
            unique: ranges.equal_parts >= self.unique_parts,
            exact: ranges.exact.iter().all(|exact| *exact),
            expected,
            preferred: self.preferred,
            ..CandidatePath::new(source, reach, ranges.parts_used, size)
        }
    }

    /// The number of leading parts with values.
    fn bound_parts(&self) -> usize {
        let has_values = |part: &usize| self.tests.iter().any(|test| test.gives_values(*part));
        (0..self.key.len()).take_while(has_values).count()
    }
}

/// The order in which paths are preferred independently of values: narrow paths first, then the table itself if it is
/// read by complete keys, then paths without row lookups, then those with more parts that have values.
pub(crate) fn rank(candidate: &AccessPath) -> (Width, u8, usize) {
    let width = candidate.width();
    let kind = match (&candidate.scanned, width) {
        (Scanned::Rows(_), Width::Points) => 0,
        (Scanned::Covering(..), _) => 1,
        (Scanned::Rows(_), _) => 2,
        (Scanned::Fetching(..), _) => 3,
    };
    (width, kind, candidate.key.len().saturating_sub(candidate.bound_parts()))
}
