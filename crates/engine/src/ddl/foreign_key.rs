//! Foreign keys in definitions: resolves the referenced tables and checks existing rows.
//!
//! Both tables are locked while a foreign key is added, because a concurrent writer of the referenced table would not
//! check it.

use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, ForeignKey, NewForeignKey, Table, TableOid};
use sql::{ForeignKeyDef, ObjectName};
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{LockMode, LockOwner};
use types::ident::quote;

impl Session {
    /// Locks the tables that foreign keys reference against writers. Skips names for which `is_self` holds.
    pub(super) async fn lock_parents_of(
        &mut self,
        locks: &mut LockOwner,
        defs: &[&ForeignKeyDef],
        is_self: impl Fn(&ObjectName) -> bool,
    ) -> EngineResult<Parents> {
        if !defs.is_empty() {
            self.check_store_keeps("a foreign key")?;
        }
        let catalog = self.engine.catalog().current();
        let mut wanted = Vec::new();
        for def in defs.iter().filter(|def| !is_self(&def.parent)) {
            let no_table = || {
                let message = format!("referenced relation \"{}\" is not a table", def.parent.name);
                Fault::WrongObject { message, hint: None }.into()
            };
            let parent = match self.resolve_stored(&catalog, &def.parent) {
                Err(error) if error.is_wrong_object_type() => return Err(no_table()),
                found => found?,
            };
            if parent.materialized.is_some() {
                return Err(no_table());
            }
            wanted.push((parent.storage, &def.parent));
        }
        wanted.sort_by_key(|(storage, _)| *storage);
        let mut parents = Parents::default();
        for (_, name) in wanted {
            let table = self.lock_table_by_name(locks, name, LockMode::Exclusive).await?;
            parents.0.insert(name.to_string(), table);
        }
        Ok(parents)
    }

    /// Refuses a foreign key that a row of `table` violates, with the definitions of `catalog`. The caller locks both
    /// tables against writers.
    pub(super) async fn check_references(
        &mut self,
        catalog: &Arc<Catalog>,
        table: &Table,
        key: &ForeignKey,
    ) -> EngineResult<()> {
        let Some(parent) = catalog.table_by_oid(key.parent).cloned() else { return Ok(()) };
        let child = Named { catalog, table };
        let columns: Vec<String> = table.columns_of(&key.columns).map(|it| format!("c.{}", quote(&it.name))).collect();
        let of_parent = parent.columns_of(&key.parent_columns).map(|it| format!("p.{}", quote(&it.name)));
        let pairs = columns.iter().zip(of_parent).map(|(column, parent)| format!("{parent} = {column}"));
        let pairs: Vec<String> = pairs.collect();
        let all = |test: &str, with: &str| {
            columns.iter().map(|column| format!("{column} IS {test}")).collect::<Vec<_>>().join(with)
        };
        let listed = columns.join(", ");
        let orphans = format!(
            "SELECT {listed} FROM {} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS p WHERE {}) LIMIT 1",
            child.name(),
            all("NOT NULL", " AND "),
            Named { catalog, table: &parent }.name(),
            pairs.join(" AND "),
        );
        let mut broken = self.own_query_in(catalog, &orphans).await?;
        if broken.is_empty() && key.full && columns.len() > 1 {
            let (null, other) = (all("NULL", " OR "), all("NOT NULL", " OR "));
            let mixed = format!("SELECT {listed} FROM {} AS c WHERE ({null}) AND ({other}) LIMIT 1", child.name());
            broken = self.own_query_in(catalog, &mixed).await?;
        }
        match broken.first() {
            None => Ok(()),
            Some(values) => Err(self.no_parent_of(catalog, table, key, values)?),
        }
    }

    /// Refuses a store that other processes write to, or without atomic batches.
    fn check_store_keeps(&self, what: &str) -> EngineResult<()> {
        let can = self.engine.store().capabilities();
        match can.atomic_batches() && can.exclusive {
            true => Ok(()),
            false => fail(Fault::Unsupported { feature: format!("{what} in a store that writes single rows only") }),
        }
    }
}

/// A table's qualified name for a query.
struct Named<'a> {
    catalog: &'a Catalog,
    table: &'a Table,
}

impl Named<'_> {
    fn name(&self) -> String {
        format!("{}.{}", quote(self.catalog.schema_name(self.table)), quote(&self.table.name))
    }
}

/// Referenced tables of foreign keys, by the name in the statement.
#[derive(Default)]
pub(super) struct Parents(BTreeMap<String, Arc<Table>>);

impl Parents {
    /// The table that a foreign key references; `None` if it references its own table.
    pub(super) fn of(&self, def: &ForeignKeyDef) -> Option<&Arc<Table>> {
        self.0.get(&def.parent.to_string())
    }
}

/// Converts a foreign key that references `parent` to the catalog's form.
pub(super) fn new_foreign_key(def: &ForeignKeyDef, parent: TableOid, validated: bool) -> NewForeignKey {
    NewForeignKey {
        name: def.name.clone(),
        columns: def.columns.clone(),
        parent,
        parent_columns: def.parent_columns.clone(),
        full: def.full,
        on_delete: def.on_delete,
        set_columns: def.set_columns.clone(),
        on_update: def.on_update,
        deferrable: def.deferrable,
        deferred: def.deferred,
        validated,
    }
}
