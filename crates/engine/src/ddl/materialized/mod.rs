//! Materialized views: create, refresh, alter and drop.
//!
//! ```text
//!   CREATE … AS query           unpublished storage ──rows of the query──> published with the view     create.rs
//!   REFRESH                     new storage for the rows and each index, then a swap                   refresh.rs
//!   REFRESH, WITH (incremental) recomputes the changed groups, in one transaction                      incremental/
//!   REFRESH CONCURRENTLY        deletes and inserts the rows that differ, in one transaction           differences.rs
//!   WITH (refresh = '10 min')   a job refreshes the view at this interval                              schedule.rs
//! ```
//! A refresh locks the view's table exclusively against other refreshes; readers continue on their snapshots.

mod alter;
mod create;
mod differences;
mod incremental;
mod refresh;
mod schedule;

pub(crate) use schedule::interval;

use crate::Session;
use crate::ddl::wrong_kind::wrong_kind;
use crate::dml::keys_of;
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::row_program::Names;
use crate::session::search_path::before_look_up;
use crate::statement::Source;
use catalog::{Catalog, CatalogResult, Draft, Materialized, Table, TableOid};
use query::{Plan, QueryContext};
use sql::ObjectName;
use std::sync::Arc;
use txn::{LockMode, LockOwner, ReadView};
use types::ident::quote;

/// The query of a materialized view, planned for a snapshot.
struct Planned {
    view: ReadView,
    plan: Arc<Plan>,
    search_path: Vec<String>,
}

impl Session {
    /// DROP MATERIALIZED VIEW.
    pub(super) async fn drop_materialized_views(
        &mut self,
        names: &[ObjectName],
        if_exists: bool,
        cascade: bool,
    ) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let mut found = Vec::new();
        for name in names {
            let catalog = self.engine.catalog().current();
            let there = self.find_materialized(&catalog, name)?.is_some();
            let oid = match there {
                true => Some(self.lock_stored_by_name(&mut locks, name, LockMode::Exclusive).await?.oid),
                false => None,
            };
            found.push((name, oid));
        }
        self.drop_named("materialized view", found, if_exists, cascade).await
    }

    /// Locks against writers the base tables whose change logs are removed because `drop` drops their incremental
    /// views.
    ///
    /// # Errors
    /// Errors of `drop`; 40P01, 55P03, 57014.
    pub(super) async fn lock_bases_of_dropped<T>(
        &self,
        locks: &mut LockOwner,
        drop: impl FnOnce(&mut Draft) -> CatalogResult<T>,
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        if !catalog.tables().any(|table| table.is_incremental()) {
            return Ok(());
        }
        let mut after = Draft::of(&catalog);
        after.set_search_path(self.schemas_in(&catalog).to_vec());
        drop(&mut after)?;
        let stays = |oid| after.catalog().table_by_oid(oid).is_some();
        self.lock_bases(locks, |view, base| !stays(view.oid) && stays(base)).await
    }

    /// Locks the base tables of the incremental views for which `which(view, base)` holds against writers.
    async fn lock_bases(&self, locks: &mut LockOwner, which: impl Fn(&Table, TableOid) -> bool) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let base = |view: &Arc<Table>| {
            let base = view.materialized.as_ref()?.incremental.as_ref()?.base;
            which(view, base).then_some(base)
        };
        let mut bases: Vec<TableOid> = catalog.tables().filter_map(base).collect();
        // All statements lock in this order, which prevents deadlocks.
        bases.sort_by_key(|oid| catalog.table_by_oid(*oid).map(|table| table.storage));
        for base in bases {
            self.lock_by_oid(locks, base, LockMode::Exclusive).await?;
        }
        Ok(())
    }

    /// Finds a materialized view by name; 42809 for another kind of relation.
    pub(crate) fn find_materialized(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<Arc<Table>>> {
        super::check_database(name)?;
        let schemas = self.schemas_of(catalog, name);
        before_look_up(schemas.len())?;
        for schema in schemas.iter() {
            if let Some(table) = catalog.table(schema, &name.name).filter(|table| table.materialized.is_some()) {
                return Ok(Some(Arc::clone(table)));
            }
            if let Some(kind) = catalog.relation_kind(schema, &name.name) {
                return fail(wrong_kind(&name.name, "a materialized view", kind));
            }
        }
        Ok(None)
    }

    /// Finds a materialized view by name and locks it against other refreshes and DDL.
    async fn lock_materialized(&self, locks: &mut LockOwner, name: &ObjectName) -> EngineResult<Arc<Table>> {
        let catalog = self.engine.catalog().current();
        let schemas = self.schemas_of(&catalog, name);
        for schema in schemas.iter() {
            if catalog.table(schema, &name.name).is_some() {
                break;
            }
            if catalog.has_relation(schema, &name.name) {
                let message = format!("\"{}\" is not a table or materialized view", name.name);
                return fail(Fault::WrongObject { message, hint: None });
            }
        }
        let table = self.lock_stored_by_name(locks, name, LockMode::Exclusive).await?;
        match table.materialized {
            Some(_) => Ok(table),
            None => fail(Fault::NotRefreshable { message: format!("\"{}\" is not a materialized view", name.name) }),
        }
    }

    /// Takes a snapshot and plans the view's query with its definitions, resolving names in the search path of the
    /// view's creation.
    async fn plan_materialized(&mut self, table: &Table, made_of: &Materialized) -> EngineResult<Planned> {
        let (view, catalog) = self.read_state().await?;
        let query = sql::parse_query(&made_of.query)?;
        let mut plan = self.plan_in(&catalog, Names::of_materialized(made_of), &query).await?;
        let wanted: Vec<String> = table.visible_columns().map(|column| quote(&column.name).into_owned()).collect();
        if plan.columns.len() != wanted.len() {
            // A `*` expands to more columns now than when the view was created.
            let (items, name) = (wanted.join(", "), quote(&table.name));
            let query = sql::parse_query(&format!("SELECT {items} FROM ({}) AS {name}", made_of.query))?;
            plan = self.plan_in(&catalog, Names::of_materialized(made_of), &query).await?;
        }
        Ok(Planned { view, plan, search_path: made_of.search_path.clone() })
    }

    /// Plans a query.
    async fn plan_in(
        &mut self,
        catalog: &Arc<Catalog>,
        names: Names<'_>,
        query: &sql::ast::Query,
    ) -> EngineResult<Arc<Plan>> {
        let source = Source::of_query(query);
        let bound = self.bound_in(catalog, names, &source);
        let bound = bound.map_err(|error| EngineError::of_bind(&error, &source.written))?;
        self.lowered(catalog, &bound, Vec::new()).await
    }

    /// Plans the query for the keys of a DELETE's rows.
    async fn plan_keys(&mut self, catalog: &Arc<Catalog>, names: Names<'_>, text: &str) -> EngineResult<Arc<Plan>> {
        let Some(parsed) = sql::parse(text)?.pop() else {
            return fail(Fault::Internal { detail: format!("no statement: {text}") });
        };
        let source = Source::of_statement(parsed.statement);
        let bound = self.bound_in(catalog, names, &source);
        match keys_of(&bound.map_err(|error| EngineError::of_bind(&error, &source.written))?) {
            Some(keys) => self.lowered(catalog, &keys, Vec::new()).await,
            None => fail(Fault::Internal { detail: format!("no rows to delete: {text}") }),
        }
    }

    /// Writes the rows of the query to the unpublished storage of a table without indexes.
    async fn load_materialized(&mut self, rows_of: &Arc<Table>, planned: Planned) -> EngineResult<u64> {
        let Planned { view, plan, search_path } = planned;
        let catalog = self.engine.catalog().current();
        let target = crate::dml::Target::new(&catalog, rows_of, self.time_zone())?;
        let context = QueryContext { search_path, ..self.query_context(view) };
        let rows = self.stream(context, Arc::clone(&plan), Vec::new())?;
        let tally = self.load(&target, rows, &plan).await?;
        self.engine.counters().rows_written.add(tally.rows());
        Ok(tally.rows())
    }
}

/// Refuses a materialized view with 42809: `cannot … materialized view "v"`.
pub(crate) fn refuse_materialized(table: &Table, what: &str, hint: Option<&'static str>) -> EngineResult<()> {
    match table.materialized {
        None => Ok(()),
        Some(_) => {
            let message = format!("{what} materialized view \"{}\"", table.name);
            fail(Fault::WrongObject { message, hint })
        }
    }
}
