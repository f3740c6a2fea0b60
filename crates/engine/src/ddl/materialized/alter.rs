//! ALTER MATERIALIZED VIEW, and ALTER TABLE of a materialized view: renames, SET SCHEMA and options.

use super::super::alter_table::{RenamedTexts, Step, apply};
use super::schedule::{Options, options};
use crate::Session;
use crate::ddl::index::renamed_index_texts;
use crate::error::{EngineResult, Fault, fail};
use catalog::{Draft, Table};
use sql::{AlterAction, AlterTable};

impl Session {
    /// ALTER MATERIALIZED VIEW. The caller has locked the view.
    pub(crate) async fn alter_materialized_view(&mut self, table: &Table, alter: &AlterTable) -> EngineResult<()> {
        let (mut steps, mut schedule) = (Vec::new(), None);
        for action in &alter.actions {
            match action {
                AlterAction::RenameTable { to } => steps.push(self.renamed_table(table, to)?),
                AlterAction::RenameColumn { from, to } => {
                    let indexes = renamed_index_texts(table, from, to)?;
                    let (query, views) = (renamed_query(table, from, to)?, self.views_with_column(table, from, to)?);
                    let texts = RenamedTexts { indexes, query, views, ..Default::default() };
                    steps.push(Step::RenameColumn(from.clone(), to.clone(), texts));
                }
                AlterAction::SetOptions(given) => {
                    let Options { properties, every, incremental } = options(given)?;
                    if incremental.is_some_and(|wanted| wanted != table.is_incremental()) {
                        return fail(changes_incremental());
                    }
                    self.parameters_without_effect(given.iter().map(|option| option.name.as_str()));
                    steps.push(Step::Properties(properties));
                    schedule = every.or(schedule);
                }
                AlterAction::ResetOptions(names) => {
                    if table.is_incremental() && names.iter().any(|name| name == "incremental") {
                        return fail(changes_incremental());
                    }
                    let (refresh, others): (Vec<_>, Vec<_>) = names.iter().partition(|name| *name == "refresh");
                    steps.push(Step::Properties(others.into_iter().map(|name| (name.clone(), None)).collect()));
                    schedule = if refresh.is_empty() { schedule } else { Some(None) };
                }
                AlterAction::SetSchema { schema } => steps.push(self.moved_table(table, schema)?),
                AlterAction::WithoutEffect { column, index, words, reason } => {
                    self.notice_without_effect(table, (column.as_deref(), index.as_deref()), words, reason)?;
                }
                other => {
                    let (action, name) = (action_name(other), &table.name);
                    let message = format!("ALTER action {action} cannot be performed on relation \"{name}\"");
                    return fail(Fault::NotOfMaterialized { message });
                }
            }
        }
        if let Some(Some(_)) = schedule {
            self.check_schedule()?;
        }
        let oid = table.oid;
        let change = move |draft: &mut Draft| {
            for step in steps {
                apply(draft, oid, step)?;
            }
            Ok(oid)
        };
        match schedule {
            Some(every) => self.change_schedule(change, every).await,
            None => self.change_catalog(change).await.map(drop),
        }
    }
}

fn changes_incremental() -> Fault {
    let feature = "changing \"incremental\" of a materialized view that is there (drop it and make it anew)";
    Fault::Unsupported { feature: feature.to_string() }
}

/// The view's query with a renamed output column.
fn renamed_query(table: &Table, from: &str, to: &str) -> EngineResult<Option<String>> {
    let Some(made_of) = &table.materialized else { return Ok(None) };
    let own: Vec<&str> = table.visible_columns().map(|column| column.name.as_str()).collect();
    let wanted: Vec<&str> = own.iter().map(|name| if *name == from { to } else { name }).collect();
    Ok(Some(sql::with_names(&*sql::parse_query(&made_of.query)?, &own, &wanted, &table.name)))
}

/// The action's name in PostgreSQL's messages.
fn action_name(action: &AlterAction) -> &'static str {
    match action {
        AlterAction::AddColumn { .. } | AlterAction::CascadeIndex { .. } => "ADD COLUMN",
        AlterAction::AddKey(_)
        | AlterAction::AddCheck(_)
        | AlterAction::AddUnique(_)
        | AlterAction::UniqueUsingIndex { .. }
        | AlterAction::KeyUsingIndex { .. }
        | AlterAction::AddForeignKey(_) => "ADD CONSTRAINT",
        AlterAction::AlterConstraint { .. } => "ALTER CONSTRAINT",
        AlterAction::ValidateConstraint { .. } => "VALIDATE CONSTRAINT",
        AlterAction::DropConstraint { .. } => "DROP CONSTRAINT",
        AlterAction::DropColumn { .. } => "DROP COLUMN",
        AlterAction::SetDefault { .. } | AlterAction::DropDefault { .. } => "ALTER COLUMN ... SET DEFAULT",
        AlterAction::SetNotNull { .. } => "ALTER COLUMN ... SET NOT NULL",
        AlterAction::DropNotNull { .. } => "ALTER COLUMN ... DROP NOT NULL",
        AlterAction::AddIdentity { .. } => "ALTER COLUMN ... ADD IDENTITY",
        AlterAction::ChangeIdentity { .. } => "ALTER COLUMN ... SET",
        AlterAction::DropIdentity { .. } => "ALTER COLUMN ... DROP IDENTITY",
        AlterAction::DropExpression { .. } => "ALTER COLUMN ... DROP EXPRESSION",
        AlterAction::SetType { .. } => "ALTER COLUMN ... SET DATA TYPE",
        AlterAction::RenameConstraint { .. } => "RENAME CONSTRAINT",
        AlterAction::RenameColumn { .. }
        | AlterAction::RenameTable { .. }
        | AlterAction::WithoutEffect { .. }
        | AlterAction::SetSchema { .. }
        | AlterAction::SetOptions(_)
        | AlterAction::ResetOptions(_) => "",
    }
}
