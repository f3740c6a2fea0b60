//! DEFERRABLE: foreign keys and UNIQUE constraints that are checked at the end of the block, and SET CONSTRAINTS.

use super::Made;
use super::memory::NotedMemory;
use super::relations::Relation;
use super::shared_relations::SharedRelations;
use crate::Session;
use crate::block::Block;
use crate::block::work::Work;
use crate::dml::FAMILY;
use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, ForeignKey, Table};
use query::Planner;
use sql::ObjectName;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Bytes, TableId};
use types::Datum;

/// The pending checks of a transaction block, and its constraint modes.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    late: Vec<Late>,
    modes: Modes,
    /// `None` before the first check. Boxed, because most blocks have none.
    held: Option<Box<Held>>,
}

/// What the deferred checks of a block hold.
#[derive(Debug)]
struct Held {
    /// Their foreign keys.
    relations: SharedRelations,
    memory: NotedMemory,
}

/// A deferred check.
#[derive(Clone, Debug)]
pub(super) enum Late {
    /// The key that a row references exists.
    Made(Made),
    /// No row references a removed key.
    Gone(Made),
    /// No other row has the same unique values.
    Unique(DeferredUnique),
}

/// An entry of a unique index that conflicted with another entry when one of them was written.
#[derive(Clone, Debug)]
pub(crate) struct DeferredUnique {
    /// OID of the constraint.
    pub(crate) constraint: u32,
    /// Whether the constraint is INITIALLY DEFERRED.
    pub(crate) deferred: bool,
    /// Storage of the index.
    pub(crate) storage: TableId,
    /// Key of the entry.
    pub(crate) key: Bytes,
    /// The unique prefix of the entry.
    pub(crate) prefix: Bytes,
    /// The 23505 error.
    pub(crate) fault: Fault,
}

/// Modes set by SET CONSTRAINTS: for ALL, and since then for single constraints by OID.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    all: Option<bool>,
    named: BTreeMap<u32, bool>,
}

/// The state that ROLLBACK TO SAVEPOINT restores.
#[derive(Clone, Debug)]
pub(crate) struct DeferredMark {
    late: usize,
    modes: Modes,
}

impl Deferred {
    /// The current state.
    pub(crate) fn mark(&self) -> DeferredMark {
        DeferredMark { late: self.late.len(), modes: self.modes.clone() }
    }

    /// Restores the state. Checks that ran since then run again at the end of the block.
    pub(crate) fn go_back(&mut self, mark: DeferredMark) {
        self.keep(mark.late);
        self.modes = mark.modes;
    }

    fn add(&mut self, planner: &Arc<Planner>, mut late: Late) -> EngineResult<()> {
        let none = || Box::new(Held { relations: SharedRelations::default(), memory: NotedMemory::new(planner) });
        let held = self.held.get_or_insert_with(none);
        if let Late::Made(made) | Late::Gone(made) = &mut late {
            held.relations.share(&mut made.relation);
        }
        held.memory.add(late.bytes())?;
        self.late.push(late);
        Ok(())
    }

    /// The next check at or behind the position that is not deferred; moves the position behind it. The check stays,
    /// because ROLLBACK TO may undo the writes that it sees.
    fn next_due(&self, from: &mut usize) -> Option<Late> {
        let rest = self.late.get(*from..)?;
        let due = rest.iter().position(|late| !late.is_deferred(&self.modes));
        *from += due.map_or(rest.len(), |due| due + 1);
        rest.get(due?).cloned()
    }

    /// Drops all but the first `count` checks.
    fn keep(&mut self, count: usize) {
        let dropped = self.late.drain(count.min(self.late.len())..).map(|late| late.bytes()).sum();
        if let Some(held) = &mut self.held {
            held.memory.remove(dropped);
        }
    }
}

impl Late {
    /// Its approximate memory. Foreign keys are shared, and few.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Made(made) | Self::Gone(made) => Datum::row_memory_size(&made.values),
                // The error has the values, too.
                Self::Unique(unique) => 3 * (unique.key.len() + unique.prefix.len()),
            }
    }

    fn is_deferred(&self, modes: &Modes) -> bool {
        match self {
            Self::Made(made) | Self::Gone(made) => modes.is_deferred(&made.relation.key),
            Self::Unique(unique) => modes.of(unique.constraint, unique.deferred),
        }
    }

    /// Whether the check concerns rows of the table.
    fn is_of(&self, table: &Table) -> bool {
        match self {
            Self::Made(made) => made.relation.child.oid == table.oid,
            Self::Gone(gone) => gone.relation.parent.table.oid == table.oid,
            Self::Unique(unique) => table.indexes.iter().any(|index| index.constraint == Some(unique.constraint)),
        }
    }
}

impl Modes {
    fn is_deferred(&self, key: &ForeignKey) -> bool {
        key.deferrable && self.of(key.oid, key.deferred)
    }

    /// Whether a deferrable constraint is deferred; `deferred` is its initial mode.
    pub(crate) fn of(&self, constraint: u32, deferred: bool) -> bool {
        self.named.get(&constraint).copied().or(self.all).unwrap_or(deferred)
    }
}

impl Session {
    /// Whether the foreign key is deferred: to the end of the block, or of a statement outside a block.
    pub(super) fn is_deferred(&self, relation: &Relation) -> bool {
        match &self.block {
            Block::Open(open) => open.deferred.modes.is_deferred(&relation.key),
            Block::Idle => Modes::default().is_deferred(&relation.key),
        }
    }

    /// The constraint modes of the open block.
    pub(crate) fn constraint_modes(&self) -> Option<Modes> {
        match &self.block {
            Block::Open(open) => Some(open.deferred.modes.clone()),
            Block::Idle => None,
        }
    }

    /// Defers uniqueness checks to the end of the block.
    ///
    /// # Errors
    /// 53200.
    pub(crate) fn defer_uniques(&mut self, late: Vec<DeferredUnique>) -> EngineResult<()> {
        self.defer(late.into_iter().map(Late::Unique))
    }

    /// Raises 23505 if the entry still exists and another entry has the same unique prefix.
    async fn check_deferred_unique(&self, work: &mut Work, late: DeferredUnique) -> EngineResult<()> {
        if work.newest(late.storage, FAMILY, &late.key).await?.is_none() {
            return Ok(());
        }
        // `find_newest` returns the first of several entries, so the check of every other entry finds it.
        match work.txn.find_newest(late.storage, FAMILY, &late.prefix).await? {
            Some(other) if other != late.key => Err(late.fault.into()),
            _ => Ok(()),
        }
    }

    /// Adds checks for the end of the block.
    ///
    /// # Errors
    /// 53200.
    pub(super) fn defer(&mut self, late: impl IntoIterator<Item = Late>) -> EngineResult<()> {
        let Block::Open(open) = &mut self.block else { return Ok(()) };
        let planner = self.engine.planner();
        late.into_iter().try_for_each(|late| open.deferred.add(planner, late))
    }

    /// Number of deferred checks of the block.
    pub(crate) fn deferred_checks(&self) -> usize {
        match &self.block {
            Block::Open(open) => open.deferred.late.len(),
            Block::Idle => 0,
        }
    }

    /// Drops all but the first `count` deferred checks of the block.
    pub(crate) fn keep_deferred_checks(&mut self, count: usize) {
        if let Block::Open(open) = &mut self.block {
            open.deferred.keep(count);
        }
    }

    /// For statements that remove all rows of a table without running its deferred checks.
    ///
    /// # Errors
    /// 55006 if the table has deferred checks.
    pub(crate) fn check_none_deferred(&self, table: &Table) -> EngineResult<()> {
        let Block::Open(open) = &self.block else { return Ok(()) };
        let Deferred { late, modes, .. } = &open.deferred;
        match late.iter().any(|late| late.is_of(table) && late.is_deferred(modes)) {
            true => fail(Fault::ChecksPending { table: table.name.clone() }),
            false => Ok(()),
        }
    }

    /// Runs deferred checks: all of them at the end of the block, else those of constraints that are no longer
    /// deferred.
    ///
    /// # Errors
    /// 23503, 23505; the block has failed then.
    pub(crate) async fn check_deferred(&mut self, at_end: bool) -> EngineResult<()> {
        let Block::Open(open) = &mut self.block else { return Ok(()) };
        let ending = match at_end {
            true => std::mem::take(&mut open.deferred.late),
            false => Vec::new(),
        };
        if ending.is_empty() && open.deferred.next_due(&mut 0).is_none() {
            return Ok(());
        }
        let mut work = self.take_transaction()?;
        self.see_all_commits().await?;
        for late in ending {
            self.check_late(&mut work, late).await?;
        }
        let mut from = 0;
        while let Some(late) = self.next_due(&mut from) {
            self.check_late(&mut work, late).await?;
        }
        self.end_work(work).await
    }

    /// As [`Deferred::next_due`] of the open block.
    fn next_due(&self, from: &mut usize) -> Option<Late> {
        match &self.block {
            Block::Open(open) => open.deferred.next_due(from),
            Block::Idle => None,
        }
    }

    /// Runs a deferred check.
    pub(super) async fn check_late(&mut self, work: &mut Work, late: Late) -> EngineResult<()> {
        match late {
            Late::Made(made) => {
                let wanted = std::iter::once((made.wanted()?, made)).collect();
                Box::pin(self.look_up(work, wanted, true)).await?;
            }
            Late::Gone(gone) => Box::pin(self.refuse_children(work, &gone)).await?,
            Late::Unique(unique) => Box::pin(self.check_deferred_unique(work, unique)).await?,
        }
        self.running().check()
    }

    /// SET CONSTRAINTS.
    pub(crate) async fn set_constraints(&mut self, names: &[ObjectName], deferred: bool) -> EngineResult<String> {
        let catalog = self.engine.catalog().current();
        let mut oids = Vec::new();
        for name in names {
            oids.extend(self.constraints_of(&catalog, name, deferred)?);
        }
        let Block::Open(open) = &mut self.block else {
            let message = "SET CONSTRAINTS can only be used in transaction blocks";
            self.notices.warning("25P01", message);
            return Ok("SET CONSTRAINTS".to_string());
        };
        let modes = &mut open.deferred.modes;
        match names {
            [] => *modes = Modes { all: Some(deferred), named: BTreeMap::new() },
            _ => modes.named.extend(oids.into_iter().map(|oid| (oid, deferred))),
        }
        self.check_deferred(false).await?;
        Ok("SET CONSTRAINTS".to_string())
    }

    /// OIDs of the deferrable constraints with that name, from the first schema of the search path that has any.
    ///
    /// # Errors
    /// 42704; 42809 to defer a constraint that is not deferrable. (Setting it IMMEDIATE has no effect.)
    fn constraints_of(&self, catalog: &Catalog, name: &ObjectName, deferred: bool) -> EngineResult<Vec<u32>> {
        for schema in self.schemas_of(catalog, name).iter() {
            let having = || catalog.tables_in(schema).filter(|table| table.is_constraint(&name.name));
            let key = |table: &Table| table.foreign_key(&name.name).filter(|key| key.deferrable).map(|key| key.oid);
            let unique = |table: &Table| {
                table.unique_constraint(&name.name).filter(|index| index.deferrable).and_then(|index| index.constraint)
            };
            let found: Vec<u32> = having().filter_map(|table| key(table).or_else(|| unique(table))).collect();
            if having().count() == 0 {
                continue;
            }
            if deferred && found.len() < having().count() {
                let message = format!("constraint \"{}\" is not deferrable", name.name);
                return fail(Fault::WrongObject { message, hint: None });
            }
            return Ok(found);
        }
        fail(Fault::NoSuchConstraintAnywhere { constraint: name.name.clone() })
    }
}
