//! The counters row, which every catalog change replaces.

use super::row::{FAMILY, Kind, corrupted, json_in};
use super::rows::value;
use super::supports_atomic_changes;
use crate::intent::{Intent, ReadCounters};
use crate::{Catalog, CatalogResult, SYSTEM_TABLE};
use fragment::Fragment;
use serde::{Deserialize, Serialize};
use store::{PointRead, Snapshot, Store, StoreError};

/// The value of the counters row. Every catalog change replaces it, so that readers detect changes by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counters {
    pub(crate) version: u64,
    pub(crate) next_oid: u32,
    pub(crate) next_storage: u32,
    /// A change in progress, on stores that cannot commit it in one batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) intent: Option<Intent>,
    /// Dropped storages that may still exist in the store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) drops: Vec<u32>,
    /// Undone versions, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undone: Vec<u64>,
}

impl Counters {
    pub(super) fn of(catalog: &Catalog) -> Self {
        Self {
            version: catalog.version,
            next_oid: catalog.next_oid,
            next_storage: catalog.next_storage,
            intent: None,
            drops: Vec::new(),
            undone: Vec::new(),
        }
    }
}

/// Reads the counters row; `None` in a store without a catalog.
pub(crate) async fn read_counters(store: &dyn Store) -> CatalogResult<Option<ReadCounters>> {
    let row = match store.get_newest(SYSTEM_TABLE, FAMILY, &Kind::Counters.key(0)).await {
        Ok(Some(row)) => row,
        // The process that created the table crashed before it wrote the row.
        Ok(None) if !supports_atomic_changes(store) => return Ok(None),
        Ok(None) => return Err(corrupted("the counters row", "it is missing")),
        Err(StoreError::NoSuchTable { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    counters_in(&row).map(Some)
}

/// The version of the catalog in a snapshot.
///
/// # Errors
/// [`CatalogError::Corrupted`], [`CatalogError::Store`].
pub(crate) async fn version_at(store: &dyn Store, snapshot: &Snapshot) -> CatalogResult<u64> {
    let row = store.get_row(SYSTEM_TABLE, FAMILY, &Kind::Counters.key(0), snapshot).await?;
    let row = row.ok_or_else(|| corrupted("the counters row", "it is missing"))?;
    Ok(counters_in(&row)?.counters.version)
}

fn counters_in(row: &[u8]) -> CatalogResult<ReadCounters> {
    let what = || "the counters row".to_string();
    let fragment = Fragment::parse(row).map_err(|error| corrupted(what(), error))?;
    let counters = value(json_in(&fragment, &what)?, &what)?;
    Ok(ReadCounters { counters, commit: fragment.commit() })
}
