//! Secondary indexes. An entry of an index is a row of a table of its own ([`Index::entries`]), so the code that reads
//! and writes rows also reads and writes entries.
//!
//! ```text
//!   table   t (a, b, c, d)   key (a)
//!   index   ON t (c DESC) INCLUDE (d)
//!   entries (c, a, d)        key (c DESC, a)      one row each; the rowkey parts follow the index parts
//! ```
//!
//! Columns of entries have the ids that they have in the table, so an index covers a query if its entries have all
//! columns that the query reads. A part whose key bytes do not preserve the value, such as the trailing zeros of
//! `1.00`, has an id of its own: it can be searched, but not read. So has an expression.
//!
//! Expressions and predicates are stored as text, with unqualified column names; crates above evaluate them.

use crate::draft::build::{plain_column, table_of};
use crate::table::SALT_OF_ROW;
use crate::{Column, ColumnId, KeyColumn, Table};
use serde::{Deserialize, Serialize};
use types::DataType;

/// An index of a table, created by CREATE INDEX or by a UNIQUE constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Its oid, as clients see it.
    pub oid: u32,
    /// Its name, in the schema of its table.
    pub name: String,
    /// Storage of its entries (`store::TableId`); REINDEX replaces it.
    pub storage: u32,
    /// UNIQUE: no two rows have equal values in all parts.
    pub unique: bool,
    /// NULLS NOT DISTINCT: whether NULLs are equal to each other in a unique index.
    pub nulls_not_distinct: bool,
    /// Oid of its constraint: UNIQUE, or a primary key.
    pub constraint: Option<u32>,
    /// Whether its constraint is the primary key. Only for a deferrable primary key; the rows of such a table have a
    /// hidden row id.
    #[serde(default, skip_serializing_if = "is_false")]
    pub primary: bool,
    /// The indexed columns and expressions, in order. Never empty.
    pub parts: Vec<IndexPart>,
    /// INCLUDE: additional columns of the entries.
    pub include: Vec<ColumnId>,
    /// Number of salt buckets of the entries, 2 to 256, if salted.
    pub salt_buckets: Option<u16>,
    /// DEFERRABLE: whether its constraint can be checked at the end of the transaction.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferrable: bool,
    /// INITIALLY DEFERRED: the default of SET CONSTRAINTS.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferred: bool,
    /// WHERE: only rows for which it is true have an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<IndexExpr>,
    /// LOCAL: an entry has the salt of its row.
    #[serde(default, skip_serializing_if = "is_false")]
    pub local: bool,
    /// Region boundaries of SPLIT ON, as key bytes without salt, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub splits: Vec<Vec<u8>>,
    /// Whether statements write and read its entries.
    #[serde(default, skip_serializing_if = "IndexState::is_public")]
    pub state: IndexState,
    /// WITH (refresh = …): the refresh state of an index in [`IndexState::Refreshed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<IndexRefresh>,
    /// REINDEX CONCURRENTLY: oid of the index that gets the entries when they are complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<u32>,
}

/// Refresh state of an index. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRefresh {
    /// Time of the last refresh, since 1970: the entries are those of all rows committed by then.
    pub refreshed: i64,
    /// The interval at which a job refreshes the entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<i64>,
    /// Number of the refresh job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
}

impl IndexRefresh {
    /// When its job next refreshes it, since 1970; `None` without a job.
    pub fn due(&self) -> Option<i64> {
        Some(self.refreshed.saturating_add(self.every?))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(value: &bool) -> bool {
    !*value
}

/// How statements use an index. An online build goes through the first three states in this order, a concurrent drop in
/// reverse. Before each transition it waits for writers that use the previous state, so that only writers of adjacent
/// states run at the same time. ALTER INDEX sets the next two; an index in the last state never leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexState {
    /// Writers delete entries with their rows and add none; the entries are not read.
    DeleteOnly,
    /// Writers maintain entries and check UNIQUE among the existing ones; the entries are not read.
    WriteOnly,
    /// Written and read.
    #[default]
    Public,
    /// Written, not read: ALTER INDEX … UNUSABLE.
    Unusable,
    /// Neither written nor read, and without entries until it is rebuilt: ALTER INDEX … DISABLE.
    Disabled,
    /// Not written by statements: a refresh builds its entries ([`IndexRefresh`]). A session that accepts stale entries
    /// reads them.
    Refreshed,
}

impl IndexState {
    /// Whether statements read its entries.
    pub fn is_public(&self) -> bool {
        *self == Self::Public
    }

    /// Whether it has the entries of all rows at any time. Only then UNIQUE holds among all rows.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Public | Self::Unusable)
    }

    /// Whether it has the entries of all rows, as of now or of its last refresh. An index in another state is filled by
    /// a build.
    pub fn is_filled(self) -> bool {
        self.is_complete() || self == Self::Refreshed
    }

    /// Whether deleting a row deletes its entry.
    pub fn takes_deletes(self) -> bool {
        !matches!(self, Self::Disabled | Self::Refreshed)
    }

    /// Whether writing a row adds an entry.
    pub fn takes_entries(self) -> bool {
        !matches!(self, Self::DeleteOnly | Self::Disabled | Self::Refreshed)
    }
}

/// One part of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPart {
    /// The indexed column or expression.
    #[serde(flatten)]
    pub of: PartOf,
    /// The column of the entries: the table's, if the key bytes preserve its value.
    pub entry: ColumnId,
    /// Sorted from large to small.
    pub descending: bool,
    /// Whether NULLs sort before all values.
    pub nulls_first: bool,
}

/// The column or expression of an index part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOf {
    /// A column of the table.
    Column(ColumnId),
    /// An expression over its columns.
    Expression(IndexExpr),
}

/// An immutable expression over the columns of a table.
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
    /// PostgreSQL's forms for clients: with all parentheses, and with only the necessary ones.
    pub shown: (String, String),
}

impl IndexExpr {
    /// Its form for clients; `pretty` omits unnecessary parentheses.
    pub fn shown(&self, pretty: bool) -> &str {
        if pretty { &self.shown.1 } else { &self.shown.0 }
    }

    /// Its form as an index part: parenthesized, unless it is a function call.
    pub fn as_part(&self, pretty: bool) -> String {
        let text = self.shown(pretty);
        if is_call(text) { text.to_owned() } else { format!("({text})") }
    }
}

/// Whether the text is a single call `name(…)`.
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
    /// The table's column, unless the part is an expression.
    pub fn column(&self) -> Option<ColumnId> {
        match self.of {
            PartOf::Column(column) => Some(column),
            PartOf::Expression(_) => None,
        }
    }

    /// The expression, unless the part is a column.
    pub fn expression(&self) -> Option<&IndexExpr> {
        match &self.of {
            PartOf::Column(_) => None,
            PartOf::Expression(expression) => Some(expression),
        }
    }
}

impl Index {
    /// Whether both definitions have the same entries for the same rows.
    pub(crate) fn has_entries_of(&self, other: &Self) -> bool {
        self.unique == other.unique
            && self.nulls_not_distinct == other.nulls_not_distinct
            && self.parts == other.parts
            && self.include == other.include
            && self.salt_buckets == other.salt_buckets
            && self.predicate == other.predicate
            && self.local == other.local
    }

    /// The storage of its entries.
    pub fn storage_id(&self) -> store::TableId {
        store::TableId(self.storage)
    }

    /// Whether it has this column as a part or included, or uses it in an expression or its predicate.
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

    /// As [`Self::texts`], mutable.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut IndexExpr> {
        let expressions = self.parts.iter_mut().filter_map(|part| match &mut part.of {
            PartOf::Expression(expression) => Some(expression),
            PartOf::Column(_) => None,
        });
        expressions.chain(&mut self.predicate)
    }

    /// The indexed columns, if all parts are columns and there is no predicate.
    pub fn plain_columns(&self) -> Option<Vec<ColumnId>> {
        if self.predicate.is_some() {
            return None;
        }
        self.parts.iter().map(IndexPart::column).collect()
    }

    /// Whether a build that only knows catalog format 3 would maintain it correctly.
    pub(crate) fn is_simple(&self) -> bool {
        self.texts().next().is_none() && !self.local && self.splits.is_empty() && self.state.is_public()
    }

    /// Its entries as a table: the parts of the index, then the other rowkey columns, then the included columns. The
    /// oid, name and storage are those of the index.
    ///
    /// Parts of the index are nullable regardless of the table, so that SET and DROP NOT NULL do not affect entries.
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

/// A column of entries. Entries are always written whole: they have no missing values and no defaults.
fn entry_column(column: &Column, id: ColumnId, not_null: bool) -> Column {
    Column { not_null, hidden: column.hidden, ..plain_column(id, &column.name, column.ty) }
}

/// The column of an expression. No column of a table has such a name.
fn computed_column(expression: &IndexExpr, id: ColumnId) -> Column {
    plain_column(id, &format!("\u{1}{}", id.0), expression.ty)
}

/// Whether the key bytes of this type preserve the exact value, not just an equal one.
pub fn key_preserves_value(ty: DataType) -> bool {
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
