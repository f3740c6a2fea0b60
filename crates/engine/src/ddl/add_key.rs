//! ALTER TABLE … ADD PRIMARY KEY: the rows move to where the key says, and are seen there all at once.

use super::create_table::new_key_part;
use crate::Session;
use crate::dml::Target;
use crate::error::{EngineResult, Fault, fail};
use catalog::{CatalogError, PreparedTable, Table};
use sql::{PrimaryKeyDef, Statement};

impl Session {
    /// The caller keeps writers off the table.
    pub(super) async fn add_key(&mut self, table: &Table, key: &PrimaryKeyDef) -> EngineResult<()> {
        if !table.has_hidden_row_id() {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
            return fail(Fault::InvalidDefinition { message });
        }
        for part in &key.parts {
            let column = table.must_get_column(&part.column)?;
            if !column.not_null && self.has_row(table, Some(&column.name)).await? {
                return fail(Fault::ContainsNulls { table: table.name.clone(), column: column.name.clone() });
            }
        }
        let parts: Vec<_> = key.parts.iter().map(new_key_part).collect();
        let prepare = |draft: &mut catalog::Draft| draft.prepare_key(table.oid, &parts, key.name.clone());
        let prepared = self.change_catalog(prepare).await?;
        if let Err(error) = self.move_rows(table, &prepared).await {
            self.give_up(&prepared, "ADD PRIMARY KEY").await;
            return Err(error);
        }
        Ok(())
    }

    async fn move_rows(&mut self, table: &Table, prepared: &PreparedTable) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let quote = types::ident::quote;
        let columns: Vec<_> = table.visible_columns().map(|column| quote(&column.name)).collect();
        let from = format!("{}.{}", quote(catalog.schema_name(table)), quote(&table.name));
        let text = format!("SELECT {} FROM {from}", columns.join(", "));
        let Some(Statement::Query(query)) = sql::parse(&text)?.pop().map(|parsed| parsed.statement) else {
            return fail(Fault::Internal { detail: format!("no query: {text}") });
        };
        let plan = self.plan(&catalog, &query, &[]).await?;
        let target = Target::new(&catalog, prepared.table(), self.time_zone())?;
        let target = self.checked_target(&catalog, target).await?;
        let view = self.read_view().await?;
        let context = self.query_context(view);
        let rows = self.stream(context, std::sync::Arc::clone(&plan), Vec::new())?;
        self.load(&target, rows, &plan).await.map_err(|error| error.of_new_key())?;
        self.change_catalog(|draft| draft.publish_key(prepared).map(drop)).await
    }

    /// Gives up a table that could not be filled: its storage would else stay until the next start.
    pub(super) async fn give_up(&self, prepared: &PreparedTable, command: &str) {
        match self.engine.catalog().change(|draft| draft.discard_table(prepared)).await {
            Ok(()) | Err(CatalogError::NoSuchTable { .. }) => {}
            Err(discard) => tracing::warn!(%discard, "storage of a failed {command} stays until restart"),
        }
    }
}
