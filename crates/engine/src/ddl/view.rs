//! CREATE VIEW, ALTER VIEW and DROP VIEW.

use crate::ddl::view_queries::{NewName, reads_of};
use crate::ddl::wrong_kind::wrong_kind;
use crate::error::{EngineResult, Fault, fail};
use crate::session::search_path::before_look_up;
use crate::statement::Source;
use crate::{Notice, Session};
use catalog::{Catalog, Draft, NewView, TableOid, View, ViewColumn, ViewQuery, ViewRead};
use query::Plan;
use sql::{CreateView, ObjectName};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::DataType;

/// The planned query of a view and its dependencies.
pub(super) struct ViewDefinition {
    pub(super) plan: Arc<Plan>,
    /// Relations that the query references directly.
    pub(super) reads: Vec<ViewRead>,
}

impl Session {
    pub(super) async fn create_view(&mut self, create: &CreateView, source: &Source) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let schema = self.schema_for(&catalog, &create.name)?;
        let name = create.name.name.clone();
        let existing = catalog.view(&schema, &name).cloned();
        if existing.is_some() && create.if_not_exists {
            self.skipped("42P07", &format!("relation \"{name}\" already exists"));
            return Ok(());
        }
        if existing.is_none() && create.or_replace && catalog.table(&schema, &name).is_some() {
            return fail(Fault::WrongObject { message: format!("\"{name}\" is not a view"), hint: None });
        }
        let statement = sql::Statement::Query(create.query.clone());
        if let Some(number) = sql::placeholders(&statement).checked_sub(1) {
            return fail(Fault::NoSuchParameter { number: number + 1 });
        }
        let source = source.part(&create.query);
        let found = self.view_definition(&catalog, &source).await?;
        let columns = columns(&create.columns, &found.plan.columns)?;
        let search_path = self.search_path();
        let own: Vec<&str> = found.plan.columns.iter().map(|column| column.name.as_str()).collect();
        let wanted: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let query = sql::with_names(&*self.fixed_query(&catalog, &source)?, &own, &wanted, &name);
        let new = NewView { schema, name, columns, query, search_path, reads: found.reads };
        match existing.filter(|_| create.or_replace) {
            None => self.change_catalog(|draft| draft.create_view(new).map(drop)).await?,
            Some(old) => {
                check_columns(&old, &new.columns, &found.plan.columns)?;
                refuse_recursive_view(&catalog, &old, &new.reads)?;
                self.change_catalog(|draft| draft.replace_view(old.oid, new).map(drop)).await?;
            }
        }
        Ok(())
    }

    /// ALTER VIEW … RENAME TO.
    pub(super) async fn rename_view(&mut self, name: &ObjectName, if_exists: bool, to: &str) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let Some(view) = self.find_view(&catalog, name)? else {
            return self.relation_is_missing(name, if_exists);
        };
        let rename = |draft: &mut Draft, queries: &[ViewQuery]| draft.rename_view(view.oid, to, queries).map(drop);
        let queries = self.following_queries(view.oid, NewName::Relation(to), rename)?;
        self.change_catalog(|draft| rename(draft, &queries)).await
    }

    /// Binds and plans a view's query, and finds the relations it reads.
    pub(super) async fn view_definition(
        &mut self,
        catalog: &Arc<Catalog>,
        query: &Source,
    ) -> EngineResult<ViewDefinition> {
        let bound = self.bound_statement(catalog, query)?;
        let reads = reads_of(catalog, &bound);
        let plan = self.lowered(catalog, &bound, Vec::new()).await?;
        Ok(ViewDefinition { plan, reads })
    }

    pub(super) async fn drop_views(
        &mut self,
        names: &[ObjectName],
        if_exists: bool,
        cascade: bool,
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let found = |name| Ok((name, self.find_view(&catalog, name)?.map(|view| view.oid)));
        let found = names.iter().map(found).collect::<EngineResult<Vec<_>>>()?;
        self.drop_named("view", found, if_exists, cascade).await
    }

    /// Drops objects of a kind, each given by its name and its OID; `None` if the object does not exist.
    pub(super) async fn drop_named(
        &mut self,
        kind: &'static str,
        found: Vec<(&ObjectName, Option<TableOid>)>,
        if_exists: bool,
        cascade: bool,
    ) -> EngineResult<()> {
        let mut oids = Vec::new();
        for (name, oid) in found {
            match oid {
                Some(oid) => oids.push(oid),
                None if if_exists => self.skipped("00000", &format!("{kind} \"{}\" does not exist", name.name)),
                None => return fail(Fault::NoSuchObject { kind, name: shown(name) }),
            }
        }
        self.drop_relations(&oids, cascade).await
    }

    /// Drops relations, and issues a notice about objects dropped by CASCADE.
    pub(super) async fn drop_relations(&mut self, oids: &[TableOid], cascade: bool) -> EngineResult<()> {
        let mut oids = oids.to_vec();
        oids.sort_unstable();
        oids.dedup();
        if oids.is_empty() {
            return Ok(());
        }
        let mut locks = self.own_locks();
        self.lock_bases_of_dropped(&mut locks, |draft| draft.drop_relations(&oids, cascade)).await?;
        let dropped = self.change_catalog(|draft| draft.drop_relations(&oids, cascade)).await?;
        // Ends the refresh jobs of dropped views.
        self.engine.jobs().look_again();
        self.notice_dropped(&dropped);
        Ok(())
    }

    /// Issues the notice about objects dropped by CASCADE.
    pub(super) fn notice_dropped(&mut self, dropped: &[String]) {
        let lines: Vec<String> = dropped.iter().map(|object| format!("drop cascades to {object}")).collect();
        match lines.as_slice() {
            [] => {}
            [one] => self.notices.info("00000", one.clone()),
            many => {
                let message = format!("drop cascades to {} other objects", many.len());
                self.notices.push(Notice { detail: Some(many.join("\n")), ..Notice::info("00000", message) });
            }
        }
    }

    pub(super) fn find_view(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<Arc<View>>> {
        super::check_database(name)?;
        let schemas = self.schemas_of(catalog, name);
        before_look_up(schemas.len())?;
        for schema in schemas.iter() {
            if let Some(view) = catalog.view(schema, &name.name) {
                return Ok(Some(Arc::clone(view)));
            }
            if let Some(kind) = catalog.relation_kind(schema, &name.name) {
                return fail(wrong_kind(&name.name, "a view", kind));
            }
        }
        Ok(None)
    }
}

/// A name for error messages.
pub(super) fn shown(name: &ObjectName) -> String {
    match &name.schema {
        Some(schema) => format!("{schema}.{}", name.name),
        None => name.name.clone(),
    }
}

/// The columns of the view, named by the column list, else by the query.
fn columns(names: &[String], found: &[query::OutputColumn]) -> EngineResult<Vec<ViewColumn>> {
    if names.len() > found.len() {
        let message = "CREATE VIEW specifies more column names than columns".to_string();
        return fail(Fault::Invalid { message });
    }
    let mut columns: Vec<ViewColumn> = Vec::with_capacity(found.len());
    for (at, column) in found.iter().enumerate() {
        let name = names.get(at).unwrap_or(&column.name).clone();
        if columns.iter().any(|known| known.name == name) {
            return fail(Fault::ColumnTwice { column: name });
        }
        columns.push(ViewColumn { name, ty: column.ty });
    }
    Ok(columns)
}

/// CREATE OR REPLACE VIEW: the new columns must begin with the old ones.
fn check_columns(old: &View, new: &[ViewColumn], found: &[query::OutputColumn]) -> EngineResult<()> {
    if new.len() < old.columns.len() {
        return fail(Fault::InvalidDefinition { message: "cannot drop columns from view".to_string() });
    }
    for ((was, is), found) in old.columns.iter().zip(new).zip(found) {
        if was.name != is.name {
            let message = format!("cannot change name of view column \"{}\" to \"{}\"", was.name, is.name);
            return fail(Fault::InvalidDefinition { message });
        }
        // The precision and scale of a computed numeric are not part of its type.
        let numerics = matches!((was.ty, found.declared), (DataType::Numeric(_), DataType::Numeric(None)));
        if was.ty != is.ty && !numerics {
            let (from, to) = (was.ty.sql_name(), is.ty.sql_name());
            let message = format!("cannot change data type of view column \"{}\" from {from} to {to}", was.name);
            return fail(Fault::InvalidDefinition { message });
        }
    }
    Ok(())
}

/// Refuses a view that reads itself, directly or through other views.
fn refuse_recursive_view(catalog: &Catalog, view: &View, reads: &[ViewRead]) -> EngineResult<()> {
    let mut queue: Vec<TableOid> = reads.iter().map(|read| read.relation).collect();
    let mut met = BTreeSet::new();
    while let Some(oid) = queue.pop() {
        if oid == view.oid {
            return fail(Fault::ViewReadsItself { view: view.name.clone() });
        }
        if met.insert(oid)
            && let Some(next) = catalog.view_by_oid(oid)
        {
            queue.extend(next.reads.iter().map(|read| read.relation));
        }
    }
    Ok(())
}
