//! REINDEX of an index, a table, a schema or the database.

use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use sql::{ObjectName, Reindex};
use txn::LockMode;

impl Session {
    /// The tables of REINDEX SCHEMA, or of REINDEX DATABASE, by their names.
    pub(in crate::ddl) fn reindexed_tables(&self, kind: Reindex, name: &ObjectName) -> EngineResult<Vec<ObjectName>> {
        let catalog = self.engine.catalog().current();
        let schema = match kind {
            Reindex::Schema => Some(catalog.must_get_schema(&name.name)?.name.clone()),
            _ => {
                let of = ObjectName { database: Some(name.name.clone()), ..name.clone() };
                crate::ddl::check_database(&of)?;
                None
            }
        };
        let tables = catalog.tables().map(|table| (catalog.schema_name(table).to_string(), table));
        let wanted =
            tables.filter(|(of, table)| schema.as_ref().is_none_or(|schema| schema == of) && !table.indexes.is_empty());
        Ok(wanted
            .map(|(of, table)| ObjectName { database: None, schema: Some(of), name: table.name.clone() })
            .collect())
    }

    pub(in crate::ddl) async fn reindex(&mut self, kind: Reindex, name: &ObjectName) -> EngineResult<()> {
        if matches!(kind, Reindex::Schema | Reindex::Database) {
            for table in self.reindexed_tables(kind, name)? {
                match Box::pin(self.reindex(Reindex::Table, &table)).await {
                    // It was dropped meanwhile.
                    Err(error) if error.is_undefined_table() => {}
                    done => done?,
                }
            }
            return Ok(());
        }
        let mut locks = self.own_locks();
        if kind == Reindex::Table {
            let table = self.lock_stored_by_name(&mut locks, name, LockMode::Exclusive).await?;
            if table.indexes.is_empty() && table.has_hidden_row_id() {
                let message = format!("table \"{}\" has no indexes to reindex", table.name);
                self.notices.info("00000", message);
            }
            // One that is being built is made anew as it is.
            for index in table.indexes.iter().filter(|index| index.state.is_public() || index.refresh.is_some()) {
                self.rebuild_index(&table, index).await?;
            }
            return Ok(());
        }
        match self.lock_index(&mut locks, name).await {
            Ok(Some((_, index))) if !index.state.is_public() && index.refresh.is_none() => {
                fail(Fault::IndexNotBuilt { name: index.name })
            }
            Ok(Some((table, index))) => self.rebuild_index(&table, &index).await,
            Ok(None) => fail(Fault::NoSuchObject { kind: "relation", name: crate::ddl::view::shown(name) }),
            // The index of a primary key is the table itself.
            Err(error) if error.code() == "2BP01" => Ok(()),
            Err(error) => Err(error),
        }
    }
}
