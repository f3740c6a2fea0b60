//! The order of referential actions: no row is moved twice by ON UPDATE CASCADE.
//!
//! ```text
//!   UPDATE p SET id = id + 1      1 -> 2 -> 3 -> 4     a chain: the last move is the first action
//!   UPDATE p SET id = 3 - id      1 -> 2 -> 1          a cycle: one action for all its moves
//! ```
//! Actions are statements that run one after the other. Rows that one of them has moved to a key must not be there yet
//! when an action moves the rows of that key.

use super::Gone;
use catalog::ReferentialAction;
use std::collections::HashMap;
use types::Datum;

/// What one action handles.
#[derive(Debug)]
pub(super) enum ActionStep {
    One(Gone),
    /// Moves of one foreign key, each to the old key of the next one.
    Cycle(Vec<Gone>),
}

/// A foreign key and a key that it references.
type Key = (u32, Vec<Datum>);

/// Orders the removed keys of a statement.
pub(super) fn action_steps(gone: Vec<Gone>) -> Vec<ActionStep> {
    let old_keys: HashMap<Key, usize> =
        gone.iter().enumerate().filter(|(_, gone)| gone.moves()).map(|(at, gone)| (gone.old_key(), at)).collect();
    let next: Vec<Option<usize>> = gone.iter().map(|gone| old_keys.get(&gone.new_key()?).copied()).collect();
    let mut gone: Vec<Option<Gone>> = gone.into_iter().map(Some).collect();
    let mut steps = Vec::with_capacity(gone.len());
    for first in 0..gone.len() {
        let mut path = Vec::new();
        let mut at = Some(first);
        // Ends behind the last move of a chain, at a move that has a step already, or where a cycle closes.
        while let Some(taken) = at.and_then(|at| gone.get_mut(at)?.take()) {
            path.push(taken);
            at = at.and_then(|at| *next.get(at)?);
        }
        match at == Some(first) && path.len() > 1 {
            true => steps.push(ActionStep::Cycle(path)),
            false => steps.extend(path.into_iter().rev().map(ActionStep::One)),
        }
    }
    steps
}

impl Gone {
    /// Whether referencing rows move to another key.
    fn moves(&self) -> bool {
        self.new.is_some() && self.incoming.key.on_update == ReferentialAction::Cascade
    }

    fn old_key(&self) -> Key {
        (self.incoming.key.oid, self.values.clone())
    }

    fn new_key(&self) -> Option<Key> {
        let new = self.new.clone().filter(|_| self.moves())?;
        Some((self.incoming.key.oid, new))
    }
}
