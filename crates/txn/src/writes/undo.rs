//! The undo log of savepoints: previous states of rows in the order of writing.
//!
//! Kept only while there is a savepoint: other transactions have no overhead.

use super::file::{Block, SpillFile};
use super::rows::Entry;
use super::run;
use super::set::WriteSet;
use std::io;
use std::sync::Arc;
use store::{Bytes, FamilyId, StoreError, StoreResult, TableId};

/// A savepoint of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct Savepoint {
    pub(crate) steps: usize,
    pub(crate) conditions: usize,
    pub(crate) locks: usize,
}

/// One change of the write set.
#[derive(Debug)]
enum Step {
    /// A row was written; `before` is its previous entry.
    Row { table: TableId, family: FamilyId, key: Bytes, before: Entry },
    /// Layers were added on top of this number of layers.
    Layers(usize),
}

/// Spilled steps.
#[derive(Debug)]
struct Chunk {
    file: Arc<SpillFile>,
    block: Block,
    steps: usize,
}

/// The steps since the first savepoint.
#[derive(Debug, Default)]
pub(crate) struct UndoLog {
    kept: bool,
    /// The older steps, spilled.
    chunks: Vec<Chunk>,
    steps: Vec<Step>,
    bytes: usize,
}

/// Approximate size of a chunk, which is read back as a whole.
const CHUNK_BYTES: usize = 1 << 20;

impl UndoLog {
    /// Starts recording. Returns the number of recorded steps.
    pub(crate) fn begin(&mut self) -> usize {
        self.kept = true;
        self.len()
    }

    fn len(&self) -> usize {
        self.steps.len() + self.chunks.iter().map(|chunk| chunk.steps).sum::<usize>()
    }

    /// Whether there is a savepoint.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// Approximate memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Ends recording, when no savepoint is left.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Moves the writes of `later` into `set` and records the replaced entries.
    ///
    /// # Errors
    /// I/O failures; then nothing is moved.
    pub(crate) fn absorb(&mut self, set: &mut WriteSet, later: &mut WriteSet) -> StoreResult<()> {
        if !later.is_flat() {
            self.note(Step::Layers(set.stack(later)));
            return Ok(());
        }
        let mut steps = Vec::with_capacity(later.len());
        for ((table, family), rows) in later.top().families() {
            for key in rows.keys() {
                let (table, family, key) = (*table, *family, key.clone());
                let before = set.get(table, family, &key)?;
                steps.push(Step::Row { table, family, key, before });
            }
        }
        steps.into_iter().for_each(|step| self.note(step));
        set.absorb(later);
        Ok(())
    }

    fn note(&mut self, step: Step) {
        self.bytes += step.bytes();
        self.steps.push(step);
    }

    /// Undoes the steps after the first `steps`, latest first.
    ///
    /// # Errors
    /// I/O failures; then the write set is in an intermediate state.
    pub(crate) fn undo(&mut self, set: &mut WriteSet, steps: usize) -> StoreResult<()> {
        while self.len() > steps {
            match self.pop()? {
                Some(Step::Row { table, family, key, before }) => set.restore(table, family, key, before),
                Some(Step::Layers(layers)) => set.truncate(layers),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn pop(&mut self) -> StoreResult<Option<Step>> {
        if self.steps.is_empty()
            && let Some(chunk) = self.chunks.pop()
        {
            self.steps = decode(&Bytes::from(chunk.file.read(chunk.block)?), chunk.file.as_ref())?;
            self.bytes = self.steps.iter().map(Step::bytes).sum();
        }
        let step = self.steps.pop();
        self.bytes -= step.as_ref().map_or(0, Step::bytes);
        Ok(step)
    }

    /// Spills all steps to `file`. Blocks the thread.
    ///
    /// # Errors
    /// Errors of the operating system; then the steps stay in memory.
    pub(crate) fn spill(&mut self, file: &Arc<SpillFile>) -> io::Result<()> {
        let mut chunks = Vec::new();
        let (mut bytes, mut steps) = (Vec::new(), 0);
        for step in &self.steps {
            step.encode(&mut bytes)?;
            steps += 1;
            if bytes.len() >= CHUNK_BYTES {
                chunks.push(Chunk { file: Arc::clone(file), block: file.append(&bytes)?, steps });
                bytes.clear();
                steps = 0;
            }
        }
        if steps > 0 {
            chunks.push(Chunk { file: Arc::clone(file), block: file.append(&bytes)?, steps });
        }
        self.chunks.append(&mut chunks);
        self.steps = Vec::new();
        self.bytes = 0;
        Ok(())
    }
}

const ROW: u8 = 0;
const LAYERS: u8 = 1;

impl Step {
    fn bytes(&self) -> usize {
        let inside = match self {
            Self::Row { key, before, .. } => {
                key.len() + before.as_ref().and_then(Option::as_ref).map_or(0, |fragment| fragment.len())
            }
            Self::Layers(_) => 0,
        };
        size_of::<Self>() + inside
    }

    fn encode(&self, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Row { table, family, key, before } => {
                out.push(ROW);
                out.extend_from_slice(&table.0.to_le_bytes());
                out.extend_from_slice(&family.0.to_le_bytes());
                run::encode(out, key, before)
            }
            Self::Layers(layers) => {
                out.push(LAYERS);
                out.extend_from_slice(&(*layers as u64).to_le_bytes());
                Ok(())
            }
        }
    }
}

fn decode(bytes: &Bytes, file: &SpillFile) -> StoreResult<Vec<Step>> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (step, next) = decode_step(bytes, at).ok_or_else(|| StoreError::Io {
            action: format!("reading a temporary file in \"{}\"", file.folder().display()),
            reason: "a savepoint is cut short".to_owned(),
        })?;
        steps.push(step);
        at = next;
    }
    Ok(steps)
}

fn decode_step(bytes: &Bytes, at: usize) -> Option<(Step, usize)> {
    let after = at.checked_add(1)?;
    match *bytes.get(at)? {
        ROW => {
            let (table, rest) = bytes.get(after..)?.split_first_chunk::<4>()?;
            let (family, _) = rest.split_first_chunk::<2>()?;
            let (table, family) = (TableId(u32::from_le_bytes(*table)), FamilyId(u16::from_le_bytes(*family)));
            let ((key, before), next) = run::decode(bytes, after + 6)?;
            Some((Step::Row { table, family, key, before }, next))
        }
        LAYERS => {
            let (layers, _) = bytes.get(after..)?.split_first_chunk::<8>()?;
            Some((Step::Layers(usize::try_from(u64::from_le_bytes(*layers)).ok()?), after + 8))
        }
        _ => None,
    }
}
