//! Referential actions and foreign key checks at the end of a statement, in the order of their events.
//!
//! What actions write is noted too, and handled after the events before it. Checks of deferred constraints come last:
//! at the end of the block, or of the statement outside a block.

use super::action_steps::{ActionStep, action_steps};
use super::deferred::Late;
use super::relations::Relation;
use super::{Event, Gone, Made, ParentLookup, Wanted};
use crate::Session;
use crate::block::work::Work;
use crate::error::{EngineError, EngineResult};
use catalog::{Catalog, ForeignKey, ReferentialAction, Table};
use std::sync::Arc;
use types::Datum;

impl Session {
    /// The 23503 error for a row that violates a new foreign key.
    ///
    /// # Errors
    /// A foreign key definition that does not match the catalog.
    pub(crate) fn no_parent_of(
        &self,
        catalog: &Catalog,
        table: &Table,
        key: &ForeignKey,
        values: &[Datum],
    ) -> EngineResult<EngineError> {
        Ok(Relation::new(catalog, &Arc::new(table.clone()), key)?.no_parent(values))
    }

    /// Ends a write statement: runs referential actions, checks foreign keys, and logs the changed rows of the
    /// statement and its actions for incremental materialized views.
    ///
    /// # Errors
    /// 23503, and the errors of referential actions.
    pub(crate) async fn check_written_references(&mut self, work: &mut Work) -> EngineResult<()> {
        if !work.references.is_empty() {
            Box::pin(self.check_noted_references(work)).await?;
        }
        self.log_changed_groups(work).await
    }

    async fn check_noted_references(&mut self, work: &mut Work) -> EngineResult<()> {
        let mut late = Vec::new();
        let mut acted = false;
        while !work.references.is_empty() {
            let events = std::mem::take(&mut work.references.events);
            if events.iter().any(|event| matches!(event, Event::Gone(_))) {
                self.see_all_commits().await?;
            }
            for step in action_steps(events) {
                match step {
                    ActionStep::LookUp(wanted) => late.extend(self.look_up_now(work, wanted, acted).await?),
                    ActionStep::One(gone) => {
                        acted = true;
                        late.extend(self.act_on(work, gone).await?.map(Late::Gone));
                    }
                    ActionStep::Cycle(moves) => {
                        acted = true;
                        self.act_on_cycle(work, &moves).await?;
                    }
                }
                self.running().check()?;
            }
        }
        if work.in_block {
            return self.defer(late);
        }
        for late in late {
            self.check_late(work, late).await?;
        }
        Ok(())
    }

    /// Lets later reads see all commits so far: a transaction that wrote a row before it was locked may not be
    /// published yet.
    pub(super) async fn see_all_commits(&mut self) -> EngineResult<()> {
        let last = self.latest_commit().await?;
        self.note_commit(last);
        Ok(())
    }

    /// Looks up the keys of foreign keys that are not deferred, and returns the checks that are. `acted`: actions may
    /// have changed the rows since they were noted.
    async fn look_up_now(&mut self, work: &mut Work, wanted: Wanted, acted: bool) -> EngineResult<Vec<Late>> {
        let is_deferred = |made: &Made| self.is_deferred(&made.relation);
        let (late, now) = match wanted.values().any(is_deferred) {
            true => wanted.into_iter().partition(|(_, made)| is_deferred(made)),
            false => (Wanted::new(), wanted),
        };
        self.look_up(work, now, acted).await?;
        Ok(late.into_values().map(Late::Made).collect())
    }

    async fn act_on_cycle(&mut self, work: &mut Work, moves: &[Gone]) -> EngineResult<()> {
        let Some(Gone { incoming, .. }) = moves.first() else { return Ok(()) };
        match self.child_now(work, (incoming.child, incoming.key.oid)).await? {
            Some(relation) => self.act_at_once(work, &relation, moves).await,
            None => Ok(()),
        }
    }

    /// Runs the action for a removed key, or checks it; returns the check if it is deferred.
    async fn act_on(&mut self, work: &mut Work, gone: Gone) -> EngineResult<Option<Made>> {
        let Gone { incoming, values, new, .. } = gone;
        let Some(relation) = self.child_now(work, (incoming.child, incoming.key.oid)).await? else { return Ok(None) };
        let action = if new.is_some() { incoming.key.on_update } else { incoming.key.on_delete };
        match action {
            ReferentialAction::NoAction => {
                let made = Made { relation, values };
                if self.is_deferred(&made.relation) {
                    return Ok(Some(made));
                }
                self.refuse_children(work, &made).await?;
            }
            ReferentialAction::Restrict => {
                if self.has_child(work, &relation, &values).await? {
                    return Err(relation.has_children(&values));
                }
            }
            ReferentialAction::SetDefault => {
                self.act(work, &relation, &values, new.as_deref()).await?;
                // The default may be the removed key.
                self.refuse_children(work, &Made { relation, values }).await?;
            }
            ReferentialAction::Cascade | ReferentialAction::SetNull => {
                self.act(work, &relation, &values, new.as_deref()).await?;
            }
        }
        Ok(None)
    }

    /// Rejects rows whose referenced key does not exist. `late`: the rows may have changed since they were noted.
    pub(super) async fn look_up(&mut self, work: &mut Work, wanted: Wanted, late: bool) -> EngineResult<()> {
        for ((_, lookup), Made { relation, values }) in wanted {
            let found = match &lookup {
                ParentLookup::ByKey(key) => self.has_parent(work, &relation.parent, key).await?,
                ParentLookup::Impossible(_) => false,
            };
            // The referencing row may be gone by now.
            let missing = !found && (!late || self.has_child(work, &relation, &values).await?);
            if missing {
                return Err(relation.no_parent(&values));
            }
        }
        Ok(())
    }

    /// Rejects the removal of a referenced key, unless another row has the key now.
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
