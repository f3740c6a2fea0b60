//! CREATE MATERIALIZED VIEW: publishes the view together with all its rows.

use super::incremental::Shape;
use super::refresh::fill;
use super::schedule::{Options, options};
use crate::Session;
use crate::ddl::view::ViewDefinition;
use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use catalog::{Draft, Materialized, NewColumn, NewTable, PreparedTable, Table};
use query::{OutputColumn, Plan};
use sql::{CreateMaterializedView, ast};
use std::sync::Arc;
use txn::{LockMode, LockOwner};

const TAG: &str = "CREATE MATERIALIZED VIEW";

impl Session {
    /// Returns the command tag: `SELECT n`, or the command's name WITH NO DATA.
    pub(crate) async fn create_materialized_view(&mut self, create: &CreateMaterializedView) -> EngineResult<String> {
        let catalog = self.engine.catalog().current();
        let schema = self.schema_for(&catalog, &create.name)?;
        if create.if_not_exists && catalog.has_relation(&schema, &create.name.name) {
            self.skipped("42P07", &format!("relation \"{}\" already exists", create.name.name));
            return Ok(TAG.to_string());
        }
        let Options { properties, every, incremental } = options(&create.options)?;
        if let Some(Some(_)) = every {
            self.check_schedule()?;
        }
        let mut locks = self.own_locks();
        let shape = match incremental {
            Some(true) => Some(self.lock_shape(&mut locks, &create.query, create.with_data).await?),
            _ => None,
        };
        let mut new = self.new_materialized(schema, create).await?;
        if let (Some(made_of), Some(shape)) = (&mut new.materialized, &shape) {
            made_of.incremental = Some(shape.made_of(&create.query));
        }
        new.properties = properties.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let every = every.flatten();
        let rows = match create.with_data {
            true => Some(self.create_filled(new, every).await?),
            false => {
                let make = |draft: &mut Draft| draft.create_table(new);
                self.publish_materialized(every, make).await?;
                None
            }
        };
        self.hints_without_effect(&create.hints);
        self.parameters_without_effect(create.options.iter().map(|option| option.name.as_str()));
        Ok(rows.map_or_else(|| TAG.to_string(), |rows| format!("SELECT {rows}")))
    }

    /// The definition of the view.
    async fn new_materialized(&mut self, schema: String, create: &CreateMaterializedView) -> EngineResult<NewTable> {
        let catalog = self.engine.catalog().current();
        let statement = sql::Statement::Query(create.query.clone());
        if let Some(number) = sql::placeholders(&statement).checked_sub(1) {
            return fail(Fault::NoSuchParameter { number: number + 1 });
        }
        let source = Source::of_query(&create.query).written_in(self.written.clone());
        let ViewDefinition { plan, reads } = self.view_definition(&catalog, &source).await?;
        let columns = columns(&create.columns, &plan)?;
        let own: Vec<&str> = plan.columns.iter().map(|column| column.name.as_str()).collect();
        let wanted: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let query = sql::with_names(&*self.fixed_query(&catalog, &source)?, &own, &wanted, &create.name.name);
        let mut new = NewTable::new(schema, create.name.name.clone());
        new.materialized =
            Some(Materialized { query, search_path: self.search_path(), reads, ..Materialized::default() });
        new.columns = columns;
        Ok(new)
    }

    /// The shape of an incremental view. Locks its base table against writers while the view is filled; later writes go
    /// to its change log.
    async fn lock_shape(&mut self, locks: &mut LockOwner, query: &ast::Query, fills: bool) -> EngineResult<Shape> {
        self.check_incremental()?;
        loop {
            let catalog = self.engine.catalog().current();
            let shape = self.incremental_shape(&catalog, query)?;
            if !fills {
                return Ok(shape);
            }
            let base = self.lock_by_oid(locks, shape.base.oid, LockMode::Exclusive).await?;
            if base.version == shape.base.version {
                // Makes the next snapshot include all rows written before the lock.
                let last = self.latest_commit().await?;
                self.note_commit(last);
                return Ok(shape);
            }
        }
    }

    async fn create_filled(&mut self, new: NewTable, every: Option<i64>) -> EngineResult<u64> {
        let prepared = self.engine.catalog().prepare_table(new).await?;
        let done = self.fill_created(&prepared, every).await;
        if done.is_err() {
            self.give_up(&prepared, TAG).await;
        }
        done
    }

    async fn fill_created(&mut self, prepared: &PreparedTable, every: Option<i64>) -> EngineResult<u64> {
        let table = Arc::clone(prepared.table());
        let Some(made_of) = &table.materialized else {
            return fail(Fault::Internal { detail: "a materialized view without a query".to_string() });
        };
        let began = self.engine.now();
        let planned = self.plan_materialized(&table, made_of).await?;
        let rows = self.load_materialized(&table, planned).await?;
        let publish = |draft: &mut Draft| {
            let made = draft.publish_table(prepared)?;
            if let Some(incremental) = &made_of.incremental {
                draft.add_change_log(incremental.base, incremental.log(made.oid))?;
            }
            fill(draft, made.oid, began)
        };
        self.publish_materialized(every, publish).await?;
        Ok(rows)
    }

    /// Publishes the view that `make` creates, and begins its refresh job.
    async fn publish_materialized(
        &mut self,
        every: Option<i64>,
        make: impl FnOnce(&mut Draft) -> catalog::CatalogResult<Arc<Table>>,
    ) -> EngineResult<()> {
        let Some(every) = every else { return self.change_catalog(|draft| make(draft).map(drop)).await };
        self.change_schedule(|draft| Ok(make(draft)?.oid), Some(every)).await
    }
}

/// The columns of the view, named by the column list, else by the query.
fn columns(names: &[String], plan: &Plan) -> EngineResult<Vec<NewColumn>> {
    if names.len() > plan.columns.len() {
        return fail(Fault::Invalid { message: "too many column names were specified".to_string() });
    }
    if let Some(odd) = plan.columns.iter().find(|column| !column.ty.is_storable()) {
        return fail(Fault::Unsupported { feature: format!("a column of type {}", odd.ty) });
    }
    let named = |(at, column): (usize, &OutputColumn)| {
        let name = names.get(at).unwrap_or(&column.name).clone();
        NewColumn::new(name, column.declared)
    };
    let columns: Vec<NewColumn> = plan.columns.iter().enumerate().map(named).collect();
    let twice = |(at, column): &(usize, &NewColumn)| columns.iter().take(*at).any(|other| other.name == column.name);
    match columns.iter().enumerate().find(twice) {
        Some((_, column)) => fail(Fault::ColumnTwice { column: column.name.clone() }),
        None => Ok(columns),
    }
}
