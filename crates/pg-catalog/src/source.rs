//! The data from which rows and functions are computed.

use crate::definition::Definition;
use crate::live_state::LiveState;
use crate::{information_schema, pg_catalog};
use builtins::lists::{self, Routine};
use catalog::{Catalog, Check, Column, ColumnId, Index, KeyColumn, Sequence, Table, TableOid, View};
use std::borrow::Cow;
use std::sync::Arc;
use types::ident;

/// Oid of the only role.
pub(crate) const OWNER: u32 = 10;
/// Oid of `pg_catalog`.
pub(crate) const PG_CATALOG: u32 = 11;
/// Oid of `information_schema`.
pub(crate) const INFORMATION_SCHEMA: u32 = 13223;

/// One catalog version and the state of one session. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) live: Arc<dyn LiveState>,
}

/// The object of an oid in `pg_class`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Relation<'a> {
    Table(&'a Arc<Table>),
    /// The index of a table's primary key.
    Key(&'a Arc<Table>),
    /// A secondary index of a table.
    Index(&'a Arc<Table>, &'a Index),
    View(&'a Arc<View>),
    Sequence(&'a Arc<Sequence>),
    Computed {
        schema: u32,
        definition: &'static Definition,
    },
}

impl<'a> Relation<'a> {
    pub(crate) fn name(&self) -> &'a str {
        match self {
            Self::Table(table) => &table.name,
            Self::Key(table) => table.key_name.as_deref().unwrap_or_default(),
            Self::Index(_, index) => &index.name,
            Self::View(view) => &view.name,
            Self::Sequence(sequence) => &sequence.name,
            Self::Computed { definition, .. } => definition.name,
        }
    }

    pub(crate) fn schema(&self) -> u32 {
        match self {
            Self::Table(table) | Self::Key(table) | Self::Index(table, _) => table.schema.0,
            Self::View(view) => view.schema.0,
            Self::Sequence(sequence) => sequence.schema.0,
            Self::Computed { schema, .. } => *schema,
        }
    }

    pub(crate) fn oid(&self) -> u32 {
        match self {
            Self::Table(table) => table.oid.0,
            Self::Key(table) => table.key_oid.unwrap_or_default(),
            Self::Index(_, index) => index.oid,
            Self::View(view) => view.oid.0,
            Self::Sequence(sequence) => sequence.oid.0,
            Self::Computed { definition, .. } => definition.oid,
        }
    }
}

impl Source {
    /// All relations: computed tables, tables, their indexes, views and sequences.
    pub(crate) fn relations(&self) -> impl Iterator<Item = Relation<'_>> {
        let keys = self.catalog.tables().filter(|table| table.key_oid.is_some()).map(Relation::Key);
        let indexes =
            self.catalog.tables().flat_map(|table| table.indexes.iter().map(move |it| Relation::Index(table, it)));
        let keys = keys.chain(indexes);
        let others = self.catalog.views().map(Relation::View).chain(self.catalog.sequences().map(Relation::Sequence));
        computed().chain(self.catalog.tables().map(Relation::Table)).chain(keys).chain(others)
    }

    /// The relation of that oid.
    pub(crate) fn relation(&self, oid: u32) -> Option<Relation<'_>> {
        if let Some(table) = self.catalog.table_by_oid(TableOid(oid)) {
            return Some(Relation::Table(table));
        }
        self.relations().find(|relation| relation.oid() == oid)
    }

    /// All functions: built-in ones, and functions of the embedding program.
    pub(crate) fn routines(&self) -> impl Iterator<Item = Cow<'static, Routine>> {
        lists::routines().iter().map(Cow::Borrowed).chain(self.embedded())
    }

    /// The functions of that name.
    pub(crate) fn routines_named(&self, name: &str) -> Vec<Cow<'static, Routine>> {
        let embedded = self.embedded().filter(|routine| routine.name == name);
        lists::routines_named(name).map(Cow::Borrowed).chain(embedded).collect()
    }

    /// The function of that oid.
    pub(crate) fn routine(&self, oid: u32) -> Option<Cow<'static, Routine>> {
        match lists::routines().binary_search_by_key(&oid, |routine| routine.oid) {
            Ok(place) => lists::routines().get(place).map(Cow::Borrowed),
            Err(_) => self.embedded().find(|routine| routine.oid == oid),
        }
    }

    fn embedded(&self) -> impl Iterator<Item = Cow<'static, Routine>> {
        self.live.functions().into_iter().map(|function| Cow::Owned(function.routine()))
    }

    /// Schemas with their oids, the computed ones first.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (u32, &str)> {
        let computed = [(PG_CATALOG, "pg_catalog"), (INFORMATION_SCHEMA, "information_schema")];
        computed.into_iter().chain(self.catalog.schemas().map(|schema| (schema.id.0, schema.name.as_str())))
    }

    pub(crate) fn schema_name(&self, oid: u32) -> Option<&str> {
        self.schemas().find(|(id, _)| *id == oid).map(|(_, name)| name)
    }

    pub(crate) fn schema_oid(&self, name: &str) -> Option<u32> {
        self.schemas().find(|(_, schema)| *schema == name).map(|(oid, _)| oid)
    }

    /// The schemas in which an unqualified name is looked up, without those that do not exist.
    pub(crate) fn lookup_path(&self) -> Vec<u32> {
        let path = self.live.search_path();
        let implicit = (!path.iter().any(|schema| schema == "pg_catalog")).then_some(PG_CATALOG);
        implicit.into_iter().chain(path.iter().filter_map(|schema| self.schema_oid(schema))).collect()
    }

    /// The relation of that name in that schema.
    pub(crate) fn relation_in(&self, schema: u32, name: &str) -> Option<Relation<'_>> {
        self.relations().find(|relation| relation.schema() == schema && relation.name() == name)
    }

    /// Resolves a relation name with or without a schema.
    pub(crate) fn find_relation(&self, schema: Option<&str>, name: &str) -> Option<Relation<'_>> {
        match schema {
            Some(schema) => self.relation_in(self.schema_oid(schema)?, name),
            None => self.lookup_path().into_iter().find_map(|schema| self.relation_in(schema, name)),
        }
    }

    /// Quotes an identifier if necessary, or always with `quote_all_identifiers`.
    pub(crate) fn quote(&self, name: &str) -> String {
        match self.live.setting("quote_all_identifiers").as_deref() {
            Some("on") => ident::quote_always(name),
            _ => ident::quote(name).into_owned(),
        }
    }

    /// Whether the search path finds this relation by its unqualified name.
    pub(crate) fn is_visible(&self, relation: &Relation<'_>) -> bool {
        self.find_relation(None, relation.name()).is_some_and(|found| found.oid() == relation.oid())
    }
}

/// The computed tables of `pg_catalog` and `information_schema`.
pub(crate) fn computed<'a>() -> impl Iterator<Item = Relation<'a>> {
    let of = |schema: u32, all: &'static [Definition]| {
        all.iter().map(move |definition| Relation::Computed { schema, definition })
    };
    of(PG_CATALOG, &pg_catalog::TABLES).chain(of(INFORMATION_SCHEMA, &information_schema::TABLES))
}

/// Whether it is a table and not a materialized view.
pub(crate) fn is_plain(table: &Table) -> bool {
    table.materialized.is_none()
}

/// Visible columns and their numbers: the column ids, which are never reused after a drop.
pub(crate) fn shown_columns(table: &Table) -> impl Iterator<Item = (i16, &Column)> {
    // A table never has more columns than an i16 can count.
    let number = |column: &Column| i16::try_from(column.id.0).unwrap_or(i16::MAX);
    table.columns.iter().filter(|column| !column.hidden).map(move |column| (number(column), column))
}

/// Columns of the primary key in key order, with their numbers; empty for a hidden row id.
pub(crate) fn key_columns(table: &Table) -> impl Iterator<Item = (i16, &KeyColumn, &Column)> {
    let parts = if table.key_oid.is_some() { table.key.as_slice() } else { &[] };
    let find = |part: &KeyColumn| shown_columns(table).find(|(_, column)| column.id == part.column);
    parts.iter().filter_map(move |part| find(part).map(|(number, column)| (number, part, column)))
}

/// The columns of a CHECK constraint with their numbers, in the order of its text.
pub(crate) fn check_columns<'a>(table: &'a Table, check: &'a Check) -> impl Iterator<Item = (i16, &'a Column)> {
    let find = move |id: &ColumnId| shown_columns(table).find(|(_, column)| column.id == *id);
    check.columns.iter().filter_map(find)
}

/// Oids of column defaults are derived from the table's oid, in a range that the catalog's oid counter does not reach.
const DEFAULTS: u32 = 1 << 31;

/// The oid of a column's default.
pub(crate) fn default_oid(table: &Table, number: i16) -> u32 {
    let column = u32::from(number.unsigned_abs());
    DEFAULTS | table.oid.0.wrapping_mul(2048).wrapping_add(column) & !DEFAULTS
}

/// The constraint name of a column's NOT NULL in information_schema.
pub(crate) fn not_null_name(table: &Table, number: i16) -> String {
    format!("{}_{}_{number}_not_null", table.schema.0, table.oid.0)
}

/// The properties as `name=value`; `None` if there are none.
pub(crate) fn options(table: &Table) -> Option<Vec<String>> {
    let salt = table.salt_buckets.map(|buckets| format!("salt_buckets={buckets}"));
    let others = table.properties.iter().map(|(name, value)| format!("{name}={value}"));
    let refresh = table.materialized.as_ref().and_then(|view| view.every).map(|every| {
        let mut text = "refresh=".to_owned();
        types::print_interval(types::Interval { months: 0, days: 0, micros: every }, &mut text);
        text
    });
    let incremental = table.is_incremental().then(|| "incremental=true".to_owned());
    let all: Vec<String> = salt.into_iter().chain(others).chain(refresh).chain(incremental).collect();
    (!all.is_empty()).then_some(all)
}
