//! ALTER TABLE: all actions are one change of the catalog.

use super::check::renamed_texts;
use super::check_default;
use super::computed::renamed_expressions;
use super::create_table::{new_column, new_key_part, property};
use super::foreign_key::new_foreign_key;
use super::generated::OwnSequence;
use super::index_expr::renamed_index_texts;
use super::rewrite::Rewrite;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::{
    CatalogError, CatalogResult, Draft, ForeignKey, IndexText, NewCheck, NewColumn, NewForeignKey, NewKeyPart, Table,
    TableOid,
};
use query::RowTable;
use sql::{AlterAction, AlterTable, CheckDef, ColumnDef, ForeignKeyDef, Generated, ObjectName, PrimaryKeyDef};
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{LockMode, LockOwner};
use types::{DataType, Datum};

/// An action whose expressions and conditions were looked at.
#[derive(Clone)]
pub(super) enum Step {
    Add {
        column: NewColumn,
        missing: Datum,
    },
    AddCheck(NewCheck),
    AddForeignKey(NewForeignKey),
    Validate(String),
    /// With what depends on it?
    DropConstraint(String, bool),
    RenameConstraint(String, String),
    /// Columns, those first that are computed from the others.
    Drop(Vec<String>),
    AddKey(Vec<NewKeyPart>, Option<String>),
    /// To be followed by other storage, unless bytes of values stay.
    SetType(String, DataType),
    DropExpression(String),
    /// With the texts of the constraints, indexes and generated columns that name it, with its new name.
    RenameColumn(String, String, RenamedTexts),
    RenameTable(String),
    SetDefault(String, Option<(String, Option<TableOid>)>),
    SetNotNull(String),
    DropNotNull(String),
    AddIdentity(OwnSequence),
    DropIdentity(String),
    Properties(BTreeMap<String, Option<String>>),
}

/// The texts that name a column, with its new name.
#[derive(Clone)]
pub(super) struct RenamedTexts {
    /// Of CHECK constraints, by their names.
    checks: Vec<(String, String)>,
    /// Of indexes, by their oids.
    indexes: Vec<(u32, Vec<IndexText>)>,
    /// Of generated columns, by their names.
    generated: Vec<(String, String)>,
}

/// A column that a statement adds, as constraints beside it see it in rows that are there.
pub(super) struct Added {
    pub(super) name: String,
    pub(super) ty: DataType,
    missing: Datum,
}

impl Added {
    /// Its value as SQL.
    pub(super) fn value(&self) -> String {
        constant_of(&self.ty, &self.missing)
    }
}

/// A value as SQL.
pub(super) fn constant_of(ty: &DataType, value: &Datum) -> String {
    let name = ty.column_name();
    if value.is_null() {
        return format!("CAST(NULL AS {name})");
    }
    let mut text = String::new();
    types::text::print(ty, value, &mut text);
    format!("CAST('{}' AS {name})", text.replace('\'', "''"))
}

impl Session {
    pub(super) async fn alter_table(&mut self, alter: &AlterTable) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let table = match self.lock_table_by_name(&mut locks, &alter.name, LockMode::Exclusive).await {
            Err(error) if alter.if_exists && error.code() == "42P01" => {
                self.skipped("00000", &format!("relation \"{}\" does not exist", alter.name.name));
                return Ok(());
            }
            found => found?,
        };
        // What rows there are is looked at below: all that were written before the lock.
        self.last_commit = self.last_commit.max(self.last_of_all().await?);
        if let [AlterAction::AddUnique(unique)] = alter.actions.as_slice() {
            return self.add_unique(&table, unique).await;
        }
        if let [AlterAction::UniqueUsingIndex { name, index }] = alter.actions.as_slice() {
            return self.unique_using_index(&table, name.as_deref(), index).await;
        }
        let (mut steps, mut rewrite) = (Vec::new(), Rewrite::default());
        for action in &alter.actions {
            steps.extend(self.step(&table, action, &mut rewrite).await?);
        }
        let checks = self.checks_of(&table, &alter.actions, &steps).await?;
        let keys = self.foreign_keys_of(&mut locks, &table, &alter.actions, &steps).await?;
        // Columns are there before what names them, as in PostgreSQL.
        steps.extend(checks.into_iter().map(Step::AddCheck));
        steps.extend(keys.into_iter().map(Step::AddForeignKey));
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

    /// The foreign keys among the actions, alone and of columns that `steps` add. No row breaks them.
    async fn foreign_keys_of(
        &mut self,
        locks: &mut LockOwner,
        table: &Arc<Table>,
        actions: &[AlterAction],
        steps: &[Step],
    ) -> EngineResult<Vec<NewForeignKey>> {
        let added = |name: &String| {
            steps.iter().find_map(|step| match step {
                Step::Add { column, missing } if column.name == *name => Some(missing),
                _ => None,
            })
        };
        let defs = actions.iter().flat_map(|action| match action {
            AlterAction::AddForeignKey(key) => std::slice::from_ref(key.as_ref()),
            AlterAction::AddColumn { def, .. } if added(&def.name).is_some() => def.foreign_keys.as_slice(),
            _ => &[],
        });
        let defs: Vec<&ForeignKeyDef> = defs.collect();
        let own = |name: &ObjectName, session: &Self| {
            let found = session.resolve(&session.engine.catalog().current(), name);
            found.is_ok_and(|found| found.oid == table.oid)
        };
        let selves: Vec<ObjectName> =
            defs.iter().map(|def| &def.parent).filter(|name| own(name, self)).cloned().collect();
        let parents = self.lock_parents_of(locks, &defs, |name| selves.contains(name)).await?;
        let mut keys = Vec::with_capacity(defs.len());
        for def in defs {
            let parent = parents.of(def).unwrap_or(table);
            let key = new_foreign_key(def, parent.oid, !def.not_valid);
            match def.columns.iter().find_map(added) {
                Some(missing) if missing.is_null() => {}
                Some(_) if self.has_row(table, None).await? => {
                    return unsupported(
                        "ALTER TABLE ... ADD COLUMN with REFERENCES and a default, for rows that are there",
                    );
                }
                Some(_) => {}
                None => {
                    let resolved = ForeignKey::resolve(table, parent, &key)?;
                    if !def.not_valid {
                        self.check_references(table, &resolved).await?;
                    }
                }
            }
            keys.push(key);
        }
        Ok(keys)
    }

    /// The CHECK constraints among the actions, alone and of columns that `steps` add.
    async fn checks_of(
        &mut self,
        table: &Table,
        actions: &[AlterAction],
        steps: &[Step],
    ) -> EngineResult<Vec<NewCheck>> {
        let added = steps.iter().filter_map(|step| match step {
            Step::Add { column, missing } => {
                Some(Added { name: column.name.clone(), ty: column.ty, missing: missing.clone() })
            }
            _ => None,
        });
        let added: Vec<Added> = added.collect();
        let defs = actions.iter().flat_map(|action| match action {
            AlterAction::AddCheck(check) => std::slice::from_ref(check.as_ref()),
            AlterAction::AddColumn { def, .. } if added.iter().any(|column| column.name == def.name) => {
                def.checks.as_slice()
            }
            _ => &[],
        });
        let defs: Vec<&CheckDef> = defs.collect();
        self.added_checks(table, &added, &defs).await
    }

    /// `None`: there is nothing to do, or nothing yet.
    async fn step(&mut self, table: &Table, action: &AlterAction, rewrite: &mut Rewrite) -> EngineResult<Option<Step>> {
        Ok(Some(match action {
            AlterAction::AddColumn { if_not_exists, def } => {
                if *if_not_exists && table.column_by_name(&def.name).is_some() {
                    let what = format!("column \"{}\" of relation \"{}\" already exists", def.name, table.name);
                    self.skipped("42701", &what);
                    return Ok(None);
                }
                self.add_column(table, def, rewrite).await?
            }
            AlterAction::AddKey(key) => {
                self.check_new_key(table, key, rewrite).await?;
                rewrite.needed = true;
                Step::AddKey(key.parts.iter().map(new_key_part).collect(), key.name.clone())
            }
            AlterAction::SetType { column, data_type, using } => {
                return self.set_type(table, column, *data_type, using.as_deref(), rewrite).await;
            }
            AlterAction::DropExpression { column, if_exists } => {
                if table.must_get_column(column)?.generated.is_some() {
                    return Ok(Some(Step::DropExpression(column.clone())));
                }
                let what =
                    format!("column \"{column}\" of relation \"{}\" is not a stored generated column", table.name);
                if !*if_exists {
                    return fail(Fault::Refused { message: what });
                }
                self.skipped("00000", &what);
                return Ok(None);
            }
            AlterAction::UniqueUsingIndex { .. } => {
                return unsupported("ALTER TABLE ... ADD UNIQUE USING INDEX beside other actions");
            }
            AlterAction::AddUnique(_) => return unsupported("ALTER TABLE ... ADD UNIQUE beside other actions"),
            AlterAction::AddCheck(_) | AlterAction::AddForeignKey(_) => return Ok(None),
            AlterAction::ValidateConstraint { name } => return self.validate(table, name).await,
            AlterAction::DropConstraint { if_exists, name, cascade } => {
                if *if_exists && !table.is_constraint(name) {
                    let what = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
                    self.skipped("00000", &what);
                    return Ok(None);
                }
                if table.key_name.as_deref() == Some(name) {
                    (rewrite.needed, rewrite.drops_key) = (true, true);
                }
                Step::DropConstraint(name.clone(), *cascade)
            }
            AlterAction::DropColumn { if_exists, column, cascade } => {
                if *if_exists && table.column_by_name(&column.name).is_none() {
                    let what = format!("column \"{}\" of relation \"{}\" does not exist", column.name, table.name);
                    self.skipped("00000", &what);
                    return Ok(None);
                }
                let mut names = vec![column.name.clone()];
                if let (true, Some(found)) = (*cascade, table.column_by_name(&column.name)) {
                    let from = |it: &&catalog::Column| it.generated.as_ref().is_some_and(|of| of.contains(&found.id));
                    names.splice(0..0, table.columns.iter().filter(from).map(|it| it.name.clone()));
                }
                Step::Drop(names)
            }
            AlterAction::RenameColumn { from, to } => {
                let texts = RenamedTexts {
                    checks: renamed_texts(table, from, to)?,
                    indexes: renamed_index_texts(table, from, to)?,
                    generated: renamed_expressions(table, from, to)?,
                };
                Step::RenameColumn(from.clone(), to.clone(), texts)
            }
            AlterAction::RenameTable { to } => Step::RenameTable(to.clone()),
            AlterAction::RenameConstraint { from, to } => Step::RenameConstraint(from.clone(), to.clone()),
            AlterAction::SetSchema { .. } => return unsupported("ALTER TABLE ... SET SCHEMA"),
            AlterAction::SetDefault { column, default } => {
                refuse_computed(table, column)?;
                let ty = table.must_get_column(column)?.ty;
                check_default(self, Some(default), column, ty).await?;
                let sequence = self.sequence_of_default(&default.expr)?;
                Step::SetDefault(column.clone(), Some((default.text.clone(), sequence)))
            }
            AlterAction::DropDefault { column } => {
                refuse_computed(table, column)?;
                Step::SetDefault(column.clone(), None)
            }
            AlterAction::SetNotNull { column } => {
                table.must_get_column(column)?;
                if self.has_row(table, Some(column)).await? {
                    return fail(Fault::ContainsNulls { table: table.name.clone(), column: column.clone() });
                }
                Step::SetNotNull(column.clone())
            }
            AlterAction::DropNotNull { column } => Step::DropNotNull(column.clone()),
            AlterAction::AddIdentity { column, generated } => {
                Step::AddIdentity(self.own_sequence(table, column, generated)?)
            }
            AlterAction::DropIdentity { column, if_exists } => {
                if table.must_get_column(column)?.identity.is_some() {
                    return Ok(Some(Step::DropIdentity(column.clone())));
                }
                let what = format!("column \"{column}\" of relation \"{}\" is not an identity column", table.name);
                if !*if_exists {
                    return fail(Fault::Refused { message: what });
                }
                self.skipped("00000", &what);
                return Ok(None);
            }
            AlterAction::SetOptions(options) => {
                self.parameters_without_effect(options.iter().map(|option| option.name.as_str()));
                Step::Properties(options.iter().map(property).collect::<EngineResult<_>>()?)
            }
            AlterAction::ResetOptions(names) => {
                Step::Properties(names.iter().map(|name| (name.clone(), None)).collect())
            }
        }))
    }

    /// VALIDATE CONSTRAINT: a foreign key or CHECK that was made NOT VALID; others always are.
    async fn validate(&mut self, table: &Table, name: &str) -> EngineResult<Option<Step>> {
        let Some(key) = table.foreign_key(name).cloned() else {
            if let Some(check) = table.check(name).cloned() {
                if check.validated {
                    return Ok(None);
                }
                let schema = self.engine.catalog().current().schema_name(table).to_string();
                self.check_rows(table, &schema, &[], name, &check.text).await?;
                return Ok(Some(Step::Validate(name.to_string())));
            }
            if table.is_constraint(name) {
                let of = &table.name;
                let message =
                    format!("constraint \"{name}\" of relation \"{of}\" is not a foreign key or check constraint");
                return fail(Fault::WrongObject { message, hint: None });
            }
            let (table, constraint) = (table.name.clone(), name.to_string());
            return Err(CatalogError::NoSuchConstraint { table, constraint }.into());
        };
        if key.validated {
            return Ok(None);
        }
        self.check_references(table, &key).await?;
        Ok(Some(Step::Validate(name.to_string())))
    }

    /// The sequence of a column that becomes an identity.
    fn own_sequence(&self, table: &Table, name: &str, generated: &Generated) -> EngineResult<OwnSequence> {
        let column = table.must_get_column(name)?;
        let what = format!("column \"{name}\" of relation \"{}\"", table.name);
        let catalog = self.engine.catalog().current();
        let sequence = OwnSequence::new(name, column.ty, generated, catalog.schema_name(table))?;
        let message = if !column.not_null {
            format!("{what} must be declared NOT NULL before identity can be added")
        } else if column.identity.is_some() {
            format!("{what} is already an identity column")
        } else if column.default.is_some() {
            format!("{what} already has a default value")
        } else {
            return Ok(sequence);
        };
        fail(Fault::Refused { message })
    }

    /// Rows that are there read the default as it is now, and no row is touched.
    async fn add_column(&mut self, table: &Table, def: &ColumnDef, rewrite: &mut Rewrite) -> EngineResult<Step> {
        if def.generated.is_some() {
            return unsupported("ALTER TABLE ... ADD COLUMN with a sequence of its own");
        }
        if !def.uniques.is_empty() {
            return unsupported("ALTER TABLE ... ADD COLUMN with UNIQUE");
        }
        if let Some(default) = &def.default
            && self.sequence_of_default(&default.expr)?.is_some()
        {
            return unsupported("ALTER TABLE ... ADD COLUMN with the next value of a sequence");
        }
        if def.computed.is_some() {
            let columns = table.visible_columns().map(|column| (column.name.clone(), column.ty)).collect();
            let row = RowTable { name: table.name.clone(), columns };
            let computed = table.columns.iter().filter(|column| column.generated.is_some());
            let computed: Vec<String> = computed.map(|column| column.name.clone()).collect();
            let mut column = new_column(def);
            self.compute_columns(&row, std::iter::once(def), &computed, std::slice::from_mut(&mut column)).await?;
            rewrite.needed |= self.has_row(table, None).await?;
            return Ok(Step::Add { column, missing: Datum::Null });
        }
        let missing = match &def.default {
            None => Datum::Null,
            Some(default) => self.evaluate_default(&default.expr, &def.name, def.data_type).await?,
        };
        if def.not_null && matches!(missing, Datum::Null) && self.has_row(table, None).await? {
            return fail(Fault::ContainsNulls { table: table.name.clone(), column: def.name.clone() });
        }
        Ok(Step::Add { column: new_column(def), missing })
    }

    /// Refuses a key beside another one, and NULLs in it.
    async fn check_new_key(&mut self, table: &Table, key: &PrimaryKeyDef, rewrite: &Rewrite) -> EngineResult<()> {
        if !table.has_hidden_row_id() && !rewrite.drops_key {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
            return fail(Fault::InvalidDefinition { message });
        }
        for part in &key.parts {
            let Some(column) = table.column_by_name(&part.column) else { continue };
            if !column.not_null && self.has_row(table, Some(&column.name)).await? {
                return fail(Fault::ContainsNulls { table: table.name.clone(), column: column.name.clone() });
            }
        }
        Ok(())
    }

    /// Has the table a row (with NULL in that column)?
    pub(super) async fn has_row(&mut self, table: &Table, null_column: Option<&str>) -> EngineResult<bool> {
        let catalog = self.engine.catalog().current();
        let quote = types::ident::quote;
        let mut text = format!("SELECT 1 FROM {}.{}", quote(catalog.schema_name(table)), quote(&table.name));
        if let Some(column) = null_column {
            text.push_str(&format!(" WHERE {} IS NULL", quote(column)));
        }
        text.push_str(" LIMIT 1");
        Ok(!self.own_query(&text).await?.is_empty())
    }
}

/// 42601 for a default of a generated column.
fn refuse_computed(table: &Table, name: &str) -> EngineResult<()> {
    match table.must_get_column(name)?.generated {
        Some(_) => {
            let message = format!("column \"{name}\" of relation \"{}\" is a generated column", table.name);
            fail(Fault::Invalid { message })
        }
        None => Ok(()),
    }
}

fn unsupported<T>(feature: &str) -> EngineResult<T> {
    fail(Fault::Unsupported { feature: feature.to_string() })
}

/// Returns what else was dropped, kind and name.
pub(super) fn apply(draft: &mut Draft, oid: TableOid, step: Step) -> CatalogResult<Vec<String>> {
    let done = match step {
        Step::DropConstraint(name, cascade) => return draft.drop_constraint(oid, &name, cascade),
        Step::Add { column, missing } => draft.add_column(oid, column, missing).map(drop),
        Step::Drop(names) => return drop_columns(draft, oid, &names),
        Step::AddKey(parts, name) => draft.set_key(oid, &parts, name).map(drop),
        Step::SetType(name, ty) => draft.set_type(oid, &name, ty).map(drop),
        Step::DropExpression(name) => draft.drop_expression(oid, &name).map(drop),
        Step::RenameColumn(from, to, texts) => {
            draft.rename_column(oid, &from, &to)?;
            for (name, text) in texts.generated {
                draft.set_expression(oid, &name, text)?;
            }
            draft.set_check_texts(oid, &texts.checks)?;
            draft.set_index_texts(oid, &texts.indexes).map(drop)
        }
        Step::AddCheck(check) => draft.add_check(oid, check).map(drop),
        Step::AddForeignKey(key) => draft.add_foreign_key(oid, key).map(drop),
        Step::Validate(name) => draft.set_validated(oid, &name).map(drop),
        Step::RenameConstraint(from, to) => draft.rename_constraint(oid, &from, &to).map(drop),
        Step::RenameTable(to) => draft.rename_table(oid, &to).map(drop),
        Step::SetDefault(name, default) => {
            let (text, sequence) = default.map_or((None, None), |(text, sequence)| (Some(text), sequence));
            draft.set_default(oid, &name, text, sequence).map(drop)
        }
        Step::SetNotNull(name) => draft.set_not_null(oid, &name).map(drop),
        Step::DropNotNull(name) => draft.drop_not_null(oid, &name).map(drop),
        Step::AddIdentity(sequence) => sequence.add_identity(draft, oid),
        Step::DropIdentity(name) => draft.set_identity(oid, &name, None).map(drop),
        Step::Properties(changes) => draft.set_properties(oid, &changes).map(drop),
    };
    done.map(|()| Vec::new())
}

/// The last column, and before it those that are computed from it.
fn drop_columns(draft: &mut Draft, oid: TableOid, names: &[String]) -> CatalogResult<Vec<String>> {
    let table = draft.table(oid)?;
    names.iter().try_for_each(|name| draft.drop_column(oid, name).map(drop))?;
    let others = names.split_last().map(|(_, others)| others).unwrap_or_default();
    Ok(others.iter().map(|name| format!("column {name} of table {}", table.name)).collect())
}
