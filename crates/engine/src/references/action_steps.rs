//! The order of referential actions and checks: that of their events, but no row is moved twice by ON UPDATE CASCADE.
//!
//! ```text
//!   UPDATE p SET id = id + 1      1 -> 2 -> 3 -> 4     a chain: the last move is the first action
//!   UPDATE p SET id = 3 - id      1 -> 2 -> 1          a cycle: one action for all its moves
//! ```
//! Actions are statements that run one after the other. Rows that one of them has moved to a key must not be there yet
//! when an action moves the rows of that key.

use super::{Event, Gone, Wanted};
use catalog::ReferentialAction;
use std::collections::HashMap;
use types::Datum;

/// What is done at once.
#[derive(Debug)]
pub(super) enum ActionStep {
    /// Look-ups of referenced rows.
    LookUp(Wanted),
    /// The action for a removed key.
    One(Gone),
    /// Moves of one foreign key, each to the old key of the next one.
    Cycle(Vec<Gone>),
}

/// A foreign key and a key that it references.
type Key = (u32, Vec<Datum>);

/// Orders the events of a statement, or of the actions that followed from earlier ones.
pub(super) fn action_steps(events: Vec<Event>) -> Vec<ActionStep> {
    let next = next_moves(&events);
    let mut events: Vec<Option<Event>> = events.into_iter().map(Some).collect();
    let mut steps = Vec::with_capacity(events.len());
    for first in 0..events.len() {
        let mut path = Vec::new();
        let mut at = Some(first);
        // Ends behind the last move of a chain, at a move that has a step already, or where a cycle closes.
        while let Some(taken) = at.and_then(|at| events.get_mut(at)?.take()) {
            match taken {
                Event::Gone(gone) => path.push(gone),
                Event::Made(wanted) => steps.push(ActionStep::LookUp(wanted)),
            }
            at = at.and_then(|at| *next.get(at)?);
        }
        match at == Some(first) && path.len() > 1 {
            true => steps.push(ActionStep::Cycle(path)),
            false => steps.extend(path.into_iter().rev().map(ActionStep::One)),
        }
    }
    steps
}

/// For each move, the move of the key that it moves to.
fn next_moves(events: &[Event]) -> Vec<Option<usize>> {
    let moves = events.iter().enumerate().filter_map(|(at, event)| Some((event.moved()?.old_key(), at)));
    let by_old_key: HashMap<Key, usize> = moves.collect();
    let next = |event: &Event| by_old_key.get(&event.moved()?.new_key()?).copied();
    events.iter().map(next).collect()
}

impl Event {
    /// A removed key whose referencing rows move to another key.
    fn moved(&self) -> Option<&Gone> {
        match self {
            Self::Gone(gone) if gone.new.is_some() && gone.incoming.key.on_update == ReferentialAction::Cascade => {
                Some(gone)
            }
            Self::Gone(_) | Self::Made(_) => None,
        }
    }
}

impl Gone {
    fn old_key(&self) -> Key {
        (self.incoming.key.oid, self.values.clone())
    }

    fn new_key(&self) -> Option<Key> {
        Some((self.incoming.key.oid, self.new.clone()?))
    }
}
