//! The queries of an incremental refresh, as text.
//!
//! ```text
//!   touched   SELECT DISTINCT keys FROM log AS t                     keys of the changed groups
//!   new       the view's query, its table JOIN touched ON keys       new rows of these groups
//!   old       DELETE of rows of the view USING touched               old rows of these groups
//! ```
//! Keys without NULL are joined by `=`, which can use an index or the rowkey; keys with NULL by a second pair of
//! queries with IS NOT DISTINCT FROM.
//!
//! The log has the columns that the grouping keys reference, under the base table's names, and replaces the base table
//! in `touched` under the same alias, so the key expressions compile against the log unchanged.

use crate::error::{EngineResult, Fault, fail};
use catalog::{ALL_GROUPS_COLUMN, Catalog, Incremental, Table};
use sql::ast::{Expr, Query, Select, SelectItem, SetExpr, TableFactor, TableWithJoins};
use types::ident::quote;

/// Alias of the changed groups in the view's query; the control character prevents name clashes.
const TOUCHED: &str = "\u{1}touched";

/// The view's query and its parts.
pub(super) struct Texts {
    query: Query,
    /// The expressions of the keys.
    keys: Vec<String>,
    /// Column names of the keys in the view.
    names: Vec<String>,
    /// Qualified name of the log.
    log: String,
    /// Alias or name of the base table in the view's query.
    table: String,
}

impl Texts {
    /// Parses the query of a view. `log` is the change log as a table of `catalog`.
    pub(super) fn new(catalog: &Catalog, view: &Table, made_of: &Incremental, log: &Table) -> EngineResult<Self> {
        let query = *sql::parse_query(&made_of.query)?;
        let (mut keys, mut names) = (Vec::new(), Vec::new());
        let columns: Vec<_> = view.visible_columns().collect();
        for place in &made_of.keys {
            let Some(expr) = select(&query).and_then(|select| item(select, *place)) else { return broken() };
            let Some(column) = columns.get(*place) else { return broken() };
            keys.push(sql::printed(expr));
            names.push(quote(&column.name).into_owned());
        }
        let Some(table) = select(&query).and_then(table_name) else { return broken() };
        let log = format!("{}.{}", quote(catalog.schema_name(log)), quote(&log.name));
        Ok(Self { query, keys, names, log, table })
    }

    /// SELECT that returns a row if the log demands a full refresh.
    pub(super) fn everything(&self) -> String {
        format!("SELECT 1 FROM {} WHERE {} LIMIT 1", self.log, quote(ALL_GROUPS_COLUMN))
    }

    /// DELETE of the log rows.
    pub(super) fn log_rows(&self) -> String {
        format!("DELETE FROM {}", self.log)
    }

    /// SELECT that returns a row if a changed group has NULL in its key.
    pub(super) fn nulls(&self) -> String {
        let touched = quote(TOUCHED);
        format!("SELECT 1 FROM ({}) AS {touched} WHERE {} LIMIT 1", self.touched(), self.has_null())
    }

    /// DELETE of the view's rows of the changed groups.
    pub(super) fn old_rows(&self, schema: &str, view: &Table, which: Which) -> String {
        let names = self.names.iter().map(|name| format!("m.{name}"));
        format!(
            "DELETE FROM {}.{} AS m USING ({}) AS {} WHERE {}",
            quote(schema),
            quote(&view.name),
            self.touched(),
            quote(TOUCHED),
            self.same(names, which)
        )
    }

    /// The view's query, restricted to the changed groups.
    pub(super) fn new_rows(&self, which: Which) -> EngineResult<String> {
        let mut query = self.query.clone();
        let keys = self.keys.iter().map(|key| format!("({key})"));
        let mut joined = *sql::parse_query(&format!("SELECT 1 FROM x {}", self.join(keys, which)))?;
        let (Some(from), Some(joined)) = (from_of(&mut query), from_of(&mut joined)) else { return broken() };
        from.joins.append(&mut joined.joins);
        Ok(sql::printed(&query))
    }

    /// A JOIN with the changed groups. `touched` is distinct, so the join does not duplicate rows.
    fn join(&self, keys: impl Iterator<Item = String>, which: Which) -> String {
        format!("JOIN ({}) AS {} ON {}", self.touched(), quote(TOUCHED), self.same(keys, which))
    }

    /// The condition that `keys` are the keys of a changed group.
    fn same(&self, keys: impl Iterator<Item = String>, which: Which) -> String {
        let touched = quote(TOUCHED);
        let operator = match which {
            Which::WithoutNull => "=",
            Which::WithNull => "IS NOT DISTINCT FROM",
        };
        let same = keys.enumerate().map(|(at, key)| format!("{touched}.{} {operator} {key}", key_name(at)));
        let mut on: Vec<String> = same.collect();
        if which == Which::WithNull {
            on.push(format!("({})", self.has_null()));
        }
        on.join(" AND ")
    }

    fn touched(&self) -> String {
        let columns = self.keys.iter().enumerate().map(|(at, key)| format!("({key}) AS {}", key_name(at)));
        let columns: Vec<String> = columns.collect();
        format!("SELECT DISTINCT {} FROM {} AS {}", columns.join(", "), self.log, self.table)
    }

    fn has_null(&self) -> String {
        let touched = quote(TOUCHED);
        let null = (0..self.keys.len()).map(|at| format!("{touched}.{} IS NULL", key_name(at)));
        null.collect::<Vec<_>>().join(" OR ")
    }
}

/// Selects groups without or with NULL in their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    WithoutNull,
    WithNull,
}

/// The only FROM item of a query.
fn from_of(query: &mut Query) -> Option<&mut TableWithJoins> {
    match query.body.as_mut() {
        SetExpr::Select(select) => select.from.first_mut(),
        _ => None,
    }
}

fn key_name(at: usize) -> String {
    quote(&format!("\u{1}{at}")).into_owned()
}

fn broken<T>() -> EngineResult<T> {
    fail(Fault::Internal { detail: "an incremental view whose query has not its shape".to_string() })
}

fn select(query: &Query) -> Option<&Select> {
    match query.body.as_ref() {
        SetExpr::Select(select) => Some(select),
        _ => None,
    }
}

fn item(select: &Select, at: usize) -> Option<&Expr> {
    match select.projection.get(at)? {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The alias of the table, or its name without its schema, as written.
fn table_name(select: &Select) -> Option<String> {
    let [from] = select.from.as_slice() else { return None };
    match &from.relation {
        TableFactor::Table { alias: Some(alias), .. } => Some(alias.name.to_string()),
        TableFactor::Table { name, .. } => name.0.last().map(ToString::to_string),
        _ => None,
    }
}
