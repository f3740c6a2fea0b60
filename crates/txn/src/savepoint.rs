//! Savepoints: what rows were before, in the order of writing, so that the latest writes can be taken back.
//!
//! Kept only while there is a savepoint: a transaction without one pays nothing. Locks taken after a savepoint
//! stay until the transaction ends.

use crate::overlay::{Overlay, Written};
use store::{Bytes, FamilyId, TableId};

/// A point of a transaction to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Savepoint {
    pub(crate) writes: usize,
    pub(crate) conditions: usize,
}

/// One write as it was before.
#[derive(Debug)]
struct Replaced {
    table: TableId,
    family: FamilyId,
    key: Bytes,
    /// `None`: the transaction had not written the row.
    before: Option<Written>,
}

/// What the writes since the first savepoint replaced.
#[derive(Debug, Default)]
pub(crate) struct UndoLog {
    kept: bool,
    entries: Vec<Replaced>,
    bytes: usize,
}

impl UndoLog {
    /// From now on writes are noted. Returns how many were.
    pub(crate) fn begin(&mut self) -> usize {
        self.kept = true;
        self.entries.len()
    }

    /// Is there a savepoint?
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// Memory held, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// No savepoint is left.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Moves the writes of `later` into `overlay` and notes what they replace.
    pub(crate) fn absorb(&mut self, overlay: &mut Overlay, later: &mut Overlay) {
        for (table, family, key, written) in std::mem::take(later).into_rows() {
            let before = overlay.put(table, family, key.clone(), written);
            let replaced = Replaced { table, family, key, before };
            self.bytes += replaced.bytes();
            self.entries.push(replaced);
        }
    }

    /// Takes the writes after the first `writes` back, latest first.
    pub(crate) fn undo(&mut self, overlay: &mut Overlay, writes: usize) {
        while self.entries.len() > writes {
            let Some(replaced) = self.entries.pop() else { return };
            self.bytes -= replaced.bytes();
            let Replaced { table, family, key, before } = replaced;
            match before {
                Some(written) => drop(overlay.put(table, family, key, written)),
                None => overlay.remove(table, family, &key),
            }
        }
    }
}

impl Replaced {
    fn bytes(&self) -> usize {
        let fragment = self.before.as_ref().and_then(Option::as_ref);
        size_of::<Self>() + self.key.len() + fragment.map_or(0, |fragment| fragment.len())
    }
}
