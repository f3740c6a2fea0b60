//! Indexes as PostgreSQL's catalogs show them: that of a primary key, which is the table itself here, and secondary ones.

use crate::source::{Relation, key_columns, shown_columns};
use catalog::{Column, ColumnId, Index, IndexState, Table};
use std::sync::Arc;

/// An index of a table.
pub(crate) struct ShownIndex<'a> {
    pub(crate) table: &'a Arc<Table>,
    pub(crate) oid: u32,
    pub(crate) name: &'a str,
    /// Of the primary key?
    pub(crate) primary: bool,
    pub(crate) unique: bool,
    pub(crate) state: IndexState,
    pub(crate) nulls_not_distinct: bool,
    /// The constraint that it belongs to; its name is the index's.
    pub(crate) constraint: Option<u32>,
    /// DEFERRABLE, INITIALLY DEFERRED.
    pub(crate) deferrable: (bool, bool),
    pub(crate) parts: Vec<ShownPart<'a>>,
    /// INCLUDE: columns with their numbers.
    pub(crate) include: Vec<(i16, &'a Column)>,
}

/// A column that an index is in the order of.
pub(crate) struct ShownPart<'a> {
    pub(crate) number: i16,
    pub(crate) column: &'a Column,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

impl<'a> ShownIndex<'a> {
    /// The index of a table's primary key, if it has one.
    pub(crate) fn of_key(table: &'a Arc<Table>) -> Option<Self> {
        let part = |(number, part, column): (i16, &catalog::KeyColumn, &'a Column)| ShownPart {
            number,
            column,
            descending: part.descending,
            nulls_first: part.nulls_first,
        };
        let oid = table.key_oid?;
        Some(Self {
            table,
            oid,
            name: table.key_name.as_deref().unwrap_or_default(),
            primary: true,
            unique: true,
            state: IndexState::Public,
            nulls_not_distinct: false,
            constraint: table.key_constraint_oid(),
            deferrable: (false, false),
            parts: key_columns(table).map(part).collect(),
            include: Vec::new(),
        })
    }

    /// A secondary index.
    pub(crate) fn secondary(table: &'a Arc<Table>, index: &'a Index) -> Self {
        let find = |id: ColumnId| shown_columns(table).find(|(_, column)| column.id == id);
        let part = |part: &catalog::IndexPart| {
            let (number, column) = find(part.column)?;
            Some(ShownPart { number, column, descending: part.descending, nulls_first: part.nulls_first })
        };
        Self {
            table,
            oid: index.oid,
            name: &index.name,
            primary: false,
            unique: index.unique,
            state: index.state,
            nulls_not_distinct: index.nulls_not_distinct,
            constraint: index.constraint,
            deferrable: (index.deferrable, index.deferred),
            parts: index.parts.iter().filter_map(part).collect(),
            include: index.include.iter().filter_map(|id| find(*id)).collect(),
        }
    }

    /// All indexes of a table, that of its key first.
    pub(crate) fn all_of(table: &'a Arc<Table>) -> impl Iterator<Item = Self> {
        Self::of_key(table).into_iter().chain(table.indexes.iter().map(|index| Self::secondary(table, index)))
    }

    /// The index that a relation is.
    pub(crate) fn of(relation: &Relation<'a>) -> Option<Self> {
        match relation {
            Relation::Key(table) => Self::of_key(table),
            Relation::Index(table, index) => Some(Self::secondary(table, index)),
            _ => None,
        }
    }

    /// Its columns, the included ones last.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (i16, &'a Column)> {
        self.parts.iter().map(|part| (part.number, part.column)).chain(self.include.iter().copied())
    }
}
