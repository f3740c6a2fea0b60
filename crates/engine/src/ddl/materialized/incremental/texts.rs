//! The queries of an incremental refresh, as text.
//!
//! ```text
//!   touched   SELECT DISTINCT keys FROM log AS t                     keys of the groups that have changed
//!   new       the view's query, its table JOIN touched ON keys       those groups as they are now
//!   old       DELETE of rows of the view USING touched               those groups as they were
//! ```
//! Keys without NULL are joined by `=`, which finds rows by an index or the rowkey; those with one in a second pair of queries.
//!
//! The log has the columns that keys name, under the names that they have in the table, and stands where the table stands in the
//! view's query: the expressions of the keys mean there what they mean in the view.

use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, EVERYTHING_COLUMN, Incremental, Table};
use sql::ast::{Expr, Query, Select, SelectItem, SetExpr, TableFactor, TableWithJoins};
use types::ident::quote;

/// What the touched groups are called in the view's query. No name of a user's is this.
const TOUCHED: &str = "\u{1}touched";

/// The view's query, taken apart.
pub(super) struct Texts {
    query: Query,
    /// The expressions of the keys.
    keys: Vec<Expr>,
    /// Names of the keys in the view.
    names: Vec<String>,
    /// The log and the name that it goes by.
    log: String,
    /// What the table goes by in the view's query.
    table: String,
}

impl Texts {
    /// For a view, with the log of the table that it reads as `catalog` shows it.
    pub(super) fn new(catalog: &Catalog, view: &Table, made_of: &Incremental, log: &Table) -> EngineResult<Self> {
        let query = *sql::parse_query(&made_of.query)?;
        let (mut keys, mut names) = (Vec::new(), Vec::new());
        let columns: Vec<_> = view.visible_columns().collect();
        for place in &made_of.keys {
            let Some(expr) = select(&query).and_then(|select| item(select, *place)) else { return broken() };
            let Some(column) = columns.get(*place) else { return broken() };
            keys.push(expr.clone());
            names.push(quote(&column.name).into_owned());
        }
        let Some(table) = select(&query).and_then(table_name) else { return broken() };
        let log = format!("{}.{}", quote(catalog.schema_name(log)), quote(&log.name));
        Ok(Self { query, keys, names, log, table })
    }

    /// A row, if all groups are to be made anew.
    pub(super) fn everything(&self) -> String {
        format!("SELECT 1 FROM {} WHERE {} LIMIT 1", self.log, quote(EVERYTHING_COLUMN))
    }

    /// The rows of the log, as a statement that deletes them.
    pub(super) fn log_rows(&self) -> String {
        format!("DELETE FROM {}", self.log)
    }

    /// A row, if one of the groups has a NULL in its key.
    pub(super) fn nulls(&self) -> String {
        let touched = quote(TOUCHED);
        format!("SELECT 1 FROM ({}) AS {touched} WHERE {} LIMIT 1", self.touched(), self.has_null())
    }

    /// The view's rows of the groups that have changed, as a statement that deletes them.
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

    /// Rows of the view's query of the groups that have changed.
    pub(super) fn new_rows(&self, which: Which) -> EngineResult<String> {
        let mut query = self.query.clone();
        let keys = self.keys.iter().map(|key| format!("({key})"));
        let mut joined = *sql::parse_query(&format!("SELECT 1 FROM x {}", self.join(keys, which)))?;
        let (Some(from), Some(joined)) = (from_of(&mut query), from_of(&mut joined)) else { return broken() };
        from.joins.append(&mut joined.joins);
        Ok(query.to_string())
    }

    /// Joins the groups that have changed to rows with these keys: each row has one at most.
    fn join(&self, keys: impl Iterator<Item = String>, which: Which) -> String {
        format!("JOIN ({}) AS {} ON {}", self.touched(), quote(TOUCHED), self.same(keys, which))
    }

    /// Are these the keys of a group that has changed?
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

/// Groups that have a NULL in their keys, or have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    WithoutNull,
    WithNull,
}

/// The one table that a query reads.
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
