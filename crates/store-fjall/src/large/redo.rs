//! Recovery of an interrupted large commit: its intent is durable, so the commit must be completed.

use super::staged::StagedRows;
use crate::commit::seqnos::Seqnos;
use crate::error::{engine, io};
use crate::load::ingestion::Ingestion;
use crate::meta::{self, Intent};
use fjall::{Database, Keyspace, OwnedWriteBatch};
use std::io::ErrorKind;
use std::path::Path;
use store::{StoreError, StoreResult};

/// Writes the rows of an intent again, as one run on top of each keyspace, and ends the intent. The caller has synced
/// the journal before, and must sync it again before the staged file is deleted.
///
/// # Errors
/// [`StoreError::Corrupted`] if the staged file or a keyspace is missing or damaged; I/O failures.
pub(crate) fn redo(
    db: &Database,
    meta: &Keyspace,
    seqnos: &Seqnos,
    folder: &Path,
    intent: &Intent,
    keyspace: impl Fn(&str) -> StoreResult<Keyspace>,
) -> StoreResult<()> {
    tracing::info!(file = %intent.file, "finishing a large commit that a crash interrupted");
    let keyspaces = intent.keyspaces.iter().map(|name| keyspace(name)).collect::<StoreResult<Vec<_>>>()?;
    let mut rows = StagedRows::open(&folder.join(&intent.file))?;
    let mut current: Option<(usize, Ingestion<'_>)> = None;
    while let Some((number, key, value)) = rows.next()? {
        if current.as_ref().is_none_or(|(of, _)| *of != number) {
            end(current.take())?;
            let home = keyspaces.get(number).ok_or_else(|| StoreError::Corrupted {
                detail: format!("staged file {}: it names keyspace {number} of {}", intent.file, keyspaces.len()),
            })?;
            current = Some((number, Ingestion::begin(home, intent.commit())?));
        }
        let Some((_, ingestion)) = &mut current else { continue };
        ingestion.write(key.into(), value.as_deref())?;
    }
    end(current)?;
    let mut batch = OwnedWriteBatch::with_capacity(db.clone(), 2);
    meta::remove_intent(&mut batch, meta);
    seqnos.write(db, meta, batch).map_err(engine("writing the journal"))
}

fn end(run: Option<(usize, Ingestion<'_>)>) -> StoreResult<()> {
    run.map_or(Ok(()), |(_, run)| run.finish())
}

/// Deletes staged files. Their commits are complete or were not made.
///
/// # Errors
/// I/O failures.
pub(crate) fn delete_staged(folder: &Path) -> StoreResult<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io(format!("emptying {}", folder.display()))(error)),
        _ => Ok(()),
    }
}
