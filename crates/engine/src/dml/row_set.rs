//! The rows that a statement is about, as a query.

use super::target::Target;
use crate::error::{EngineResult, Fault, fail};
use sql::Statement;
use sql::ast::{
    Expr, Ident, LimitClause, OrderBy, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, TableWithJoins,
    Value, With,
};

/// Which rows of a target, and what to compute for each.
pub(crate) struct RowSet<'a> {
    pub(crate) target: &'a Target,
    /// The name that expressions use for the target.
    pub(crate) alias: &'a str,
    pub(crate) with: Option<&'a With>,
    /// Joined to the target.
    pub(crate) from: &'a [TableWithJoins],
    pub(crate) selection: Option<&'a Expr>,
    pub(crate) order_by: &'a [OrderByExpr],
    pub(crate) limit: Option<&'a Expr>,
    /// Behind the key columns.
    pub(crate) computed: &'a [Expr],
    /// Behind those: what RETURNING wants of joined tables.
    pub(crate) joined: &'a [SelectItem],
}

impl RowSet<'_> {
    /// `SELECT key columns, computed FROM target AS alias, from WHERE …`.
    pub(crate) fn query(&self) -> EngineResult<Query> {
        let quote = types::ident::quote;
        let database = if self.target.table.has_hidden_row_id() { query::WITH_ROW_IDS } else { catalog::DATABASE_NAME };
        let name = format!("{database}.{}.{}", quote(&self.target.schema), quote(&self.target.table.name));
        let mut query = template(&format!("SELECT 1 FROM {name} AS {}", quote(self.alias)))?;
        query.with = self.with.cloned();
        if !self.order_by.is_empty() {
            query.order_by =
                Some(OrderBy { kind: OrderByKind::Expressions(self.order_by.to_vec()), interpolate: None });
        }
        if let Some(limit) = self.limit {
            let limit = Some(limit.clone());
            query.limit_clause = Some(LimitClause::LimitOffset { limit, offset: None, limit_by: Vec::new() });
        }
        let projection = self.projection();
        let select = select_of(&mut query)?;
        select.from.extend(self.from.iter().cloned());
        select.selection = self.selection.cloned();
        select.projection = projection;
        Ok(query)
    }

    fn projection(&self) -> Vec<SelectItem> {
        let columns = self.target.codec.key_columns().iter().filter_map(|at| self.target.column(*at));
        let key = columns.map(|column| {
            let parts = [self.alias, column.name.as_str()].map(|name| Ident::with_quote('"', name));
            Expr::CompoundIdentifier(parts.to_vec())
        });
        let all = key.chain(self.computed.iter().cloned());
        // Names of their own, since the same column may be there twice.
        let named = |(i, expr)| SelectItem::ExprWithAlias { expr, alias: Ident::new(format!("c{i}")) };
        all.enumerate().map(named).chain(self.joined.iter().cloned()).collect()
    }
}

/// `SELECT e1, e2, …`: one row.
pub(crate) fn one_row(exprs: &[Expr]) -> EngineResult<Query> {
    let mut query = template("SELECT 1")?;
    let named = exprs.iter().cloned().enumerate();
    select_of(&mut query)?.projection =
        named.map(|(i, expr)| SelectItem::ExprWithAlias { expr, alias: Ident::new(format!("c{i}")) }).collect();
    Ok(query)
}

/// `SELECT e1, e2, … FROM from`.
pub(crate) fn over(from: &str, exprs: &[Expr]) -> EngineResult<Query> {
    let mut query = template(&format!("SELECT 1 FROM {from}"))?;
    let named = exprs.iter().cloned().enumerate();
    select_of(&mut query)?.projection =
        named.map(|(i, expr)| SelectItem::ExprWithAlias { expr, alias: Ident::new(format!("c{i}")) }).collect();
    Ok(query)
}

/// Which columns of a query are text constants: they have no type of their own and are read as what is
/// wanted, as in PostgreSQL.
pub(crate) fn text_constants(query: &Query, columns: usize) -> Vec<bool> {
    let is_text = |expr: &Expr| match expr {
        Expr::Value(value) => matches!(value.value, Value::SingleQuotedString(_) | Value::EscapedStringLiteral(_)),
        _ => false,
    };
    let constants: Vec<bool> = match query.body.as_ref() {
        SetExpr::Select(select) => {
            let items = select.projection.iter().map(|item| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(is_text(expr)),
                _ => None,
            });
            // Behind a wildcard places are not known.
            items.collect::<Option<_>>().unwrap_or_default()
        }
        SetExpr::Values(values) => match values.rows.as_slice() {
            [] => Vec::new(),
            rows => (0..columns).map(|i| rows.iter().all(|row| row.get(i).is_some_and(&is_text))).collect(),
        },
        _ => Vec::new(),
    };
    (0..columns).map(|i| constants.get(i).copied().unwrap_or(false)).collect()
}

fn template(text: &str) -> EngineResult<Query> {
    match sql::parse(text)?.pop().map(|parsed| parsed.statement) {
        Some(Statement::Query(query)) => Ok(*query),
        _ => fail(Fault::Internal { detail: format!("no query: {text}") }),
    }
}

fn select_of(query: &mut Query) -> EngineResult<&mut Select> {
    match query.body.as_mut() {
        SetExpr::Select(select) => Ok(select),
        _ => fail(Fault::Internal { detail: "a row set is a SELECT".to_string() }),
    }
}

/// The i-th column of a query alone, as a scalar subquery of its own.
pub(crate) fn one_column(query: &Query, i: usize, wanted: usize) -> EngineResult<Query> {
    let mut one = query.clone();
    let select = select_of(&mut one)?;
    let has_wildcard =
        |item: &SelectItem| !matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
    if select.projection.iter().any(has_wildcard) {
        return fail(Fault::Unsupported { feature: "* in a subquery that assigns several columns".to_string() });
    }
    if select.projection.len() != wanted {
        return fail(Fault::AssignmentWidth);
    }
    select.projection = select.projection.drain(..).skip(i).take(1).collect();
    Ok(one)
}
