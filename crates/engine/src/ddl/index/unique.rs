//! The indexes of UNIQUE constraints.

use super::{UNIQUE_REFRESHED, check_width};
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::{CatalogError, NewIndex, NewIndexPart, NewPartOf, Table};
use sql::{CreateTable, KeyPartDef, PrimaryKeyDef, TableOption, UniqueDef};

impl Session {
    /// ALTER TABLE … ADD UNIQUE. The caller locks the table against writers.
    pub(in crate::ddl) async fn add_unique(&mut self, table: &Table, unique: &UniqueDef) -> EngineResult<()> {
        let is_column = |name: &str| table.visible_columns().any(|column| column.name == name);
        self.check_unique_storage(unique)?;
        self.add_index(table, new_unique(unique, is_column)?).await
    }

    /// The UNIQUE constraints of a new table, without duplicates of its primary key or of each other.
    pub(in crate::ddl) fn new_uniques(&mut self, create: &CreateTable) -> EngineResult<Vec<NewIndex>> {
        let is_column = |name: &str| create.columns.iter().any(|column| column.name == name);
        let key: Vec<&String> = create.key.iter().flat_map(|key| &key.parts).map(|part| &part.column).collect();
        let mut made: Vec<(&UniqueDef, NewIndex)> = Vec::new();
        for unique in create.columns.iter().flat_map(|column| &column.uniques).chain(&create.uniques) {
            self.check_unique_storage(unique)?;
            let new = new_unique(unique, is_column)?;
            let is_key =
                !unique.nulls_not_distinct && unique.include.is_empty() && unique.columns().eq(key.iter().copied());
            let same = |known: &&mut (&UniqueDef, NewIndex)| {
                known.0.primary == unique.primary
                    && known.0.parts == unique.parts
                    && known.0.include == unique.include
                    && known.0.nulls_not_distinct == unique.nulls_not_distinct
            };
            match made.iter_mut().find(same) {
                _ if is_key => {}
                // As in PostgreSQL, an unnamed constraint takes the name of its duplicate.
                Some((_, known)) => known.name = known.name.take().or(new.name),
                None => made.push((unique, new)),
            }
        }
        Ok(made.into_iter().map(|(_, new)| new).collect())
    }

    /// Checks the storage options of a UNIQUE constraint's index.
    pub(in crate::ddl) fn check_unique_storage(&mut self, unique: &UniqueDef) -> EngineResult<()> {
        self.tablespace_without_effect(unique.tablespace.as_deref());
        self.check_constraint_options(&unique.options)
    }

    /// Checks the storage options of a primary key.
    pub(in crate::ddl) fn check_key_storage(&mut self, key: &PrimaryKeyDef) -> EngineResult<()> {
        self.tablespace_without_effect(key.tablespace.as_deref());
        self.check_constraint_options(&key.options)
    }

    fn check_constraint_options(&mut self, options: &[TableOption]) -> EngineResult<()> {
        let message = match self.check_options(options)? {
            (None, None) => return Ok(()),
            (Some(_), _) => "a UNIQUE index cannot be salted: equal values would be in several buckets",
            (None, Some(_)) => UNIQUE_REFRESHED,
        };
        fail(Fault::InvalidDefinition { message: message.to_string() })
    }
}

pub(in crate::ddl) fn new_unique(unique: &UniqueDef, is_column: impl Fn(&str) -> bool) -> EngineResult<NewIndex> {
    for (at, column) in unique.columns().enumerate() {
        if !is_column(column) {
            return fail(Fault::NoKeyColumn { column: column.clone() });
        }
        if unique.columns().take(at).any(|before| before == column) {
            if unique.primary {
                return Err(CatalogError::DuplicateKeyColumn { column: column.clone() }.into());
            }
            return fail(Fault::UniqueTwice { column: column.clone() });
        }
    }
    if let Some(column) = unique.include.iter().find(|column| !is_column(column)) {
        return fail(Fault::NoKeyColumn { column: column.clone() });
    }
    let part = |part: &KeyPartDef| {
        let of = NewPartOf::Column(part.column.clone());
        let nulls_first = part.nulls_first.unwrap_or(part.descending);
        NewIndexPart { of, descending: part.descending, nulls_first }
    };
    let new = NewIndex {
        name: unique.name.clone(),
        primary: unique.primary,
        unique: true,
        nulls_not_distinct: unique.nulls_not_distinct,
        constraint: true,
        parts: unique.parts.iter().map(part).collect(),
        include: unique.include.clone(),
        deferrable: unique.deferrable,
        deferred: unique.deferred,
        ..NewIndex::default()
    };
    check_width(new)
}
