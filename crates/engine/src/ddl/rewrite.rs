//! Table rewrites of ALTER TABLE: another primary key, another type, a generated column for existing rows.
//!
//! ```text
//!   draft      the future definition            never published
//!   prepare    unpublished storage              for the rows and each index
//!   fill       SELECT … FROM the table ──> rows ──row writer──> sorted runs; each index from the new rows
//!   publish    the changes and the storage      in one catalog change
//! ```
//! The caller locks the table against writers. Readers continue. On a store that other processes write to, the rows are
//! hashed before and after the rewrite, and the statement fails with 40001 if they differ.

use super::alter_table::{Step, apply};
use super::counted::Counted;
use crate::Session;
use crate::dml::{FAMILY, Target};
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::row_writer::can_assign;
use catalog::{Catalog, CatalogError, Column, ColumnId, Draft, PreparedRewrite, PreparedTable, Table, TableOid};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use store::{KeyRange, ScanRequest};
use types::ident::quote;

/// The rewrite that an ALTER TABLE needs.
#[derive(Debug, Default)]
pub(super) struct Rewrite {
    /// Whether the rows and all index entries are rewritten.
    pub(super) needed: bool,
    /// OIDs of indexes whose entries are rebuilt even if the rows stay.
    pub(super) entries: BTreeSet<u32>,
    /// Whether an action drops the primary key.
    pub(super) drops_key: bool,
    /// USING expressions, by column.
    pub(super) using: BTreeMap<ColumnId, String>,
    /// Columns whose values or their equality change.
    pub(super) retyped: BTreeSet<ColumnId>,
    /// Added columns filled from a sequence, by name; `None` for the column's own new sequence.
    numbered: BTreeMap<String, Option<TableOid>>,
    /// Added columns filled by an expression evaluated for each row, by name.
    computed: BTreeMap<String, String>,
}

impl Rewrite {
    /// Whether rows or index entries are rewritten.
    pub(super) fn is_due(&self) -> bool {
        self.needed || !self.entries.is_empty()
    }

    /// Whether one of these columns is retyped.
    pub(super) fn retypes(&self, columns: &[ColumnId]) -> bool {
        columns.iter().any(|column| self.retyped.contains(column))
    }

    /// Fills an added column of existing rows with values of a sequence; `None` for the column's own new sequence.
    pub(super) fn number(&mut self, column: &str, sequence: Option<TableOid>) {
        self.needed = true;
        self.numbered.insert(column.to_string(), sequence);
    }

    /// Fills an added column of existing rows with an expression evaluated for each row.
    pub(super) fn compute(&mut self, column: &str, text: &str) {
        self.needed = true;
        self.computed.insert(column.to_string(), text.to_string());
    }

    /// The counters of columns filled from a sequence. `catalog` and `wanted` are the catalog and the table after the
    /// steps.
    fn counted(&self, catalog: &Catalog, wanted: &Table) -> Vec<Counted> {
        let columns = wanted.visible_columns().enumerate();
        let counted = columns.filter_map(|(at, column)| match self.numbered.get(&column.name)? {
            Some(shared) => Some(Counted::shared(at, column, *shared)),
            None => Some(Counted::own(at, column, Arc::clone(catalog.sequence_by_oid(column.sequence?)?))),
        });
        counted.collect()
    }

    /// Whether the rewrite gives the column new values in existing rows.
    pub(super) fn fills(&self, column: &Column) -> bool {
        self.using.contains_key(&column.id)
            || self.numbered.contains_key(&column.name)
            || self.computed.contains_key(&column.name)
            || (self.needed && column.generated.is_some())
    }
}

impl Session {
    /// Rewrites the table and applies the steps. Returns the objects dropped by CASCADE.
    pub(super) async fn rewrite_table(
        &mut self,
        table: &Table,
        mut steps: Vec<Step>,
        rewrite: &Rewrite,
    ) -> EngineResult<Vec<String>> {
        if self.engine.dual().is_some() && !table.indexes.is_empty() {
            return fail(Fault::Unsupported {
                feature: "writing a table anew whose index entries are written one by one".to_string(),
            });
        }
        let before = self.hash_shared_rows(table).await?;
        let catalog = self.engine.catalog().current();
        let mut draft = self.trial_draft(&catalog);
        for step in &steps {
            apply(&mut draft, table.oid, step.clone())?;
        }
        let wanted = draft.table(table.oid)?;
        let prepare = |draft: &mut Draft| match rewrite.needed {
            true => draft.prepare_rewrite(&wanted),
            false => draft.prepare_entries(&wanted, &rewrite.entries),
        };
        let prepared = self.change_catalog(prepare).await?;
        let counted = rewrite.counted(draft.catalog(), &wanted);
        match self.fill_and_check((table, &wanted), &mut steps, &prepared, (rewrite, counted)).await {
            Ok(()) if self.hash_shared_rows(table).await? == before => {}
            Ok(()) => {
                let error = Fault::WrittenElsewhere { table: table.name.clone() }.into();
                return self.give_up_rewrite(&prepared, table, error).await;
            }
            Err(error) => return self.give_up_rewrite(&prepared, table, error).await,
        }
        let publish = |draft: &mut Draft| {
            let mut others = Vec::new();
            for step in steps {
                others.extend(apply(draft, table.oid, step)?);
            }
            draft.adopt_rewrite(&prepared)?;
            Ok(others)
        };
        match self.change_catalog(publish).await {
            Ok(others) => Ok(others),
            Err(error) => self.give_up_rewrite(&prepared, table, error).await,
        }
    }

    /// Fills the new storage and checks its rows against foreign keys. Sets the next values of new sequences.
    async fn fill_and_check(
        &mut self,
        (old, wanted): (&Table, &Table),
        steps: &mut [Step],
        prepared: &PreparedRewrite,
        (rewrite, mut counted): (&Rewrite, Vec<Counted>),
    ) -> EngineResult<()> {
        // Foreign keys are checked at the end, because one may depend on an index that is not in the catalog yet.
        let table = Arc::new(Table { foreign_keys: Vec::new(), ..prepared.table().as_ref().clone() });
        if prepared.writes_rows() {
            self.rewrite_rows((old, wanted, &table), (rewrite, &mut counted)).await?;
        }
        // A running index build restarts when it finds other storage.
        for index in prepared.indexes().filter(|index| index.state.is_filled()) {
            self.fill_entries(&table, index).await?;
        }
        for step in steps.iter_mut() {
            if let Step::AddOwned(_, sequence) = step
                && let Some(next) = counted.iter().find(|it| it.column() == sequence.column()).and_then(Counted::next)
            {
                sequence.set_first(next);
            }
        }
        self.check_changed_references(old, steps, rewrite, Some(prepared)).await
    }

    /// Hashes the table's rows on a store that other processes write to, to detect writes that the table lock does not
    /// block and the rewrite would lose. `None` on an exclusive store.
    async fn hash_shared_rows(&self, table: &Table) -> EngineResult<Option<u64>> {
        let store = self.engine.store();
        if store.capabilities().exclusive {
            return Ok(None);
        }
        let snapshot = store.snapshot(self.latest_commit().await?).await?;
        let request = ScanRequest::new(table.storage_id(), FAMILY, vec![KeyRange::all()]);
        let mut scan = store.scan(request, &snapshot).await?;
        let mut state = DefaultHasher::new();
        let guard = self.running();
        while let Some(batch) = guard.stoppable(async { Ok(scan.next().await?) }).await? {
            // A fragment includes the stamp of its commit.
            batch.keys().zip(batch.fragments()).for_each(|row| row.hash(&mut state));
            guard.check()?;
        }
        Ok(Some(state.finish()))
    }

    /// Fills the new storage with rows. `wanted` is the future definition before its storage was prepared, which has
    /// the values of added columns in existing rows.
    async fn rewrite_rows(
        &mut self,
        (old, wanted, new): (&Table, &Table, &Table),
        (rewrite, counted): (&Rewrite, &mut [Counted]),
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let (mut items, mut names) = (Vec::new(), Vec::new());
        for column in new.visible_columns() {
            items.push(match (rewrite.using.get(&column.id), old.column(column.id)) {
                (Some(using), _) => format!("({using})"),
                (None, Some(old)) => quote(&old.name).into_owned(),
                (None, None) => match rewrite.computed.get(&column.name) {
                    Some(default) => format!("({default})"),
                    None => added_value(wanted.column(column.id).unwrap_or(column)),
                },
            });
            names.push(column);
        }
        let from = format!("{}.{}", quote(catalog.schema_name(old)), quote(&old.name));
        let mut text = format!("SELECT {} FROM {from}", items.join(", "));
        let mut reading = Arc::clone(&catalog);
        if !counted.is_empty() {
            // Sequence values are assigned in the order of the rowkey, which may be a hidden row id.
            let mut draft = self.trial_draft(&catalog);
            draft.show_row_id(old.oid)?;
            let shown = draft.table(old.oid)?;
            text.push_str(&format!(" ORDER BY {}", key_order(&shown)));
            reading = Arc::new(draft.catalog().clone());
        }
        let plan = self.plan(&reading, &*sql::parse_query(&text)?).await?;
        for (column, found) in names.iter().zip(plan.columns.iter()) {
            let using = rewrite.using.contains_key(&column.id);
            if old.column(column.id).is_some() && !can_assign(found.ty, column.ty) {
                return Err(no_cast(&column.name, &column.ty.column_name(), using));
            }
        }
        // The index entries are built from the rows after all rows are loaded.
        let mut rows = Table { indexes: Vec::new(), ..new.clone() };
        rows.checks.retain(|check| check.validated);
        let target = Target::new(&catalog, &Arc::new(rows), self.time_zone())?;
        let target = self.checked_target(&catalog, target).await?;
        let view = self.read_view().await?;
        let rows = self.stream(self.query_context(view), Arc::clone(&plan), Vec::new())?;
        self.load_counted(&target, rows, &plan, counted).await.map_err(EngineError::for_new_unique_index)?;
        Ok(())
    }

    /// Drops the storage of a failed rewrite and converts the error to one about the table.
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

    /// Drops the storage of a table that could not be filled, which would otherwise stay until the next start.
    pub(super) async fn give_up(&self, prepared: &PreparedTable, command: &str) {
        match self.engine.catalog().change(|draft| draft.discard_table(prepared)).await {
            Ok(()) | Err(CatalogError::NoSuchTable { .. }) => {}
            Err(discard) => tracing::warn!(%discard, "storage of a failed {command} stays until restart"),
        }
    }
}

/// The value of an added column in existing rows as a SQL constant.
fn added_value(column: &catalog::Column) -> String {
    super::alter_table::constant_of(&column.ty, &column.missing)
}

/// The order of the table's key as an ORDER BY list.
fn key_order(table: &Table) -> String {
    let parts = table.key.iter().filter_map(|part| Some((part, table.column(part.column)?)));
    let parts = parts.map(|(part, column)| {
        let (way, nulls) =
            (if part.descending { "DESC" } else { "ASC" }, if part.nulls_first { "FIRST" } else { "LAST" });
        format!("{} {way} NULLS {nulls}", quote(&column.name))
    });
    parts.collect::<Vec<_>>().join(", ")
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
