//! ALTER TABLE: applies all actions in one change of the catalog.
//!
//! ```text
//!   AlterAction ──columns, constraints──> Step ──apply──> Draft
//!                 expressions are checked         or a table rewrite
//! ```

mod columns;
mod constraints;
mod identity;
mod include;
mod references;
mod retyped_checks;
mod step;

pub(super) use constraints::Added;
pub(crate) use constraints::constant_of;
pub(super) use step::{RenamedTexts, Step, apply};

use super::create_table::{new_key_part, property};
use super::rewrite::Rewrite;
use super::view_queries::NewName;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, ConstraintKind, Draft, Table, ViewQuery};
use columns::dropped_not_null;
use constraints::altered_constraint;
use sql::{AlterAction, AlterTable};
use std::sync::Arc;
use txn::{LockMode, LockOwner};

impl Session {
    pub(super) async fn alter_table(&mut self, alter: &AlterTable) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let table = match self.lock_stored_by_name(&mut locks, &alter.name, LockMode::Exclusive).await {
            Err(error) if alter.if_exists && error.is_undefined_table() => {
                self.skipped("00000", &format!("relation \"{}\" does not exist", alter.name.name));
                return Ok(());
            }
            Err(error) if alter.materialized && error.is_wrong_object_type() => return not_materialized(alter),
            found => found?,
        };
        if table.materialized.is_some() {
            return self.alter_materialized_view(&table, alter).await;
        }
        if alter.materialized {
            return not_materialized(alter);
        }
        // The checks below have to read all rows written before the lock.
        let last = self.latest_commit().await?;
        self.note_commit(last);
        if let [AlterAction::AddUnique(unique)] = alter.actions.as_slice()
            && !unique.primary
        {
            return self.add_unique(&table, unique).await;
        }
        match alter.actions.as_slice() {
            [AlterAction::UniqueUsingIndex { name, index, deferrable, deferred }] => {
                let kind = ConstraintKind { primary: false, deferrable: *deferrable, deferred: *deferred };
                return self.constraint_using_index(&table, name.as_deref(), index, kind).await;
            }
            [AlterAction::KeyUsingIndex { name, index, deferrable: true, deferred }] => {
                let kind = ConstraintKind { primary: true, deferrable: true, deferred: *deferred };
                return self.constraint_using_index(&table, name.as_deref(), index, kind).await;
            }
            _ => {}
        }
        let (steps, rewrite) = self.steps_of(&mut locks, &table, &alter.actions).await?;
        if rewrite.is_due() {
            let others = self.rewrite_table(&table, steps, &rewrite).await?;
            self.note_dropped(&others);
            return Ok(());
        }
        self.check_changed_references(&table, &steps, &rewrite, None).await?;
        let change = |draft: &mut Draft| {
            let mut others = Vec::new();
            for step in steps {
                others.extend(apply(draft, table.oid, step)?);
            }
            Ok(others)
        };
        let others = self.change_catalog(change).await?;
        self.note_dropped(&others);
        Ok(())
    }

    /// Issues the notice about dropped objects, and ends the refresh jobs of dropped views.
    fn note_dropped(&mut self, others: &[String]) {
        if !others.is_empty() {
            self.engine.jobs().look_again();
        }
        self.notice_dropped(others);
    }

    /// Checks the actions and returns their steps and the rewrite they need. Each action is checked against the table
    /// after the preceding actions.
    async fn steps_of(
        &mut self,
        locks: &mut LockOwner,
        table: &Arc<Table>,
        actions: &[AlterAction],
    ) -> EngineResult<(Vec<Step>, Rewrite)> {
        let (mut steps, mut rewrite) = (Vec::new(), Rewrite::default());
        let mut draft = self.trial_draft(&self.engine.catalog().current());
        let mut ordered: Vec<&AlterAction> = actions.iter().collect();
        ordered.sort_by_key(|action| pass(action));
        for action in ordered {
            let now = draft.table(table.oid)?;
            if let Some(step) = self.step((table, &now), action, &mut rewrite).await? {
                apply(&mut draft, table.oid, step.clone())?;
                let views = self.views_of_dropped(table, &step, draft.catalog());
                steps.push(step);
                if let Some(views) = views {
                    apply(&mut draft, table.oid, views.clone())?;
                    steps.push(views);
                }
            }
        }
        let now = draft.table(table.oid)?;
        let uniques = self.uniques_of(&now, actions, &steps)?;
        let retyped = self.retyped_index_texts(table, &steps).await?;
        // The rewrite builds the entries of new and changed indexes.
        rewrite.needed |= !uniques.is_empty() || !retyped.is_empty();
        let retyped_checks = self.retyped_check_texts(table, &steps).await?;
        let checks = self.checks_of(&now, actions, &steps, &rewrite).await?;
        let keys = self.foreign_keys_of(locks, table, actions, &steps).await?;
        self.lock_parents_of_retyped(locks, table, &rewrite).await?;
        // Columns precede the constraints and indexes that reference them, as in PostgreSQL.
        steps.extend(checks.into_iter().map(Step::AddCheck));
        steps.extend(uniques.into_iter().map(Step::AddIndex));
        steps.extend(keys.into_iter().map(Step::AddForeignKey));
        if !retyped.is_empty() {
            steps.push(Step::SetIndexTexts(retyped));
        }
        if !retyped_checks.is_empty() {
            steps.push(Step::SetCheckTexts(retyped_checks));
        }
        Ok((steps, rewrite))
    }

    /// The step for the views that depend on a dropped constraint: those whose GROUP BY relies on a primary key.
    fn views_of_dropped(&self, table: &Table, step: &Step, new: &Catalog) -> Option<Step> {
        let Step::DropConstraint(name, cascade) = step else { return None };
        let views = self.unreadable_views(&self.engine.catalog().current(), new, table.oid);
        let constraint = format!("constraint {name} on table {}", table.name);
        (!views.is_empty()).then_some(Step::DropViews(constraint, views, *cascade))
    }

    /// The step of an action. `None` if there is nothing to do, or only after all columns are known. `old` is the
    /// current table, `now` the table after the preceding actions.
    async fn step(
        &mut self,
        (old, now): (&Table, &Table),
        action: &AlterAction,
        rewrite: &mut Rewrite,
    ) -> EngineResult<Option<Step>> {
        Ok(Some(match action {
            AlterAction::AddColumn { if_not_exists, def } => {
                return self.added_column(now, def, *if_not_exists, rewrite).await;
            }
            AlterAction::CascadeIndex { columns, indexes } => {
                return self.included_columns((old, now), columns, indexes.as_deref(), rewrite);
            }
            AlterAction::DropColumn { if_exists, column, cascade } => {
                return Ok(self.dropped_column(now, &column.name, (*if_exists, *cascade), rewrite));
            }
            AlterAction::SetType { column, data_type, using } => {
                return self.set_type((old, now), column, *data_type, using.as_deref(), rewrite).await;
            }
            AlterAction::DropExpression { column, if_exists } => {
                return self.dropped_expression(now, column, *if_exists);
            }
            AlterAction::RenameColumn { from, to } => self.renamed_column(now, from, to)?,
            AlterAction::SetDefault { column, default } => {
                self.new_default(now, column, Some(default.as_ref())).await?
            }
            AlterAction::DropDefault { column } => self.new_default(now, column, None).await?,
            AlterAction::SetNotNull { column } => self.set_not_null((old, now), column, rewrite).await?,
            AlterAction::DropNotNull { column } => dropped_not_null(now, column)?,
            AlterAction::AddIdentity { column, generated } => {
                Step::AddIdentity(self.own_sequence(now, column, generated)?)
            }
            AlterAction::DropIdentity { column, if_exists } => {
                return self.dropped_identity(now, column, *if_exists);
            }
            AlterAction::RenameTable { to } => self.renamed_table(now, to)?,
            AlterAction::ChangeIdentity { column, change } => self.changed_identity(now, column, change).await?,
            AlterAction::WithoutEffect { column, index, words, reason } => {
                self.notice_without_effect(now, (column.as_deref(), index.as_deref()), words, reason)?;
                return Ok(None);
            }
            AlterAction::SetSchema { schema } => self.moved_table(now, schema)?,
            AlterAction::SetOptions(options) => {
                self.parameters_without_effect(options.iter().map(|option| option.name.as_str()));
                Step::Properties(options.iter().map(property).collect::<EngineResult<_>>()?)
            }
            AlterAction::ResetOptions(names) => {
                Step::Properties(names.iter().map(|name| (name.clone(), None)).collect())
            }
            of_constraints => return self.step_of_constraint((old, now), of_constraints, rewrite).await,
        }))
    }

    /// RENAME TO, with the queries of the views that read the table.
    pub(in crate::ddl) fn renamed_table(&self, table: &Table, to: &str) -> EngineResult<Step> {
        let rename = |draft: &mut Draft, queries: &[ViewQuery]| draft.rename_table(table.oid, to, queries).map(drop);
        Ok(Step::RenameTable(to.to_string(), self.following_queries(table.oid, NewName::Relation(to), rename)?))
    }

    /// SET SCHEMA, with the queries of the views that read the table.
    pub(in crate::ddl) fn moved_table(&self, table: &Table, schema: &str) -> EngineResult<Step> {
        let change = |draft: &mut Draft, queries: &[ViewQuery]| draft.set_schema(table.oid, schema, queries).map(drop);
        Ok(Step::SetSchema(schema.to_string(), self.following_queries(table.oid, NewName::Schema(schema), change)?))
    }

    async fn step_of_constraint(
        &mut self,
        (table, now): (&Table, &Table),
        action: &AlterAction,
        rewrite: &mut Rewrite,
    ) -> EngineResult<Option<Step>> {
        Ok(Some(match action {
            AlterAction::AddKey(key) => {
                self.check_key_storage(key)?;
                self.check_new_key(table, key.parts.iter().map(|part| &part.column), rewrite).await?;
                rewrite.needed = true;
                Step::AddKey(key.parts.iter().map(new_key_part).collect(), key.name.clone())
            }
            AlterAction::AddUnique(unique) if unique.primary => {
                self.check_new_key(table, unique.columns(), rewrite).await?;
                return Ok(None);
            }
            AlterAction::UniqueUsingIndex { .. } => {
                return unsupported("ALTER TABLE ... ADD UNIQUE USING INDEX beside other actions");
            }
            AlterAction::KeyUsingIndex { deferrable: true, .. } => {
                return unsupported("ALTER TABLE ... ADD PRIMARY KEY USING INDEX ... DEFERRABLE beside other actions");
            }
            AlterAction::KeyUsingIndex { name, index, .. } => {
                self.key_using_index(table, name.as_deref(), index, rewrite).await?
            }
            AlterAction::AlterConstraint { name, deferrable, deferred } => {
                altered_constraint(now, name, *deferrable, *deferred)?
            }
            AlterAction::ValidateConstraint { name } => return self.validate(table, name).await,
            AlterAction::DropConstraint { if_exists, name, cascade } => {
                return Ok(self.dropped_constraint(now, name, (*if_exists, *cascade), rewrite));
            }
            AlterAction::RenameConstraint { from, to } => Step::RenameConstraint(from.clone(), to.clone()),
            // `steps_of` adds new constraints after all columns are known.
            _ => return Ok(None),
        }))
    }
}

/// PostgreSQL's order of actions, whatever their order in the statement: drops, type changes, new columns, and then
/// what references them. Source: `AT_PASS_DROP` and the following passes.
fn pass(action: &AlterAction) -> u8 {
    match action {
        AlterAction::DropColumn { .. }
        | AlterAction::DropConstraint { .. }
        | AlterAction::DropDefault { .. }
        | AlterAction::DropNotNull { .. }
        | AlterAction::DropIdentity { .. }
        | AlterAction::DropExpression { .. } => 0,
        AlterAction::SetType { .. } => 1,
        AlterAction::AddColumn { .. } => 2,
        AlterAction::SetNotNull { .. } => 3,
        _ => 4,
    }
}

impl Session {
    /// Issues the notice that an action has no effect, after checking that its column and index exist.
    pub(in crate::ddl) fn notice_without_effect(
        &mut self,
        table: &Table,
        (column, index): (Option<&str>, Option<&str>),
        words: &str,
        reason: &str,
    ) -> EngineResult<()> {
        if let Some(index) = index
            && table.index(index).is_none()
            && table.key_name.as_deref() != Some(index)
        {
            return fail(Fault::NoSuchIndex { name: index.to_string() });
        }
        let what = match column {
            Some(column) => format!("{words} of column \"{}\"", table.must_get_column(column)?.name),
            None => words.to_string(),
        };
        self.without_effect(&what, reason);
        Ok(())
    }
}

fn not_materialized(alter: &AlterTable) -> EngineResult<()> {
    let message = format!("\"{}\" is not a materialized view", alter.name.name);
    fail(Fault::WrongObject { message, hint: None })
}

fn unsupported<T>(feature: &str) -> EngineResult<T> {
    fail(Fault::Unsupported { feature: feature.to_string() })
}
