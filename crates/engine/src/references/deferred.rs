//! DEFERRABLE: foreign keys that are checked when their block ends, and SET CONSTRAINTS.

use super::Made;
use super::relations::Relation;
use crate::block::Block;
use crate::error::{EngineResult, Fault, fail};
use crate::{Notice, Session};
use catalog::{Catalog, ForeignKey};
use sql::ObjectName;
use std::collections::BTreeMap;

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
}

/// What SET CONSTRAINTS said: of all that are deferrable, and later of some by their oids.
#[derive(Clone, Debug, Default)]
struct Modes {
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
    fn key(&self) -> &ForeignKey {
        match self {
            Self::Made(made) | Self::Gone(made) => &made.relation.key,
        }
    }
}

impl Modes {
    fn is_deferred(&self, key: &ForeignKey) -> bool {
        key.deferrable && self.named.get(&key.oid).copied().or(self.all).unwrap_or(key.deferred)
    }
}

impl Session {
    /// Does the block check it at its end?
    pub(super) fn is_deferred(&self, relation: &Relation) -> bool {
        matches!(&self.block, Block::Open(open) if open.deferred.modes.is_deferred(&relation.key))
    }

    /// Keeps checks for the end of the block.
    pub(super) fn defer(&mut self, late: impl IntoIterator<Item = Late>) {
        if let Block::Open(open) = &mut self.block {
            open.deferred.late.extend(late);
        }
    }

    /// Checks what a block has deferred: before its COMMIT, or what is not deferred any more.
    ///
    /// # Errors
    /// 23503; the block has failed then.
    pub(crate) async fn check_deferred(&mut self, at_end: bool) -> EngineResult<()> {
        let Block::Open(open) = &self.block else { return Ok(()) };
        let due = |late: &&Late| at_end || !open.deferred.modes.is_deferred(late.key());
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
                    self.look_up(&mut work, wanted, true).await?;
                }
                Late::Gone(gone) => self.refuse_children(&mut work, &gone).await?,
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
            oids.extend(self.deferrable_of(&catalog, name)?);
        }
        let Block::Open(open) = &mut self.block else {
            let message = "SET CONSTRAINTS can only be used in transaction blocks";
            self.notices.push(Notice::warning("25P01", message));
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

    /// The foreign keys of that name in the first schema of the search path that has a constraint of that name.
    fn deferrable_of(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Vec<u32>> {
        for schema in self.schemas_of(catalog, name).iter() {
            let having = || catalog.tables_in(schema).filter(|table| table.is_constraint(&name.name));
            let keys: Vec<&ForeignKey> = having().filter_map(|table| table.foreign_key(&name.name)).collect();
            if having().count() == 0 {
                continue;
            }
            if keys.len() < having().count() || keys.iter().any(|key| !key.deferrable) {
                let message = format!("constraint \"{}\" is not deferrable", name.name);
                return fail(Fault::WrongObject { message, hint: None });
            }
            return Ok(keys.iter().map(|key| key.oid).collect());
        }
        fail(Fault::NoSuchConstraintAnywhere { constraint: name.name.clone() })
    }
}
