//! Foreign key checks at the end of a statement.
//!
//! Referential actions run first, and their writes are noted too. Then each newly referenced key is looked up, once
//! and in key order, and no row may reference a removed key.

use super::action_steps::{ActionStep, action_steps};
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
        let mut kept = Vec::new();
        let acts = !work.references.gone.is_empty();
        while !work.references.gone.is_empty() {
            self.see_all_commits().await?;
            for step in action_steps(std::mem::take(&mut work.references.gone)) {
                kept.extend(self.act_on_step(work, step).await?);
                self.running().check()?;
            }
        }
        let made = std::mem::take(&mut work.references.made);
        let later = |made: &Made| work.in_block && self.is_deferred(&made.relation);
        let (later, now): (Wanted, Wanted) = made.into_iter().partition(|(_, made)| later(made));
        // An action may delete a row that an earlier action updated, so rows without a parent are looked up again.
        self.look_up(work, now, acts).await?;
        for gone in kept {
            self.refuse_children(work, &gone).await?;
        }
        self.defer(later.into_values().map(Late::Made))
    }

    /// Lets later reads see all commits so far: a transaction that wrote a row before it was locked may not be
    /// published yet.
    pub(super) async fn see_all_commits(&mut self) -> EngineResult<()> {
        let last = self.latest_commit().await?;
        self.note_commit(last);
        Ok(())
    }

    async fn act_on_step(&mut self, work: &mut Work, step: ActionStep) -> EngineResult<Option<Made>> {
        match step {
            ActionStep::One(gone) => self.act_on(work, gone).await,
            ActionStep::Cycle(moves) => {
                let Some(Gone { incoming, .. }) = moves.first() else { return Ok(None) };
                let Some(relation) = self.child_now(work, (incoming.child, incoming.key.oid)).await? else {
                    return Ok(None);
                };
                self.act_at_once(work, &relation, &moves).await?;
                Ok(None)
            }
        }
    }

    /// Handles a removed key: runs the referential action. Returns the check to do after all actions, if any.
    async fn act_on(&mut self, work: &mut Work, gone: Gone) -> EngineResult<Option<Made>> {
        let Gone { incoming, values, new } = gone;
        let Some(relation) = self.child_now(work, (incoming.child, incoming.key.oid)).await? else { return Ok(None) };
        let action = if new.is_some() { incoming.key.on_update } else { incoming.key.on_delete };
        match action {
            ReferentialAction::NoAction => {
                let made = Made { relation: Arc::new(relation), values };
                if work.in_block && self.is_deferred(&made.relation) {
                    self.defer([Late::Gone(made)])?;
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
                // The default may be the removed key.
                self.refuse_children(work, &Made { relation: Arc::new(relation), values }).await?;
                Ok(None)
            }
            ReferentialAction::Cascade | ReferentialAction::SetNull => {
                self.act(work, &relation, &values, new.as_deref()).await?;
                Ok(None)
            }
        }
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
