//! The order of referential actions and checks: that of their events, except where ON UPDATE CASCADE would move a row
//! twice: with the row that it references, and then with another one.
//!
//! ```text
//!   UPDATE p SET id = id + 1      1 -> 2 -> 3 -> 4              a chain of rows: the last move is the first action
//!   UPDATE p SET id = 3 - id      1 -> 2 -> 1                   a cycle of rows: one action for all its moves
//!   two statements, or UPSERT     (1, 1) -> (2, 1) -> (2, 2)    one row: its moves as they were made
//! ```
//! Actions are statements that run one after the other. Rows that one of them has moved to a key must not be there yet
//! when an action moves the rows of that key. Keys are unique when a statement ends but not before, so only moves of one
//! statement are put in another order. Moves of different statements, as of the actions for two foreign keys of a
//! table, may be moves of one row.

use super::{Event, Gone, Wanted};
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

/// The number of a statement, a foreign key, and a key that it references.
type Key<'e> = (usize, u32, &'e [Datum]);

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

/// For each move, the move of another row from the key that it moves to. Empty if nothing moves.
fn next_moves(events: &[Event]) -> Vec<Option<usize>> {
    let mut by_old_key: HashMap<Key<'_>, usize> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        if let Some(gone) = event.moved() {
            // UPSERT may move several rows from a key, one after the other. Only the first was there before.
            by_old_key.entry(gone.old_key()).or_insert(at);
        }
    }
    if by_old_key.is_empty() {
        return Vec::new();
    }
    let next = |event: &Event| {
        let gone = event.moved()?;
        let at = *by_old_key.get(&gone.new_key()?)?;
        let of_same_row = gone.row.is_some() && events.get(at)?.moved()?.row == gone.row;
        (!of_same_row).then_some(at)
    };
    events.iter().map(next).collect()
}

impl Event {
    /// A removed key whose referencing rows move to another key.
    fn moved(&self) -> Option<&Gone> {
        match self {
            Self::Gone(gone) if gone.new.is_some() && gone.incoming.moves_children() => Some(gone),
            Self::Gone(_) | Self::Made(_) => None,
        }
    }
}

impl Gone {
    /// What ordering it takes: its step, and for a move its places in the maps of moves.
    pub(super) fn bytes_of_step(&self) -> usize {
        // A hash map has up to twice as many places as entries.
        const MOVE: usize = 2 * size_of::<(Key<'_>, usize)>() + size_of::<Option<usize>>();
        size_of::<ActionStep>() + if self.new.is_some() { MOVE } else { 0 }
    }

    fn old_key(&self) -> Key<'_> {
        (self.statement, self.incoming.key.oid, &self.values)
    }

    fn new_key(&self) -> Option<Key<'_>> {
        Some((self.statement, self.incoming.key.oid, self.new.as_deref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::relations::Incoming;
    use super::*;
    use catalog::{ForeignKey, ReferentialAction, TableOid};
    use std::sync::Arc;

    /// A move of a key by a statement; `row` is the primary key of a row that keeps it.
    fn moved(statement: usize, row: Option<i32>, old: [i32; 2], new: [i32; 2]) -> Event {
        let key = ForeignKey {
            oid: 1,
            name: String::new(),
            columns: Vec::new(),
            parent: TableOid(1),
            parent_columns: Vec::new(),
            parent_index: 0,
            full: false,
            on_delete: ReferentialAction::NoAction,
            set_columns: Vec::new(),
            on_update: ReferentialAction::Cascade,
            deferrable: false,
            deferred: false,
            validated: true,
        };
        let incoming = Arc::new(Incoming { child: TableOid(2), key, columns: Vec::new() });
        let row = row.map(|row| vec![Datum::Int4(row)]);
        Event::Gone(Gone { incoming, values: ints(old), new: Some(ints(new)), row, statement })
    }

    fn ints(values: [i32; 2]) -> Vec<Datum> {
        values.into_iter().map(Datum::Int4).collect()
    }

    /// The old keys of the steps; those of a cycle together.
    fn order(events: Vec<Event>) -> Vec<Vec<Vec<Datum>>> {
        let old_keys = |step| match step {
            ActionStep::LookUp(_) => Vec::new(),
            ActionStep::One(gone) => vec![gone.values],
            ActionStep::Cycle(moves) => moves.into_iter().map(|gone| gone.values).collect(),
        };
        action_steps(events).into_iter().map(old_keys).collect()
    }

    #[test]
    fn the_last_move_of_a_chain_of_rows_comes_first() {
        let events = vec![moved(0, None, [1, 1], [2, 2]), moved(0, None, [2, 2], [3, 3])];
        assert_eq!(order(events), [[ints([2, 2])], [ints([1, 1])]]);
        let events = vec![moved(0, Some(7), [1, 1], [2, 2]), moved(0, Some(8), [2, 2], [3, 3])];
        assert_eq!(order(events), [[ints([2, 2])], [ints([1, 1])]]);
    }

    #[test]
    fn a_cycle_of_rows_is_one_step() {
        let events = vec![moved(0, None, [1, 1], [2, 2]), moved(0, None, [2, 2], [1, 1])];
        assert_eq!(order(events), [[ints([1, 1]), ints([2, 2])]]);
    }

    #[test]
    fn moves_of_several_statements_keep_their_order() {
        let events = vec![moved(1, None, [1, 1], [2, 1]), moved(2, None, [2, 1], [2, 2])];
        assert_eq!(order(events), [[ints([1, 1])], [ints([2, 1])]]);
        let events = vec![moved(1, None, [1, 2], [2, 2]), moved(2, None, [2, 2], [1, 2])];
        assert_eq!(order(events), [[ints([1, 2])], [ints([2, 2])]]);
    }

    #[test]
    fn moves_of_a_row_that_a_statement_writes_twice_keep_their_order() {
        let events = vec![moved(0, Some(7), [1, 1], [2, 2]), moved(0, Some(7), [2, 2], [3, 3])];
        assert_eq!(order(events), [[ints([1, 1])], [ints([2, 2])]]);
        let events = vec![
            moved(0, Some(7), [1, 1], [2, 2]),
            moved(0, Some(7), [2, 2], [3, 3]),
            moved(0, Some(8), [0, 0], [2, 2]),
            moved(0, Some(8), [2, 2], [4, 4]),
        ];
        assert_eq!(order(events), [[ints([1, 1])], [ints([2, 2])], [ints([0, 0])], [ints([2, 2])]]);
    }
}
