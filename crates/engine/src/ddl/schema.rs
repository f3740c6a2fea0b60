//! CREATE, DROP and ALTER SCHEMA.

use crate::Session;
use crate::error::EngineResult;
use catalog::CatalogError;

impl Session {
    pub(super) async fn create_schema(&mut self, name: &str, if_not_exists: bool) -> EngineResult<()> {
        let turn = self.catalog_turn().await?;
        match self.engine.catalog().change_in(turn, |draft| draft.create_schema(name)).await {
            Err(CatalogError::DuplicateSchema { .. }) if if_not_exists => {
                self.skipped("42P06", &format!("schema \"{name}\" already exists"));
                Ok(())
            }
            done => Ok(done.map(drop)?),
        }
    }

    pub(super) async fn drop_schemas(&mut self, names: &[String], if_exists: bool, cascade: bool) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let mut there = Vec::new();
        for name in names {
            if catalog.schema(name).is_none() && if_exists {
                self.skipped("00000", &format!("schema \"{name}\" does not exist"));
            } else {
                there.push(name.as_str());
            }
        }
        let mut locks = self.own_locks();
        let mut tables: Vec<_> = there.iter().flat_map(|name| catalog.tables_in(name)).collect();
        // All statements lock in this order, which prevents deadlocks.
        tables.sort_by_key(|table| table.storage);
        for table in tables {
            self.lock_exclusive(&mut locks, table.storage_id()).await?;
        }
        let change = |draft: &mut catalog::Draft| there.iter().try_for_each(|name| draft.drop_schema(name, cascade));
        self.lock_bases_of_dropped(&mut locks, change).await?;
        self.change_catalog(change).await?;
        // Ends the refresh jobs of dropped views.
        self.engine.jobs().look_again();
        Ok(())
    }

    pub(super) async fn rename_schema(&mut self, name: &str, to: &str) -> EngineResult<()> {
        self.change_catalog(|draft| draft.rename_schema(name, to)).await
    }
}
