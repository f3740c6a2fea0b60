//! Secondary indexes. An entry of an index is a row of a table of its own ([`Index::entries`]): whatever reads and
//! writes rows reads and writes entries.
//!
//! ```text
//!   table   t (a, b, c, d)   key (a)
//!   index   ON t (c DESC) INCLUDE (d)
//!   entries (c, a, d)        key (c DESC, a)      a row each, the parts of the rowkey behind those of the index
//! ```
//!
//! Columns of entries have the ids that they have in the table, so that an index covers a query when its entries have all
//! the columns that the query reads. A part whose key bytes do not give its value back, such as the zeros of `1.00`,
//! has an id of its own: it can be searched, not read. So has an expression.
//!
//! Expressions and predicates are kept as text, in which columns stand without their table; what computes them is above.

use crate::draft::build::{plain_column, table_of};
use crate::table::SALT_OF_ROW;
use crate::{Column, ColumnId, KeyColumn, Table};
use serde::{Deserialize, Serialize};
use types::DataType;

/// An index of a table, made by CREATE INDEX or by a UNIQUE constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Its oid, as clients see it.
    pub oid: u32,
    /// Its name, in the schema of its table.
    pub name: String,
    /// The generation of its entries in the store (`store::TableId`).
    pub storage: u32,
    /// No two rows have equal values in all parts.
    pub unique: bool,
    /// Are NULLs equal to each other in a unique index?
    pub nulls_not_distinct: bool,
    /// Oid of the constraint that it belongs to: UNIQUE, or a primary key.
    pub constraint: Option<u32>,
    /// Is that the primary key? Only of a deferrable one, of a table whose rows are kept by a hidden row id.
    #[serde(default, skip_serializing_if = "is_false")]
    pub primary: bool,
    /// What is indexed, in order. Never empty.
    pub parts: Vec<IndexPart>,
    /// INCLUDE: columns that entries have besides.
    pub include: Vec<ColumnId>,
    /// Number of salt buckets of the entries, 2 to 256, if salted.
    pub salt_buckets: Option<u16>,
    /// Can its UNIQUE constraint be checked when a block ends?
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferrable: bool,
    /// Is it, unless SET CONSTRAINTS says otherwise?
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferred: bool,
    /// WHERE: rows for which this is not true have no entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<IndexExpr>,
    /// LOCAL: the salt of an entry is that of its row.
    #[serde(default, skip_serializing_if = "is_false")]
    pub local: bool,
    /// Region borders asked for by SPLIT ON, as key bytes without salt, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<Vec<u8>>,
    /// Who maintains its entries, and whether statements read them.
    #[serde(default, skip_serializing_if = "IndexState::is_public")]
    pub state: IndexState,
    /// WITH (refresh = …): when its entries were made; its state is [`IndexState::Refreshed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<IndexRefresh>,
}

/// How the entries of an index are made anew again and again. Times are microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRefresh {
    /// Its entries are those of all rows that were committed then, since 1970.
    pub refreshed: i64,
    /// How often a job makes them anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<i64>,
    /// Number of that job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
}

impl IndexRefresh {
    /// When its job is to make them next, since 1970; `None` without one.
    pub fn due(&self) -> Option<i64> {
        Some(self.refreshed.saturating_add(self.every?))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

/// What statements do with an index. An online build goes through the first three in this order, a concurrent drop
/// backwards; between two of them it waits for the writers that knew the one before, so that writers of neighbouring states
/// only meet. The next two are those of ALTER INDEX, the last one is that of an index for all its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexState {
    /// Writers take entries away with their rows and add none; nobody reads them.
    DeleteOnly,
    /// Writers maintain entries and keep UNIQUE among those that are there; nobody reads them.
    WriteOnly,
    /// Written and read.
    #[default]
    Public,
    /// Written, not read: ALTER INDEX … UNUSABLE.
    Unusable,
    /// Neither written nor read, and without entries until it is rebuilt: ALTER INDEX … DISABLE.
    Disabled,
    /// Not written by writers: its entries are made anew again and again, and read by those who put up with old ones
    /// ([`IndexRefresh`]).
    Refreshed,
}

impl IndexState {
    /// Do statements find rows by its entries?
    pub fn is_public(&self) -> bool {
        *self == Self::Public
    }

    /// Has it the entries of all rows at any time, read or not? Then UNIQUE holds among all rows.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Public | Self::Unusable)
    }

    /// Has it the entries of all rows, as of now or of its last refresh? The others get theirs by a build.
    pub fn is_filled(self) -> bool {
        self.is_complete() || self == Self::Refreshed
    }

    /// Do entries leave with their rows?
    pub fn takes_deletes(self) -> bool {
        !matches!(self, Self::Disabled | Self::Refreshed)
    }

    /// Do new states of rows get entries?
    pub fn takes_entries(self) -> bool {
        !matches!(self, Self::DeleteOnly | Self::Disabled | Self::Refreshed)
    }
}

/// One part of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPart {
    /// What of the table's rows.
    #[serde(flatten)]
    pub of: PartOf,
    /// The column of the entries: the table's, if the key bytes keep its value as it is.
    pub entry: ColumnId,
    /// Sorted from large to small.
    pub descending: bool,
    /// Do NULLs sort before all values?
    pub nulls_first: bool,
}

/// What a part of an index is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOf {
    /// A column of the table.
    Column(ColumnId),
    /// An expression over its columns.
    Expression(IndexExpr),
}

/// An expression over the columns of a table, of which the same values always give the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexExpr {
    /// Source text.
    pub text: String,
    /// The name of the part, as clients see it.
    pub name: String,
    /// Its type.
    pub ty: DataType,
    /// The columns that the text names, each once.
    pub columns: Vec<ColumnId>,
    /// As clients see it, in PostgreSQL's form: with all parentheses, and with those alone that are needed.
    pub shown: (String, String),
}

impl IndexExpr {
    /// Its form for clients; `pretty`: without parentheses that are not needed.
    pub fn shown(&self, pretty: bool) -> &str {
        if pretty { &self.shown.1 } else { &self.shown.0 }
    }

    /// Its form as a part of an index: what is no call stands in parentheses.
    pub fn as_part(&self, pretty: bool) -> String {
        let text = self.shown(pretty);
        if is_call(text) { text.to_owned() } else { format!("({text})") }
    }
}

/// Is it `name(…)`, and nothing behind that?
fn is_call(text: &str) -> bool {
    let Some((name, arguments)) = text.split_once('(') else { return false };
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '"' | '.');
    if name.is_empty() || !name.chars().all(plain) || !arguments.ends_with(')') {
        return false;
    }
    let (mut depth, mut quoted) = (1_usize, false);
    let mut letters = arguments.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return letters.next().is_none();
        }
    }
    false
}

impl IndexPart {
    /// The table's column that it is.
    pub fn column(&self) -> Option<ColumnId> {
        match self.of {
            PartOf::Column(column) => Some(column),
            PartOf::Expression(_) => None,
        }
    }

    /// The expression that it is.
    pub fn expression(&self) -> Option<&IndexExpr> {
        match &self.of {
            PartOf::Column(_) => None,
            PartOf::Expression(expression) => Some(expression),
        }
    }
}

impl Index {
    /// Its entries in the store.
    pub fn storage_id(&self) -> store::TableId {
        store::TableId(self.storage)
    }

    /// Does it have this column, as a part or included, or name it in an expression or its predicate?
    pub fn names(&self, column: ColumnId) -> bool {
        self.include.contains(&column)
            || self.parts.iter().any(|part| part.column() == Some(column))
            || self.texts().any(|expr| expr.columns.contains(&column))
    }

    /// Its expressions in the order of their parts.
    pub fn expressions(&self) -> impl Iterator<Item = &IndexExpr> {
        self.parts.iter().filter_map(IndexPart::expression)
    }

    /// Its expressions in the order of their parts, then its predicate.
    pub fn texts(&self) -> impl Iterator<Item = &IndexExpr> {
        self.expressions().chain(&self.predicate)
    }

    /// The same, to be changed.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut IndexExpr> {
        let expressions = self.parts.iter_mut().filter_map(|part| match &mut part.of {
            PartOf::Expression(expression) => Some(expression),
            PartOf::Column(_) => None,
        });
        expressions.chain(&mut self.predicate)
    }

    /// The columns that it is an index of, if it is one of columns of all rows.
    pub fn plain_columns(&self) -> Option<Vec<ColumnId>> {
        if self.predicate.is_some() {
            return None;
        }
        self.parts.iter().map(IndexPart::column).collect()
    }

    /// Could a build that knows format 3 of the catalog keep it as it should be?
    pub(crate) fn is_simple(&self) -> bool {
        self.texts().next().is_none() && !self.local && self.splits.is_empty() && self.state.is_public()
    }

    /// Its entries as a table: the parts of the index, then what they lack of the rowkey, then the included columns. Its
    /// oid, name and storage are those of the index.
    ///
    /// Parts of the index are nullable whatever the table says, so that SET and DROP NOT NULL leave entries alone.
    pub fn entries(&self, table: &Table) -> Table {
        let mut columns: Vec<Column> = Vec::with_capacity(self.parts.len() + table.key.len() + self.include.len());
        let mut key = Vec::with_capacity(self.parts.len() + table.key.len());
        let mut push = |column: Option<Column>| {
            let new = column.filter(|column| columns.iter().all(|it| it.id != column.id));
            columns.extend(new.clone());
            new.is_some()
        };
        let entry = |id: ColumnId, not_null: Option<bool>| {
            let column = table.column(id)?;
            Some(entry_column(column, id, not_null.unwrap_or(column.not_null)))
        };
        for part in &self.parts {
            let column = match &part.of {
                PartOf::Column(column) => table.column(*column).map(|column| entry_column(column, part.entry, false)),
                PartOf::Expression(expression) => Some(computed_column(expression, part.entry)),
            };
            if push(column) {
                let IndexPart { entry: column, descending, nulls_first, .. } = *part;
                key.push(KeyColumn { column, descending, nulls_first });
            }
        }
        for part in &table.key {
            if push(entry(part.column, None)) {
                key.push(*part);
            }
        }
        for column in &self.include {
            push(entry(*column, Some(false)));
        }
        Table {
            salt_hash: if self.local { SALT_OF_ROW } else { table.salt_hash },
            salt_buckets: self.salt_buckets,
            splits: self.splits.clone(),
            ..table_of(table, crate::TableOid(self.oid), self.name.clone(), self.storage, columns, key)
        }
    }
}

/// Entries are always written whole: nothing is missing in them, and nothing has a default.
fn entry_column(column: &Column, id: ColumnId, not_null: bool) -> Column {
    Column { not_null, hidden: column.hidden, ..plain_column(id, &column.name, column.ty) }
}

/// The column of a computed part. No column of a table has such a name.
fn computed_column(expression: &IndexExpr, id: ColumnId) -> Column {
    plain_column(id, &format!("\u{1}{}", id.0), expression.ty)
}

/// Do the key bytes of a value of this type give back the value itself, and not just one that is equal to it?
pub fn key_keeps_value(ty: DataType) -> bool {
    match ty {
        DataType::Boolean
        | DataType::SmallInt
        | DataType::Integer
        | DataType::BigInt
        | DataType::Text
        | DataType::Varchar(_)
        | DataType::Bytea
        | DataType::Varbinary(_)
        | DataType::Binary(_)
        | DataType::Date
        | DataType::Uuid
        | DataType::Time(_)
        | DataType::Timestamp(_)
        | DataType::TimestampTz(_) => true,
        DataType::Numeric(digits) => digits.is_some(),
        _ => false,
    }
}
