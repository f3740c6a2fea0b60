//! Indexes as listed in PostgreSQL's catalogs: the index of a primary key, which is stored as the table itself, and
//! secondary indexes.

use crate::source::{Relation, key_columns, shown_columns};
use catalog::{Column, ColumnId, Index, IndexExpr, IndexRefresh, IndexState, PartOf, Table};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::DataType;

/// An index of a table.
pub(crate) struct ShownIndex<'a> {
    pub(crate) table: &'a Arc<Table>,
    pub(crate) oid: u32,
    pub(crate) name: &'a str,
    /// Whether it is the index of the primary key.
    pub(crate) primary: bool,
    /// WHERE.
    pub(crate) predicate: Option<&'a IndexExpr>,
    pub(crate) state: IndexState,
    /// WITH (refresh = …).
    pub(crate) refresh: Option<IndexRefresh>,
    pub(crate) unique: bool,
    pub(crate) nulls_not_distinct: bool,
    /// The oid of its constraint, which has the name of the index.
    pub(crate) constraint: Option<u32>,
    /// DEFERRABLE, INITIALLY DEFERRED.
    pub(crate) deferrable: (bool, bool),
    pub(crate) parts: Vec<ShownPart<'a>>,
    /// INCLUDE: columns with their numbers.
    pub(crate) include: Vec<(i16, &'a Column)>,
}

/// A key column of an index.
pub(crate) struct ShownPart<'a> {
    pub(crate) of: ShownOf<'a>,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// A column with its number, or an expression.
#[derive(Clone, Copy)]
pub(crate) enum ShownOf<'a> {
    Column(i16, &'a Column),
    Expression(&'a IndexExpr),
}

impl<'a> ShownOf<'a> {
    /// Its number in `indkey`; 0 for an expression.
    pub(crate) fn number(self) -> i16 {
        match self {
            Self::Column(number, _) => number,
            Self::Expression(_) => 0,
        }
    }

    /// Its name as a column of the index.
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Column(_, column) => &column.name,
            Self::Expression(expression) => &expression.name,
        }
    }

    pub(crate) fn ty(self) -> &'a DataType {
        match self {
            Self::Column(_, column) => &column.ty,
            Self::Expression(expression) => &expression.ty,
        }
    }

    pub(crate) fn column(self) -> Option<&'a Column> {
        match self {
            Self::Column(_, column) => Some(column),
            Self::Expression(_) => None,
        }
    }
}

impl<'a> ShownIndex<'a> {
    /// The index of a table's primary key, if it has one.
    pub(crate) fn of_key(table: &'a Arc<Table>) -> Option<Self> {
        let part = |(number, part, column): (i16, &catalog::KeyColumn, &'a Column)| ShownPart {
            of: ShownOf::Column(number, column),
            descending: part.descending,
            nulls_first: part.nulls_first,
        };
        let oid = table.key_oid?;
        Some(Self {
            table,
            oid,
            name: table.key_name.as_deref().unwrap_or_default(),
            primary: true,
            predicate: None,
            state: IndexState::Public,
            refresh: None,
            unique: true,
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
        let part = |part: &'a catalog::IndexPart| {
            let of = match &part.of {
                PartOf::Column(id) => find(*id).map(|(number, column)| ShownOf::Column(number, column))?,
                PartOf::Expression(expression) => ShownOf::Expression(expression),
            };
            Some(ShownPart { of, descending: part.descending, nulls_first: part.nulls_first })
        };
        Self {
            table,
            oid: index.oid,
            name: &index.name,
            primary: index.primary,
            predicate: index.predicate.as_ref(),
            state: index.state,
            refresh: index.refresh,
            unique: index.unique,
            nulls_not_distinct: index.nulls_not_distinct,
            constraint: index.constraint,
            deferrable: (index.deferrable, index.deferred),
            parts: index.parts.iter().filter_map(part).collect(),
            include: index.include.iter().filter_map(|id| find(*id)).collect(),
        }
    }

    /// All indexes of a table, the primary key first.
    pub(crate) fn all_of(table: &'a Arc<Table>) -> impl Iterator<Item = Self> {
        Self::of_key(table).into_iter().chain(table.indexes.iter().map(|index| Self::secondary(table, index)))
    }

    /// The index that a relation denotes.
    pub(crate) fn of(relation: &Relation<'a>) -> Option<Self> {
        match relation {
            Relation::Key(table) => Self::of_key(table),
            Relation::Index(table, index) => Some(Self::secondary(table, index)),
            _ => None,
        }
    }

    /// Its columns, followed by the included columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = ShownOf<'a>> {
        let include = self.include.iter().map(|(number, column)| ShownOf::Column(*number, column));
        self.parts.iter().map(|part| part.of).chain(include)
    }

    /// Numbers of the table's columns that it depends on.
    pub(crate) fn depends_on(&self) -> BTreeSet<i16> {
        let own = self.columns().map(ShownOf::number).filter(|number| *number != 0);
        let named = self.expressions().chain(self.predicate).flat_map(|expr| &expr.columns);
        own.chain(named.filter_map(|id| i16::try_from(id.0).ok())).collect()
    }

    /// The expressions among its parts.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &'a IndexExpr> {
        self.parts.iter().filter_map(|part| match part.of {
            ShownOf::Expression(expression) => Some(expression),
            ShownOf::Column(..) => None,
        })
    }
}
