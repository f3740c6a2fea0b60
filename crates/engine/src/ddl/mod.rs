//! DDL statements. Each is an atomic and durable catalog change of its own; a transaction block allows only TRUNCATE.

mod alter_table;
mod alter_type;
mod as_query;
mod check;
mod comment;
mod computed;
mod counted;
mod create_table;
mod default_sequences;
mod drop;
mod expression;
mod foreign_key;
mod generated;
mod index;
mod like;
mod materialized;
mod owner;
mod rename;
mod rewrite;
mod schema;
mod sequence;
mod session_constants;
mod view;
mod view_queries;
mod wrong_kind;

pub(crate) use alter_table::constant_of;
pub(crate) use counted::Counted;
pub(crate) use expression::check_default;
pub(crate) use index::IndexOrKey;
pub(crate) use materialized::refuse_materialized;
pub(crate) use sequence::find_sequence;

use crate::Session;
use crate::block::Block;
use crate::error::{EngineResult, Fault, fail};
use crate::session::search_path::{SYSTEM_SCHEMA, before_look_up};
use crate::statement::Source;
use catalog::{Catalog, CatalogError, CatalogResult, Draft, RESERVED_SCHEMAS, RelationKind, Table, TableOid, Turn};
use index::is_refreshed;
use sql::{ObjectName, OwnedObject, Statement};
use std::sync::Arc;
use store::TableId;
use txn::{LockMode, LockOwner, LockWait};
use wrong_kind::wrong_kind;

impl Session {
    /// Runs a DDL statement and returns the command tag.
    pub(crate) async fn change_definitions(&mut self, source: &Source) -> EngineResult<String> {
        let statement = &source.statement;
        let Some(command) = definition_tag(statement) else {
            return fail(Fault::Internal { detail: "a statement that is no definition".to_string() });
        };
        if let (Statement::Truncate { names, restart_identity, cascade }, Block::Open(_)) = (statement, &self.block) {
            self.check_writable(command)?;
            self.truncate_in_block(names, *restart_identity, *cascade).await?;
            return Ok(command.to_string());
        }
        self.refuse_in_block(command)?;
        self.check_writable(command)?;
        match statement {
            Statement::CreateTable(create) if create.as_query.is_some() => {
                return self.create_table_as(create, source).await;
            }
            Statement::CreateMaterializedView(create) => return self.create_materialized_view(create).await,
            Statement::CreateTable(create) => self.create_table(create).await?,
            Statement::AlterTable(alter) => {
                if !self.renamed_other(alter).await? {
                    self.alter_table(alter).await?;
                }
            }
            Statement::DropTable { names, if_exists, cascade } => self.drop_tables(names, *if_exists, *cascade).await?,
            Statement::CreateIndex(create) if is_refreshed(create) => self.create_refreshed_index(create).await?,
            Statement::CreateIndex(create) if create.concurrently || create.is_async => {
                self.create_index_online(create).await?;
            }
            Statement::CreateIndex(create) => self.create_index(create).await?,
            Statement::DropIndex { names, table: None, if_exists, concurrently: true, cascade } => {
                self.drop_index_concurrently(names, *if_exists, *cascade).await?;
            }
            Statement::DropIndex { names, table, if_exists, .. } => {
                self.drop_indexes(names, table.as_ref(), *if_exists).await?;
            }
            Statement::AlterIndex { name, table, if_exists, change } => {
                self.alter_index(name, table, *if_exists, *change).await?;
            }
            Statement::SetIndexOptions { name, if_exists, options, tablespace } => {
                self.set_index_options(name, *if_exists, options, tablespace.as_deref())?;
            }
            Statement::RenameIndex { name, if_exists, to } => self.rename_index(name, *if_exists, to).await?,
            Statement::Reindex(reindex) => self.reindex(reindex).await?,
            Statement::Truncate { names, restart_identity, cascade } => {
                self.truncate(names, *restart_identity, *cascade).await?;
            }
            Statement::CreateView(create) => self.create_view(create, source).await?,
            Statement::RenameView { name, if_exists, to } => self.rename_view(name, *if_exists, to).await?,
            Statement::DropView { names, if_exists, cascade } => self.drop_views(names, *if_exists, *cascade).await?,
            Statement::DropMaterializedView { names, if_exists, cascade } => {
                self.drop_materialized_views(names, *if_exists, *cascade).await?;
            }
            Statement::RefreshMaterializedView(refresh) => self.refresh_materialized_view(refresh).await?,
            Statement::CreateSequence(create) => self.create_sequence(create).await?,
            Statement::AlterSequence(alter) => self.alter_sequence(alter).await?,
            Statement::DropSequence { names, if_exists, cascade } => {
                self.drop_sequences(names, *if_exists, *cascade).await?;
            }
            Statement::CreateSchema { name, if_not_exists } => self.create_schema(name, *if_not_exists).await?,
            Statement::DropSchema { names, if_exists, cascade } => {
                self.drop_schemas(names, *if_exists, *cascade).await?;
            }
            Statement::RenameSchema { name, to } => self.rename_schema(name, to).await?,
            Statement::ChangeOwner(change) => self.change_owner(change)?,
            Statement::Comment(comment) => self.comment_on(comment).await?,
            _ => return fail(Fault::Internal { detail: format!("{command} is no definition") }),
        }
        Ok(command.to_string())
    }

    /// Applies a catalog change. The statement can be cancelled while it waits for its turn and while `change`
    /// computes.
    pub(crate) async fn change_catalog<T>(
        &self,
        change: impl FnOnce(&mut Draft) -> CatalogResult<T>,
    ) -> EngineResult<T> {
        let turn = self.catalog_turn().await?;
        let search_path = self.schemas_in(&self.engine.catalog().current()).to_vec();
        let change = |draft: &mut Draft| {
            draft.set_search_path(search_path);
            change(draft)
        };
        Ok(self.engine.catalog().change_in(turn, change).await?)
    }

    /// A draft that is never published, to see the catalog after a change.
    fn trial_draft(&self, catalog: &Catalog) -> Draft {
        let mut draft = Draft::of(catalog);
        draft.set_search_path(self.schemas_in(catalog).to_vec());
        draft
    }

    /// Waits for this session's turn to change the catalog.
    pub(crate) async fn catalog_turn(&self) -> EngineResult<Turn> {
        let catalog = self.engine.catalog();
        self.running().stoppable(async { Ok(catalog.turn().await) }).await
    }

    /// The schema in which a relation of this name is created.
    pub(crate) fn schema_for(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<String> {
        check_database(name)?;
        if let Some(schema) = &name.schema {
            refuse_system_schema(schema, &name.name)?;
            return Ok(catalog.must_get_schema(schema)?.name.clone());
        }
        match catalog.creation_schema(&self.search_path()) {
            Some(schema) => Ok(schema.name.clone()),
            None => fail(Fault::NoCreationSchema),
        }
    }

    /// Resolves a table by name.
    pub(crate) fn resolve(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Arc<Table>> {
        let table = self.resolve_stored(catalog, name)?;
        if table.materialized.is_none() {
            return Ok(table);
        }
        fail(wrong_kind(&name.name, "a table", RelationKind::MaterializedView))
    }

    /// Resolves a table or materialized view by name.
    pub(crate) fn resolve_stored(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Arc<Table>> {
        check_database(name)?;
        if let Some(schema) = &name.schema {
            refuse_system_schema(schema, &name.name)?;
        }
        let schemas = self.schemas_in(catalog);
        before_look_up(schemas.len())?;
        match catalog.must_resolve(&schemas, name.schema.as_deref(), &name.name) {
            Ok(table) => Ok(Arc::clone(table)),
            Err(error) => match self.relation_kind(catalog, name) {
                Some(kind) => fail(wrong_kind(&name.name, "a table", kind)),
                None => Err(error.into()),
            },
        }
    }

    /// Locks a table against writers until the lock owner is dropped.
    pub(crate) async fn lock_exclusive(&self, locks: &mut LockOwner, table: TableId) -> EngineResult<()> {
        self.lock_whole(locks, table, LockMode::Exclusive, self.settings.effective().lock_wait).await
    }

    async fn lock_whole(
        &self,
        locks: &mut LockOwner,
        table: TableId,
        mode: LockMode,
        wait: LockWait,
    ) -> EngineResult<()> {
        let guard = self.running();
        guard.stoppable(async { Ok(locks.lock_table(table, mode, wait).await.map(drop)?) }).await
    }

    /// Locks a table by name. Returns its definition as of when the lock was granted.
    pub(crate) async fn lock_table_by_name(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
    ) -> EngineResult<Arc<Table>> {
        self.lock_named(locks, name, mode, self.settings.effective().lock_wait).await
    }

    /// As [`Self::lock_table_by_name`], with a lock timeout.
    pub(crate) async fn lock_named(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
        wait: LockWait,
    ) -> EngineResult<Arc<Table>> {
        self.lock_found(locks, mode, wait, |catalog| self.resolve(catalog, name)).await
    }

    /// Locks a table or materialized view by name. Returns its definition as of when the lock was granted.
    pub(crate) async fn lock_stored_by_name(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
    ) -> EngineResult<Arc<Table>> {
        let wait = self.settings.effective().lock_wait;
        self.lock_found(locks, mode, wait, |catalog| self.resolve_stored(catalog, name)).await
    }

    /// Locks a table by OID.
    pub(crate) async fn lock_by_oid(
        &self,
        locks: &mut LockOwner,
        oid: TableOid,
        mode: LockMode,
    ) -> EngineResult<Arc<Table>> {
        let wait = self.settings.effective().lock_wait;
        let gone = || CatalogError::NoSuchTable { schema: None, name: format!("of oid {}", oid.0) };
        let find = |catalog: &Catalog| Ok(catalog.table_by_oid(oid).cloned().ok_or_else(gone)?);
        self.lock_found(locks, mode, wait, find).await
    }

    async fn lock_found(
        &self,
        locks: &mut LockOwner,
        mode: LockMode,
        wait: LockWait,
        find: impl Fn(&Catalog) -> EngineResult<Arc<Table>>,
    ) -> EngineResult<Arc<Table>> {
        let catalog = self.engine.catalog();
        let mut table = find(&catalog.current())?;
        loop {
            self.lock_whole(locks, table.storage_id(), mode, wait).await?;
            // The name may refer to another table or storage after the wait.
            let now = find(&catalog.current())?;
            if now.storage == table.storage {
                return Ok(now);
            }
            table = now;
        }
    }

    /// Reports a missing relation: a notice with IF EXISTS, otherwise an error.
    fn relation_is_missing(&mut self, name: &ObjectName, if_exists: bool) -> EngineResult<()> {
        if !if_exists {
            return fail(Fault::NoSuchObject { kind: "relation", name: view::shown(name) });
        }
        self.skipped("00000", &format!("relation \"{}\" does not exist", name.name));
        Ok(())
    }

    pub(crate) fn skipped(&mut self, code: &'static str, what: &str) {
        self.notices.info(code, format!("{what}, skipping"));
    }
}

/// Refuses a name qualified with another database than the only one.
pub(crate) fn check_database(name: &ObjectName) -> EngineResult<()> {
    match &name.database {
        Some(database) if database != catalog::DATABASE_NAME => fail(Fault::CrossDatabase { name: name.to_string() }),
        _ => Ok(()),
    }
}

fn refuse_system_schema(schema: &str, table: &str) -> EngineResult<()> {
    if RESERVED_SCHEMAS.contains(&schema) || schema == SYSTEM_SCHEMA {
        return fail(Fault::SystemTable { schema: schema.to_string(), table: table.to_string() });
    }
    Ok(())
}

/// The command tag of a DDL statement; `None` for other statements.
pub(crate) fn definition_tag(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::CreateTable(create) if create.as_query.is_some() => "CREATE TABLE AS",
        Statement::CreateTable(_) => "CREATE TABLE",
        Statement::AlterTable(alter) if alter.materialized => "ALTER MATERIALIZED VIEW",
        Statement::AlterTable(_) => "ALTER TABLE",
        Statement::DropTable { .. } => "DROP TABLE",
        Statement::CreateIndex(_) => "CREATE INDEX",
        Statement::DropIndex { .. } => "DROP INDEX",
        Statement::RenameIndex { .. } | Statement::AlterIndex { .. } | Statement::SetIndexOptions { .. } => {
            "ALTER INDEX"
        }
        Statement::Reindex(_) => "REINDEX",
        Statement::CreateView(_) => "CREATE VIEW",
        Statement::CreateMaterializedView(_) => "CREATE MATERIALIZED VIEW",
        Statement::DropMaterializedView { .. } => "DROP MATERIALIZED VIEW",
        Statement::RefreshMaterializedView(_) => "REFRESH MATERIALIZED VIEW",
        Statement::RenameView { .. } => "ALTER VIEW",
        Statement::DropView { .. } => "DROP VIEW",
        Statement::CreateSequence(_) => "CREATE SEQUENCE",
        Statement::AlterSequence(_) => "ALTER SEQUENCE",
        Statement::DropSequence { .. } => "DROP SEQUENCE",
        Statement::Truncate { .. } => "TRUNCATE TABLE",
        Statement::CreateSchema { .. } => "CREATE SCHEMA",
        Statement::DropSchema { .. } => "DROP SCHEMA",
        Statement::RenameSchema { .. } => "ALTER SCHEMA",
        Statement::Comment(_) => "COMMENT",
        Statement::ChangeOwner(change) => match change.object {
            OwnedObject::Table(_) => "ALTER TABLE",
            OwnedObject::View(_) => "ALTER VIEW",
            OwnedObject::MaterializedView(_) => "ALTER MATERIALIZED VIEW",
            OwnedObject::Sequence(_) => "ALTER SEQUENCE",
            OwnedObject::Schema(_) => "ALTER SCHEMA",
        },
        _ => return None,
    })
}
