//! REFRESH MATERIALIZED VIEW CONCURRENTLY: writes only the rows that differ, in one transaction.
//!
//! ```text
//!   rows of the query ──> unpublished staging table
//!   rows of the view without an equal staged row    deleted
//!   staged rows without an equal row in the view    inserted
//! ```
//! Rows are equal if their text representations are: `1.0` and `1.00` differ. The query joins rows on the columns of a
//! unique index; a row with NULL in these columns has no match and is deleted and inserted again, as in PostgreSQL.

use crate::Session;
use crate::block::work::Work;
use crate::dml::Target;
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::row_program::Names;
use crate::row_writer::{New, NewRow, Old, RowWriter};
use catalog::{Catalog, Column, Draft, Index, NewColumn, NewTable, PreparedTable, Table};
use futures::StreamExt;
use query::{Plan, QueryContext};
use sql::ObjectName;
use std::sync::Arc;
use types::ident::quote;
use types::{DataType, Datum};

/// Rows that get row ids at once.
const ROWS_AT_ONCE: usize = 1024;

/// Builds the queries that compare the staged rows with the rows of the view.
struct Differences {
    target: Target,
    /// A catalog that includes the staging table.
    catalog: Arc<Catalog>,
    /// Name of the staging table.
    new: String,
    /// Columns of the unique index that matches rows.
    keys: Vec<String>,
}

impl Session {
    pub(super) async fn refresh_concurrently(&mut self, name: &ObjectName) -> EngineResult<()> {
        let began = self.engine.now();
        let mut work = self.take_transaction()?;
        let table = self.lock_materialized(work.txn.locks(), name).await?;
        work.txn.note_epoch(table.storage_id(), table.version);
        let keys = self.pairing_columns(&table)?;
        // Makes the next snapshot include all rows written before the lock.
        let last = self.latest_commit().await?;
        self.note_commit(last);
        let staged = self.stage_rows(&table).await?;
        let done = match self.write_differences(&mut work, &table, keys, &staged).await {
            Ok(()) => self.end_work(work).await,
            Err(error) => Err(error),
        };
        self.give_up(&staged, "REFRESH MATERIALIZED VIEW CONCURRENTLY").await;
        done?;
        let note = |view: &mut catalog::Materialized| view.refreshed = view.refreshed.max(Some(began));
        self.change_catalog(|draft| draft.change_materialized(table.oid, note).map(drop)).await
    }

    /// The columns of a unique index without predicate and expressions.
    fn pairing_columns(&self, table: &Table) -> EngineResult<Vec<String>> {
        if table.is_unpopulated() {
            let message = "CONCURRENTLY cannot be used when the materialized view is not populated".to_string();
            return fail(Fault::NotRefreshable { message });
        }
        let columns = |index: &Index| {
            let names = index.parts.iter().map(|part| Some(table.column(part.column()?)?.name.clone()));
            names.collect::<Option<Vec<String>>>()
        };
        let fits = |index: &&Index| index.unique && index.predicate.is_none();
        match table.public_indexes().filter(fits).find_map(columns) {
            Some(columns) => Ok(columns),
            None => {
                let catalog = self.engine.catalog().current();
                let view = format!("{}.{}", quote(catalog.schema_name(table)), quote(&table.name));
                fail(Fault::NotConcurrently { view })
            }
        }
    }

    /// Writes the rows of the query to the staging table.
    async fn stage_rows(&mut self, table: &Arc<Table>) -> EngineResult<PreparedTable> {
        let Some(made_of) = &table.materialized else {
            return fail(Fault::Internal { detail: "a materialized view without a query".to_string() });
        };
        let planned = self.plan_materialized(table, made_of).await?;
        let schema = self.engine.catalog().current().schema_name(table).to_string();
        let mut new = NewTable::new(schema, format!("rows of materialized view {}", table.oid.0));
        new.columns = table.visible_columns().map(|column| NewColumn::new(&column.name, column.ty)).collect();
        let staged = self.engine.catalog().prepare_table(new).await?;
        match self.load_materialized(staged.table(), planned).await {
            Ok(_) => Ok(staged),
            Err(error) => {
                self.give_up(&staged, "REFRESH MATERIALIZED VIEW CONCURRENTLY").await;
                Err(error)
            }
        }
    }

    async fn write_differences(
        &mut self,
        work: &mut Work,
        table: &Arc<Table>,
        keys: Vec<String>,
        staged: &PreparedTable,
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        self.compile_indexes(&catalog, table).await?;
        let target = Target::new(&catalog, table, self.time_zone())?;
        let mut draft = Draft::of(&catalog);
        draft.publish_table(staged)?;
        let both = Arc::new(draft.catalog().clone());
        let differences = Differences { target, catalog: both, new: staged.table().name.clone(), keys };
        self.refuse_duplicate_rows(&differences).await?;
        let path = self.search_path();
        let leaving = self.plan_keys(&differences.catalog, Names::in_path(&path), &differences.leaving()).await?;
        self.delete_many(work, &differences.target, &leaving, &[]).await?;
        work.txn.end_statement()?;
        let coming = self.plan_text(&differences.catalog, &differences.coming()).await?;
        self.write_coming(work, &differences.target, coming).await
    }

    /// Returns 21000 for two equal rows without NULLs, as PostgreSQL does, because one of them would be lost.
    async fn refuse_duplicate_rows(&mut self, differences: &Differences) -> EngineResult<()> {
        let plan = self.plan_text(&differences.catalog, &differences.doubled()).await?;
        let view = self.read_view().await?;
        let rows = self.collect(self.query_context(view), plan, Vec::new(), self.hold_rows()).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let shown = row.iter().map(|value| match value {
            Datum::Text(text) => text.as_str(),
            _ => "",
        });
        let row = shown.collect::<Vec<_>>().join(",");
        fail(Fault::DoubledRows { view: differences.target.table.name.clone(), row })
    }

    async fn write_coming(&mut self, work: &mut Work, target: &Target, plan: Arc<Plan>) -> EngineResult<()> {
        let view = work.view(self.engine.store().as_ref(), self.last_commit).await?;
        self.write_query_rows(work, target, plan, self.query_context(view)).await
    }

    /// Inserts the rows of a query into a locked view.
    pub(super) async fn write_query_rows(
        &mut self,
        work: &mut Work,
        target: &Target,
        plan: Arc<Plan>,
        context: QueryContext,
    ) -> EngineResult<()> {
        let types: Vec<DataType> = plan.columns.iter().map(|column| column.ty).collect();
        let mut chunks = self.stream(context, plan, Vec::new())?;
        let guard = self.running();
        while let Some(chunk) = chunks.next().await {
            let mut rows = chunk?.into_rows(&types)?;
            for row in &mut rows {
                *row = crate::load::full_row(target, std::mem::take(row))?;
            }
            for rows in rows.chunks_mut(ROWS_AT_ONCE) {
                self.fill_row_ids(target, rows).await?;
            }
            let mut writer = RowWriter::new(work, target, &guard);
            for row in rows {
                let row = NewRow::new(target, row)?;
                writer.write(&Old::Missing, Some(New::Row(&row))).await?;
            }
            guard.check()?;
        }
        Ok(())
    }

    async fn plan_text(&mut self, catalog: &Arc<Catalog>, text: &str) -> EngineResult<Arc<Plan>> {
        let query = sql::parse_query(text).map_err(EngineError::from)?;
        self.plan(catalog, &query).await
    }
}

impl Differences {
    fn columns(&self) -> Vec<&Column> {
        self.target.table.visible_columns().collect()
    }

    fn new_rows(&self) -> String {
        format!("{}.{} AS n", quote(&self.target.schema), quote(&self.new))
    }

    fn old_rows(&self) -> String {
        let (schema, table) = (quote(&self.target.schema), quote(&self.target.table.name));
        format!("{schema}.{table} AS m")
    }

    /// The condition that the staged row `n` and the view's row `m` are equal.
    fn equal(&self) -> String {
        let keys = self.keys.iter().map(|key| format!("n.{0} = m.{0}", quote(key)));
        let same = |column: &&Column| format!("{} IS NOT DISTINCT FROM {}", look("n", column), look("m", column));
        keys.chain(self.columns().iter().map(same)).collect::<Vec<_>>().join(" AND ")
    }

    /// DELETE of the view's rows without an equal staged row.
    fn leaving(&self) -> String {
        format!(
            "DELETE FROM {} WHERE NOT EXISTS (SELECT 1 FROM {} WHERE {})",
            self.old_rows(),
            self.new_rows(),
            self.equal()
        )
    }

    /// SELECT of the staged rows without an equal row in the view.
    fn coming(&self) -> String {
        let items: Vec<String> = self.columns().iter().map(|column| format!("n.{}", quote(&column.name))).collect();
        format!(
            "SELECT {} FROM {} WHERE NOT EXISTS (SELECT 1 FROM {} WHERE {})",
            items.join(", "),
            self.new_rows(),
            self.old_rows(),
            self.equal()
        )
    }

    /// SELECT of a duplicate staged row without NULLs.
    fn doubled(&self) -> String {
        let columns = self.columns();
        let given = |column: &&Column| format!("n.{} IS NOT NULL", quote(&column.name));
        let items: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(at, column)| format!("min({}) AS c{at}", text_of_column("n", column)))
            .collect();
        let looks: Vec<String> = columns.iter().map(|column| look("n", column)).collect();
        format!(
            "SELECT {} FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1 LIMIT 1",
            items.join(", "),
            self.new_rows(),
            columns.iter().map(given).collect::<Vec<_>>().join(" AND "),
            looks.join(", ")
        )
    }
}

/// An expression that is equal exactly if the column's values have the same text.
fn look(row: &str, column: &Column) -> String {
    let exact = matches!(
        column.ty,
        DataType::Boolean
            | DataType::SmallInt
            | DataType::Integer
            | DataType::BigInt
            | DataType::Text
            | DataType::Varchar(_)
            | DataType::Date
            | DataType::Uuid
    );
    match exact {
        true => format!("{row}.{}", quote(&column.name)),
        false => text_of_column(row, column),
    }
}

fn text_of_column(row: &str, column: &Column) -> String {
    format!("CAST({row}.{} AS text)", quote(&column.name))
}
