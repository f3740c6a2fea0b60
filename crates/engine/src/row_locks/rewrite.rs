//! The query with the keys of the tables that it locks behind its columns.
//!
//! Tables inside subqueries and views of FROM are locked too, as in PostgreSQL: their keys go through all levels, each with a
//! name of its own, which no client sees.

use super::fault;
use super::places::{self, Kind, Place};
use crate::Session;
use crate::ddl::refuse_materialized;
use crate::dml::{Target, has_subquery};
use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, View};
use sql::ast::{
    Expr, GroupByExpr, Ident, Query, Select, SelectItem, SetExpr, TableAlias, TableAliasColumnDef, TableFactor,
};
use sql::{RowLock, RowLockStrength, RowLockWait};
use std::sync::Arc;

/// Names of columns that begin so are no client's business.
pub(super) const PREFIX: &str = "_bennu_lock ";

/// A table that is locked.
pub(super) struct Wanted {
    pub(super) target: Target,
    pub(super) strength: RowLockStrength,
    pub(super) wait: RowLockWait,
    /// Columns of the query where its key stands.
    pub(super) key: Vec<String>,
}

/// The tables found so far.
pub(super) struct Rewriter<'s> {
    pub(super) session: &'s Session,
    pub(super) catalog: &'s Arc<Catalog>,
    /// A relation that has no rows of its own to lock, or is not there at all.
    pub(super) unknown: Option<(RowLockStrength, String)>,
    names: usize,
}

/// What the clauses that are about one thing in FROM come to.
#[derive(Clone, Copy)]
struct Lock {
    strength: RowLockStrength,
    wait: RowLockWait,
    /// Is it named, rather than locked with all others?
    named: bool,
}

impl<'s> Rewriter<'s> {
    pub(super) fn new(session: &'s Session, catalog: &'s Arc<Catalog>) -> Self {
        Self { session, catalog, unknown: None, names: 0 }
    }

    /// Adds the keys of the tables that `locks` are about to a query.
    ///
    /// # Errors
    /// 0A000, 42P01.
    pub(super) fn lock(&mut self, query: &mut Query, locks: &[RowLock], with: &[String]) -> EngineResult<Vec<Wanted>> {
        let Some(first) = locks.first() else { return Ok(Vec::new()) };
        let with: Vec<String> = with.iter().cloned().chain(places::with_names(query)).collect();
        let select = match query.body.as_mut() {
            SetExpr::Select(select) => select,
            SetExpr::SetOperation { .. } => {
                return Err(fault::not_allowed_with(first.strength, "UNION/INTERSECT/EXCEPT"));
            }
            SetExpr::Values(_) => return Err(fault::not_applied_to(first.strength, "VALUES")),
            SetExpr::Query(inner) => return self.lock(inner, locks, &with),
            _ => return fail(Fault::Unsupported { feature: format!("{} of this query", first.strength.words()) }),
        };
        for lock in locks {
            self.check_select(select, lock.strength)?;
        }
        let mut places = places::places(select);
        for lock in locks {
            let absent = lock.of.iter().find(|name| !places.iter().any(|place| place.name == **name));
            if let Some(name) = absent {
                return Err(fault::not_in_from(lock.strength, name));
            }
        }
        let (mut wanted, mut items) = (Vec::new(), Vec::new());
        for place in &mut places {
            let Some(lock) = of_place(&place.name, locks) else { continue };
            let before = wanted.len();
            wanted.extend(self.lock_place(place, lock, &with)?);
            for table in wanted.iter_mut().skip(before) {
                for name in &mut table.key {
                    let outer = self.fresh();
                    items.push(item(&place.name, name, &outer));
                    *name = outer;
                }
            }
        }
        select.projection.extend(items);
        Ok(wanted)
    }

    /// What is no row of a table any more.
    fn check_select(&self, select: &Select, strength: RowLockStrength) -> EngineResult<()> {
        let grouped = match &select.group_by {
            GroupByExpr::All(_) => true,
            GroupByExpr::Expressions(exprs, _) => !exprs.is_empty(),
        };
        let what = match () {
            () if select.distinct.is_some() => "DISTINCT clause",
            () if grouped => "GROUP BY clause",
            () if select.having.is_some() => "HAVING clause",
            () => match self.session.engine.planner().many_rows_in(select) {
                Some(what) => what,
                None => return Ok(()),
            },
        };
        Err(fault::not_allowed_with(strength, what))
    }

    fn lock_place(&mut self, place: &mut Place<'_>, lock: Lock, with: &[String]) -> EngineResult<Vec<Wanted>> {
        let refused = |what| match lock.named {
            true => Err(fault::not_applied_to(lock.strength, what)),
            false => Ok(Vec::new()),
        };
        match place.kind(with) {
            Kind::Function => return refused("a function"),
            Kind::With => return refused("a WITH query"),
            Kind::Join => return refused("a join"),
            Kind::Other => return refused("this relation"),
            Kind::Relation(_) | Kind::Subquery if place.nullable => {
                return Err(fault::not_applied_to(lock.strength, "the nullable side of an outer join"));
            }
            Kind::Relation(name) => match self.session.resolve_stored(self.catalog, &name) {
                Ok(table) => {
                    refuse_materialized(&table, "cannot lock rows in", None)?;
                    let target = Target::new(self.catalog, &table, self.session.time_zone())?;
                    return Ok(vec![self.lock_table(place, target, lock)]);
                }
                Err(_) => match self.view(&name) {
                    Some(view) => *place.factor = in_place_of(self.catalog, &view, place)?,
                    None => {
                        self.unknown.get_or_insert((lock.strength, name.name));
                        return Ok(Vec::new());
                    }
                },
            },
            Kind::Subquery => {}
        }
        let TableFactor::Derived { subquery, alias, .. } = &mut *place.factor else { return Ok(Vec::new()) };
        if matches!(subquery.body.as_ref(), SetExpr::Values(_)) {
            return refused("VALUES");
        }
        if lock.wait == RowLockWait::Skip && (subquery.limit_clause.is_some() || subquery.fetch.is_some()) {
            return fail(Fault::Unsupported { feature: "SKIP LOCKED of a subquery with LIMIT".to_string() });
        }
        let locks = [RowLock { strength: lock.strength, of: Vec::new(), wait: lock.wait }];
        let wanted = self.lock(subquery, &locks, with)?;
        name_columns(alias.as_mut(), wanted.iter().flat_map(|table| &table.key));
        Ok(wanted)
    }

    /// The key of a table in FROM. A hidden row id is a column of a subquery in its place, so that `*` and NATURAL do not
    /// meet it by its name.
    fn lock_table(&mut self, place: &mut Place<'_>, target: Target, lock: Lock) -> Wanted {
        let columns: Vec<_> = target.table.key_columns().map(|column| column.name.clone()).collect();
        let renamed = |name: &String, alias: Option<&TableAlias>| {
            let at = target.table.visible_columns().position(|column| column.name == *name);
            let column = at.and_then(|at| alias.and_then(|alias| alias.columns.get(at)));
            column.map_or_else(|| name.clone(), |column| places::folded(&column.name))
        };
        let key = match &*place.factor {
            TableFactor::Table { alias, .. } if !target.table.has_hidden_row_id() => {
                columns.iter().map(|name| renamed(name, alias.as_ref())).collect()
            }
            _ => {
                let name = self.fresh();
                if let Some(factor) = with_row_id(&target, place, &name) {
                    *place.factor = factor;
                }
                vec![name]
            }
        };
        Wanted { target, strength: lock.strength, wait: lock.wait, key }
    }

    fn view(&self, name: &sql::ObjectName) -> Option<Arc<View>> {
        let schemas = self.session.schemas_of(self.catalog, name);
        schemas.iter().find_map(|schema| self.catalog.view(schema, &name.name)).cloned()
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("{PREFIX}{}", self.names)
    }
}

/// Is each row of the query a row of its one table, judged by itself?
pub(super) fn is_own(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let alone = matches!(select.from.as_slice(), [from] if from.joins.is_empty()
        && matches!(from.relation, TableFactor::Table { args: None, .. }));
    alone
        && query.with.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && !select.selection.as_ref().is_some_and(has_subquery)
}

/// What the clauses say about a name; `None` is nothing.
fn of_place(name: &str, locks: &[RowLock]) -> Option<Lock> {
    let about = |lock: &&RowLock| lock.of.is_empty() || lock.of.iter().any(|of| of == name);
    let lock = |lock: &RowLock| Lock { strength: lock.strength, wait: lock.wait, named: !lock.of.is_empty() };
    let stronger = |a: Lock, b: Lock| Lock {
        strength: a.strength.max(b.strength),
        wait: a.wait.max(b.wait),
        named: a.named || b.named,
    };
    locks.iter().filter(about).map(lock).reduce(stronger)
}

fn item(table: &str, column: &str, name: &str) -> SelectItem {
    let quoted = |name: &str| Ident::with_quote('"', name);
    let expr = match table {
        "" => Expr::Identifier(quoted(column)),
        table => Expr::CompoundIdentifier(vec![quoted(table), quoted(column)]),
    };
    SelectItem::ExprWithAlias { expr, alias: quoted(name) }
}

/// A list of column names behind an alias is about all columns.
fn name_columns<'n>(alias: Option<&mut TableAlias>, names: impl Iterator<Item = &'n String>) {
    let Some(alias) = alias.filter(|alias| !alias.columns.is_empty()) else { return };
    alias.columns.extend(names.map(|name| column_def(name)));
}

fn column_def(name: &str) -> TableAliasColumnDef {
    TableAliasColumnDef { name: Ident::with_quote('"', name), data_type: None }
}

/// `(SELECT a, b, row id AS name FROM t) AS t`.
fn with_row_id(target: &Target, place: &Place<'_>, name: &str) -> Option<TableFactor> {
    let quote = types::ident::quote;
    let declared: Vec<_> = target.table.visible_columns().map(|column| quote(&column.name)).collect();
    let key: Vec<_> = target.table.key_columns().map(|column| quote(&column.name)).collect();
    let mut list: Vec<String> = declared.iter().map(ToString::to_string).collect();
    list.push(format!("{} AS {}", key.first()?, quote(name)));
    let (schema, table) = (quote(&target.schema), quote(&target.table.name));
    let text = format!("SELECT {} FROM {}.{schema}.{table}", list.join(", "), query::WITH_ROW_IDS);
    let mut alias = alias_of(place);
    name_columns(Some(&mut alias), std::iter::once(&name.to_string()));
    let subquery = sql::parse_query(&text).ok()?;
    Some(TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None })
}

/// The alias of a table in FROM, or its name as one.
fn alias_of(place: &Place<'_>) -> TableAlias {
    match &*place.factor {
        TableFactor::Table { alias: Some(alias), .. } => alias.clone(),
        _ => TableAlias { explicit: true, name: Ident::with_quote('"', &place.name), columns: Vec::new(), at: None },
    }
}

/// `(query of the view) AS v (columns of the view)`.
fn in_place_of(catalog: &Catalog, view: &View, place: &Place<'_>) -> EngineResult<TableFactor> {
    let mut alias = alias_of(place);
    let own = view.columns.iter().skip(alias.columns.len()).map(|column| column_def(&column.name));
    alias.columns.extend(own);
    let is_there =
        |schema: &str, name: &str| catalog.table(schema, name).is_some() || catalog.view(schema, name).is_some();
    let schema_of = |name: &str| view.search_path.iter().find(|schema| is_there(schema, name)).cloned();
    let subquery = sql::parse_query(&sql::qualify(&view.query, &schema_of)?)?;
    Ok(TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None })
}
