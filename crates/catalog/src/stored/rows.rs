//! Builds a catalog from the rows of the system table.

use super::format::{FORMAT, FormatOnly, Versioned, nothing};
use super::row::{Kind, corrupted, json_in};
use super::{Counters, Loaded};
use crate::catalog::Schema;
use crate::comment::Comments;
use crate::{
    Catalog, CatalogError, CatalogResult, JobRecord, KEY_CODEC, SALT_HASH, SchemaDef, Sequence, SequenceValue, Table,
    TableOid, TableStatistics, View,
};
use fragment::Fragment;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::CommitNo;

/// The rows, as the scan returns them.
#[derive(Default)]
pub(super) struct Rows {
    counters: Option<(Counters, CommitNo)>,
    schemas: Vec<SchemaDef>,
    tables: Vec<Table>,
    views: Vec<View>,
    sequences: Vec<Sequence>,
    comments: BTreeMap<u32, Arc<Comments>>,
    staged: BTreeSet<u32>,
    row_id_marks: BTreeMap<u32, (u64, CommitNo)>,
    sequence_values: BTreeMap<TableOid, (SequenceValue, CommitNo)>,
    jobs: Vec<JobRecord>,
    statistics: BTreeMap<TableOid, TableStatistics>,
}

impl Rows {
    pub(super) fn read(&mut self, key: &[u8], bytes: &[u8]) -> CatalogResult<()> {
        let what = || format!("row {key:02X?}");
        let fragment = Fragment::parse(bytes).map_err(|error| corrupted(what(), error))?;
        let json = json_in(&fragment, &what)?;
        if json == nothing().as_bytes() {
            return Ok(());
        }
        let id = || key.get(1..).and_then(|id| id.try_into().ok()).map(u32::from_be_bytes);
        match Kind::of(key).ok_or_else(|| corrupted(what(), "its kind is unknown"))? {
            Kind::Counters => self.counters = Some((value(json, &what)?, fragment.commit())),
            Kind::Schema => self.schemas.push(value(json, &what)?),
            Kind::Table => self.tables.push(value(json, &what)?),
            Kind::View => self.views.push(value(json, &what)?),
            Kind::Sequence => self.sequences.push(value(json, &what)?),
            Kind::SequenceValue => {
                let id = id().ok_or_else(|| corrupted(what(), "its key has no oid"))?;
                self.sequence_values.insert(TableOid(id), (value(json, &what)?, fragment.commit()));
            }
            Kind::Comments => {
                let id = id().ok_or_else(|| corrupted(what(), "its key has no oid"))?;
                self.comments.insert(id, Arc::new(value::<Comments>(json, &what)?));
            }
            Kind::Job => self.jobs.push(value(json, &what)?),
            Kind::Statistics => {
                let id = id().ok_or_else(|| corrupted(what(), "its key has no oid"))?;
                // Only estimates: statistics in an unknown form are ignored, and the next ANALYZE replaces them.
                if let Ok(statistics) = value(json, &what) {
                    self.statistics.insert(TableOid(id), statistics);
                }
            }
            Kind::Staged => {
                self.staged.insert(value(json, &what)?);
            }
            Kind::RowIdMark => {
                let node = id().ok_or_else(|| corrupted(what(), "its key has no node"))?;
                self.row_id_marks.insert(node, (value(json, &what)?, fragment.commit()));
            }
        }
        Ok(())
    }

    pub(super) fn into_loaded(self) -> CatalogResult<Loaded> {
        let (counters, commit) = self.counters.ok_or_else(|| corrupted("the counters row", "it is missing"))?;
        let mut catalog = Catalog {
            version: counters.version,
            schemas: BTreeMap::new(),
            tables: BTreeMap::new(),
            views: self.views.into_iter().map(|view| (view.oid, Arc::new(view))).collect(),
            sequences: self.sequences.into_iter().map(|it| (it.oid, Arc::new(it))).collect(),
            comments: self.comments,
            staged: self.staged,
            next_oid: counters.next_oid,
            next_storage: counters.next_storage,
        };
        for def in self.schemas {
            catalog.schemas.insert(def.name.clone(), Schema { def, tables: BTreeMap::new() });
        }
        let mut statistics = self.statistics;
        for table in self.tables {
            check(&table)?;
            if let Some(found) = statistics.remove(&table.oid) {
                table.live.set(found, 0);
            }
            let table = Arc::new(table);
            let schema = catalog.schemas.values_mut().find(|schema| schema.def.id == table.schema);
            let schema = schema.ok_or_else(|| corrupted(described(&table), "its schema is missing"))?;
            if schema.tables.insert(table.name.clone(), Arc::clone(&table)).is_some() {
                return Err(corrupted(described(&table), "another one has its name"));
            }
            catalog.tables.insert(table.oid, table);
        }
        catalog.tables().try_for_each(|table| check_parents(&catalog, table))?;
        let (row_id_marks, sequence_values, jobs) = (self.row_id_marks, self.sequence_values, self.jobs);
        Ok(Loaded { catalog, commit, row_id_marks, sequence_values, jobs })
    }
}

/// A row's value; `None` for a deleted row.
pub(super) fn stored<T: DeserializeOwned>(key: &[u8], bytes: &[u8]) -> CatalogResult<Option<T>> {
    let what = || format!("row {key:02X?}");
    let fragment = Fragment::parse(bytes).map_err(|error| corrupted(what(), error))?;
    let json = json_in(&fragment, &what)?;
    if json == nothing().as_bytes() { Ok(None) } else { value(json, &what).map(Some) }
}

pub(super) fn value<T: DeserializeOwned>(json: &[u8], what: &dyn Fn() -> String) -> CatalogResult<T> {
    let found: FormatOnly = serde_json::from_slice(json).map_err(|error| corrupted(what(), error))?;
    if found.format > FORMAT {
        return Err(CatalogError::NewerFormat { found: found.format, readable: FORMAT });
    }
    let row: Versioned<T> = serde_json::from_slice(json).map_err(|error| corrupted(what(), error))?;
    Ok(row.value)
}

/// Checks what the rest of the code relies on.
pub(super) fn check(table: &Table) -> CatalogResult<()> {
    let fail = |reason: &str| Err(corrupted(described(table), reason));
    for (found, readable) in [(table.key_codec, KEY_CODEC), (table.salt_hash, SALT_HASH)] {
        if found != readable {
            return Err(CatalogError::NewerFormat { found: found.into(), readable: readable.into() });
        }
    }
    if table.key.is_empty() || table.key.iter().any(|part| table.column(part.column).is_none()) {
        return fail("its key names a column that it lacks");
    }
    if table.layouts.is_empty() || !table.layouts.is_sorted_by(|a, b| a.id < b.id) {
        return fail("its layouts are missing or out of order");
    }
    if table.checks.iter().flat_map(|check| &check.columns).any(|id| table.column(*id).is_none()) {
        return fail("a CHECK constraint names a column that it lacks");
    }
    for index in &table.indexes {
        let parts = index.parts.iter().filter_map(crate::IndexPart::column);
        let mut ids = parts.chain(index.include.iter().chain(index.texts().flat_map(|expr| &expr.columns)).copied());
        if index.parts.is_empty() || ids.any(|id| table.column(id).is_none()) {
            return fail("an index names a column that it lacks");
        }
    }
    for key in &table.foreign_keys {
        let mut ids = key.columns.iter().chain(&key.set_columns);
        if key.columns.is_empty() || ids.any(|id| table.column(*id).is_none()) {
            return fail("a foreign key names a column that it lacks");
        }
    }
    let current: Vec<_> = table.value_columns().map(|column| column.id).collect();
    let written = table.current_layout_def().into_iter().flat_map(|layout| &layout.columns);
    if !written.map(|(id, _)| *id).eq(current) {
        return fail("its newest layout does not hold its columns");
    }
    Ok(())
}

/// Checks that the parent table, its columns and its index exist for each foreign key.
fn check_parents(catalog: &Catalog, table: &Table) -> CatalogResult<()> {
    for key in &table.foreign_keys {
        let has = |parent: &Arc<Table>| {
            let indexed = parent.key_oid.into_iter().chain(parent.indexes.iter().map(|index| index.oid));
            key.parent_columns.len() == key.columns.len()
                && key.parent_columns.iter().all(|id| parent.column(*id).is_some())
                && indexed.into_iter().any(|oid| oid == key.parent_index)
        };
        if !catalog.table_by_oid(key.parent).is_some_and(has) {
            return Err(corrupted(described(table), "a foreign key refers to what is not there"));
        }
    }
    Ok(())
}

fn described(table: &Table) -> String {
    format!("table \"{}\" (oid {})", table.name, table.oid.0)
}
