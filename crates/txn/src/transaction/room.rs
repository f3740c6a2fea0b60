//! Reserves memory for one more write, or spills writes to files.

use super::Transaction;
use crate::writes::{SpillFile, WriteSet, Written};
use crate::{TxnError, TxnResult};
use std::path::Path;
use std::sync::Arc;
use store::Bytes;

/// Memory is requested in multiples of this size.
const MEMORY_STEP: usize = 1 << 18;

/// With fewer bytes of rows in memory, a file is not worthwhile ...
const SMALLEST_SPILL: usize = 1 << 20;
/// ... and with fewer than this, not even if memory is refused.
const SPILL_OF_NEED: usize = 64 << 10;

/// Approximate size of a condition and its key.
const BYTES_OF_A_CONDITION: usize = 128;

impl Transaction {
    /// Whether its writes can be spilled. Not if commits are conditional on the stamps of rows that were read.
    fn spills(&self) -> bool {
        self.stamps.is_none() && self.memory.as_ref().is_some_and(|memory| memory.spill_folder().is_some())
    }

    fn bytes(&self) -> usize {
        let conditions = self.conditions.len() * BYTES_OF_A_CONDITION;
        self.before.bytes() + self.undo.bytes() + self.statement.bytes() + self.aside.bytes() + conditions
    }

    /// Reserves memory for one more write.
    pub(super) async fn make_room(&mut self, key: &Bytes, written: &Written) -> TxnResult<()> {
        let more = WriteSet::cost(key, written);
        let bytes = self.bytes() + more;
        if bytes <= self.options.max_write_bytes && self.hold(bytes) {
            return Ok(());
        }
        let limit = self.options.max_write_bytes;
        if !self.spills() {
            return Err(if bytes > limit { TxnError::TooManyWrites { limit } } else { TxnError::NoMemory { bytes } });
        }
        // Small spills are avoided, unless there is no other way to get memory.
        for enough in [SMALLEST_SPILL.min(limit / 2), SPILL_OF_NEED] {
            if self.rows_in_memory() >= enough {
                self.spill().await?;
            }
            if self.hold(self.bytes() + more) {
                return Ok(());
            }
        }
        Err(TxnError::NoMemory { bytes: self.bytes() + more })
    }

    fn rows_in_memory(&self) -> usize {
        let sets = [self.before.as_ref(), &self.statement, &self.aside];
        self.undo.bytes() + sets.into_iter().map(WriteSet::rows_in_memory).sum::<usize>()
    }

    fn hold(&mut self, bytes: usize) -> bool {
        if bytes <= self.granted {
            return true;
        }
        let wanted = bytes.next_multiple_of(MEMORY_STEP);
        if self.memory.as_ref().is_some_and(|memory| !memory.hold(wanted)) {
            return false;
        }
        self.granted = wanted;
        true
    }

    /// Spills the rows in memory to files.
    async fn spill(&mut self) -> TxnResult<()> {
        let folder = self.memory.as_ref().and_then(|memory| memory.spill_folder()).unwrap_or(Path::new(".")).to_owned();
        let failed = |error: std::io::Error| TxnError::Spill {
            folder: folder.clone(),
            kind: error.kind(),
            reason: error.to_string(),
        };
        let of_statement = file_of(&mut self.statement_file, &folder).map_err(failed)?;
        self.statement.spill(&of_statement).await.map_err(failed)?;
        self.aside.spill(&of_statement).await.map_err(failed)?;
        if self.before.rows_in_memory() + self.undo.bytes() > 0 {
            let file = file_of(&mut self.file, &folder).map_err(failed)?;
            Arc::make_mut(&mut self.before).spill(&file).await.map_err(failed)?;
            self.undo.spill(&file).map_err(failed)?;
        }
        // Returns the freed memory to its source.
        let bytes = self.bytes().next_multiple_of(MEMORY_STEP);
        if self.memory.as_ref().is_some_and(|memory| memory.hold(bytes)) {
            self.granted = bytes;
        }
        Ok(())
    }
}

fn file_of(file: &mut Option<Arc<SpillFile>>, folder: &Path) -> std::io::Result<Arc<SpillFile>> {
    if let Some(file) = file {
        return Ok(Arc::clone(file));
    }
    let made = Arc::new(SpillFile::create(folder)?);
    *file = Some(Arc::clone(&made));
    Ok(made)
}
