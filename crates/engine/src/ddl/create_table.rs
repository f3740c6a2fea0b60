//! CREATE TABLE.

use super::check_default;
use super::foreign_key::{Parents, new_foreign_key};
use super::generated::OwnSequence;
use crate::Session;
use crate::dml::RowTable;
use crate::error::{EngineResult, Fault, fail};
use bind::{AssignedTo, Clause};
use catalog::{CatalogError, Draft, NewColumn, NewKeyPart, NewTable};
use sql::{ColumnDef, CreateTable, ForeignKeyDef, KeyPartDef, ObjectName, OptionValue, TableOption, ast};
use std::sync::Arc;
use txn::LockOwner;
use types::{DataType, Datum};

impl Session {
    pub(super) async fn create_table(&mut self, create: &CreateTable) -> EngineResult<()> {
        let (create, copied) = self.expand_likes(create)?;
        let (new, sequences) = self.new_table(&create).await?;
        let uniques = self.new_uniques(&create)?;
        let keys: Vec<&ForeignKeyDef> =
            create.columns.iter().flat_map(|column| &column.foreign_keys).chain(&create.foreign_keys).collect();
        let mut locks = self.own_locks();
        let parents = self.parents_of_new_table(&mut locks, &create, &new, &keys).await?;
        let (schema, name) = (new.schema.clone(), new.name.clone());
        let engine = Arc::clone(&self.engine);
        let make = |draft: &mut Draft| {
            OwnSequence::create(draft, new, &sequences)?;
            let table = draft.catalog().must_get_table(&schema, &name)?.oid;
            uniques.into_iter().try_for_each(|unique| {
                // The new table has no rows to build the index from.
                let prepared = draft.prepare_index(table, unique)?;
                draft.publish_index(&prepared).map(drop)
            })?;
            let jobs = copied.apply(&engine, draft, table)?;
            keys.iter().try_for_each(|def| {
                let parent = parents.of(def).map_or(table, |parent| parent.oid);
                draft.add_foreign_key(table, new_foreign_key(def, parent, true)).map(drop)
            })?;
            Ok(jobs)
        };
        let turn = self.catalog_turn().await?;
        let jobs = match self.engine.catalog().change_in(turn, make).await {
            Err(CatalogError::DuplicateTable { name }) if create.if_not_exists => {
                self.skipped("42P07", &format!("relation \"{name}\" already exists"));
                return Ok(());
            }
            done => done?,
        };
        for job in jobs {
            drop(self.engine.jobs().begin(&self.engine, job));
        }
        self.notice_ignored_options(&create);
        Ok(())
    }

    /// The table's definition: columns with defaults, sequences and generation expressions, primary key, options and
    /// CHECK constraints.
    async fn new_table(&mut self, create: &CreateTable) -> EngineResult<(NewTable, Vec<OwnSequence>)> {
        let schema = self.schema_for(&self.engine.catalog().current(), &create.name)?;
        let mut new = NewTable::new(schema, create.name.name.clone());
        let mut sequences = Vec::new();
        for def in &create.columns {
            check_default(self, def.default.as_ref(), &def.name, def.data_type).await?;
            sequences.extend(OwnSequence::of(def, &new.schema)?);
            new.columns.push(self.new_column(def)?);
        }
        self.key_and_options(create, &mut new)?;
        let columns = new.columns.iter().map(|column| (column.name.clone(), column.ty)).collect();
        let row = RowTable { name: new.name.clone(), columns };
        let computed = create.columns.iter().filter(|def| def.computed.is_some());
        let computed: Vec<String> = computed.map(|def| def.name.clone()).collect();
        self.compute_columns(&row, create.columns.iter(), &computed, &mut new.columns).await?;
        for def in create.columns.iter().flat_map(|column| &column.checks).chain(&create.checks) {
            let check = self.new_check(&new.schema, &row, def).await?;
            new.checks.push(check);
        }
        Ok((new, sequences))
    }

    /// A column with its default in the catalog's form.
    pub(super) fn new_column(&self, def: &ColumnDef) -> EngineResult<NewColumn> {
        let column = AssignedTo { ty: def.data_type, column: Some(&def.name) };
        Ok(match &def.default {
            Some(default) => new_column(def).with_default(self.stored_default(default, column)?),
            None => new_column(def),
        })
    }

    /// Locks the tables that the new table's foreign keys reference. Empty if IF NOT EXISTS skips an existing table.
    async fn parents_of_new_table(
        &mut self,
        locks: &mut LockOwner,
        create: &CreateTable,
        new: &NewTable,
        keys: &[&ForeignKeyDef],
    ) -> EngineResult<Parents> {
        if create.if_not_exists && self.engine.catalog().current().table(&new.schema, &new.name).is_some() {
            return Ok(Parents::default());
        }
        let (catalog, path) = (self.engine.catalog().current(), self.search_path());
        let is_self = |name: &ObjectName| {
            let schemas = name.schema.as_ref().map_or(path.as_slice(), std::slice::from_ref);
            let holds = |schema: &&String| **schema == new.schema || catalog.table(schema, &name.name).is_some();
            name.name == create.name.name && schemas.iter().find(holds) == Some(&new.schema)
        };
        self.lock_parents_of(locks, keys, is_self).await
    }

    /// Issues notices for hints and options of CREATE TABLE that have no effect.
    pub(super) fn notice_ignored_options(&mut self, create: &CreateTable) {
        self.hints_without_effect(&create.hints);
        self.parameters_without_effect(create.options.iter().map(|option| option.name.as_str()));
    }

    /// Sets the primary key, the options and the split points, for CREATE TABLE with and without AS.
    pub(super) fn key_and_options(&mut self, create: &CreateTable, new: &mut NewTable) -> EngineResult<()> {
        if let Some(key) = &create.key {
            self.check_key_storage(key)?;
            new.key = key.parts.iter().map(new_key_part).collect();
            new.key_name = key.name.clone();
        }
        for option in &create.options {
            let (name, value) = property(option)?;
            if new.properties.insert(name, value.unwrap_or_default()).is_some() {
                let message = format!("option \"{}\" is given twice", option.name);
                return fail(Fault::Invalid { message });
            }
        }
        // As in Phoenix, the salt buckets are the regions of a salted table.
        let salted = new.properties.get("salt_buckets").is_some_and(|buckets| !matches!(buckets.as_str(), "" | "0"));
        if salted && !create.split_on.is_empty() {
            let message =
                "split points cannot be given for a salted table: each of its buckets is a region".to_string();
            return fail(Fault::InvalidDefinition { message });
        }
        let types = key_types(new);
        for point in &create.split_on {
            new.splits.push(self.split_point(point, &types)?);
        }
        Ok(())
    }
}

pub(super) fn new_column(def: &ColumnDef) -> NewColumn {
    NewColumn {
        name: def.name.clone(),
        ty: def.data_type,
        not_null: (def.not_null || def.null).then_some(def.not_null),
        default: def.default.as_ref().map(|default| default.text.clone()),
        sequence: None,
        default_sequences: Vec::new(),
        identity: None,
        generated: None,
        family: def.family.clone(),
    }
}

pub(super) fn new_key_part(part: &KeyPartDef) -> NewKeyPart {
    NewKeyPart { column: part.column.clone(), descending: part.descending, nulls_first: part.nulls_first }
}

/// Name and value of a table option for the catalog; `None` for NULL.
pub(super) fn property(option: &TableOption) -> EngineResult<(String, Option<String>)> {
    if let Some(family) = &option.family {
        let feature = format!("property {} of column family {family} alone", option.name.to_uppercase());
        return fail(Fault::Unsupported { feature });
    }
    let value = match &option.value {
        OptionValue::Word(text) | OptionValue::Text(text) | OptionValue::Number(text) => Some(text.clone()),
        OptionValue::Bool(value) => Some(value.to_string()),
        OptionValue::Null => None,
    };
    Ok((option.name.clone(), value))
}

fn key_types(new: &NewTable) -> Vec<DataType> {
    let ty = |part: &NewKeyPart| new.columns.iter().find(|column| column.name == part.column).map(|column| column.ty);
    new.key.iter().filter_map(ty).collect()
}

impl Session {
    /// Evaluates the constants of a split point.
    pub(super) fn split_point(&self, point: &[ast::Expr], types: &[DataType]) -> EngineResult<Vec<Datum>> {
        if point.len() > types.len() {
            let message = format!("a split point has {} values, but the key has {} columns", point.len(), types.len());
            return fail(Fault::InvalidDefinition { message });
        }
        point.iter().zip(types).map(|(expr, ty)| self.split_value(expr, *ty)).collect()
    }

    fn split_value(&self, expr: &ast::Expr, ty: DataType) -> EngineResult<Datum> {
        let catalog = self.engine.catalog().current();
        match self.constant_now(&catalog, expr, Clause::SplitPoint, AssignedTo { ty, column: None })? {
            Some(value) => Ok(self.time_zone().assign(&ty, value)?),
            None => fail(Fault::Unsupported { feature: format!("the expression {expr} where a constant is wanted") }),
        }
    }
}
