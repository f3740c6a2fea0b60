//! Definition of a computed table: its oid and columns, read from the texts in `data`, and the function that computes
//! its rows.

use crate::rows::Rows;
use crate::source::Source;
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use builtins::lists::PgType;
use datafusion::common::{Result, internal_datafusion_err};
use std::collections::HashMap;
use std::sync::Arc;

/// Field metadata: the type's name in `pg_type`, for types without an SQL type in Bennu (`oid`, `name`, `_text`).
pub const PG_TYPE_KEY: &str = "bennu.pg_type";

/// Field metadata: the SQL type's name, if Arrow has the same type for several SQL types.
pub(crate) const TYPE_KEY: &str = "bennu.type";

/// A computed table.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Oid of its row in `pg_class`, as in PostgreSQL.
    pub(crate) oid: u32,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// `name:type` of each column, `name:type!` if NOT NULL. Types are names in `pg_type`.
    pub(crate) columns: &'static str,
    /// `None` for a table that is always empty, because Bennu does not have such objects.
    pub(crate) rows: Option<Fill>,
}

/// Computes the rows of a table.
pub(crate) type Fill = fn(&Source, &mut Rows);

/// Reads the computed tables of a text in `data`: entries separated by empty lines, and comments.
pub(crate) fn read(text: &'static str, rows: &[(&str, Fill)]) -> Vec<Definition> {
    text.split("\n\n").filter_map(|entry| Definition::read(entry, rows)).collect()
}

/// Table or view, as in PostgreSQL: clients distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Table,
    View,
}

impl Kind {
    /// `pg_class.relkind`.
    pub(crate) fn relkind(self) -> &'static str {
        match self {
            Self::Table => "r",
            Self::View => "v",
        }
    }
}

/// A column of a computed table.
#[derive(Clone, Debug)]
pub(crate) struct ColumnDef {
    pub(crate) name: &'static str,
    pub(crate) ty: &'static PgType,
    pub(crate) not_null: bool,
}

impl Definition {
    /// Reads one entry of a text in `data`, whose rows the function of its name computes. `None` for anything else.
    fn read(entry: &'static str, rows: &[(&str, Fill)]) -> Option<Self> {
        let (header, columns) = entry.split_once('\n')?;
        if header.starts_with('#') {
            return Self::read(columns, rows);
        }
        let mut words = header.split(' ');
        let (oid, name) = (words.next()?.parse().ok()?, words.next()?);
        let kind = if words.next()? == "table" { Kind::Table } else { Kind::View };
        let rows = rows.iter().find(|(of, _)| *of == name).map(|(_, fill)| *fill);
        Some(Self { oid, name, kind, columns, rows })
    }

    /// Whether it is always empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_none()
    }

    /// Its columns.
    ///
    /// # Errors
    /// A column whose type does not exist.
    pub(crate) fn columns(&self) -> Result<Vec<ColumnDef>> {
        self.columns.split_whitespace().map(|word| self.column(word)).collect()
    }

    fn column(&self, word: &'static str) -> Result<ColumnDef> {
        let bad = || internal_datafusion_err!("column {word} of computed table {}", self.name);
        let (name, ty) = word.split_once(':').ok_or_else(bad)?;
        let (ty, not_null) = ty.strip_suffix('!').map_or((ty, false), |ty| (ty, true));
        Ok(ColumnDef { name, ty: PgType::by_name(ty).ok_or_else(bad)?, not_null })
    }

    /// The Arrow schema of its rows.
    ///
    /// # Errors
    /// As [`Self::columns`].
    pub(crate) fn schema(&self) -> Result<SchemaRef> {
        let fields: Vec<Field> = self.columns()?.iter().map(ColumnDef::field).collect();
        Ok(Arc::new(Schema::new(fields)))
    }
}

impl ColumnDef {
    fn field(&self) -> Field {
        let mut metadata = HashMap::from([(PG_TYPE_KEY.to_owned(), self.ty.name.to_owned())]);
        let shown = match self.ty.name {
            "oid" | "regproc" => Some("oid"),
            "_oid" | "_regtype" => Some("oid[]"),
            _ => None,
        };
        metadata.extend(shown.map(|name| (TYPE_KEY.to_owned(), name.to_owned())));
        Field::new(self.name, self.arrow_type(), !self.not_null).with_metadata(metadata)
    }

    /// The Arrow type of its values.
    pub(crate) fn arrow_type(&self) -> ArrowType {
        let list = |item| ArrowType::List(Arc::new(Field::new("item", item, true)));
        match self.ty.name {
            "bool" => ArrowType::Boolean,
            "int2" => ArrowType::Int16,
            "int4" => ArrowType::Int32,
            "int8" | "oid" | "regproc" | "xid" => ArrowType::Int64,
            "float4" => ArrowType::Float32,
            "float8" => ArrowType::Float64,
            "timestamptz" => ArrowType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, Some(Arc::from("UTC"))),
            "interval" => ArrowType::Interval(arrow::datatypes::IntervalUnit::MonthDayNano),
            "bytea" => ArrowType::Binary,
            "_float4" => list(ArrowType::Float32),
            "int2vector" | "_int2" => list(ArrowType::Int16),
            "oidvector" | "_oid" | "_regtype" => list(ArrowType::Int64),
            "_text" | "_name" | "_char" | "_aclitem" => list(ArrowType::Utf8),
            _ => ArrowType::Utf8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bennu, information_schema, pg_catalog};

    #[test]
    fn every_entry_is_read_and_has_rows_unless_it_is_marked_as_empty() {
        let schemas = [
            (include_str!("data/pg_catalog.txt"), pg_catalog::ROWS),
            (include_str!("data/information_schema.txt"), information_schema::ROWS),
            (include_str!("data/bennu.txt"), bennu::ROWS),
        ];
        for (text, rows) in schemas {
            // The first entry is the comment of the whole text.
            let entries: Vec<&str> = text.split("\n\n").skip(1).collect();
            let read = read(text, rows);
            assert_eq!(read.len(), entries.len());
            assert_eq!(read.iter().filter(|table| table.rows.is_some()).count(), rows.len());
            for (entry, table) in entries.iter().zip(&read) {
                assert!(table.columns().is_ok(), "{entry}");
                assert_eq!(table.is_empty(), entry.contains(" empty\n"), "{entry}");
            }
        }
    }
}
