//! The SELECTs that may become key programs: plain columns of one table.

use crate::ColumnDesc;
use crate::dml::{Target, column_at, folded};
use crate::error::EngineResult;
use crate::settings::TimeZone;
use catalog::Catalog;
use sql::ast::{GroupByExpr, Query, Select, SelectItem, SetExpr, TableFactor};

/// A SELECT of nothing but columns, one table and conditions. ORDER BY and LIMIT are for the caller to judge.
pub(super) fn plain_select(query: &Query) -> Option<&Select> {
    let Query { with, body, fetch, locks, for_clause, settings, format_clause, pipe_operators, .. } = query;
    let bare = with.is_none()
        && fetch.is_none()
        && locks.is_empty()
        && for_clause.is_none()
        && settings.is_none()
        && format_clause.is_none()
        && pipe_operators.is_empty();
    let SetExpr::Select(select) = body.as_ref() else { return None };
    let grouped = match &select.group_by {
        GroupByExpr::Expressions(exprs, modifiers) => !exprs.is_empty() || !modifiers.is_empty(),
        GroupByExpr::All(_) => true,
    };
    let plain = select.distinct.is_none()
        && select.top.is_none()
        && select.into.is_none()
        && select.exclude.is_none()
        && select.prewhere.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && select.value_table_mode.is_none()
        && select.optimizer_hints.is_empty()
        && select.lateral_views.is_empty()
        && select.connect_by.is_empty()
        && select.named_window.is_empty()
        && !grouped;
    (bare && plain).then_some(select)
}

/// The one table in FROM and what its columns are qualified with.
pub(super) fn one_table(
    catalog: &Catalog,
    search_path: &[String],
    select: &Select,
    zone: TimeZone,
) -> EngineResult<Option<(Target, String)>> {
    let Some((schema, name, alias)) = table_name(select) else { return Ok(None) };
    match catalog.resolve(search_path, schema.as_deref(), &name) {
        None => Ok(None),
        // Its plan says that it cannot be read.
        Some(table) if table.is_unpopulated() => Ok(None),
        Some(table) => Ok(Some((Target::new(catalog, table, zone)?, alias))),
    }
}

/// Schema, name and alias of the one table in FROM.
fn table_name(select: &Select) -> Option<(Option<String>, String, String)> {
    let [from] = select.from.as_slice() else { return None };
    if !from.joins.is_empty() {
        return None;
    }
    let TableFactor::Table {
        name,
        alias,
        args: None,
        with_hints,
        version: None,
        with_ordinality: false,
        partitions,
        json_path: None,
        sample: None,
        index_hints,
    } = &from.relation
    else {
        return None;
    };
    if !with_hints.is_empty() || !partitions.is_empty() || !index_hints.is_empty() {
        return None;
    }
    let parts: Option<Vec<String>> = name.0.iter().map(|part| part.as_ident().map(folded)).collect();
    let (schema, name) = match parts?.as_slice() {
        [name] => (None, name.clone()),
        [schema, name] => (Some(schema.clone()), name.clone()),
        _ => return None,
    };
    let alias = match alias {
        None => name.clone(),
        Some(alias) if alias.columns.is_empty() => folded(&alias.name),
        Some(_) => return None,
    };
    Some((schema, name, alias))
}

/// The columns that are selected: which they are, and how they are called.
pub(super) fn projection(target: &Target, alias: &str, select: &Select) -> Option<(Vec<usize>, Vec<ColumnDesc>)> {
    let (mut wanted, mut columns) = (Vec::new(), Vec::new());
    for item in &select.projection {
        let (expr, name) = match item {
            SelectItem::UnnamedExpr(expr) => (expr, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(folded(alias))),
            SelectItem::Wildcard(options) if *options == Default::default() => {
                let visible = target.table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
                for (at, _) in visible {
                    wanted.push(at);
                    columns.push(target.describe(at));
                }
                continue;
            }
            _ => return None,
        };
        let at = column_at(target, alias, expr)?;
        let column = target.describe(at);
        columns.push(ColumnDesc { name: name.unwrap_or_else(|| column.name.clone()), ..column });
        wanted.push(at);
    }
    Some((wanted, columns))
}
