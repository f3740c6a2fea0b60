//! Phoenix's index states, and constraints USING INDEX.

use crate::Session;
use crate::ddl::rewrite::Rewrite;
use crate::error::{EngineResult, Fault, fail};
use catalog::{CatalogError, ConstraintKind, Index, IndexState, Table};
use sql::{IndexChange, ObjectName};
use std::sync::Arc;
use txn::LockMode;

impl Session {
    /// ALTER INDEX … ON … {USABLE | UNUSABLE | DISABLE | ACTIVE | REBUILD}.
    pub(in crate::ddl) async fn alter_index(
        &mut self,
        name: &str,
        table: &ObjectName,
        if_exists: bool,
        change: IndexChange,
    ) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let catalog = self.engine.catalog().current();
        let found = self.resolve_stored(&catalog, table).ok();
        let is_refreshed = found.is_some_and(|table| table.index(name).is_some_and(|index| index.refresh.is_some()));
        let mode = match is_refreshed || matches!(change, IndexChange::RebuildAsync | IndexChange::Strong) {
            true => LockMode::Shared,
            false => LockMode::Exclusive,
        };
        let table = self.lock_stored_by_name(&mut locks, table, mode).await?;
        let Some(index) = table.index(name).cloned() else {
            if if_exists {
                self.skipped("00000", &format!("index \"{name}\" does not exist"));
                return Ok(());
            }
            return fail(Fault::NoSuchIndex { name: name.to_string() });
        };
        let is_refreshed = index.refresh.is_some();
        let state = match change {
            IndexChange::Strong => return Ok(()),
            IndexChange::Rebuild | IndexChange::RebuildAsync if is_refreshed => {
                return self.refresh_index(&table, &index).await;
            }
            _ if is_refreshed => {
                let message = format!("the state of index \"{name}\" cannot be changed: it is refreshed by a job");
                return fail(Fault::Refused { message });
            }
            IndexChange::RebuildAsync => return self.rebuild_async(&table, &index).await,
            IndexChange::Rebuild => return self.rebuild_index(&table, &index).await,
            IndexChange::Usable => IndexState::Public,
            IndexChange::Unusable => IndexState::Unusable,
            IndexChange::Disable => IndexState::Disabled,
        };
        if state == IndexState::Disabled && index.constraint.is_some() {
            let message = format!("index \"{name}\" cannot be disabled: constraint \"{name}\" rests on it");
            return fail(Fault::Refused { message });
        }
        if state != IndexState::Disabled && index.state == IndexState::Disabled {
            let message = format!("index \"{name}\" is disabled: it has no entries until it is rebuilt");
            return fail(Fault::Refused { message });
        }
        if state != IndexState::Disabled && matches!(index.state, IndexState::DeleteOnly | IndexState::WriteOnly) {
            return fail(Fault::IndexNotBuilt { name: name.to_string() });
        }
        self.change_catalog(|draft| draft.set_index_state(table.oid, index.oid, state).map(drop)).await
    }

    /// ADD [CONSTRAINT name] UNIQUE USING INDEX, and DEFERRABLE PRIMARY KEY USING INDEX, which does not become the
    /// rowkey. The caller locks the table against writers.
    pub(in crate::ddl) async fn constraint_using_index(
        &mut self,
        table: &Arc<Table>,
        name: Option<&str>,
        index: &str,
        kind: ConstraintKind,
    ) -> EngineResult<()> {
        let found = self.index_for_constraint(table, name, index)?;
        if kind.primary {
            if !found.include.is_empty() {
                let feature = "PRIMARY KEY USING an INDEX that includes columns".to_string();
                return fail(Fault::Unsupported { feature });
            }
            let columns = found.parts.iter().filter_map(|part| Some(&table.column(part.column()?)?.name));
            self.check_new_key(table, columns, &Rewrite::default()).await?;
        }
        self.change_catalog(|draft| draft.make_constraint(table.oid, found.oid, name, kind).map(drop)).await
    }

    /// The index for a new constraint. Issues a notice if the constraint's name renames the index.
    pub(in crate::ddl) fn index_for_constraint<'t>(
        &mut self,
        table: &'t Table,
        name: Option<&str>,
        index: &str,
    ) -> EngineResult<&'t Index> {
        let catalog = self.engine.catalog().current();
        let Some(found) = table.index(index) else {
            if catalog.index(catalog.schema_name(table), index).is_some() {
                let message = format!("index \"{index}\" does not belong to table \"{}\"", table.name);
                return fail(Fault::Refused { message });
            }
            return fail(Fault::NoSuchIndex { name: index.to_string() });
        };
        check_constraint_index(found)?;
        if let Some(name) = name.filter(|name| *name != index) {
            if catalog.has_relation(catalog.schema_name(table), name) {
                return Err(CatalogError::DuplicateTable { name: name.to_string() }.into());
            }
            let message =
                format!("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{index}\" to \"{name}\"");
            self.notices.info("00000", message);
        }
        Ok(found)
    }
}

/// Refuses an index that cannot serve a UNIQUE constraint. Source: `transformIndexConstraint` of PostgreSQL.
pub(in crate::ddl) fn check_constraint_index(index: &Index) -> EngineResult<()> {
    let name = &index.name;
    if index.constraint.is_some() {
        let message = format!("index \"{name}\" is already associated with a constraint");
        return fail(Fault::Refused { message });
    }
    if !index.state.is_public() {
        return fail(Fault::Refused { message: format!("index \"{name}\" is not valid") });
    }
    let message = if !index.unique {
        format!("\"{name}\" is not a unique index")
    } else if index.expressions().next().is_some() {
        format!("index \"{name}\" contains expressions")
    } else if index.predicate.is_some() {
        format!("\"{name}\" is a partial index")
    } else if let Some(at) = index.parts.iter().position(|part| part.descending || part.nulls_first) {
        format!("index \"{name}\" column number {} does not have default sorting behavior", at + 1)
    } else {
        return Ok(());
    };
    fail(Fault::UnfitIndex { message })
}
