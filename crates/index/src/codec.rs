//! Rows to entries, and entries back to the rowkeys of their rows.

use catalog::{ColumnId, Index, RowCodec, RowError, RowResult, Table, key_keeps_value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::Bytes;
use types::Datum;

/// The entries of one index of one version of its table.
#[derive(Clone, Debug)]
pub struct IndexCodec {
    index: Index,
    entries: RowCodec,
    /// For each column of the entries the position of its column in the table.
    sources: Vec<usize>,
    /// Positions, in the table, of the parts of the index.
    parts: Vec<usize>,
    /// For each part of the rowkey its position in the entries.
    rowkey: Vec<usize>,
    /// Are there included columns with values that are equal and not the same, such as 1.0 and 1.00?
    loose: bool,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: Bytes,
    /// Its included columns, not yet stamped.
    pub fragment: Bytes,
    /// Bytes of the key that no other row's entry may begin with: the parts of the index, without salt in front. `None` if the index is
    /// not unique, or the row is equal to no other because of a NULL.
    pub unique_prefix: Option<usize>,
}

impl IndexCodec {
    /// The codec of `index`, an index of `table`.
    ///
    /// # Errors
    /// [`RowError::Internal`] for an index that the catalog would not have made.
    pub fn new(table: &Arc<Table>, index: &Index) -> RowResult<Self> {
        let entries = RowCodec::new(&Arc::new(index.entries(table)))?;
        let broken = |what: &str| RowError::internal(format!("index \"{}\": {what}", index.name));
        let source_of = |entry: ColumnId| {
            let part = index.parts.iter().find(|part| part.entry == entry);
            let id = part.map_or(entry, |part| part.column);
            table.columns.iter().position(|column| column.id == id).ok_or_else(|| broken("a column of no table"))
        };
        let columns = &entries.table().columns;
        let sources = columns.iter().map(|column| source_of(column.id)).collect::<RowResult<_>>()?;
        let parts = index.parts.iter().map(|part| source_of(part.entry)).collect::<RowResult<_>>()?;
        let entry_of = |id: ColumnId| columns.iter().position(|column| column.id == id);
        let rowkey = table.key.iter().map(|part| entry_of(part.column)).collect::<Option<_>>();
        let rowkey = rowkey.ok_or_else(|| broken("without the rowkey"))?;
        let loose = entries.table().value_columns().any(|column| !key_keeps_value(column.ty));
        Ok(Self { index: index.clone(), entries, sources, parts, rowkey, loose })
    }

    /// The definition.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The entries as rows.
    pub fn entries(&self) -> &RowCodec {
        &self.entries
    }

    /// The entry of a row, which has a value for each column of the table.
    ///
    /// # Errors
    /// [`RowError::Key`] for a key that is too long.
    pub fn entry(&self, row: &[Datum]) -> RowResult<Option<Entry>> {
        let value = |source: &usize| row.get(*source).cloned().unwrap_or(Datum::Null);
        let values: Vec<Datum> = self.sources.iter().map(value).collect();
        let key = self.entries.encode_key(&values)?;
        let unique_prefix = match self.index.unique && self.can_be_equal(row) {
            true => Some(self.prefix(&key)?),
            false => None,
        };
        let fragment = self.entries.encode_fragment(&values)?;
        Ok(Some(Entry { key: key.into(), fragment: fragment.into(), unique_prefix }))
    }

    /// Positions, in the table, of the columns that entries are made of.
    pub fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// Do two states of a row have the same entry?
    ///
    /// # Errors
    /// As [`Self::entry`].
    pub fn is_same(&self, old: &[Datum], new: &[Datum]) -> RowResult<bool> {
        let differ = |at: &usize| old.get(*at) != new.get(*at);
        if self.sources.iter().any(differ) {
            return Ok(false);
        }
        Ok(!self.loose || self.entry(old)? == self.entry(new)?)
    }

    /// [`Entry::unique_prefix`] of the entry with that key.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are no key of an entry.
    pub fn unique_prefix(&self, key: &[u8]) -> RowResult<Option<usize>> {
        if !self.index.unique {
            return Ok(None);
        }
        let null = || -> RowResult<bool> { Ok(self.part_values_of_key(key)?.iter().any(Datum::is_null)) };
        if !self.index.nulls_not_distinct && null()? {
            return Ok(None);
        }
        self.prefix(key).map(Some)
    }

    /// Values of the parts of an entry, for messages: equal to those of its row.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are no key of an entry.
    pub fn part_values_of_key(&self, key: &[u8]) -> RowResult<Vec<Datum>> {
        let values = self.entries.key_schema().decode(key).map_err(|error| self.entries.corrupted(&error))?;
        let columns = self.entries.table().key.iter().map(|part| part.column).zip(values);
        let values: BTreeMap<ColumnId, Datum> = columns.collect();
        Ok(self.index.parts.iter().map(|part| values.get(&part.entry).cloned().unwrap_or(Datum::Null)).collect())
    }

    /// Values of the parts of a row, for messages.
    pub fn part_values(&self, row: &[Datum]) -> Vec<Datum> {
        self.parts.iter().map(|part| row.get(*part).cloned().unwrap_or(Datum::Null)).collect()
    }

    /// Overwrites `rowkey` with the key of the row that an entry is of. `table` is the codec of the table.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are no entry of this index.
    pub fn rowkey_into(&self, table: &RowCodec, key: &[u8], fragment: &[u8], rowkey: &mut Vec<u8>) -> RowResult<()> {
        let values = self.entries.decode_row(key, fragment, &self.rowkey)?;
        table.encode_key_values(&values, rowkey)
    }

    /// SQL: a NULL is equal to nothing, unless the index says so.
    fn can_be_equal(&self, row: &[Datum]) -> bool {
        let null = |part: &usize| row.get(*part).is_none_or(Datum::is_null);
        self.index.nulls_not_distinct || !self.parts.iter().any(null)
    }

    /// Bytes of the parts of the index at the front of an entry's key.
    fn prefix(&self, key: &[u8]) -> RowResult<usize> {
        let mut slots = Vec::new();
        self.entries.key_schema().split(key, &mut slots).map_err(|error| self.entries.corrupted(&error))?;
        // A column that is a part twice is in the entries once.
        let parts: BTreeSet<ColumnId> = self.index.parts.iter().map(|part| part.entry).collect();
        let last = parts.len().checked_sub(1).and_then(|last| slots.get(last));
        Ok(last.map_or(0, |(_, end)| *end))
    }
}
