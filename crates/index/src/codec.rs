//! Encodes rows as index entries, and decodes the rowkeys of the rows from entries.
//!
//! ```text
//!   row, a value per column of the table ──RowExprs──> appends its values, evaluates the predicate
//!                                        ──sources──> the columns of the entry ──RowCodec──> key, fragment
//! ```

use crate::row_exprs::{IndexResult, RowExprs};
use catalog::{ColumnId, Index, KeyColumn, PartOf, RowCodec, RowError, RowResult, Table, key_preserves_value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::Bytes;
use types::Datum;

/// Encodes the entries of one index for one version of its table.
#[derive(Clone, Debug)]
pub struct IndexCodec {
    index: Index,
    entries: RowCodec,
    /// For each column of the entries, the position of its value in a row of the table followed by the expressions.
    sources: Vec<usize>,
    /// The same positions for the parts of the index.
    parts: Vec<usize>,
    /// Positions in the table of all columns that entries depend on.
    columns: Vec<usize>,
    /// The number of columns of the table.
    width: usize,
    /// Compiled expressions and predicate; set if entries are encoded.
    exprs: Option<Arc<dyn RowExprs>>,
    /// The codec of the table, if the index is local: entries have the salt of their row.
    local: Option<RowCodec>,
    /// For each part of the rowkey, its position in the entries.
    rowkey: Vec<usize>,
    /// The part of the entries' key from which on the key is the rowkey, byte for byte except the salt.
    rowkey_from: Option<usize>,
    /// Whether an included column or one used in an expression has values that are equal but not identical, such as 1.0
    /// and 1.00.
    loose: bool,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: Bytes,
    /// Its included columns, without a commit stamp.
    pub fragment: Bytes,
    /// Length of the key prefix with the index parts, which no other row's entry may begin with. `None` if the index is
    /// not unique, or a NULL makes the row distinct from all others.
    pub unique_prefix: Option<usize>,
}

impl IndexCodec {
    /// The codec of `index`, an index of `table`.
    ///
    /// # Errors
    /// [`RowError::Internal`] for an inconsistent index definition.
    pub fn new(table: &Arc<Table>, index: &Index) -> RowResult<Self> {
        let entries = RowCodec::new(&Arc::new(index.entries(table)))?;
        let broken = |what: &str| RowError::internal(format!("index \"{}\": {what}", index.name));
        let position = |id: ColumnId| {
            table.columns.iter().position(|column| column.id == id).ok_or_else(|| broken("a column of no table"))
        };
        let mut computed = BTreeMap::new();
        for (at, part) in index.parts.iter().filter(|part| part.expression().is_some()).enumerate() {
            computed.insert(part.entry, table.columns.len() + at);
        }
        let source_of = |entry: ColumnId| {
            let part = index.parts.iter().find(|part| part.entry == entry);
            match part.map(|part| &part.of) {
                Some(PartOf::Column(id)) => position(*id),
                Some(PartOf::Expression(_)) => computed.get(&entry).copied().ok_or_else(|| broken("no expression")),
                None => position(entry),
            }
        };
        let columns = &entries.table().columns;
        let sources = columns.iter().map(|column| source_of(column.id)).collect::<RowResult<Vec<_>>>()?;
        let parts = index.parts.iter().map(|part| source_of(part.entry)).collect::<RowResult<_>>()?;
        let named = index.texts().flat_map(|expr| &expr.columns).map(|id| position(*id));
        let mut needed = named.collect::<RowResult<BTreeSet<usize>>>()?;
        needed.extend(sources.iter().copied().filter(|source| *source < table.columns.len()));
        let entry_of = |id: ColumnId| columns.iter().position(|column| column.id == id);
        let rowkey = table.key.iter().map(|part| entry_of(part.column)).collect::<Option<_>>();
        let rowkey = rowkey.ok_or_else(|| broken("without the rowkey"))?;
        let named = index.texts().flat_map(|expr| &expr.columns).filter_map(|id| table.column(*id));
        let rowkey_from = rowkey_from(table, entries.table());
        let loose = entries.table().value_columns().chain(named).any(|column| !key_preserves_value(column.ty));
        let (columns, width) = (needed.into_iter().collect(), table.columns.len());
        let local = if index.local { Some(RowCodec::new(table)?) } else { None };
        let exprs = None;
        let index = index.clone();
        Ok(Self { index, entries, sources, parts, columns, width, exprs, local, rowkey, rowkey_from, loose })
    }

    /// Adds the compiled expressions, which an index with expressions or a predicate needs to encode entries.
    #[must_use]
    pub fn with_exprs(self, exprs: Arc<dyn RowExprs>) -> Self {
        Self { exprs: Some(exprs), ..self }
    }

    /// The index definition.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The entries as rows.
    pub fn entries(&self) -> &RowCodec {
        &self.entries
    }

    /// The table column whose values a column of the entries has; `None` for an expression.
    pub fn source(&self, entry: usize) -> Option<usize> {
        self.sources.get(entry).copied().filter(|column| *column < self.width)
    }

    /// Encodes the entry of a row, which has a value for each column of the table. `None` if the predicate excludes the
    /// row.
    ///
    /// # Errors
    /// [`RowError::Key`] for a key that is too long; errors of expressions.
    pub fn entry(&self, row: &[Datum]) -> IndexResult<Option<Entry>> {
        let Some(row) = self.computed(row)? else { return Ok(None) };
        let value = |source: &usize| row.get(*source).cloned().unwrap_or(Datum::Null);
        let values: Vec<Datum> = self.sources.iter().map(value).collect();
        let mut key = self.entries.encode_key(&values)?;
        if let (Some(table), Some(salt)) = (&self.local, key.first_mut()) {
            let rowkey = table.encode_key(&row)?;
            *salt = rowkey.first().copied().unwrap_or_default();
        }
        let unique_prefix = match self.index.unique && self.can_violate_unique(&row) {
            true => Some(self.prefix(&key)?),
            false => None,
        };
        let fragment = self.entries.encode_fragment(&values)?;
        Ok(Some(Entry { key: key.into(), fragment: fragment.into(), unique_prefix }))
    }

    /// Appends the values of the expressions to the row; `None` if the row has no entry.
    fn computed<'r>(&self, row: &'r [Datum]) -> IndexResult<Option<Cow<'r, [Datum]>>> {
        if self.index.texts().next().is_none() {
            return Ok(Some(Cow::Borrowed(row)));
        }
        let Some(exprs) = &self.exprs else {
            let detail = format!("an entry of index \"{}\" is made without its expressions", self.index.name);
            return Err(RowError::internal(detail).into());
        };
        if !exprs.holds(row)? {
            return Ok(None);
        }
        let mut values = exprs.eval(row)?;
        let mut computed = row.get(..self.width).unwrap_or(row).to_vec();
        computed.append(&mut values);
        Ok(Some(Cow::Owned(computed)))
    }

    /// Positions in the table of the columns that entries depend on.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Whether two states of a row have the same entry, or none.
    ///
    /// # Errors
    /// As [`Self::entry`].
    pub fn is_same(&self, old: &[Datum], new: &[Datum]) -> IndexResult<bool> {
        let differ = |at: &usize| old.get(*at) != new.get(*at);
        let differs = self.columns.iter().any(differ);
        let computes = self.index.texts().next().is_some();
        match differs {
            false if !self.loose => Ok(true),
            true if !computes => Ok(false),
            _ => Ok(self.entry(old)? == self.entry(new)?),
        }
    }

    /// [`Entry::unique_prefix`] of the entry with that key.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not a key of an entry.
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

    /// Values of the parts of an entry, for messages: equal to the values of its row.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not a key of an entry.
    pub fn part_values_of_key(&self, key: &[u8]) -> RowResult<Vec<Datum>> {
        let values = self.entries.key_schema().decode(key).map_err(|error| self.entries.corrupted(&error))?;
        let columns = self.entries.table().key.iter().map(|part| part.column).zip(values);
        let values: BTreeMap<ColumnId, Datum> = columns.collect();
        Ok(self.index.parts.iter().map(|part| values.get(&part.entry).cloned().unwrap_or(Datum::Null)).collect())
    }

    /// Values of the index parts for a row with an entry, for messages.
    ///
    /// # Errors
    /// As [`Self::entry`].
    pub fn part_values(&self, row: &[Datum]) -> IndexResult<Vec<Datum>> {
        let row = self.computed(row)?.unwrap_or_default();
        Ok(self.parts.iter().map(|part| row.get(*part).cloned().unwrap_or(Datum::Null)).collect())
    }

    /// Overwrites `rowkey` with the rowkey of an entry's row. `table` is the codec of the table.
    ///
    /// # Errors
    /// [`RowError::Corrupted`] for bytes that are not an entry of this index.
    pub fn rowkey_into(&self, table: &RowCodec, key: &[u8], fragment: &[u8], rowkey: &mut Vec<u8>) -> RowResult<()> {
        if let Some(part) = self.rowkey_from {
            let start =
                self.entries.key_schema().part_start(key, part).map_err(|error| self.entries.corrupted(&error))?;
            table.key_schema().put_salt(key.get(start..).unwrap_or_default(), rowkey);
            return Ok(());
        }
        let values = self.entries.decode_row(key, fragment, &self.rowkey)?;
        table.encode_key_values(&values, rowkey)
    }

    /// As [`Self::rowkey_into`], from the key of an entry alone, which has all parts of the rowkey.
    ///
    /// # Errors
    /// As [`Self::rowkey_into`].
    pub fn rowkey_of_key(&self, table: &RowCodec, key: &[u8], rowkey: &mut Vec<u8>) -> RowResult<()> {
        let values = self.entries.key_schema().decode(key).map_err(|error| self.entries.corrupted(&error))?;
        let of_entries = self.entries.table();
        let values: BTreeMap<ColumnId, Datum> = of_entries.key.iter().map(|part| part.column).zip(values).collect();
        let column = |at: &usize| of_entries.columns.get(*at).and_then(|column| values.get(&column.id)).cloned();
        let parts: Option<Vec<Datum>> = self.rowkey.iter().map(column).collect();
        let parts = parts.ok_or_else(|| RowError::internal(format!("no rowkey in index \"{}\"", self.index.name)))?;
        table.encode_key_values(&parts, rowkey)
    }

    /// Whether the row can violate UNIQUE: a NULL is distinct from everything, unless NULLS NOT DISTINCT.
    fn can_violate_unique(&self, row: &[Datum]) -> bool {
        let null = |part: &usize| row.get(*part).is_none_or(Datum::is_null);
        self.index.nulls_not_distinct || !self.parts.iter().any(null)
    }

    /// The length of the index parts at the front of an entry's key.
    fn prefix(&self, key: &[u8]) -> RowResult<usize> {
        let mut slots = Vec::new();
        self.entries.key_schema().split(key, &mut slots).map_err(|error| self.entries.corrupted(&error))?;
        // A column that is indexed twice is in the entries once.
        let parts: BTreeSet<ColumnId> = self.index.parts.iter().map(|part| part.entry).collect();
        let last = parts.len().checked_sub(1).and_then(|last| slots.get(last));
        Ok(last.map_or(0, |(_, end)| *end))
    }
}

/// See [`IndexCodec::rowkey_from`]: `None` if a rowkey column is also an index part, because its direction may differ.
fn rowkey_from(table: &Table, entries: &Table) -> Option<usize> {
    let first = entries.key.len().checked_sub(table.key.len())?;
    let form = |table: &Table, part: &KeyColumn| table.column(part.column).map(|column| (column.ty, column.not_null));
    let is_same = |(of_entry, of_row): (&KeyColumn, &KeyColumn)| {
        of_entry == of_row && form(entries, of_entry) == form(table, of_row)
    };
    entries.key.get(first..)?.iter().zip(&table.key).all(is_same).then_some(first)
}
