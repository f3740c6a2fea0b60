//! FROM: tables, views, derived tables and CTEs.

use crate::binder::Binder;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::join::join_kind;
use crate::name::{fold, parts};
use crate::query::Rows;
use crate::relations::Found;
use crate::scope::{Boundary, ItemColumns, ScopeItem};
use crate::tree::{ApplyKind, CastContext, ColId, ColRef, JoinKind, Kind, Rel, Scalar, Span};
use builtins::Ty;
use catalog::{Column, Table, View};
use sql::ast;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An item of FROM.
pub(crate) struct Source {
    pub(crate) rel: Rel,
    pub(crate) items: Vec<ScopeItem>,
    /// Columns of items on its left that it references.
    pub(crate) free: Vec<ColId>,
}

impl Binder<'_> {
    /// Returns the rows of FROM, and adds its items to the innermost scope.
    pub(crate) fn from(&mut self, tables: &[ast::TableWithJoins]) -> BindResult<Rel> {
        let mut all: Option<Rel> = None;
        for table in tables {
            let source = self.joined_tables(table)?;
            self.check_aliases(self.scopes.last().map_or(&[][..], |scope| &scope.items), &source.items)?;
            let Source { rel, items, free } = source;
            self.scope().items.extend(items);
            all = Some(match all {
                None => rel,
                Some(left) => cross(left, rel, free),
            });
        }
        for item in &mut self.scope().items {
            (item.pending, item.lateral_error) = (false, false);
        }
        Ok(all.unwrap_or(Rel::OneRow))
    }

    pub(crate) fn joined_tables(&mut self, table: &ast::TableWithJoins) -> BindResult<Source> {
        let left = self.locked.len();
        let mut source = self.table_factor(&table.relation)?;
        for join in &table.joins {
            let right = self.locked.len();
            source = self.join(source, join)?;
            if let Some((kind, _)) = join_kind(&join.join_operator) {
                self.refuse_nullable_locks(kind, left, right)?;
            }
        }
        Ok(source)
    }

    pub(crate) fn table_factor(&mut self, factor: &ast::TableFactor) -> BindResult<Source> {
        match factor {
            ast::TableFactor::Table { name, alias, args: None, .. } => self.named_relation(name, alias.as_ref()),
            ast::TableFactor::Derived { lateral, subquery, alias, .. } => {
                self.derived_table(*lateral, subquery, alias.as_ref())
            }
            ast::TableFactor::NestedJoin { table_with_joins, alias: None } => self.joined_tables(table_with_joins),
            ast::TableFactor::Table { name, args: Some(args), with_ordinality, alias, .. } => {
                self.function_in_from(name, &args.args, *with_ordinality, alias.as_ref())
            }
            ast::TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_ordinality, .. } => {
                self.unnest_in_from(array_exprs, *with_ordinality, alias.as_ref())
            }
            ast::TableFactor::Function { name, args, with_ordinality, alias, .. } => {
                match unnested_arrays(name, args) {
                    Some(arrays) => self.unnest_in_from(&arrays, *with_ordinality, alias.as_ref()),
                    None => self.function_in_from(name, args, *with_ordinality, alias.as_ref()),
                }
            }
            ast::TableFactor::NestedJoin { table_with_joins, alias: Some(alias) } => {
                let source = self.joined_tables(table_with_joins)?;
                self.named_join(source, alias)
            }
            _ => Err(self.internal("an item of FROM that the parser refuses")),
        }
    }

    /// Binds a name in FROM: a table, a view or a CTE.
    fn named_relation(&mut self, name: &ast::ObjectName, alias: Option<&ast::TableAlias>) -> BindResult<Source> {
        let Some(idents) = parts(name) else { return self.unsupported("a computed name in FROM") };
        let names: Vec<String> = idents.iter().map(|ident| fold(ident)).collect();
        let span = idents.iter().fold(Span::default(), |all, ident| all.with(self.span(ident.span)));
        let (schema, bare) = match names.as_slice() {
            [bare] => {
                if let Some(at) = self.ctes.iter().rposition(|cte| cte.name == *bare) {
                    return self.cte_in_from(at, alias);
                }
                (None, bare)
            }
            [schema, bare] => (Some(schema.as_str()), bare),
            [database, schema, bare] => {
                self.check_database(database, &names.join("."), span)?;
                (Some(schema.as_str()), bare)
            }
            _ => {
                let kind = BindErrorKind::DottedNames { what: "relation", name: names.join(".") };
                return self.error(kind, span);
            }
        };
        let found = self.find_in_path(schema, bare);
        self.note_name(found.as_ref(), span);
        match found {
            Some(Found::Table(table)) => self.table_in_from(table, alias),
            Some(Found::View(view)) => self.view_in_from(&view, alias),
            Some(Found::Computed(relation)) => self.computed_in_from(relation, alias),
            Some(Found::Other(what)) => self.unsupported(what),
            None => Err(self.missing_table(&names, span)),
        }
    }

    fn table_in_from(&mut self, table: Arc<Table>, alias: Option<&ast::TableAlias>) -> BindResult<Source> {
        let name = alias.map_or_else(|| table.name.clone(), |alias| fold(&alias.name));
        let given = alias.map_or(&[][..], |alias| &alias.columns);
        let available = table.visible_columns().count();
        self.check_renamed(&name, available, given.len())?;
        let renamed = renamed(&table, given);
        self.remember(&name, Some(&table.name));
        let oid = alias.is_none().then_some(table.oid);
        self.needs.relations.entry(table.oid).or_default().direct |= self.view_depth == 0;
        let rel = self.new_rel(Arc::clone(&table));
        self.lock_table(&name, &table, rel)?;
        let item = ScopeItem::new(Some(name), oid, ItemColumns::Table { rel, renamed });
        // The columns in use are known at the end of the statement.
        let rel = Rel::Scan { table, rel, cols: Vec::new() };
        Ok(Source { rel, items: vec![item], free: Vec::new() })
    }

    /// Binds a view as a derived table of its stored query.
    fn view_in_from(&mut self, view: &View, alias: Option<&ast::TableAlias>) -> BindResult<Source> {
        let Ok(query) = sql::parse_query(&view.query) else { return Err(self.internal("a view that is no query")) };
        let shown = alias.map_or_else(|| view.name.clone(), |alias| fold(&alias.name));
        self.lock_within(&shown, &query)?;
        let rows = self.within_view(view, |binder| binder.subquery_rows(&query))?;
        let rows = self.cast_to_definition(view, rows)?;
        let rows = self.with_column_per_output(rows)?;
        self.needs.relations.entry(view.oid).or_default().direct |= self.view_depth == 0;
        // The columns belong to this reference to the view alone.
        for (number, (_, id)) in (1_i16..).zip(&rows.outputs) {
            if let Some(info) = self.cols.get_mut(id.index()) {
                info.origin = Some((view.oid, number));
            }
        }
        let columns = view.columns.iter().map(|column| column.name.clone());
        let columns = columns.zip(rows.outputs.iter().map(|(_, id)| *id)).collect();
        self.remember(&shown, Some(&view.name));
        let mut item = self.named_item(Some(&view.name), columns, alias)?;
        item.table = alias.is_none().then_some(view.oid);
        Ok(Source { rel: rows.rel, items: vec![item], free: Vec::new() })
    }

    /// Returns the columns of the view's definition, cast to the types recorded there: a `*` in the stored query may
    /// expand to more columns by now, and a catalog's column may have another type.
    fn cast_to_definition(&mut self, view: &View, rows: Rows) -> BindResult<Rows> {
        let by_place = rows.outputs.len() == view.columns.len();
        let (mut outputs, mut exprs) = (Vec::with_capacity(view.columns.len()), Vec::new());
        for (at, column) in view.columns.iter().enumerate() {
            let fits = |(place, (name, _)): &(usize, &(String, ColId))| match by_place {
                true => *place == at,
                false => *name == column.name,
            };
            let Some((_, (name, id))) = rows.outputs.iter().enumerate().find(fits) else {
                return Err(self.internal(format!("view {} lost its column {}", view.name, column.name)));
            };
            let (ty, told) = (self.col_ty(*id), Ty::of(&column.ty));
            // A view records the types of result columns, which differ from the types of some catalogs' columns.
            if ty.answer_type().is_some_and(|ty| Ty::of(&ty).id == told.id) {
                outputs.push((name.clone(), *id));
                continue;
            }
            let kind = Kind::Col(ColRef { id: *id, level: 0 });
            let value = Scalar { kind, ty, span: Span::default() };
            let value = self.coerce(value, Ty::plain(told.id), CastContext::Explicit)?;
            let col = self.computed(name, &value)?;
            exprs.push((col, value));
            outputs.push((name.clone(), col));
        }
        let rel = match exprs.is_empty() {
            true => rows.rel,
            false => Rel::Project { input: Box::new(rows.rel), exprs },
        };
        Ok(Rows { rel, outputs })
    }

    /// Binds `(a JOIN b ON …) AS j`: the columns of both sides under one name, which hides the names of the sides.
    fn named_join(&mut self, source: Source, alias: &ast::TableAlias) -> BindResult<Source> {
        let mut columns = Vec::new();
        for column in self.visible(&source.items) {
            if let Some(item) = source.items.get(column.place.0) {
                columns.push((column.name, self.item_col(&item.columns, column.place.1)?));
            }
        }
        let name = fold(&alias.name);
        self.refuse_lock(&name, "a join")?;
        self.remember(&name, None);
        let item = self.named_item(None, columns, Some(alias))?;
        Ok(Source { rel: source.rel, items: vec![item], free: source.free })
    }

    fn derived_table(
        &mut self,
        lateral: bool,
        query: &ast::Query,
        alias: Option<&ast::TableAlias>,
    ) -> BindResult<Source> {
        self.lock_within(&alias.map(|alias| fold(&alias.name)).unwrap_or_default(), query)?;
        let (rows, free) = self.beside(lateral, |binder| binder.subquery_rows(query))?;
        let rows = self.with_column_per_output(rows)?;
        if let Some(alias) = alias {
            self.remember(&fold(&alias.name), None);
        }
        let item = self.named_item(None, rows.outputs, alias)?;
        Ok(Source { rel: rows.rel, items: vec![item], free })
    }

    /// Gives each output a column of its own: grouping sets tell two names of one column apart.
    fn with_column_per_output(&mut self, rows: Rows) -> BindResult<Rows> {
        let mut seen = BTreeSet::new();
        let (mut outputs, mut exprs) = (Vec::with_capacity(rows.outputs.len()), Vec::new());
        for (name, id) in rows.outputs {
            if seen.insert(id) {
                outputs.push((name, id));
                continue;
            }
            let value = Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty: self.col_ty(id), span: Span::default() };
            let col = self.computed(&name, &value)?;
            exprs.push((col, value));
            outputs.push((name, col));
        }
        let rel = match exprs.is_empty() {
            true => rows.rel,
            false => Rel::Project { input: Box::new(rows.rel), exprs },
        };
        Ok(Rows { rel, outputs })
    }

    /// Binds an item of FROM, which may reference the items on its left if `lateral`. Also returns the referenced
    /// columns.
    pub(crate) fn beside<T>(
        &mut self,
        lateral: bool,
        bind: impl FnOnce(&mut Self) -> BindResult<T>,
    ) -> BindResult<(T, Vec<ColId>)> {
        let before = std::mem::replace(&mut self.scope().lateral, lateral);
        self.boundaries.push(Boundary { depth: self.scopes.len(), free: BTreeMap::new(), in_expression: false });
        let bound = bind(self);
        let free = self.boundaries.pop().map(|boundary| boundary.free).unwrap_or_default();
        self.scope().lateral = before;
        let own = free.into_iter().filter(|(_, level)| *level == 0).map(|(id, _)| id);
        Ok((bound?, own.collect()))
    }

    /// Returns a scope item over existing columns, with the names of its alias.
    pub(crate) fn named_item(
        &mut self,
        own: Option<&str>,
        mut columns: Vec<(String, ColId)>,
        alias: Option<&ast::TableAlias>,
    ) -> BindResult<ScopeItem> {
        let name = alias.map(|alias| fold(&alias.name)).or_else(|| own.map(str::to_owned));
        if let Some(alias) = alias {
            self.check_renamed(name.as_deref().unwrap_or_default(), columns.len(), alias.columns.len())?;
            for (column, new) in columns.iter_mut().zip(&alias.columns) {
                column.0 = fold(&new.name);
            }
        }
        Ok(ScopeItem::new(name, None, ItemColumns::Named(columns)))
    }

    pub(crate) fn check_renamed(&self, name: &str, available: usize, specified: usize) -> BindResult<()> {
        match specified > available {
            true => {
                let kind = BindErrorKind::TooManyAliases { name: name.to_owned(), available, specified };
                Err(BindError::new(kind, Span::default()))
            }
            false => Ok(()),
        }
    }
}

/// Returns the names of the table's first columns. An alias renames visible columns only.
fn renamed(table: &Table, given: &[ast::TableAliasColumnDef]) -> Vec<String> {
    let mut given = given.iter().map(|column| fold(&column.name));
    let name = |column: &Column| if column.hidden { Some(column.name.clone()) } else { given.next() };
    table.columns.iter().map_while(name).collect()
}

/// Combines two FROM items with a cross join, or with an apply if the right one references the left one.
pub(crate) fn cross(left: Rel, right: Rel, free: Vec<ColId>) -> Rel {
    let (outer, inner) = (Box::new(left), Box::new(right));
    match free.is_empty() {
        true => Rel::Join { kind: JoinKind::Inner, left: outer, right: inner, on: Vec::new() },
        false => Rel::Apply { kind: ApplyKind::Inner, outer, inner, on: Vec::new(), free },
    }
}

/// Returns the arrays of `LATERAL unnest(a, b)`.
fn unnested_arrays(name: &ast::ObjectName, args: &[ast::FunctionArg]) -> Option<Vec<ast::Expr>> {
    let idents = parts(name)?;
    let (last, schema) = idents.split_last()?;
    let is_unnest = fold(last) == "unnest" && schema.iter().all(|schema| fold(schema) == "pg_catalog");
    let plain = |arg: &ast::FunctionArg| match arg {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    if is_unnest && schema.len() <= 1 { args.iter().map(plain).collect() } else { None }
}
