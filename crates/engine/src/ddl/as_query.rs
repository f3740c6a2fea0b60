//! CREATE TABLE … AS: publishes the table together with all its rows.

use crate::Session;
use crate::dml::Target;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::Tally;
use crate::statement::Source;
use catalog::{NewColumn, NewTable, PreparedTable};
use query::Plan;
use sql::{AsQuery, CreateTable};
use std::sync::Arc;
use txn::ReadView;

impl Session {
    /// Returns the command tag `SELECT n`, as PostgreSQL does.
    pub(super) async fn create_table_as(&mut self, create: &CreateTable, source: &Source) -> EngineResult<String> {
        let Some(as_query) = &create.as_query else {
            return fail(Fault::Internal { detail: "CREATE TABLE AS without a query".to_string() });
        };
        let (view, catalog) = self.read_state().await?;
        let schema = self.schema_for(&catalog, &create.name)?;
        if create.if_not_exists && catalog.has_relation(&schema, &create.name.name) {
            self.skipped("42P07", &format!("relation \"{}\" already exists", create.name.name));
            return Ok("CREATE TABLE AS".to_string());
        }
        let plan = self.plan_source(&catalog, &source.part(&as_query.query)).await?;
        if let Some(number) = plan.parameters.len().checked_sub(1) {
            return fail(Fault::NoSuchParameter { number: number + 1 });
        }
        let mut new = NewTable::new(schema, create.name.name.clone());
        new.columns = columns(as_query, &plan)?;
        self.key_and_options(create, &mut new)?;
        let prepared = self.engine.catalog().prepare_table(new).await?;
        let done = self.fill(&prepared, as_query.with_data.then_some(view), &plan).await;
        match done {
            Ok(rows) => {
                self.notice_ignored_options(create);
                Ok(format!("SELECT {rows}"))
            }
            Err(error) => {
                self.give_up(&prepared, "CREATE TABLE AS").await;
                Err(error)
            }
        }
    }

    /// Loads the rows and publishes the table. Without a `view`: WITH NO DATA.
    async fn fill(&mut self, prepared: &PreparedTable, view: Option<ReadView>, plan: &Arc<Plan>) -> EngineResult<u64> {
        let mut tally = Tally::default();
        if let Some(view) = view {
            let target = Target::new(&self.engine.catalog().current(), prepared.table(), self.time_zone())?;
            let context = self.query_context(view);
            tally = self.load(&target, self.stream(context, Arc::clone(plan), Vec::new())?, plan).await?;
        }
        self.change_catalog(|draft| draft.publish_table(prepared).map(drop)).await?;
        self.engine.counters().rows_written.add(tally.rows());
        self.engine.counters().count(tally);
        tally.note(prepared.table());
        Ok(tally.rows())
    }
}

/// The columns of the table, named by the column list, else by the query.
fn columns(as_query: &AsQuery, plan: &Plan) -> EngineResult<Vec<NewColumn>> {
    if as_query.columns.len() > plan.columns.len() {
        let message = "too many column names were specified".to_string();
        return fail(Fault::Invalid { message });
    }
    let named = |(i, column): (usize, &query::OutputColumn)| {
        let name = as_query.columns.get(i).unwrap_or(&column.name).clone();
        NewColumn::new(name, column.declared)
    };
    if let Some(odd) = plan.columns.iter().find(|column| !column.ty.is_storable()) {
        return fail(Fault::Unsupported { feature: format!("a column of type {}", odd.ty) });
    }
    Ok(plan.columns.iter().enumerate().map(named).collect())
}
