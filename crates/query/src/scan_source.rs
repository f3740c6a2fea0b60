//! The source of a scan: the rows of a table, or the entries of one of its indexes.
//!
//! ```text
//!   table                 rows ──────────────────────────────────────> columns
//!   covering index        entries ───────────────────────────────────> columns
//!   index                 entries ──rowkeys──> rows, in chunks ──────> columns
//! ```
//! Columns are always identified by their index in the table. Key order and key conditions refer to the key of the
//! scanned table or index.

use crate::bound_index::BoundIndex;
use crate::convert::expr_to_condition::{Mode, is_useful};
use crate::convert::expr_to_ranges::key_condition;
use crate::convert::{RowDecoder, table_schema};
use crate::error::{QueryError, QueryResult};
use catalog::row_codec::{Place, RowCodec};
use catalog::{Index, Table};
use datafusion::logical_expr::Expr;
use index::{EntryColumns, IndexCodec};
use rowkey::range::Condition;
use std::sync::Arc;

/// An index with its codecs, ready to be read.
#[derive(Clone, Debug)]
pub(crate) struct TableIndex {
    pub(crate) codec: IndexCodec,
    pub(crate) entries: Arc<RowCodec>,
    columns: EntryColumns,
    computed: Arc<BoundIndex>,
}

impl TableIndex {
    /// `computed` are its expressions and its predicate.
    pub(crate) fn new(table: &Arc<Table>, index: &Index, computed: Arc<BoundIndex>) -> QueryResult<Self> {
        let codec = IndexCodec::new(table, index)?;
        let entries = Arc::new(codec.entries().clone());
        let columns = EntryColumns::new(table, index, entries.table());
        Ok(Self { codec, entries, columns, computed })
    }

    /// The condition of a filter on the key of the entries.
    pub(crate) fn key_condition(&self, mode: Mode, filter: &Expr) -> Condition {
        key_condition(&self.entries, mode, &self.computed.over_entries(filter))
    }

    /// May the filter narrow the key ranges, or help to imply the predicate?
    pub(crate) fn may_benefit_from(&self, filter: &Expr) -> bool {
        is_useful(&self.key_condition(Mode::Shape, filter)) || self.computed.shares_predicate_columns(filter)
    }

    /// The filters that the predicate does not imply; `None` if the filters do not imply the predicate.
    pub(crate) fn left_of(&self, filters: &[Expr]) -> Option<Vec<Expr>> {
        self.computed.left_of(filters)
    }

    /// Do the entries contain all these columns?
    pub(crate) fn has_all<'a>(&self, columns: impl IntoIterator<Item = &'a usize>) -> bool {
        columns.into_iter().all(|column| self.columns.readable(*column).is_some())
    }

    /// The number of parts in the index definition.
    pub(crate) fn own_parts(&self) -> usize {
        self.columns.own_parts()
    }

    /// For each part of the entries' key its expression, over columns of the table.
    pub(crate) fn key_exprs(&self) -> Vec<Option<&Expr>> {
        let entries = self.entries.table();
        let name = |part: &catalog::KeyColumn| Some(entries.column(part.column)?.name.as_str());
        entries.key.iter().map(|part| self.computed.expr_of(name(part)?)).collect()
    }

    /// For each part of the entries' key its column in the table.
    pub(crate) fn key_columns(&self) -> &[Option<usize>] {
        self.columns.key()
    }
}

/// The source of a scan's rows. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct ScanSource {
    table: Arc<RowCodec>,
    index: Option<Arc<TableIndex>>,
    covers: bool,
}

impl ScanSource {
    pub(crate) fn table(table: &Arc<RowCodec>) -> Self {
        Self { table: Arc::clone(table), index: None, covers: false }
    }

    /// `covers`: the entries contain all columns that the scan reads.
    pub(crate) fn index(table: &Arc<RowCodec>, index: &Arc<TableIndex>, covers: bool) -> Self {
        Self { table: Arc::clone(table), index: Some(Arc::clone(index)), covers }
    }

    /// The codec of the table.
    pub(crate) fn table_codec(&self) -> &Arc<RowCodec> {
        &self.table
    }

    /// The codec of the scanned table or index.
    pub(crate) fn scanned(&self) -> &Arc<RowCodec> {
        self.index.as_ref().map_or(&self.table, |index| &index.entries)
    }

    /// The condition of a filter on the scanned key.
    pub(crate) fn key_condition(&self, mode: Mode, filter: &Expr) -> Condition {
        match &self.index {
            Some(index) => index.key_condition(mode, filter),
            None => key_condition(&self.table, mode, filter),
        }
    }

    /// The index, if the scan uses one.
    pub(crate) fn used_index(&self) -> Option<&Arc<TableIndex>> {
        self.index.as_ref()
    }

    /// The index, if the rows of its entries are fetched.
    pub(crate) fn fetched_by(&self) -> Option<&Arc<TableIndex>> {
        self.index.as_ref().filter(|_| !self.covers)
    }

    /// A decoder of columns of the output rows: the table's, or those of covering entries.
    pub(crate) fn decoder(&self, columns: &[usize]) -> QueryResult<RowDecoder> {
        match self.index.as_ref().filter(|_| self.covers) {
            Some(index) => self.entry_decoder(index, columns),
            None => RowDecoder::new(&self.table, columns),
        }
    }

    /// A decoder of columns of the scanned rows or entries.
    pub(crate) fn scanned_decoder(&self, columns: &[usize]) -> QueryResult<RowDecoder> {
        match &self.index {
            Some(index) => self.entry_decoder(index, columns),
            None => RowDecoder::new(&self.table, columns),
        }
    }

    fn entry_decoder(&self, index: &TableIndex, columns: &[usize]) -> QueryResult<RowDecoder> {
        let places: Option<Vec<usize>> = columns.iter().map(|column| index.columns.readable(*column)).collect();
        let places = places.ok_or_else(|| QueryError::internal("a column that an index does not have"))?;
        // Columns of entries are nullable even if the table's are NOT NULL.
        let schema = Arc::new(table_schema(self.table.table()).project(columns)?);
        Ok(RowDecoder::new(&index.entries, &places)?.with_schema(schema))
    }

    /// For each part of the scanned key its column in the table.
    pub(crate) fn key_columns(&self) -> Vec<Option<usize>> {
        match &self.index {
            Some(index) => index.columns.key().to_vec(),
            None => self.table.key_columns().iter().copied().map(Some).collect(),
        }
    }

    /// For each part of the scanned key its expression, converted by `make`; empty if the key has no expressions.
    pub(crate) fn computed_key<T>(&self, make: impl Fn(&Expr) -> Option<T>) -> Vec<Option<T>> {
        let parts = self.index.as_ref().map(|index| index.key_exprs()).unwrap_or_default();
        parts.into_iter().map(|expr| make(expr?)).collect()
    }

    /// The part of the scanned key that a column is.
    pub(crate) fn part_of(&self, column: usize) -> Option<usize> {
        match &self.index {
            Some(index) => index.columns.key().iter().position(|source| *source == Some(column)),
            None => match self.table.places().get(column)? {
                Place::Key(part) => Some(*part),
                Place::Value(_) => None,
            },
        }
    }
}
