//! ALTER TABLE: all actions are one change of the catalog.
//!
//! ```text
//!   AlterAction ──columns, constraints──> Step ──apply──> Draft
//!                 conditions are looked at        or a table that is written anew
//! ```

mod columns;
mod constraints;
mod step;

pub(super) use constraints::Added;
pub(crate) use constraints::constant_of;
pub(super) use step::{RenamedTexts, Step, apply};

use super::create_table::{new_key_part, property};
use super::rewrite::Rewrite;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::{ConstraintKind, Draft, Table};
use columns::renamed_column;
use constraints::altered_constraint;
use sql::{AlterAction, AlterTable};
use txn::LockMode;

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
        // What rows there are is looked at below: all that were written before the lock.
        let last = self.last_of_all().await?;
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
        let (mut steps, mut rewrite) = (Vec::new(), Rewrite::default());
        for action in &alter.actions {
            steps.extend(self.step(&table, action, &mut rewrite).await?);
        }
        let checks = self.checks_of(&table, &alter.actions, &steps).await?;
        let uniques = self.uniques_of(&table, &alter.actions, &steps)?;
        rewrite.needed |= !uniques.is_empty();
        let keys = self.foreign_keys_of(&mut locks, &table, &alter.actions, &steps).await?;
        // Columns are there before what names them, as in PostgreSQL.
        steps.extend(checks.into_iter().map(Step::AddCheck));
        steps.extend(uniques.into_iter().map(Step::AddIndex));
        steps.extend(keys.into_iter().map(Step::AddForeignKey));
        let retyped = self.retyped_index_texts(&table, &steps).await?;
        if !retyped.is_empty() {
            // Entries are made of other values.
            rewrite.needed = true;
            steps.push(Step::SetIndexTexts(retyped));
        }
        if rewrite.needed {
            let others = self.rewrite_table(&table, &steps, &rewrite).await?;
            self.tell_dropped(&others);
            return Ok(());
        }
        let change = |draft: &mut Draft| {
            let mut others = Vec::new();
            for step in steps {
                others.extend(apply(draft, table.oid, step)?);
            }
            Ok(others)
        };
        let others = self.change_catalog(change).await?;
        self.tell_dropped(&others);
        Ok(())
    }

    /// `None`: there is nothing to do, or nothing yet.
    async fn step(&mut self, table: &Table, action: &AlterAction, rewrite: &mut Rewrite) -> EngineResult<Option<Step>> {
        Ok(Some(match action {
            AlterAction::AddColumn { if_not_exists, def } => {
                return self.added_column(table, def, *if_not_exists, rewrite).await;
            }
            AlterAction::DropColumn { if_exists, column, cascade } => {
                return Ok(self.dropped_column(table, &column.name, (*if_exists, *cascade), rewrite));
            }
            AlterAction::SetType { column, data_type, using } => {
                return self.set_type(table, column, *data_type, using.as_deref(), rewrite).await;
            }
            AlterAction::DropExpression { column, if_exists } => {
                return self.dropped_expression(table, column, *if_exists);
            }
            AlterAction::RenameColumn { from, to } => renamed_column(table, from, to)?,
            AlterAction::SetDefault { column, default } => {
                self.new_default(table, column, Some(default.as_ref())).await?
            }
            AlterAction::DropDefault { column } => self.new_default(table, column, None).await?,
            AlterAction::SetNotNull { column } => self.set_not_null(table, column).await?,
            AlterAction::DropNotNull { column } => Step::DropNotNull(column.clone()),
            AlterAction::AddIdentity { column, generated } => {
                Step::AddIdentity(self.own_sequence(table, column, generated)?)
            }
            AlterAction::DropIdentity { column, if_exists } => {
                return self.dropped_identity(table, column, *if_exists);
            }
            AlterAction::RenameTable { to } => Step::RenameTable(to.clone()),
            AlterAction::SetSchema { .. } => return unsupported("ALTER TABLE ... SET SCHEMA"),
            AlterAction::SetOptions(options) => {
                self.parameters_without_effect(options.iter().map(|option| option.name.as_str()));
                Step::Properties(options.iter().map(property).collect::<EngineResult<_>>()?)
            }
            AlterAction::ResetOptions(names) => {
                Step::Properties(names.iter().map(|name| (name.clone(), None)).collect())
            }
            of_constraints => return self.step_of_constraint(table, of_constraints, rewrite).await,
        }))
    }

    async fn step_of_constraint(
        &mut self,
        table: &Table,
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
                altered_constraint(table, name, *deferrable, *deferred)?
            }
            AlterAction::ValidateConstraint { name } => return self.validate(table, name).await,
            AlterAction::DropConstraint { if_exists, name, cascade } => {
                return Ok(self.dropped_constraint(table, name, (*if_exists, *cascade), rewrite));
            }
            AlterAction::RenameConstraint { from, to } => Step::RenameConstraint(from.clone(), to.clone()),
            // Those that are added follow when all columns are known.
            _ => return Ok(None),
        }))
    }
}

fn not_materialized(alter: &AlterTable) -> EngineResult<()> {
    let message = format!("\"{}\" is not a materialized view", alter.name.name);
    fail(Fault::WrongObject { message, hint: None })
}

fn unsupported<T>(feature: &str) -> EngineResult<T> {
    fail(Fault::Unsupported { feature: feature.to_string() })
}
