//! INSERT and UPSERT.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindErrorKind, BindResult};
use crate::select::holds_subquery;
use crate::tree::{Body, Insert, InsertSource, Kind, NewValue, OnConflict, Output, Query, Rel, Span, Target};
use builtins::{Ty, TypeId};
use catalog::{Identity, Table};
use sql::{ColumnName, ConflictAction, ConflictTarget, InsertValue, OnDuplicate, Overriding, ast};
use std::sync::Arc;

impl Binder<'_> {
    pub(crate) fn statement_insert(&mut self, insert: &sql::Insert) -> BindResult<Body> {
        let before = self.ctes.len();
        if let Some(with) = &insert.with {
            self.with(with)?;
        }
        let bound = self.insert_with_ctes(insert);
        self.ctes.truncate(before);
        bound
    }

    fn insert_with_ctes(&mut self, insert: &sql::Insert) -> BindResult<Body> {
        let target = self.written_target(&insert.table)?;
        let table = Arc::clone(&target.table);
        let name = insert.alias.as_deref().unwrap_or(&table.name);
        let (mut columns, mut source) = self.insert_source(&table, insert)?;
        if let (Some(Overriding::User), InsertSource::Query(query)) = (insert.overriding, &mut source) {
            drop_identity_columns(&table, &mut columns, &mut query.outputs);
        }
        self.identity_columns(&table, insert.overriding, &columns, &mut source)?;
        let mut defaults = self.insert_defaults(&table, &columns, &source)?;
        self.order_sequences(&table, &source, &mut defaults)?;
        let action = self.on_conflict(&target, name, insert, &columns)?;
        let item = Self::row_item(&table, target.written.rel, name, insert.alias.is_none());
        let returning = self.over_items(vec![item], Clause::Returning, |binder| binder.returning(&insert.returning))?;
        let ctes = std::mem::take(&mut self.cte_bodies);
        Ok(Body::Insert(Box::new(Insert { target, columns, source, defaults, action, returning, ctes })))
    }

    fn insert_source(&mut self, table: &Table, insert: &sql::Insert) -> BindResult<(Vec<usize>, InsertSource)> {
        let named = insert.columns.as_deref();
        match &insert.source {
            sql::InsertSource::DefaultValues => Ok((Vec::new(), InsertSource::Rows(vec![Vec::new()]))),
            sql::InsertSource::Values(rows) => {
                let columns = self.insert_columns(table, named, rows.first().map_or(0, Vec::len))?;
                let bound = self.over_items(Vec::new(), Clause::Values, |binder| {
                    rows.iter().map(|row| binder.values_row(table, named, &columns, row)).collect()
                })?;
                Ok((columns, InsertSource::Rows(bound)))
            }
            sql::InsertSource::Query(query) => {
                let (columns, mut query) = self.insert_query(table, named, query)?;
                // Those of the statement serve ON CONFLICT and RETURNING too.
                query.ctes = match &insert.with {
                    Some(_) => self.cte_bodies.clone(),
                    None => std::mem::take(&mut self.cte_bodies),
                };
                Ok((columns, InsertSource::Query(Box::new(query))))
            }
        }
    }

    /// Binds a row of VALUES.
    fn values_row(
        &mut self,
        table: &Table,
        named: Option<&[ColumnName]>,
        columns: &[usize],
        row: &[InsertValue],
    ) -> BindResult<Vec<NewValue>> {
        self.insert_width(named, columns, row.len(), |binder| match row.get(columns.len()) {
            Some(InsertValue::Expr(expr)) => binder.scalar(expr).map(|value| value.span).unwrap_or_default(),
            _ => Span::default(),
        })?;
        let given = columns.iter().zip(row).filter(|(_, value)| matches!(value, InsertValue::Expr(_)));
        self.refuse_generated(table, given.map(|(at, _)| *at))?;
        let mut values = Vec::with_capacity(row.len());
        for (at, value) in columns.iter().zip(row) {
            values.push(match (value, table.columns.get(*at)) {
                (InsertValue::Expr(expr), Some(column)) => {
                    let value = self.scalar(expr)?;
                    NewValue::Expr(self.assigned(column, value)?)
                }
                _ => NewValue::Default,
            });
        }
        Ok(values)
    }

    /// Binds INSERT … SELECT, without its CTEs: untyped outputs take the type of their target column.
    fn insert_query(
        &mut self,
        table: &Table,
        named: Option<&[ColumnName]>,
        query: &ast::Query,
    ) -> BindResult<(Vec<usize>, Query)> {
        let selected = self.query(query, true)?;
        let columns = self.insert_columns(table, named, selected.outputs.len())?;
        let extra = selected.outputs.get(columns.len()).map(|(_, value)| value.span).unwrap_or_default();
        self.insert_width(named, &columns, selected.outputs.len(), |_| extra)?;
        self.refuse_generated(table, columns.iter().copied())?;
        let (mut rel, mut exprs, mut outputs) = (selected.rel, Vec::new(), Vec::with_capacity(columns.len()));
        let literals = text_constants(query);
        for ((at, (name, mut value)), literal) in columns.iter().zip(selected.outputs).zip(literals) {
            let Some(column) = table.columns.get(*at) else {
                return Err(self.internal("a column that is out of range"));
            };
            if literal && value.ty.id == TypeId::TEXT {
                // A literal that is a sort key is a column by now, and stays text.
                if matches!(value.kind, Kind::Const(_)) {
                    value.ty = Ty::UNKNOWN;
                }
            }
            let value = self.assigned(column, value)?;
            let col = self.column_of(&name, &value, &mut exprs)?;
            outputs.push(Output { col, name });
        }
        if !exprs.is_empty() {
            rel = Rel::Project { input: Box::new(rel), exprs };
        }
        Ok((columns, Query { ctes: Vec::new(), rel, outputs }))
    }

    /// Returns the columns that a source of that width fills.
    fn insert_columns(&self, table: &Table, named: Option<&[ColumnName]>, width: usize) -> BindResult<Vec<usize>> {
        let Some(named) = named else {
            let visible = table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
            return Ok(visible.map(|(at, _)| at).take(width).collect());
        };
        let mut columns = Vec::with_capacity(named.len());
        for name in named {
            let at = self.target_column(table, name)?;
            if columns.contains(&at) {
                return self.error(BindErrorKind::ColumnTwice { column: name.name.clone() }, self.span(name.place.0));
            }
            columns.push(at);
        }
        Ok(columns)
    }

    /// Checks the number of values against the columns. `extra` returns the position of the first value without a
    /// column.
    fn insert_width(
        &mut self,
        named: Option<&[ColumnName]>,
        columns: &[usize],
        width: usize,
        extra: impl FnOnce(&mut Self) -> Span,
    ) -> BindResult<()> {
        let (more, fewer, span) = match named {
            _ if width > columns.len() => ("expressions", "target columns", extra(self)),
            Some(named) if width < columns.len() => {
                let span = named.get(width).map(|name| self.span(name.place.0)).unwrap_or_default();
                ("target columns", "expressions", span)
            }
            _ => return Ok(()),
        };
        self.error(BindErrorKind::InsertWidth { more, fewer }, span)
    }

    /// Refuses values other than DEFAULT for generated columns.
    fn refuse_generated(&self, table: &Table, mut given: impl Iterator<Item = usize>) -> BindResult<()> {
        let generated = given.find_map(|at| table.columns.get(at).filter(|column| column.generated.is_some()));
        match generated {
            None => Ok(()),
            Some(column) => {
                let kind = BindErrorKind::GivenAlways { column: column.name.clone(), generated: true };
                self.error(kind, Span::default())
            }
        }
    }

    /// Refuses values for GENERATED ALWAYS AS IDENTITY columns, unless OVERRIDING allows them.
    fn identity_columns(
        &self,
        table: &Table,
        overriding: Option<Overriding>,
        columns: &[usize],
        source: &mut InsertSource,
    ) -> BindResult<()> {
        for (place, at) in columns.iter().enumerate() {
            let Some(column) = table.columns.get(*at) else { continue };
            let Some(identity) = column.identity else { continue };
            let given = match (overriding, identity, &mut *source) {
                (Some(Overriding::System), ..) | (None, Identity::ByDefault, _) => false,
                // `drop_identity_columns` has dropped the identity columns.
                (Some(Overriding::User), _, InsertSource::Query(_)) => false,
                (Some(Overriding::User), _, InsertSource::Rows(rows)) => {
                    rows.iter_mut().filter_map(|row| row.get_mut(place)).for_each(|value| *value = NewValue::Default);
                    false
                }
                (None, Identity::Always, InsertSource::Query(_)) => true,
                (None, Identity::Always, InsertSource::Rows(rows)) => {
                    rows.iter().filter_map(|row| row.get(place)).any(|value| !matches!(value, NewValue::Default))
                }
            };
            if given {
                let kind = BindErrorKind::GivenAlways { column: column.name.clone(), generated: false };
                let hint = "Use OVERRIDING SYSTEM VALUE to override.";
                return self.error(kind, Span::default()).map_err(|error| error.with_hint(hint));
            }
        }
        Ok(())
    }

    /// Binds the defaults of the columns that the source omits or sets to DEFAULT.
    fn insert_defaults(
        &mut self,
        table: &Table,
        columns: &[usize],
        source: &InsertSource,
    ) -> BindResult<Vec<(usize, NewValue)>> {
        let mut defaults = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            let wanted = match (columns.iter().position(|given| *given == at), source) {
                (None, _) => !column.hidden && (column.default.is_some() || column.sequence.is_some()),
                (Some(place), InsertSource::Rows(rows)) => {
                    rows.iter().any(|row| matches!(row.get(place), Some(NewValue::Default)))
                }
                (Some(_), InsertSource::Query(_)) => false,
            };
            if wanted {
                defaults.push((at, self.default_of(column)?));
            }
        }
        Ok(defaults)
    }

    fn on_conflict(
        &mut self,
        target: &Target,
        name: &str,
        insert: &sql::Insert,
        columns: &[usize],
    ) -> BindResult<OnConflict> {
        let table = &target.table;
        let alone = insert.alias.is_none();
        let old = || Self::row_item(table, target.old.rel, name, alone);
        match (&insert.on_conflict, &insert.on_duplicate) {
            (None, None) if insert.upsert => {
                let given =
                    |at: usize| table.columns.get(at).is_some_and(|column| column.hidden) || columns.contains(&at);
                Ok(match (0..table.columns.len()).all(given) {
                    true => OnConflict::Replace,
                    false => OnConflict::Overwrite(columns.to_vec()),
                })
            }
            (None, None) => Ok(OnConflict::Refuse),
            (_, Some(OnDuplicate::Ignore)) => Ok(OnConflict::Keep),
            (_, Some(OnDuplicate::Update(list))) => {
                let set = self.over_items(vec![old()], Clause::Update, |binder| binder.assignments(table, list))?;
                Ok(OnConflict::Update { set, filter: Vec::new(), once: false })
            }
            (Some(conflict), None) => {
                if let Some(ConflictTarget::Columns { predicate: Some(predicate), .. }) = &conflict.target {
                    self.index_predicate(old(), predicate)?;
                }
                let ConflictAction::DoUpdate { assignments, selection } = &conflict.action else {
                    return Ok(OnConflict::Keep);
                };
                let excluded = Self::row_item(table, target.excluded.rel, "excluded", false);
                let items = vec![old(), excluded];
                self.check_aliases(items.get(..1).unwrap_or_default(), items.get(1..).unwrap_or_default())?;
                let (set, filter) = self.over_items(items, Clause::Update, |binder| {
                    let set = binder.assignments(table, assignments)?;
                    let filter = match selection {
                        Some(condition) => {
                            binder.in_clause(Clause::Where, |binder| binder.conditions(condition, "WHERE"))?
                        }
                        None => Vec::new(),
                    };
                    Ok((set, filter))
                })?;
                Ok(OnConflict::Update { set, filter, once: true })
            }
        }
    }

    /// Binds the predicate of `ON CONFLICT (k) WHERE …` to check it. The arbiter index is inferred where indexes are
    /// known.
    fn index_predicate(&mut self, item: crate::scope::ScopeItem, predicate: &ast::Expr) -> BindResult<()> {
        let bound = self.over_items(vec![item], Clause::IndexPredicate, |binder| binder.scalar(predicate))?;
        match holds_subquery(&bound) {
            true => {
                let message = "cannot use subquery in index predicate";
                self.error(BindErrorKind::NotSupported { message }, Span::default())
            }
            false => Ok(()),
        }
    }
}

/// Drops identity columns from a query's outputs: OVERRIDING USER VALUE ignores their values.
fn drop_identity_columns(table: &Table, columns: &mut Vec<usize>, outputs: &mut Vec<Output>) {
    let is_identity = |at: &usize| table.columns.get(*at).is_some_and(|column| column.identity.is_some());
    let mut kept = columns.iter().map(|at| !is_identity(at)).collect::<Vec<_>>().into_iter();
    outputs.retain(|_| kept.next().unwrap_or(true));
    columns.retain(|at| !is_identity(at));
}

/// Returns which outputs of a query are text literals, whose type is unknown.
fn text_constants(query: &ast::Query) -> impl Iterator<Item = bool> + use<> {
    let is_text = |expr: &ast::Expr| match expr {
        ast::Expr::Value(value) => {
            matches!(value.value, ast::Value::SingleQuotedString(_) | ast::Value::EscapedStringLiteral(_))
        }
        _ => false,
    };
    let constants: Option<Vec<bool>> = match query.body.as_ref() {
        ast::SetExpr::Select(select) => {
            let items = select.projection.iter().map(|item| match item {
                ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => Some(is_text(expr)),
                // Positions after a wildcard are not known.
                _ => None,
            });
            items.collect()
        }
        ast::SetExpr::Values(values) => values.rows.first().map(|first| {
            let all = |at: usize| values.rows.iter().all(|row| row.content.get(at).is_some_and(is_text));
            (0..first.content.len()).map(all).collect()
        }),
        _ => None,
    };
    constants.unwrap_or_default().into_iter().chain(std::iter::repeat(false))
}
