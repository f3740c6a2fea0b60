//! ALTER TABLE that writes the rows anew: another primary key, another type, a generated column over rows that are there.
//!
//! ```text
//!   draft      the table as it will be          only looked at
//!   prepare    storage that nobody sees         for its rows and each of its indexes
//!   fill       SELECT … FROM the table ──> rows ──row writer──> sorted runs; each index from the new rows
//!   publish    the changes, and the storage     at once
//! ```
//! The caller keeps writers off the table. Readers go on. Where other processes write to it, their rows are looked for before and
//! behind the filling, and the statement fails when they differ (40001).

use super::alter_table::{Step, apply};
use crate::Session;
use crate::dml::{FAMILY, Target};
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::row_writer::can_assign;
use catalog::{Catalog, CatalogError, ColumnId, Draft, PreparedRewrite, PreparedTable, Table};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use store::{KeyRange, ScanRequest};
use types::ident::quote;

/// What ALTER TABLE has to write anew.
#[derive(Debug, Default)]
pub(super) struct Rewrite {
    /// Is there anything?
    pub(super) needed: bool,
    /// Does an action drop the primary key?
    pub(super) drops_key: bool,
    /// What columns get other values by.
    pub(super) using: BTreeMap<ColumnId, String>,
}

impl Session {
    /// Does the steps and writes the rows anew.
    pub(super) async fn rewrite_table(
        &mut self,
        table: &Table,
        steps: &[Step],
        rewrite: &Rewrite,
    ) -> EngineResult<Vec<String>> {
        if self.engine.dual().is_some() && !table.indexes.is_empty() {
            return fail(Fault::Unsupported {
                feature: "writing a table anew whose index entries are written one by one".to_string(),
            });
        }
        let before = self.state_elsewhere(table).await?;
        let catalog = self.engine.catalog().current();
        let mut draft = self.trial_draft(&catalog);
        for step in steps {
            apply(&mut draft, table.oid, step.clone())?;
        }
        let wanted = draft.table(table.oid)?;
        let prepared = self.change_catalog(|draft| draft.prepare_rewrite(&wanted)).await?;
        match self.fill_anew(&catalog, (table, &wanted), &prepared, rewrite).await {
            Ok(()) if self.state_elsewhere(table).await? == before => {}
            Ok(()) => {
                let error = Fault::WrittenElsewhere { table: table.name.clone() }.into();
                return self.give_up_rewrite(&prepared, table, error).await;
            }
            Err(error) => return self.give_up_rewrite(&prepared, table, error).await,
        }
        let publish = |draft: &mut Draft| {
            let mut others = Vec::new();
            for step in steps {
                others.extend(apply(draft, table.oid, step.clone())?);
            }
            draft.adopt_rewrite(&prepared)?;
            Ok(others)
        };
        match self.change_catalog(publish).await {
            Ok(others) => Ok(others),
            Err(error) => self.give_up_rewrite(&prepared, table, error).await,
        }
    }

    /// What rows the table has, as one number, where other processes write to it too: the lock keeps out those of this process
    /// alone. A row that comes while the others are written anew would be lost.
    async fn state_elsewhere(&self, table: &Table) -> EngineResult<Option<u64>> {
        let store = self.engine.store();
        if store.capabilities().exclusive {
            return Ok(None);
        }
        let snapshot = store.snapshot(self.last_of_all().await?).await?;
        let request = ScanRequest::new(table.storage_id(), FAMILY, vec![KeyRange::all()]);
        let mut scan = store.scan(request, &snapshot).await?;
        let mut state = DefaultHasher::new();
        let guard = self.running();
        while let Some(batch) = guard.stoppable(async { Ok(scan.next().await?) }).await? {
            // A fragment has the stamp of its commit.
            batch.keys().zip(batch.fragments()).for_each(|row| row.hash(&mut state));
            guard.check()?;
        }
        Ok(Some(state.finish()))
    }

    /// Its rows, and the entries of its indexes. `wanted` is the table as it will be, before its storage was prepared: it knows
    /// what columns that are added have in rows that are there.
    async fn fill_anew(
        &mut self,
        catalog: &Arc<Catalog>,
        (old, wanted): (&Table, &Table),
        prepared: &PreparedRewrite,
        rewrite: &Rewrite,
    ) -> EngineResult<()> {
        let new = prepared.table();
        let (mut items, mut names) = (Vec::new(), Vec::new());
        for column in new.visible_columns() {
            items.push(match (rewrite.using.get(&column.id), old.column(column.id)) {
                (Some(using), _) => format!("({using})"),
                (None, Some(old)) => quote(&old.name).into_owned(),
                (None, None) => added_value(wanted.column(column.id).unwrap_or(column)),
            });
            names.push(column);
        }
        let from = format!("{}.{}", quote(catalog.schema_name(old)), quote(&old.name));
        let text = format!("SELECT {} FROM {from}", items.join(", "));
        let plan = self.plan(catalog, &*sql::parse_query(&text)?).await?;
        for (column, found) in names.iter().zip(plan.columns.iter()) {
            let using = rewrite.using.contains_key(&column.id);
            if old.column(column.id).is_some() && !can_assign(found.ty, column.ty) {
                return Err(no_cast(&column.name, &column.ty.column_name(), using));
            }
        }
        // Entries are made of the rows when these are all there.
        let mut rows = Table { indexes: Vec::new(), ..new.as_ref().clone() };
        rows.checks.retain(|check| check.validated);
        let target = Target::new(catalog, &Arc::new(rows), self.time_zone())?;
        let target = self.checked_target(catalog, target).await?;
        let view = self.read_view().await?;
        let rows = self.stream(self.query_context(view), Arc::clone(&plan), Vec::new())?;
        self.load(&target, rows, &plan).await.map_err(EngineError::of_new_key)?;
        for index in &new.indexes {
            self.fill_entries(new, index).await?;
        }
        Ok(())
    }

    /// Its storage goes; the error, as the table's.
    pub(super) async fn give_up_rewrite<T>(
        &self,
        prepared: &PreparedRewrite,
        table: &Table,
        error: EngineError,
    ) -> EngineResult<T> {
        match self.engine.catalog().change(|draft| draft.discard_rewrite(prepared)).await {
            Ok(()) | Err(CatalogError::NoSuchTable { .. }) => {}
            Err(discard) => tracing::warn!(%discard, "storage of a failed ALTER TABLE stays until restart"),
        }
        let (name, column, constraint) = (table.name.clone(), error.column(), error.constraint());
        Err(match (error.code(), column, constraint) {
            ("23502", Some(column), _) => self.contains_nulls(table, column).into(),
            ("23514", _, Some(constraint)) => {
                let schema = error.schema().unwrap_or_default().to_string();
                Fault::CheckFailsRow { schema, table: name, constraint: constraint.to_string() }.into()
            }
            _ => error,
        })
    }

    /// Gives up a table that could not be filled: its storage would else stay until the next start.
    pub(super) async fn give_up(&self, prepared: &PreparedTable, command: &str) {
        match self.engine.catalog().change(|draft| draft.discard_table(prepared)).await {
            Ok(()) | Err(CatalogError::NoSuchTable { .. }) => {}
            Err(discard) => tracing::warn!(%discard, "storage of a failed {command} stays until restart"),
        }
    }
}

/// What rows that are there have in a column that is added: its default as it is now. Generated ones are computed.
fn added_value(column: &catalog::Column) -> String {
    super::alter_table::constant_of(&column.ty, &column.missing)
}

fn no_cast(column: &str, ty: &str, using: bool) -> EngineError {
    let (message, hint) = match using {
        true => (
            format!("result of USING clause for column \"{column}\" cannot be cast automatically to type {ty}"),
            "You might need to add an explicit cast.".to_string(),
        ),
        false => (
            format!("column \"{column}\" cannot be cast automatically to type {ty}"),
            format!("You might need to specify \"USING {}::{ty}\".", quote(column)),
        ),
    };
    Fault::NoCastToType { message, hint: Some(hint) }.into()
}
