//! The end of a statement: what it wrote is held against the foreign keys.
//!
//! Actions come first, and what they write is noted in its turn. When none is left, each key that rows have come to refer
//! with is looked up, once and in the order of keys, and each key that is gone must have no row that refers to it.

use super::deferred::Late;
use super::relations::Relation;
use super::{Gone, Made, ParentLookup, Wanted};
use crate::Session;
use crate::block::work::Work;
use crate::error::{EngineError, EngineResult};
use catalog::{Catalog, ForeignKey, ReferentialAction, Table};
use std::sync::Arc;
use types::Datum;

impl Session {
    /// 23503 for a row that a new foreign key does not allow.
    ///
    /// # Errors
    /// A definition that the catalog would not have made.
    pub(crate) fn no_parent_of(
        &self,
        catalog: &Catalog,
        table: &Table,
        key: &ForeignKey,
        values: &[Datum],
    ) -> EngineResult<EngineError> {
        Ok(Relation::new(catalog, &Arc::new(table.clone()), key)?.no_parent(values))
    }

    /// The end of a statement that writes: does what foreign keys ask for of what it has written, and logs for incremental
    /// materialized views what was changed by it and by that.
    ///
    /// # Errors
    /// 23503, and whatever an action fails with.
    pub(crate) async fn check_written_references(&mut self, work: &mut Work) -> EngineResult<()> {
        if !work.references.is_empty() {
            Box::pin(self.check_noted_references(work)).await?;
        }
        self.log_changed_groups(work).await
    }

    async fn check_noted_references(&mut self, work: &mut Work) -> EngineResult<()> {
        let mut kept = Vec::new();
        let acts = !work.references.gone.is_empty();
        while !work.references.gone.is_empty() {
            self.see_all_commits().await?;
            for gone in std::mem::take(&mut work.references.gone) {
                kept.extend(self.act_on(work, gone).await?);
                self.running().check()?;
            }
        }
        let made = std::mem::take(&mut work.references.made);
        let later = |made: &Made| work.in_block && self.is_deferred(&made.relation);
        let (later, now): (Wanted, Wanted) = made.into_iter().partition(|(_, made)| later(made));
        // An action may take a row away to which one before it gave other values.
        self.look_up(work, now, acts).await?;
        for gone in kept {
            self.refuse_children(work, &gone).await?;
        }
        self.defer(later.into_values().map(Late::Made));
        Ok(())
    }

    /// Later reads see what was committed so far: who wrote to a row before it was locked may not be published yet.
    pub(super) async fn see_all_commits(&mut self) -> EngineResult<()> {
        let last = self.last_of_all().await?;
        self.note_commit(last);
        Ok(())
    }

    /// What is done at once about a key that is gone; what is to be looked at when all actions are done.
    async fn act_on(&mut self, work: &mut Work, gone: Gone) -> EngineResult<Option<Made>> {
        let Gone { incoming, values, new } = gone;
        let Some(relation) = self.child_now(work, (incoming.child, incoming.key.oid)).await? else { return Ok(None) };
        let action = if new.is_some() { incoming.key.on_update } else { incoming.key.on_delete };
        match action {
            ReferentialAction::NoAction => {
                let made = Made { relation: Arc::new(relation), values };
                if work.in_block && self.is_deferred(&made.relation) {
                    self.defer([Late::Gone(made)]);
                    return Ok(None);
                }
                Ok(Some(made))
            }
            ReferentialAction::Restrict => match self.has_child(work, &relation, &values).await? {
                true => Err(relation.has_children(&values)),
                false => Ok(None),
            },
            ReferentialAction::SetDefault => {
                self.act(work, &relation, &values, new.as_deref()).await?;
                // The default may be the key that is gone.
                self.refuse_children(work, &Made { relation: Arc::new(relation), values }).await?;
                Ok(None)
            }
            ReferentialAction::Cascade | ReferentialAction::SetNull => {
                self.act(work, &relation, &values, new.as_deref()).await?;
                Ok(None)
            }
        }
    }

    /// Refuses rows that refer to what is not there. `late`: the rows may have changed since.
    pub(super) async fn look_up(&mut self, work: &mut Work, wanted: Wanted, late: bool) -> EngineResult<()> {
        for ((_, lookup), Made { relation, values }) in wanted {
            let found = match &lookup {
                ParentLookup::ByKey(key) => self.has_parent(work, &relation.parent, key).await?,
                ParentLookup::Impossible(_) => false,
            };
            // A row that was checked late may have gone since.
            let missing = !found && (!late || self.has_child(work, &relation, &values).await?);
            if missing {
                return Err(relation.no_parent(&values));
            }
        }
        Ok(())
    }

    /// Refuses that a key is gone that rows refer to, unless another row has it now.
    pub(super) async fn refuse_children(&mut self, work: &mut Work, gone: &Made) -> EngineResult<()> {
        let Made { relation, values } = gone;
        if let Some(probe) = relation.parent.probe(values)?
            && self.has_parent(work, &relation.parent, &probe).await?
        {
            return Ok(());
        }
        match self.has_child(work, relation, values).await? {
            true => Err(relation.has_children(values)),
            false => Ok(()),
        }
    }
}
