//! Foreign keys: that each row refers to one that is there, whatever statement writes either of them.
//!
//! ```text
//!   row writer ──notes──> References ──end of the statement──> actions on rows that refer   (actions.rs)
//!                                                         └──> look-ups of what is referred to, each under KEY SHARE
//!                                                              (parents.rs); what is deferred waits for COMMIT
//! ```
//! Who deletes a row or changes its key holds it under UPDATE, who refers to it under KEY SHARE: one of the two waits for
//! the other to commit and then sees what it did. So both are right with what is newest, and no row is left behind. A row
//! that refers and that another transaction deletes is waited for likewise: it counts only if that one is rolled back.
//!
//! Actions (CASCADE, SET NULL, SET DEFAULT) are statements of the engine's own in the same transaction, so that whatever
//! hangs on the rows that they change is done by the row writer as always. They take an index of the columns that
//! refer, if there is one, and else look through the table.

mod actions;
mod check;
mod deferred;
mod parents;
mod relations;

pub(crate) use deferred::{Deferred, DeferredMark, LateUnique, Modes};
pub(crate) use relations::{Relation, Relations};

use crate::dml::{Row, Target};
use crate::error::EngineResult;
use relations::Incoming;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::Bytes;
use types::Datum;

/// What a statement has written that foreign keys are to be asked about.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// Keys that rows refer to anew, each once.
    made: Wanted,
    /// Keys that are gone.
    gone: Vec<Gone>,
}

/// Keys that rows refer to, by foreign key and by how the row is looked up.
type Wanted = BTreeMap<(u32, ParentLookup), Made>;

/// How the row that is referred to is looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ParentLookup {
    /// By the row's key, or the first bytes of its entry.
    ByKey(Bytes),
    /// Not at all: no row can have these values, or they break MATCH FULL. Their text keeps them distinct from other such values.
    Impossible(String),
}

/// Values that a row has come to refer with, or those that rows referred to.
#[derive(Clone, Debug)]
struct Made {
    relation: Arc<Relation>,
    values: Vec<Datum>,
}

/// A key that a row does not have any more.
#[derive(Clone, Debug)]
struct Gone {
    incoming: Arc<Incoming>,
    values: Vec<Datum>,
    /// The key that the row has now; `None`: it was deleted.
    new: Option<Vec<Datum>>,
}

impl References {
    pub(crate) fn is_empty(&self) -> bool {
        self.made.is_empty() && self.gone.is_empty()
    }

    /// Notes that a row of the target has changed.
    ///
    /// # Errors
    /// A key to refer to that is too long.
    pub(crate) fn note(&mut self, target: &Target, old: Option<&Row>, new: Option<&Row>) -> EngineResult<()> {
        if let Some(new) = new {
            for relation in &target.relations.outgoing {
                let values = values_at(new, &relation.columns);
                let same = old.is_some_and(|old| values_at(old, &relation.columns) == values);
                if !same && relation.asks_for(&values) {
                    let made = Made { relation: Arc::clone(relation), values };
                    self.made.entry(made.wanted()?).or_insert(made);
                }
            }
        }
        let Some(old) = old else { return Ok(()) };
        for incoming in &target.relations.incoming {
            let values = values_at(old, &incoming.columns);
            let new = new.map(|new| values_at(new, &incoming.columns));
            if new.as_ref() != Some(&values) && !values.iter().any(Datum::is_null) {
                self.gone.push(Gone { incoming: Arc::clone(incoming), values, new });
            }
        }
        Ok(())
    }
}

impl Made {
    /// Its place in [`Wanted`].
    fn wanted(&self) -> EngineResult<(u32, ParentLookup)> {
        let probe = match self.values.iter().any(Datum::is_null) {
            true => None,
            false => self.relation.parent.probe(&self.values)?,
        };
        let impossible = || ParentLookup::Impossible(format!("{:?}", self.values));
        Ok((self.relation.key.oid, probe.map_or_else(impossible, ParentLookup::ByKey)))
    }
}

fn values_at(row: &Row, columns: &[usize]) -> Vec<Datum> {
    columns.iter().map(|at| row.get(*at).cloned().unwrap_or(Datum::Null)).collect()
}
