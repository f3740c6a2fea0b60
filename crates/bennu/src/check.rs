//! What is on disk, read whole and held against its checksums.

use crate::Error;
use engine::{Engine, EngineOptions};
use std::collections::HashMap;
use std::sync::Arc;
use store::Store;

/// What [`crate::Bennu::check`] read and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Rows by table, the catalog's own first.
    pub tables: Vec<(String, u64)>,
    /// Bytes of keys and rows that were read.
    pub bytes: u64,
    /// One line for each thing that is wrong. Empty means sound.
    pub problems: Vec<String>,
}

/// Checks `store` and closes it.
pub(crate) async fn run(store: Arc<dyn Store>) -> Result<CheckReport, Error> {
    let found = store.check().await?;
    let mut problems = found.problems;
    let names: HashMap<_, _> = match Engine::open(Arc::clone(&store), EngineOptions::default()).await {
        Ok(engine) => engine.tables_by_storage().into_iter().collect(),
        // Rows may be whole and yet make no catalog.
        Err(error) => {
            problems.push(format!("the catalog cannot be read: {}", error.message()));
            HashMap::new()
        }
    };
    let tables = found.rows.into_iter().map(|(table, family, rows)| {
        let name = names.get(&table).cloned().unwrap_or_else(|| format!("storage {table}"));
        let family = if family.0 == 0 { String::new() } else { format!(", family {}", family.0) };
        (name + &family, rows)
    });
    let tables = tables.collect();
    store.close().await?;
    Ok(CheckReport { tables, bytes: found.bytes, problems })
}
