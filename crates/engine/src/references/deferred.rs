//! DEFERRABLE: foreign keys and UNIQUE constraints that are checked when their block ends, and SET CONSTRAINTS.

use super::Made;
use super::relations::Relation;
use crate::Session;
use crate::block::Block;
use crate::block::work::Work;
use crate::dml::FAMILY;
use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, ForeignKey, Table};
use sql::ObjectName;
use std::collections::BTreeMap;
use store::{Bytes, TableId};

/// What a block has still to check, and when it checks which foreign key.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    late: Vec<Late>,
    modes: Modes,
}

/// What is checked late.
#[derive(Clone, Debug)]
pub(super) enum Late {
    /// That there is what rows have come to refer to.
    Made(Made),
    /// That no row refers to what is gone.
    Gone(Made),
    /// That no other row has the values of this one.
    Unique(LateUnique),
}

/// An entry of a unique index that had another one beside it when it was written, or that was there before.
#[derive(Clone, Debug)]
pub(crate) struct LateUnique {
    /// The constraint.
    pub(crate) constraint: u32,
    /// Deferred, if nothing else is said.
    pub(crate) deferred: bool,
    /// The index's.
    pub(crate) storage: TableId,
    /// The entry's.
    pub(crate) key: Bytes,
    /// The bytes that only one entry may begin with.
    pub(crate) prefix: Bytes,
    /// 23505.
    pub(crate) fault: Fault,
}

/// What SET CONSTRAINTS said: of all that are deferrable, and later of some by their oids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    all: Option<bool>,
    named: BTreeMap<u32, bool>,
}

/// Where a savepoint goes back to.
#[derive(Clone, Debug)]
pub(crate) struct DeferredMark {
    late: usize,
    modes: Modes,
}

impl Deferred {
    /// This point of the block.
    pub(crate) fn mark(&self) -> DeferredMark {
        DeferredMark { late: self.late.len(), modes: self.modes.clone() }
    }

    /// As it was then: checks that were made meanwhile are made once more in the end.
    pub(crate) fn go_back(&mut self, mark: DeferredMark) {
        self.late.truncate(mark.late);
        self.modes = mark.modes;
    }
}

impl Late {
    fn is_deferred(&self, modes: &Modes) -> bool {
        match self {
            Self::Made(made) | Self::Gone(made) => modes.is_deferred(&made.relation.key),
            Self::Unique(unique) => modes.of(unique.constraint, unique.deferred),
        }
    }

    /// Is it about rows of that table?
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

    /// Is a deferrable constraint checked when the block ends?
    pub(crate) fn of(&self, constraint: u32, deferred: bool) -> bool {
        self.named.get(&constraint).copied().or(self.all).unwrap_or(deferred)
    }
}

impl Session {
    /// Does the block check it at its end?
    pub(super) fn is_deferred(&self, relation: &Relation) -> bool {
        matches!(&self.block, Block::Open(open) if open.deferred.modes.is_deferred(&relation.key))
    }

    /// When the constraints of an open block are checked.
    pub(crate) fn constraint_modes(&self) -> Option<Modes> {
        match &self.block {
            Block::Open(open) => Some(open.deferred.modes.clone()),
            Block::Idle => None,
        }
    }

    /// Keeps what a statement wrote beside an equal value for the end of the block.
    pub(crate) fn defer_uniques(&mut self, late: Vec<LateUnique>) {
        self.defer(late.into_iter().map(Late::Unique));
    }

    /// 23505 for an entry that is still there, and another one with its values.
    async fn look_for_twin(&self, work: &mut Work, late: LateUnique) -> EngineResult<()> {
        if work.newest(late.storage, FAMILY, &late.key).await?.is_none() {
            return Ok(());
        }
        // Of several the first is found, so each of the others finds it: all that stood side by side once are noted.
        match work.txn.find_newest(late.storage, FAMILY, &late.prefix).await? {
            Some(other) if other != late.key => Err(late.fault.into()),
            _ => Ok(()),
        }
    }

    /// Keeps checks for the end of the block.
    pub(super) fn defer(&mut self, late: impl IntoIterator<Item = Late>) {
        if let Block::Open(open) = &mut self.block {
            open.deferred.late.extend(late);
        }
    }

    /// How many checks the block has put off.
    pub(crate) fn deferred_checks(&self) -> usize {
        match &self.block {
            Block::Open(open) => open.deferred.late.len(),
            Block::Idle => 0,
        }
    }

    /// Leaves out all but the first so many checks of the block.
    pub(crate) fn keep_deferred_checks(&mut self, count: usize) {
        if let Block::Open(open) = &mut self.block {
            open.deferred.late.truncate(count);
        }
    }

    /// For statements that take all rows of a table away, without what the block has still to check of them.
    ///
    /// # Errors
    /// 55006, if there is such a check.
    pub(crate) fn check_none_deferred(&self, table: &Table) -> EngineResult<()> {
        let Block::Open(open) = &self.block else { return Ok(()) };
        let Deferred { late, modes } = &open.deferred;
        match late.iter().any(|late| late.is_of(table) && late.is_deferred(modes)) {
            true => fail(Fault::ChecksPending { table: table.name.clone() }),
            false => Ok(()),
        }
    }

    /// Checks what a block has deferred: before its COMMIT, or what is not deferred any more.
    ///
    /// # Errors
    /// 23503, 23505; the block has failed then.
    pub(crate) async fn check_deferred(&mut self, at_end: bool) -> EngineResult<()> {
        let Block::Open(open) = &self.block else { return Ok(()) };
        let due = |late: &&Late| at_end || !late.is_deferred(&open.deferred.modes);
        let due: Vec<Late> = open.deferred.late.iter().filter(due).cloned().collect();
        if due.is_empty() {
            return Ok(());
        }
        let mut work = self.take_transaction()?;
        self.see_all_commits().await?;
        for late in due {
            match late {
                Late::Made(made) => {
                    let wanted = std::iter::once((made.wanted()?, made)).collect();
                    Box::pin(self.look_up(&mut work, wanted, true)).await?;
                }
                Late::Gone(gone) => Box::pin(self.refuse_children(&mut work, &gone)).await?,
                Late::Unique(unique) => Box::pin(self.look_for_twin(&mut work, unique)).await?,
            }
            self.running().check()?;
        }
        self.end_work(work).await
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

    /// The deferrable constraints of that name in the first schema of the search path that has one of that name.
    ///
    /// # Errors
    /// 42704; 42809 if one that is to be deferred is not deferrable. (It is IMMEDIATE anyway.)
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
