//! ALTER TABLE … ADD, ALTER, VALIDATE and DROP CONSTRAINT.

use super::step::Step;
use super::unsupported;
use crate::Session;
use crate::ddl::create_table::new_key_part;
use crate::ddl::foreign_key::new_foreign_key;
use crate::ddl::index::new_unique;
use crate::ddl::rewrite::Rewrite;
use crate::error::{EngineResult, Fault, fail};
use catalog::{CatalogError, NewCheck, NewForeignKey, NewIndex, Table};
use sql::{AlterAction, CheckDef, ForeignKeyDef, KeyPartDef, ObjectName, PrimaryKeyDef};
use std::sync::Arc;
use txn::LockOwner;
use types::{DataType, Datum};

/// A column added by the same statement, with its value in existing rows, for constraints that reference it.
pub(in crate::ddl) struct Added {
    pub(in crate::ddl) name: String,
    pub(in crate::ddl) ty: DataType,
    missing: Datum,
}

impl Added {
    /// The value in existing rows as a SQL expression.
    pub(in crate::ddl) fn value(&self) -> String {
        constant_of(&self.ty, &self.missing)
    }
}

/// Whether the steps add a column of that name; false if ADD COLUMN IF NOT EXISTS skipped it.
fn is_added(steps: &[Step], name: &str) -> bool {
    steps.iter().filter_map(Step::added).any(|column| column.name == name)
}

/// A value as a SQL expression.
pub(crate) fn constant_of(ty: &DataType, value: &Datum) -> String {
    let name = ty.column_name();
    if value.is_null() {
        return format!("CAST(NULL AS {name})");
    }
    let mut text = String::new();
    types::text::print(ty, value, &mut text);
    format!("CAST('{}' AS {name})", text.replace('\'', "''"))
}

impl Session {
    /// The foreign keys of the actions, as table constraints and as constraints of columns that `steps` add. Locks the
    /// referenced tables; [`Session::check_changed_references`] checks the rows.
    pub(super) async fn foreign_keys_of(
        &mut self,
        locks: &mut LockOwner,
        table: &Arc<Table>,
        actions: &[AlterAction],
        steps: &[Step],
    ) -> EngineResult<Vec<NewForeignKey>> {
        let defs = actions.iter().flat_map(|action| match action {
            AlterAction::AddForeignKey(key) => std::slice::from_ref(key.as_ref()),
            AlterAction::AddColumn { def, .. } if is_added(steps, &def.name) => def.foreign_keys.as_slice(),
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
        let key = |def: &&ForeignKeyDef| new_foreign_key(def, parents.of(def).unwrap_or(table).oid, !def.not_valid);
        Ok(defs.iter().map(key).collect())
    }

    /// The CHECK constraints of the actions, as table constraints and as constraints of columns that `steps` add. `now`
    /// is the table after the steps. Checks all rows, unless the rewrite does.
    pub(super) async fn checks_of(
        &mut self,
        now: &Table,
        actions: &[AlterAction],
        steps: &[Step],
        rewrite: &Rewrite,
    ) -> EngineResult<Vec<NewCheck>> {
        let added = steps.iter().filter_map(|step| match step {
            Step::Add { column, missing } => {
                Some(Added { name: column.name.clone(), ty: column.ty, missing: missing.clone() })
            }
            // Rows get values of the sequence by a rewrite, which checks them; without a rewrite there are no rows.
            Step::AddOwned(column, _) => Some(Added { name: column.name.clone(), ty: column.ty, missing: Datum::Null }),
            _ => None,
        });
        let added: Vec<Added> = added.collect();
        let defs = actions.iter().flat_map(|action| match action {
            AlterAction::AddCheck(check) => std::slice::from_ref(check.as_ref()),
            AlterAction::AddColumn { def, .. } if is_added(steps, &def.name) => def.checks.as_slice(),
            _ => &[],
        });
        let defs: Vec<&CheckDef> = defs.collect();
        self.added_checks(now, &added, &defs, rewrite).await
    }

    /// The UNIQUE constraints of the actions, as table constraints and as constraints of columns that `steps` add.
    /// `now` is the table after the steps.
    pub(super) fn uniques_of(
        &mut self,
        now: &Table,
        actions: &[AlterAction],
        steps: &[Step],
    ) -> EngineResult<Vec<NewIndex>> {
        let is_column = |name: &str| now.visible_columns().any(|column| column.name == name);
        let mut uniques = Vec::new();
        for action in actions {
            let defs = match action {
                AlterAction::AddUnique(unique) => std::slice::from_ref(unique),
                AlterAction::AddColumn { def, .. } if is_added(steps, &def.name) => def.uniques.as_slice(),
                _ => &[],
            };
            for unique in defs {
                self.check_unique_storage(unique)?;
                uniques.push(new_unique(unique, is_column)?);
            }
        }
        Ok(uniques)
    }

    /// ADD PRIMARY KEY USING INDEX: rewrites the table with the new rowkey, which makes the index redundant.
    pub(super) async fn key_using_index(
        &mut self,
        table: &Table,
        name: Option<&str>,
        index: &str,
        rewrite: &mut Rewrite,
    ) -> EngineResult<Step> {
        let found = self.index_for_constraint(table, name, index)?;
        if !found.include.is_empty() {
            return unsupported("PRIMARY KEY USING an INDEX that includes columns");
        }
        let columns = found.parts.iter().filter_map(|part| table.column(part.column()?));
        let parts = columns.map(|it| KeyPartDef { column: it.name.clone(), descending: false, nulls_first: None });
        let name = Some(name.unwrap_or(index).to_string());
        let key = PrimaryKeyDef { name, parts: parts.collect(), ..PrimaryKeyDef::default() };
        self.check_new_key(table, key.parts.iter().map(|part| &part.column), rewrite).await?;
        rewrite.needed = true;
        let parts = key.parts.iter().map(new_key_part).collect();
        Ok(Step::KeyUsingIndex(found.oid, parts, key.name.unwrap_or_default()))
    }

    /// VALIDATE CONSTRAINT for a foreign key or CHECK constraint. `None` if it is already validated.
    pub(super) async fn validate(&mut self, table: &Table, name: &str) -> EngineResult<Option<Step>> {
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
        let catalog = self.engine.catalog().current();
        self.check_references(&catalog, table, &key).await?;
        Ok(Some(Step::Validate(name.to_string())))
    }

    /// DROP CONSTRAINT. `None` if the constraint does not exist and IF EXISTS is given.
    pub(super) fn dropped_constraint(
        &mut self,
        table: &Table,
        name: &str,
        (if_exists, cascade): (bool, bool),
        rewrite: &mut Rewrite,
    ) -> Option<Step> {
        if if_exists && !table.is_constraint(name) {
            let what = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
            self.skipped("00000", &what);
            return None;
        }
        if table.key_name.as_deref() == Some(name) {
            (rewrite.needed, rewrite.drops_key) = (true, true);
        }
        rewrite.drops_key |= table.primary_index().is_some_and(|index| index.name == name);
        Some(Step::DropConstraint(name.to_string(), cascade))
    }

    /// Refuses a second primary key, and NULLs in key columns.
    pub(in crate::ddl) async fn check_new_key(
        &mut self,
        table: &Table,
        columns: impl Iterator<Item = &String>,
        rewrite: &Rewrite,
    ) -> EngineResult<()> {
        if table.has_primary_key() && !rewrite.drops_key {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
            return fail(Fault::InvalidDefinition { message });
        }
        for column in columns {
            let Some(column) = table.column_by_name(column) else { continue };
            if !column.not_null && self.has_row(table, Some(&column.name)).await? {
                return Err(self.contains_nulls(table, &column.name).into());
            }
        }
        Ok(())
    }
}

/// ALTER CONSTRAINT, for foreign keys only, as in PostgreSQL.
pub(super) fn altered_constraint(table: &Table, name: &str, deferrable: bool, deferred: bool) -> EngineResult<Step> {
    if table.foreign_key(name).is_some() {
        return Ok(Step::AlterConstraint(name.to_string(), deferrable, deferred));
    }
    if !table.is_constraint(name) {
        let (table, constraint) = (table.name.clone(), name.to_string());
        return Err(CatalogError::NoSuchConstraint { table, constraint }.into());
    }
    let message = format!("constraint \"{name}\" of relation \"{}\" is not a foreign key constraint", table.name);
    fail(Fault::WrongObject { message, hint: None })
}
