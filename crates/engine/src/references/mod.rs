//! Foreign keys: every referencing row has a referenced row, whichever statement writes either of them.
//!
//! ```text
//!   row writer ──notes──> References ──end of the statement──> actions on referencing rows   (actions.rs)
//!                             ^                           │└─> look-ups of referenced rows, each under KEY SHARE
//!                             └── rows that actions change ┘    (parents.rs); deferred checks wait for COMMIT
//! ```
//! Actions and checks run in PostgreSQL's order, in which two foreign keys of one row may decide whether a statement is
//! refused: row by row in the order of the changes, of one row by foreign keys in the order of their creation, first
//! those that reference the row, then its own. What an action changes comes after all of that. NO ACTION is no
//! exception: it refuses rows that a later action would have deleted.
//!
//! A transaction that deletes a row or changes its key locks it FOR UPDATE; one that references it locks it FOR KEY
//! SHARE. One of the two waits for the other to commit and then sees its writes, so both check the newest state and
//! no orphan remains. A referencing row that another transaction deletes is waited for too: it counts only if that
//! transaction rolls back.
//!
//! Actions (CASCADE, SET NULL, SET DEFAULT) are internal statements in the same transaction, so that the row writer
//! maintains indexes and constraints of the rows they change. They use an index on the referencing columns if there
//! is one, else a table scan.

mod action_steps;
mod actions;
mod check;
mod deferred;
mod memory;
mod parents;
mod relations;
mod shared_relations;

pub(crate) use deferred::{Deferred, DeferredMark, DeferredUnique, Modes};
pub(crate) use relations::{Relation, Relations};

use crate::dml::{Row, Target};
use crate::error::EngineResult;
use memory::NotedMemory;
use query::Planner;
use relations::Incoming;
use shared_relations::SharedRelations;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use store::Bytes;
use types::Datum;

/// The foreign key checks that a statement's writes require.
#[derive(Debug)]
pub(crate) struct References {
    events: Vec<Event>,
    /// Number of the statement whose events are noted: 0 for the client's, then one for each action.
    statement: usize,
    /// Foreign keys of removed keys; their referencing tables are locked.
    relations: SharedRelations,
    /// The memory of the events, held until the statement ends.
    memory: NotedMemory,
}

/// What is to be done for changed rows, in the order of the changes.
#[derive(Debug)]
enum Event {
    /// Looks up the keys that rows reference now. Rows between which no key is removed share the look-ups.
    Made(Wanted),
    /// Runs the action for a removed key.
    Gone(Gone),
}

/// Newly referenced keys without duplicates, by foreign key and by the look-up of the referenced row.
type Wanted = BTreeMap<(u32, ParentLookup), Made>;

/// How a referenced row is looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ParentLookup {
    /// By its rowkey, or by the unique prefix of its index entry.
    ByKey(Bytes),
    /// No look-up: no row can have these values, or they violate MATCH FULL. The text distinguishes different values.
    Impossible(String),
}

/// A key value of a foreign key: newly referenced, or removed from the referenced table.
#[derive(Clone, Debug)]
struct Made {
    relation: Arc<Relation>,
    values: Vec<Datum>,
}

/// A key that a referenced row no longer has.
#[derive(Clone, Debug)]
struct Gone {
    incoming: Arc<Incoming>,
    values: Vec<Datum>,
    /// The new key of the row; `None` if the row was deleted.
    new: Option<Vec<Datum>>,
    /// The primary key of the row, if the row keeps it and referencing rows move: UPSERT may write a row several times.
    row: Option<Vec<Datum>>,
    /// Number of the statement that removed the key.
    statement: usize,
}

impl References {
    /// No checks. Their memory is counted in the pool of the planner.
    pub(crate) fn new(planner: &Arc<Planner>) -> Self {
        let memory = NotedMemory::new(planner);
        Self { events: Vec::new(), statement: 0, relations: SharedRelations::default(), memory }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Begins an action: what is noted from now on is its own.
    fn begin_statement(&mut self) {
        self.statement += 1;
    }

    /// Notes the checks that a changed row of the target requires.
    ///
    /// # Errors
    /// A referenced key that is too long; 53200.
    pub(crate) fn note(&mut self, target: &Target, old: Option<&Row>, new: Option<&Row>) -> EngineResult<()> {
        if let Some(old) = old {
            self.note_removed(target, old, new)?;
        }
        let Some(new) = new.filter(|_| !target.relations.outgoing.is_empty()) else { return Ok(()) };
        let mut wanted = self.take_last_wanted();
        let begins = wanted.is_empty();
        for relation in &target.relations.outgoing {
            let values = values_at(new, &relation.columns);
            let same = old.is_some_and(|old| values_at(old, &relation.columns) == values);
            if !same && relation.asks_for(&values) {
                let made = Made { relation: Arc::clone(relation), values };
                if let Entry::Vacant(place) = wanted.entry(made.wanted()?) {
                    self.memory.add(size_of_wanted(place.key()) + made.bytes())?;
                    place.insert(made);
                }
            }
        }
        if begins && !wanted.is_empty() {
            self.memory.add(NODE)?;
        }
        if !wanted.is_empty() {
            self.events.push(Event::Made(wanted));
        }
        Ok(())
    }

    /// Notes the keys that a row no longer has.
    fn note_removed(&mut self, target: &Target, old: &Row, new: Option<&Row>) -> EngineResult<()> {
        for incoming in &target.relations.incoming {
            let values = values_at(old, &incoming.columns);
            let new_values = new.map(|new| values_at(new, &incoming.columns));
            if new_values.as_ref() != Some(&values) && !values.iter().any(Datum::is_null) {
                let row = new.filter(|_| incoming.moves_children()).and_then(|new| kept_key(target, old, new));
                let (incoming, statement) = (Arc::clone(incoming), self.statement);
                let gone = Gone { incoming, values, new: new_values, row, statement };
                self.memory.add(gone.bytes())?;
                self.events.push(Event::Gone(gone));
            }
        }
        Ok(())
    }

    /// Takes the look-ups after the last removed key, to which more are to be added.
    fn take_last_wanted(&mut self) -> Wanted {
        match self.events.pop() {
            Some(Event::Made(wanted)) => wanted,
            gone => {
                self.events.extend(gone);
                Wanted::new()
            }
        }
    }
}

impl Made {
    /// Its key in [`Wanted`].
    fn wanted(&self) -> EngineResult<(u32, ParentLookup)> {
        let probe = match self.values.iter().any(Datum::is_null) {
            true => None,
            false => self.relation.parent.probe(&self.values)?,
        };
        let impossible = || ParentLookup::Impossible(format!("{:?}", self.values));
        Ok((self.relation.key.oid, probe.map_or_else(impossible, ParentLookup::ByKey)))
    }

    /// Its approximate memory.
    fn bytes(&self) -> usize {
        size_of::<Self>() + Datum::row_memory_size(&self.values)
    }
}

/// Memory of the first node of [`Wanted`], which has room for eleven keys.
const NODE: usize = 11 * (size_of::<(u32, ParentLookup)>() + size_of::<Made>());

/// Approximate memory of a key in [`Wanted`] and of its place in the map.
fn size_of_wanted((_, lookup): &(u32, ParentLookup)) -> usize {
    const PLACE: usize = size_of::<(u32, ParentLookup)>() * 2;
    let of_lookup = match lookup {
        ParentLookup::ByKey(key) => key.len(),
        ParentLookup::Impossible(text) => text.len(),
    };
    PLACE + of_lookup
}

impl Gone {
    /// Its approximate memory, with that of its step.
    fn bytes(&self) -> usize {
        let others = [&self.new, &self.row].into_iter().flatten().map(|values| Datum::row_memory_size(values));
        size_of::<Self>() + Datum::row_memory_size(&self.values) + others.sum::<usize>() + self.bytes_of_step()
    }
}

/// The primary key of a row that keeps it.
fn kept_key(target: &Target, old: &Row, new: &Row) -> Option<Vec<Datum>> {
    let columns = target.codec.key_columns();
    let key = values_at(old, columns);
    (key == values_at(new, columns)).then_some(key)
}

fn values_at(row: &Row, columns: &[usize]) -> Vec<Datum> {
    columns.iter().map(|at| row.get(*at).cloned().unwrap_or(Datum::Null)).collect()
}
