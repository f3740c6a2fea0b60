//! Index definitions: create, build, alter and drop. This file has CREATE INDEX.
//!
//! ```text
//!   CREATE INDEX ──options, classes, expr──> NewIndex ──┬ build    table locked against writers
//!   UNIQUE       ──unique──────────────────>            ├ online   concurrent with writers, by a job
//!                                                       └ beside   on stores that other processes write to
//! ```

mod beside;
mod build;
mod classes;
mod existing;
mod expr;
mod online;
mod options;
mod refresh;
mod reindex;
mod state;
mod unique;

pub(crate) use existing::IndexOrKey;
pub(super) use expr::renamed_index_texts;
pub(super) use refresh::{is_refreshed, schedule};
pub(super) use unique::new_unique;

use crate::Session;
use crate::ddl::wrong_kind::plural;
use crate::error::{EngineResult, Fault, fail};
use bind::Clause;
use catalog::{IndexRefresh, NewIndex, NewIndexPart, NewPartOf, Table};
use classes::{check_method, check_operator_class};
use sql::{ColumnName, CreateIndex, IndexPartDef, IndexPartOf, ObjectName};
use std::sync::Arc;
use txn::{LockMode, LockOwner};
use types::DataType;

/// The error message for a UNIQUE index with `refresh`.
const UNIQUE_REFRESHED: &str =
    "a UNIQUE index cannot be refreshed by a job: between two refreshes nothing would keep its values unique";

/// PostgreSQL's limit, INDEX_MAX_KEYS.
const MAX_COLUMNS: usize = 32;

impl Session {
    pub(super) async fn create_index(&mut self, create: &CreateIndex) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let table = self.lock_indexed(&mut locks, &create.table, LockMode::Exclusive).await?;
        match self.wanted_index(&table, create).await? {
            Some(new) => self.add_index(&table, new).await,
            None => Ok(()),
        }
    }

    /// Locks the table or materialized view to index.
    pub(super) async fn lock_indexed(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
    ) -> EngineResult<Arc<Table>> {
        let found = self.lock_stored_by_name(locks, name, mode).await;
        found.map_err(|error| match self.relation_kind(&self.engine.catalog().current(), name) {
            Some(kind) if error.is_wrong_object_type() => {
                Fault::NotIndexable { name: name.name.clone(), kind: plural(kind) }.into()
            }
            _ => error,
        })
    }

    /// The definition of the index. `None` if its name exists and IF NOT EXISTS is given.
    pub(super) async fn wanted_index(
        &mut self,
        table: &Arc<Table>,
        create: &CreateIndex,
    ) -> EngineResult<Option<NewIndex>> {
        let catalog = self.engine.catalog().current();
        if let Some(name) = create.name.as_ref().filter(|_| create.if_not_exists)
            && catalog.has_relation(catalog.schema_name(table), name)
        {
            self.skipped("42P07", &format!("relation \"{name}\" already exists"));
            return Ok(None);
        }
        let column = |part: &'_ IndexPartDef| match &part.of {
            IndexPartOf::Column(column) => Some(column.clone()),
            IndexPartOf::Expression(_) => None,
        };
        for column in create.parts.iter().filter_map(column).chain(create.include.iter().cloned()) {
            if table.column_by_name(&column).is_none_or(|column| column.hidden) {
                return fail(Fault::NoIndexedColumn { column });
            }
        }
        let elsewhere =
            |name: &&ColumnName| table.column_by_name(&name.name).is_none_or(|column| column.family != name.family);
        if let Some(name) = create.families.iter().find(elsewhere) {
            let column = format!("{}.{}", name.family.as_deref().unwrap_or_default(), name.name);
            return fail(Fault::NoIndexedColumn { column });
        }
        let new = self.new_index(table, create).await?;
        Ok(Some(new))
    }

    async fn new_index(&mut self, table: &Arc<Table>, create: &CreateIndex) -> EngineResult<NewIndex> {
        let (salt_buckets, every) = self.check_options(&create.options)?;
        check_method(create.method.as_deref())?;
        self.tablespace_without_effect(create.tablespace.as_deref());
        let mut parts = Vec::with_capacity(create.parts.len());
        for part in &create.parts {
            let of = match &part.of {
                IndexPartOf::Column(column) => NewPartOf::Column(column.clone()),
                IndexPartOf::Expression(def) => {
                    NewPartOf::Expression(self.new_index_expr(table, def, Clause::IndexExpression).await?)
                }
            };
            if let (Some(class), Some(ty)) = (&part.class, type_of(table, &of)) {
                check_operator_class(class, ty)?;
            }
            let nulls_first = part.nulls_first.unwrap_or(part.descending);
            parts.push(NewIndexPart { of, descending: part.descending, nulls_first });
        }
        let predicate = match &create.predicate {
            Some(def) => Some(self.new_index_expr(table, def, Clause::IndexPredicate).await?),
            None => None,
        };
        check_regions(create, salt_buckets.is_some())?;
        let types: Vec<DataType> = parts.iter().filter_map(|part| type_of(table, &part.of)).collect();
        let splits = create.split_on.iter().map(|point| self.split_point(point, &types));
        let new = NewIndex {
            name: create.name.clone(),
            unique: create.unique,
            nulls_not_distinct: create.nulls_not_distinct,
            constraint: false,
            parts,
            include: create.include.clone(),
            salt_buckets,
            predicate,
            local: create.local,
            splits: splits.collect::<EngineResult<_>>()?,
            refresh: every.map(|every| IndexRefresh { every: Some(every), ..IndexRefresh::default() }),
            ..NewIndex::default()
        };
        check_width(new)
    }
}

/// Refuses salt buckets and split points that conflict with each other, with LOCAL or with UNIQUE.
fn check_regions(create: &CreateIndex, salted: bool) -> EngineResult<()> {
    let message = match (create.local, create.unique && salted, salted, !create.split_on.is_empty()) {
        (true, _, true, _) | (true, _, _, true) => {
            "a LOCAL index has the salt and the regions of its table: SALT_BUCKETS and SPLIT ON cannot be given"
        }
        (_, true, ..) => "a UNIQUE index cannot be salted: equal values would be in several buckets",
        (_, _, true, true) => "split points cannot be given for a salted index: each of its buckets is a region",
        _ => return Ok(()),
    };
    fail(Fault::InvalidDefinition { message: message.to_string() })
}

fn type_of(table: &Table, of: &NewPartOf) -> Option<DataType> {
    match of {
        NewPartOf::Column(column) => table.column_by_name(column).map(|column| column.ty),
        NewPartOf::Expression(expression) => Some(expression.ty),
    }
}

fn check_width(new: NewIndex) -> EngineResult<NewIndex> {
    if new.parts.len() + new.include.len() > MAX_COLUMNS {
        return fail(Fault::TooManyIndexColumns { limit: MAX_COLUMNS });
    }
    Ok(new)
}
