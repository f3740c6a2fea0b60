//! The queries of views that read a relation with a new name, schema or column name: as in PostgreSQL they read it still.
//!
//! Only items of FROM change (`new_name.rs`), so that all other names of a query mean what they meant. A query that does
//! not read the same with the new name, for example because it writes `s.t.a`, stays, and the catalog refuses the name.

mod new_name;

pub(super) use new_name::NewName;

use crate::Session;
use crate::error::EngineResult;
use crate::row_program::Names;
use crate::statement::Source;
use bind::tree::{Body, Bound, Cte, CteBody, Kind, Query, Rel, Scalar};
use bind::{Environment, relation_names};
use builtins::{Ty, TypeId};
use catalog::{Catalog, CatalogResult, Draft, TableOid, ViewQuery, ViewRead};
use new_name::Renaming;
use sql::Statement;

/// The stored query of a view, plain or materialized.
struct StoredQuery<'a> {
    view: TableOid,
    query: &'a str,
    names: Names<'a>,
}

impl Session {
    /// The new queries of the views that read a relation. `change` changes its name, given these queries; it is tried
    /// here. Views whose query cannot follow are left out.
    ///
    /// # Errors
    /// Errors of `change`.
    pub(super) fn following_queries(
        &self,
        relation: TableOid,
        new: NewName<'_>,
        change: impl FnOnce(&mut Draft, &[ViewQuery]) -> CatalogResult<()>,
    ) -> EngineResult<Vec<ViewQuery>> {
        let catalog = self.engine.catalog().current();
        let readers = readers_of(&catalog, relation);
        let mut queries = Vec::with_capacity(readers.len());
        for stored in &readers {
            let text = self.query_with(&catalog, stored, relation, new);
            let old = stored.query.to_string();
            queries.push(ViewQuery { view: stored.view, new: text.unwrap_or_else(|| old.clone()), old });
        }
        if queries.is_empty() {
            return Ok(queries);
        }
        let mut draft = self.trial_draft(&catalog);
        change(&mut draft, &queries)?;
        let mut readers = readers.iter();
        queries.retain(|query| {
            readers.next().is_some_and(|stored| self.is_same_query(&catalog, draft.catalog(), stored, &query.new))
        });
        Ok(queries)
    }

    /// The views that read a relation and cannot be read any more with the definitions of `new`.
    pub(super) fn unreadable_views(&self, old: &Catalog, new: &Catalog, relation: TableOid) -> Vec<TableOid> {
        let is_readable = |catalog: &Catalog, stored: &StoredQuery<'_>| {
            let query = sql::parse_query(stored.query);
            query.is_ok_and(|query| self.bound_in(catalog, stored.names, &Source::of_query(&query)).is_ok())
        };
        let readers = readers_of(old, relation);
        let lost = readers.iter().filter(|stored| is_readable(old, stored) && !is_readable(new, stored));
        lost.map(|stored| stored.view).collect()
    }

    /// The stored query with the new name; `None` if it does not name the relation in FROM.
    fn query_with(
        &self,
        catalog: &Catalog,
        stored: &StoredQuery<'_>,
        relation: TableOid,
        new: NewName<'_>,
    ) -> Option<String> {
        let mut query = sql::parse_query(stored.query).ok()?;
        let rules = self.time_zone();
        let env = Environment { text: stored.query, rules: &rules };
        let relations = self.relations(catalog, stored.names);
        let mut named = relation_names(&Statement::Query(query.clone()), &relations, &env).ok()?;
        named.retain(|named| named.relation == relation);
        let renaming = Renaming::new(catalog, relation, new, stored.names.reads);
        renaming.apply(&mut query, stored.query, &named).then(|| sql::printed(query.as_ref()))
    }

    /// Whether the new text reads the same relations and columns in the new catalog, with the same result columns.
    fn is_same_query(&self, old: &Catalog, new: &Catalog, stored: &StoredQuery<'_>, text: &str) -> bool {
        let bound = |catalog: &Catalog, text: &str| {
            let query = sql::parse_query(text).ok()?;
            self.bound_in(catalog, stored.names, &Source::of_query(&query)).ok()
        };
        let (Some(before), Some(after)) = (bound(old, stored.query), bound(new, text)) else { return false };
        let names_relations = |bound: &Bound| matches!(&bound.body, Body::Query(query) if computes_regclass(query));
        reads_of(old, &before) == reads_of(new, &after)
            && outputs_of(&before) == outputs_of(&after)
            && !names_relations(&after)
    }
}

/// The relations that a bound query references directly, with the columns that it reads.
pub(super) fn reads_of(catalog: &Catalog, bound: &Bound) -> Vec<ViewRead> {
    let direct = bound.needs.relations.iter().filter(|(_, used)| used.direct);
    let read = direct.map(|(oid, used)| {
        let table = catalog.table_by_oid(*oid);
        let column = |at: &usize| table.and_then(|table| table.columns.get(*at)).map(|column| column.id);
        ViewRead { relation: *oid, columns: used.selected.iter().filter_map(column).collect() }
    });
    read.collect()
}

/// Does a query compute a regclass? Its text may name the relation, and is read when the query runs.
fn computes_regclass(query: &Query) -> bool {
    let of_cte = |cte: &Cte| match &cte.body {
        CteBody::Inline(rel) | CteBody::Either(rel) | CteBody::Materialized(rel) => has_regclass(rel),
        CteBody::Recursive { base, step, .. } => has_regclass(base) || has_regclass(step),
    };
    query.ctes.iter().any(of_cte) || has_regclass(&query.rel)
}

fn has_regclass(rel: &Rel) -> bool {
    let mut found = false;
    rel.each_scalar(&mut |value| found = found || is_regclass(value));
    rel.each_input(&mut |input| found = found || has_regclass(input));
    found
}

fn is_regclass(value: &Scalar) -> bool {
    let mut found = match &value.kind {
        Kind::Subquery(subquery) => has_regclass(&subquery.rel),
        _ => value.ty.id == TypeId::REGCLASS,
    };
    value.each_operand(&mut |operand| found = found || is_regclass(operand));
    found
}

/// Names and types of the result columns.
fn outputs_of(bound: &Bound) -> Vec<(&str, Option<Ty>)> {
    let Body::Query(query) = &bound.body else { return Vec::new() };
    query.outputs.iter().map(|output| (output.name.as_str(), bound.col(output.col).map(|col| col.ty))).collect()
}

/// The queries of the views that read a relation.
fn readers_of(catalog: &Catalog, relation: TableOid) -> Vec<StoredQuery<'_>> {
    let reads_it = |reads: &[ViewRead]| reads.iter().any(|read| read.relation == relation);
    let views = catalog.views().filter(|view| reads_it(&view.reads)).map(|view| StoredQuery {
        view: view.oid,
        query: &view.query,
        names: Names { path: &view.search_path, reads: &view.reads },
    });
    let materialized = catalog
        .materialized_views()
        .filter(|(_, of)| reads_it(&of.reads))
        .map(|(table, of)| StoredQuery { view: table.oid, query: &of.query, names: Names::of_materialized(of) });
    views.chain(materialized).collect()
}
