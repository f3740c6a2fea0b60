//! The catalog as rows of its system table: `docs/formats/catalog.md`.
//!
//! ```text
//!   key    kind (1 byte) | id (4 bytes, big-endian; none for the counters)
//!   value  a dense fragment of layout 0, whose one column holds JSON: {"format": 1, "value": ...}
//! ```

use crate::catalog::Schema;
use crate::{
    Catalog, CatalogError, CatalogResult, Draft, KEY_CODEC, SALT_HASH, SYSTEM_TABLE, SchemaDef, Sequence,
    SequenceValue, Table, TableOid, View,
};
use fragment::{Fragment, Layout, LayoutColumn};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{
    Bytes, CommitNo, Condition, Durability, FamilyId, FamilySpec, KeyRange, Mutation, ScanRequest, Store, StoreError,
    TableChange, TableSpec, WriteBatch,
};

/// Version of the rows' format. Grows when an older build could not read them.
pub const FORMAT: u32 = 1;

const FAMILY: FamilyId = FamilyId(0);

/// What a row is about: the first byte of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Counters = 0,
    Schema = 1,
    Table = 2,
    /// Storage of a table that is not published yet.
    Staged = 3,
    /// Mark of the hidden row ids of one node.
    RowIdMark = 4,
    View = 5,
    Sequence = 6,
    /// Where a sequence stands.
    SequenceValue = 7,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Counters,
        Self::Schema,
        Self::Table,
        Self::Staged,
        Self::RowIdMark,
        Self::View,
        Self::Sequence,
        Self::SequenceValue,
    ];

    fn key(self, id: u32) -> Bytes {
        let mut key = vec![self as u8];
        if self != Self::Counters {
            key.extend_from_slice(&id.to_be_bytes());
        }
        key.into()
    }

    fn of(key: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| key.first() == Some(&(*kind as u8)))
    }
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    format: u32,
    value: T,
}

/// Enough to tell a newer format before its value is looked at.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

#[derive(Serialize, Deserialize)]
struct Counters {
    version: u64,
    next_oid: u32,
    next_storage: u32,
}

/// A catalog read from its store.
pub(crate) struct Loaded {
    pub(crate) catalog: Catalog,
    /// The commit that wrote the counters.
    pub(crate) commit: CommitNo,
    pub(crate) row_id_mark: u64,
    pub(crate) sequence_values: BTreeMap<TableOid, SequenceValue>,
}

/// Reads the catalog; `None` in a store that has none.
pub(crate) async fn load(store: &dyn Store) -> CatalogResult<Option<Loaded>> {
    let counters = match store.get_newest(SYSTEM_TABLE, FAMILY, &Kind::Counters.key(0)).await {
        Ok(Some(row)) => row,
        Ok(None) => return Err(corrupted("the counters row", "it is missing")),
        Err(StoreError::NoSuchTable { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let commit = Fragment::parse(&counters).map_err(|error| corrupted("the counters row", error))?.commit();
    // A row of a batch stands for the whole: the rows of the same change are in this snapshot too.
    let snapshot = store.snapshot(commit).await?;
    let request = ScanRequest::new(SYSTEM_TABLE, FAMILY, vec![KeyRange::all()]);
    let mut scan = store.scan(request, &snapshot).await?;
    let mut rows = Rows::default();
    while let Some(batch) = scan.next().await? {
        for (key, fragment) in batch.keys().zip(batch.fragments()) {
            rows.read(key, fragment)?;
        }
    }
    rows.into_loaded().map(Some)
}

/// Makes the system table in a new store.
pub(crate) async fn bootstrap(store: &dyn Store) -> CatalogResult<Loaded> {
    let catalog = Catalog::bootstrap();
    let families = vec![FamilySpec::new(FAMILY)];
    let create = TableChange::Create(TableSpec { id: SYSTEM_TABLE, families, splits: Vec::new() });
    let mut mutations = vec![put(Kind::Counters, 0, &counters_of(&catalog))?];
    for schema in catalog.schemas() {
        mutations.push(put(Kind::Schema, schema.id.0, schema)?);
    }
    let batch = WriteBatch { tables: vec![create], conditions: Vec::new(), mutations };
    let commit = store.apply(batch, Durability::Sync).await?;
    store.sync(commit).await?;
    Ok(Loaded { catalog, commit, row_id_mark: 0, sequence_values: BTreeMap::new() })
}

/// The write that makes a mark of hidden row ids durable.
pub(crate) fn row_id_mark(node: u16, mark: u64) -> CatalogResult<WriteBatch> {
    let mutations = vec![put(Kind::RowIdMark, u32::from(node), &mark)?];
    Ok(WriteBatch { mutations, ..WriteBatch::default() })
}

/// The write that makes a place of a sequence durable.
pub(crate) fn sequence_value(oid: TableOid, value: &SequenceValue) -> CatalogResult<WriteBatch> {
    let mutations = vec![put(Kind::SequenceValue, oid.0, value)?];
    Ok(WriteBatch { mutations, ..WriteBatch::default() })
}

impl Draft {
    /// Gives up what a process that died had prepared.
    pub(crate) fn drop_staged(&mut self) -> CatalogResult<()> {
        for storage in std::mem::take(&mut self.next.staged) {
            self.dirty.staged.insert(storage);
            self.stores.push(TableChange::Drop(store::TableId(storage)));
        }
        Ok(())
    }

    pub(crate) fn changes_something(&self) -> bool {
        let dirty = &self.dirty;
        let relations = dirty.tables.is_empty() && dirty.views.is_empty() && dirty.sequences.is_empty();
        let rows = !(dirty.schemas.is_empty() && relations && dirty.staged.is_empty());
        rows || !self.stores.is_empty() || !self.extra.is_empty()
    }

    /// The next version and the one batch that makes it. Holds only while the counters row is the one
    /// that commit `last` wrote.
    pub(crate) fn finish(self, last: CommitNo) -> CatalogResult<(Catalog, WriteBatch)> {
        let Self { next, dirty, stores: mut tables, extra } = self;
        let unchanged =
            Condition { table: SYSTEM_TABLE, family: FAMILY, key: Kind::Counters.key(0), expect: Some(last) };
        let mut conditions = vec![unchanged];
        let mut mutations = vec![put(Kind::Counters, 0, &counters_of(&next))?];
        for id in dirty.schemas {
            mutations.push(put_or_delete(Kind::Schema, id.0, next.schema_by_id(id))?);
        }
        for oid in dirty.tables {
            mutations.push(put_or_delete(Kind::Table, oid.0, next.table_by_oid(oid).map(Arc::as_ref))?);
        }
        for oid in dirty.views {
            mutations.push(put_or_delete(Kind::View, oid.0, next.view_by_oid(oid).map(Arc::as_ref))?);
        }
        for oid in dirty.sequences {
            let sequence = next.sequence_by_oid(oid).map(Arc::as_ref);
            mutations.push(put_or_delete(Kind::Sequence, oid.0, sequence)?);
            if sequence.is_none() {
                mutations.push(put_or_delete::<SequenceValue>(Kind::SequenceValue, oid.0, None)?);
            }
        }
        for storage in dirty.staged {
            mutations.push(put_or_delete(Kind::Staged, storage, next.staged.get(&storage))?);
        }
        tables.extend(extra.tables);
        conditions.extend(extra.conditions);
        mutations.extend(extra.mutations);
        Ok((next, WriteBatch { tables, conditions, mutations }))
    }
}

fn counters_of(catalog: &Catalog) -> Counters {
    Counters { version: catalog.version, next_oid: catalog.next_oid, next_storage: catalog.next_storage }
}

fn put_or_delete<T: Serialize>(kind: Kind, id: u32, value: Option<&T>) -> CatalogResult<Mutation> {
    match value {
        Some(value) => put(kind, id, value),
        None => Ok(Mutation::Delete { table: SYSTEM_TABLE, family: FAMILY, key: kind.key(id) }),
    }
}

fn put<T: Serialize>(kind: Kind, id: u32, value: &T) -> CatalogResult<Mutation> {
    let unwritable = |error: &dyn std::fmt::Display| corrupted(format!("{kind:?} {id} to be written"), error);
    let json = serde_json::to_vec(&Versioned { format: FORMAT, value }).map_err(|error| unwritable(&error))?;
    let mut fragment = Vec::new();
    fragment::encode_dense(&layout(), &[Some(&json)], &mut fragment).map_err(|error| unwritable(&error))?;
    Ok(Mutation::Replace { table: SYSTEM_TABLE, family: FAMILY, key: kind.key(id), fragment })
}

fn layout() -> Layout {
    Layout::new(0, vec![LayoutColumn { qualifier: 0, width: None }])
}

/// Rows as they come from the scan.
#[derive(Default)]
struct Rows {
    counters: Option<(Counters, CommitNo)>,
    schemas: Vec<SchemaDef>,
    tables: Vec<Table>,
    views: Vec<View>,
    sequences: Vec<Sequence>,
    staged: BTreeSet<u32>,
    row_id_mark: u64,
    sequence_values: BTreeMap<TableOid, SequenceValue>,
}

impl Rows {
    fn read(&mut self, key: &[u8], bytes: &[u8]) -> CatalogResult<()> {
        let what = || format!("row {key:02X?}");
        let fragment = Fragment::parse(bytes).map_err(|error| corrupted(what(), error))?;
        let layout = layout();
        let view = fragment.dense(&layout).map_err(|error| corrupted(what(), error))?;
        let json = view.cell(0).ok_or_else(|| corrupted(what(), "it has no value"))?;
        match Kind::of(key).ok_or_else(|| corrupted(what(), "its kind is unknown"))? {
            Kind::Counters => self.counters = Some((value(json, &what)?, fragment.commit())),
            Kind::Schema => self.schemas.push(value(json, &what)?),
            Kind::Table => self.tables.push(value(json, &what)?),
            Kind::View => self.views.push(value(json, &what)?),
            Kind::Sequence => self.sequences.push(value(json, &what)?),
            Kind::SequenceValue => {
                let id = key.get(1..).and_then(|id| id.try_into().ok()).map(u32::from_be_bytes);
                let id = id.ok_or_else(|| corrupted(what(), "its key has no oid"))?;
                self.sequence_values.insert(TableOid(id), value(json, &what)?);
            }
            Kind::Staged => {
                self.staged.insert(value(json, &what)?);
            }
            Kind::RowIdMark => self.row_id_mark = self.row_id_mark.max(value(json, &what)?),
        }
        Ok(())
    }

    fn into_loaded(self) -> CatalogResult<Loaded> {
        let (counters, commit) = self.counters.ok_or_else(|| corrupted("the counters row", "it is missing"))?;
        let mut catalog = Catalog {
            version: counters.version,
            schemas: BTreeMap::new(),
            tables: BTreeMap::new(),
            views: self.views.into_iter().map(|view| (view.oid, Arc::new(view))).collect(),
            sequences: self.sequences.into_iter().map(|it| (it.oid, Arc::new(it))).collect(),
            staged: self.staged,
            next_oid: counters.next_oid,
            next_storage: counters.next_storage,
        };
        for def in self.schemas {
            catalog.schemas.insert(def.name.clone(), Schema { def, tables: BTreeMap::new() });
        }
        for table in self.tables {
            check(&table)?;
            let table = Arc::new(table);
            let schema = catalog.schemas.values_mut().find(|schema| schema.def.id == table.schema);
            let schema = schema.ok_or_else(|| corrupted(described(&table), "its schema is missing"))?;
            if schema.tables.insert(table.name.clone(), Arc::clone(&table)).is_some() {
                return Err(corrupted(described(&table), "another one has its name"));
            }
            catalog.tables.insert(table.oid, table);
        }
        Ok(Loaded { catalog, commit, row_id_mark: self.row_id_mark, sequence_values: self.sequence_values })
    }
}

fn value<T: DeserializeOwned>(json: &[u8], what: &dyn Fn() -> String) -> CatalogResult<T> {
    let found: FormatOnly = serde_json::from_slice(json).map_err(|error| corrupted(what(), error))?;
    if found.format > FORMAT {
        return Err(CatalogError::NewerFormat { found: found.format, readable: FORMAT });
    }
    let row: Versioned<T> = serde_json::from_slice(json).map_err(|error| corrupted(what(), error))?;
    Ok(row.value)
}

/// What the rest of the code relies on without looking again.
fn check(table: &Table) -> CatalogResult<()> {
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
    let current: Vec<_> = table.value_columns().map(|column| column.id).collect();
    let written = table.current_layout_def().into_iter().flat_map(|layout| &layout.columns);
    if !written.map(|(id, _)| *id).eq(current) {
        return fail("its newest layout does not hold its columns");
    }
    Ok(())
}

fn described(table: &Table) -> String {
    format!("table \"{}\" (oid {})", table.name, table.oid.0)
}

fn corrupted(what: impl std::fmt::Display, reason: impl std::fmt::Display) -> CatalogError {
    CatalogError::Corrupted { detail: format!("{what}: {reason}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
