//! Reads a whole data folder and verifies its checksums and indexes.

use crate::Error;
use engine::{Engine, EngineOptions, SessionStart};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use store::{FamilyId, Store, TableId};

/// Result of [`crate::Bennu::check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Row counts by table, the catalog's tables first.
    pub tables: Vec<(String, u64)>,
    /// Tables that could not be read completely; their rows are not counted.
    pub damaged: Vec<String>,
    /// Bytes of keys and rows read.
    pub bytes: u64,
    /// One line per problem, with its table. Empty if the folder is sound.
    pub problems: Vec<String>,
}

/// Checks `store` and closes it.
pub(crate) async fn run(store: Arc<dyn Store>) -> Result<CheckReport, Error> {
    let found = store.check().await?;
    let mut problems = Vec::new();
    let options = EngineOptions { run_jobs: false, ..EngineOptions::default() };
    let mut differences = Vec::new();
    let names: HashMap<_, _> = match Engine::open(Arc::clone(&store), options).await {
        Ok(engine) => {
            // Unreadable data is reported already, and would fail this check too.
            if found.problems.is_empty() {
                differences = index_differences(&engine).await;
            }
            engine.tables_by_storage().into_iter().collect()
        }
        // Rows with valid checksums may still form an invalid catalog.
        Err(error) => {
            problems.push(format!("the catalog cannot be read: {}", error.message()));
            HashMap::new()
        }
    };
    let name = |(table, family): (TableId, FamilyId)| {
        let name = names.get(&table).cloned().unwrap_or_else(|| format!("storage {table}"));
        if family.0 == 0 { name } else { format!("{name}, family {}", family.0) }
    };
    let damaged: BTreeSet<_> = found.problems.iter().filter_map(|problem| problem.place).collect();
    problems.extend(found.problems.into_iter().map(|problem| match problem.place {
        Some(place) => format!("{}: {}", name(place), problem.what),
        None => problem.what,
    }));
    problems.extend(differences);
    let sound = found.rows.into_iter().filter(|(table, family, _)| !damaged.contains(&(*table, *family)));
    let tables = sound.map(|(table, family, rows)| (name((table, family)), rows)).collect();
    store.close().await?;
    Ok(CheckReport { tables, damaged: damaged.into_iter().map(name).collect(), bytes: found.bytes, problems })
}

/// One line for each difference between a table and its indexes.
async fn index_differences(engine: &Arc<Engine>) -> Vec<String> {
    let session = engine.session(SessionStart::default());
    let found = match session {
        Ok(mut session) => session.index_differences().await,
        Err(error) => Err(error),
    };
    found.unwrap_or_else(|error| vec![format!("the indexes cannot be checked: {}", error.message())])
}
