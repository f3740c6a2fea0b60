//! Clauses around SELECT: WITH, ORDER BY of set operations, LIMIT.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::from::Source;
use crate::name::fold;
use crate::recursion_error::RecursionError;
use crate::scope::{Boundary, CteEntry, CteState, Scope, ScopeItem};
use crate::select::Selected;
use crate::tree::{Body, ColId, ColInfo, Cte, CteBody, Key, Kind, Output, Query, Rel, Scalar, Span};
use builtins::{Ty, Volatility};
use sql::ast;
use std::collections::BTreeMap;
use types::Datum;

/// A query whose outputs are columns.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) rel: Rel,
    pub(crate) outputs: Vec<(String, ColId)>,
}

impl Binder<'_> {
    /// Binds a statement that is a query.
    pub(crate) fn statement_query(&mut self, query: &ast::Query) -> BindResult<Body> {
        let rows = self.subquery_rows(query)?;
        if rows.outputs.iter().any(|(_, col)| self.records.contains_key(col)) {
            return self.unsupported("a row as a column of a result");
        }
        let outputs = rows.outputs.into_iter().map(|(name, col)| Output { col, name }).collect();
        Ok(Body::Query(Query { ctes: std::mem::take(&mut self.cte_bodies), rel: rows.rel, outputs }))
    }

    /// Binds a query whose outputs become columns.
    pub(crate) fn subquery_rows(&mut self, query: &ast::Query) -> BindResult<Rows> {
        let Selected { mut rel, outputs } = self.query(query, false)?;
        let (mut cols, mut exprs) = (Vec::with_capacity(outputs.len()), Vec::new());
        for (name, value) in outputs {
            let value = self.output_type(value)?;
            let col = match value.kind {
                Kind::Col(col) if col.level == 0 => col.id,
                _ => {
                    let col = self.computed(&name, &value)?;
                    exprs.push((col, value));
                    col
                }
            };
            cols.push((name, col));
        }
        if !exprs.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs };
        }
        Ok(Rows { rel, outputs: cols })
    }

    /// Binds a query. If `untyped`, its outputs may keep the type unknown.
    pub(crate) fn query(&mut self, query: &ast::Query, untyped: bool) -> BindResult<Selected> {
        if !query.locks.is_empty() {
            return Err(self.internal("a locking clause that was not read"));
        }
        let before = self.ctes.len();
        let bound = self.query_with(query, untyped);
        self.ctes.truncate(before);
        bound
    }

    fn query_with(&mut self, query: &ast::Query, untyped: bool) -> BindResult<Selected> {
        if let ast::SetExpr::Query(inner) = query.body.as_ref()
            && !is_bare(query)
        {
            let query = self.with_options_of(inner, query)?;
            return self.query_with(&query, untyped);
        }
        if let Some(with) = &query.with {
            let locks = std::mem::take(&mut self.pending_locks);
            self.with(with)?;
            self.pending_locks = locks;
        }
        let order_by: &[ast::OrderByExpr] = match query.order_by.as_ref().map(|by| &by.kind) {
            None => &[],
            Some(ast::OrderByKind::Expressions(keys)) => keys,
            Some(ast::OrderByKind::All(_)) => return self.unsupported("ORDER BY ALL"),
        };
        let Some((limit, offset)) = bounds(query) else { return self.unsupported("LIMIT … BY") };
        let offset = offset.map(|offset| &offset.value);
        let bounded = limit.is_some() || offset.is_some() || query.fetch.is_some();
        self.last_query_items.clear();
        let mut selected = self.body(&query.body, order_by, untyped && !bounded)?;
        if bounded {
            let of_query = std::mem::take(&mut self.last_query_items);
            let offset = offset.map(|count| self.count_of(count, Clause::Offset, &of_query)).transpose()?;
            let count = limit.map(|count| self.count_of(count, Clause::Limit, &of_query)).transpose()?;
            if offset.is_some() {
                selected = self.computed_below(selected)?;
            }
            selected.rel = match &query.fetch {
                None => Rel::Limit { input: Box::new(selected.rel), offset, count, ties: Vec::new() },
                Some(fetch) => self.fetched(selected.rel, fetch, offset, &of_query)?,
            };
        }
        Ok(selected)
    }

    /// Adds the clauses of a query around parentheses to those within, where they belong: `(SELECT … LIMIT 3) ORDER BY k`
    /// sorts before the limit.
    fn with_options_of(&self, inner: &ast::Query, outer: &ast::Query) -> BindResult<ast::Query> {
        let mut query = inner.clone();
        let twice = |message| self.error(BindErrorKind::Syntax { message }, Span::default());
        if outer.with.is_some() {
            if query.with.is_some() {
                return twice("multiple WITH clauses not allowed");
            }
            query.with.clone_from(&outer.with);
        }
        if outer.order_by.is_some() {
            if query.order_by.is_some() {
                return twice("multiple ORDER BY clauses not allowed");
            }
            query.order_by.clone_from(&outer.order_by);
        }
        let (Some((limit, offset)), Some((of_limit, of_offset))) = (bounds(&query), bounds(outer)) else {
            return self.unsupported("LIMIT … BY");
        };
        if (limit.is_some() || query.fetch.is_some()) && (of_limit.is_some() || outer.fetch.is_some()) {
            return twice("multiple LIMIT clauses not allowed");
        }
        if offset.is_some() && of_offset.is_some() {
            return twice("multiple OFFSET clauses not allowed");
        }
        let (limit, offset) = (limit.or(of_limit).cloned(), offset.or(of_offset).cloned());
        query.limit_clause = match limit.is_some() || offset.is_some() {
            true => Some(ast::LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() }),
            false => None,
        };
        query.fetch = query.fetch.or_else(|| outer.fetch.clone());
        Ok(query)
    }

    /// Applies FETCH FIRST.
    fn fetched(
        &mut self,
        rel: Rel,
        fetch: &ast::Fetch,
        offset: Option<Scalar>,
        of_query: &[ScopeItem],
    ) -> BindResult<Rel> {
        if fetch.percent {
            return self.unsupported("FETCH FIRST … PERCENT");
        }
        let count = match &fetch.quantity {
            Some(count) => self.count_of(count, Clause::Limit, of_query)?,
            None => Scalar { kind: Kind::Const(Datum::Int8(1)), ty: Ty::INT8, span: Span::default() },
        };
        let ties = match (fetch.with_ties, keys_of(&rel)) {
            (false, _) => Vec::new(),
            (true, Some(keys)) => keys.to_vec(),
            (true, None) => {
                let message = "WITH TIES cannot be specified without ORDER BY clause";
                return self.error(BindErrorKind::Syntax { message }, Span::default());
            }
        };
        Ok(Rel::Limit { input: Box::new(rel), offset, count: Some(count), ties })
    }

    fn body(&mut self, body: &ast::SetExpr, order_by: &[ast::OrderByExpr], untyped: bool) -> BindResult<Selected> {
        self.refuse_locks_of(body)?;
        match body {
            ast::SetExpr::Select(select) => self.select(select, order_by, untyped),
            ast::SetExpr::Query(query) if order_by.is_empty() => self.query(query, untyped),
            ast::SetExpr::Values(values) => {
                let selected = self.values(values)?;
                self.sorted_outputs(selected, order_by)
            }
            ast::SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let selected = self.set_operation(left, *op, *set_quantifier, right)?;
                self.sorted_outputs(selected, order_by)
            }
            _ => Err(self.internal("a form of query that the parser refuses")),
        }
    }

    /// Binds an operand of a set operation.
    pub(crate) fn operand(&mut self, body: &ast::SetExpr) -> BindResult<Selected> {
        self.body(body, &[], true)
    }

    /// Binds LIMIT or OFFSET of a query without columns that it could reference.
    pub(crate) fn count(&mut self, expr: &ast::Expr, clause: Clause) -> BindResult<Scalar> {
        self.count_of(expr, clause, &[])
    }

    /// Binds LIMIT or OFFSET: a bigint that reads no column of its query, whose FROM items are `of_query`.
    fn count_of(&mut self, expr: &ast::Expr, clause: Clause, of_query: &[ScopeItem]) -> BindResult<Scalar> {
        self.scopes.push(Scope::new());
        let value = self.in_clause(clause, |binder| binder.scalar(expr));
        self.scopes.pop();
        let what = if clause == Clause::Limit { "LIMIT" } else { "OFFSET" };
        // A column of the query itself is not in scope, and has an error of its own.
        let value = value.map_err(|error| {
            let names_own = match error.kind.as_ref() {
                BindErrorKind::UndefinedColumn { relation: None, name } => {
                    self.visible(of_query).iter().any(|column| column.name == *name)
                }
                BindErrorKind::MissingFrom { name } => of_query.iter().any(|item| item.name.as_ref() == Some(name)),
                _ => false,
            };
            if names_own { BindError::new(BindErrorKind::Variables { clause }, error.span) } else { error }
        });
        let mut value = self.must_be(value?, Ty::INT8, "bigint", what)?;
        // Columns of enclosing queries are one level nearer: the count has no scope of its own.
        lift(&mut value);
        Ok(value)
    }

    /// Binds the CTEs of WITH in order; each sees those before it.
    pub(crate) fn with(&mut self, with: &ast::With) -> BindResult<()> {
        if with.recursive {
            return self.with_recursive(with);
        }
        let first = self.ctes.len();
        for cte in &with.cte_tables {
            let name = fold(&cte.alias.name);
            self.check_cte_name(first, &name, cte)?;
            let entry = self.cte(cte, name)?;
            self.ctes.push(entry);
        }
        Ok(())
    }

    /// Checks that CTE names are unique within a WITH.
    pub(crate) fn check_cte_name(&self, first: usize, name: &str, cte: &ast::Cte) -> BindResult<()> {
        match self.ctes.iter().skip(first).any(|other| other.name == name) {
            true => {
                let kind = BindErrorKind::DuplicateCte { name: name.to_owned() };
                self.error(kind, self.span(cte.alias.name.span))
            }
            false => Ok(()),
        }
    }

    /// Renames columns by the column list of the CTE.
    pub(crate) fn name_cte_columns(&self, cte: &ast::Cte, columns: &mut [(String, ColId)]) -> BindResult<()> {
        let names = &cte.alias.columns;
        if names.len() > columns.len() {
            let (name, available, specified) = (fold(&cte.alias.name), columns.len(), names.len());
            let kind = BindErrorKind::TooManyCteAliases { name, available, specified };
            return self.error(kind, self.span(cte.alias.name.span));
        }
        for (column, alias) in columns.iter_mut().zip(names) {
            column.0 = fold(&alias.name);
        }
        Ok(())
    }

    pub(crate) fn cte(&mut self, cte: &ast::Cte, name: String) -> BindResult<CteEntry> {
        let volatility = std::mem::replace(&mut self.facts.volatility, Volatility::Immutable);
        self.boundaries.push(Boundary { depth: self.scopes.len(), free: BTreeMap::new(), in_expression: false });
        let rows = self.subquery_rows(&cte.query);
        let free = self.boundaries.pop().map(|boundary| boundary.free).unwrap_or_default();
        let own = std::mem::replace(&mut self.facts.volatility, volatility);
        self.facts.volatility = volatility.max(own);
        let mut rows = rows?;
        let free = self.outer_columns(free);
        self.name_cte_columns(cte, &mut rows.outputs)?;
        let id = self.new_cte();
        // Outer columns change from row to row, and work tables from iteration to iteration.
        let differs = !free.is_empty() || self.reads_work_table(&rows.rel);
        let body = match cte.materialized {
            Some(ast::CteAsMaterialized::NotMaterialized) => CteBody::Inline,
            _ if differs => CteBody::Inline,
            None if own != Volatility::Volatile => CteBody::Either,
            _ => CteBody::Materialized,
        };
        let body = body(rows.rel);
        self.cte_bodies.push(Cte { id, cols: rows.outputs.iter().map(|(_, col)| *col).collect(), body });
        Ok(CteEntry { name, id, columns: rows.outputs, state: CteState::Ready, free })
    }

    /// Returns the outer columns that a CTE reads, with the index of the scope that each belongs to.
    pub(crate) fn outer_columns(&self, free: BTreeMap<ColId, u8>) -> Vec<(usize, ColId)> {
        let depth = self.scopes.len();
        let scope = |level: u8| depth.checked_sub(usize::from(level) + 1);
        free.into_iter().filter_map(|(id, level)| Some((scope(level)?, id))).collect()
    }

    /// Binds a reference to a CTE, with new ids for its columns.
    pub(crate) fn cte_in_from(&mut self, at: usize, alias: Option<&ast::TableAlias>) -> BindResult<Source> {
        let within = self.boundaries.len();
        let Some(entry) = self.ctes.get_mut(at) else { return Err(self.internal("a query of WITH without a place")) };
        let in_expression = |boundaries: usize| {
            self.boundaries.get(boundaries..within).is_some_and(|inner| inner.iter().any(|one| one.in_expression))
        };
        let wrong = match &mut entry.state {
            CteState::Ready => None,
            CteState::Working { boundaries, .. } if in_expression(*boundaries) => {
                Some(RecursionError::Within { place: "a subquery" })
            }
            CteState::Working { is_read: is_read @ false, .. } => {
                *is_read = true;
                None
            }
            CteState::Working { .. } => Some(RecursionError::Twice),
            CteState::Own { is_union: true } => Some(RecursionError::Within { place: "its non-recursive term" }),
            CteState::Own { is_union: false } => Some(RecursionError::Form),
            CteState::NotYet => Some(RecursionError::Mutual),
        };
        if let Some(wrong) = wrong {
            let kind = BindErrorKind::Recursion { name: entry.name.clone(), wrong };
            return self.error(kind, Span::default());
        }
        let (id, name, columns) = (entry.id, entry.name.clone(), entry.columns.clone());
        // A reference to a CTE reads the outer columns that the CTE reads.
        for (scope, col) in entry.free.clone() {
            self.note_read(scope, col);
        }
        let mut cols = Vec::with_capacity(columns.len());
        let mut named = Vec::with_capacity(columns.len());
        for (name, of) in columns {
            let (nullable, origin) =
                self.cols.get(of.index()).map_or((true, None), |info| (info.nullable, info.origin));
            let own = self.new_col(ColInfo { name: name.clone(), ty: self.col_ty(of), nullable, origin })?;
            cols.push((of, own));
            named.push((name, own));
        }
        let shown = alias.map_or_else(|| name.clone(), |alias| fold(&alias.name));
        self.remember(&shown, Some(&name));
        self.refuse_lock(&shown, "a WITH query")?;
        let item = self.named_item(Some(&name), named, alias)?;
        Ok(Source { rel: Rel::CteScan { cte: id, cols }, items: vec![item], free: Vec::new() })
    }
}

/// Returns the sort keys of a query's rows.
fn keys_of(rel: &Rel) -> Option<&[Key]> {
    match rel {
        Rel::Sort { keys, .. } => Some(keys),
        Rel::Project { input, .. } => keys_of(input),
        _ => None,
    }
}

/// Returns LIMIT and OFFSET; `None` for a clause that PostgreSQL does not have.
fn bounds(query: &ast::Query) -> Option<(Option<&ast::Expr>, Option<&ast::Offset>)> {
    match &query.limit_clause {
        None => Some((None, None)),
        Some(ast::LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            Some((limit.as_ref(), offset.as_ref()))
        }
        Some(_) => None,
    }
}

/// Is it a query in parentheses without clauses of its own?
fn is_bare(query: &ast::Query) -> bool {
    query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none()
}

fn lift(value: &mut Scalar) {
    if let Kind::Col(col) = &mut value.kind {
        col.level = col.level.saturating_sub(1);
    }
    if let Kind::Subquery(subquery) = &mut value.kind {
        subquery.free.iter_mut().for_each(|col| col.level = col.level.saturating_sub(1));
    }
    value.each_operand_mut(&mut lift);
}
