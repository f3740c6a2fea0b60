//! Resolves names to columns: one scope at a time, the innermost first.

use super::table_oid::TABLE_OID;
use super::{ItemColumns, ScopeItem};
use crate::binder::Binder;
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::name::{fold, parts};
use crate::tree::{ColId, ColRef, Kind, Scalar, Span};
use sql::ast;

/// Indexes of a scope, an item and a column.
type Place = (usize, usize, usize);

impl Binder<'_> {
    /// Binds `a`.
    pub(crate) fn column(&mut self, ident: &ast::Ident) -> BindResult<Scalar> {
        let (name, span) = (fold(ident), self.span(ident.span));
        match self.find_column(&name, span)? {
            Some(place) => self.reference(place, span),
            None if name == TABLE_OID && self.owner_of_oid()?.is_some() => self.bare_table_oid(span),
            None if self.find_relation(&name).is_some() => self.unsupported("a whole row as a value"),
            None => Err(self.missing_column(&name, span)),
        }
    }

    /// Returns the columns of the relation of that name; `None` if the name is a column's or unknown.
    pub(crate) fn whole_row(&mut self, ident: &ast::Ident) -> BindResult<Option<Vec<Scalar>>> {
        let (name, span) = (fold(ident), self.span(ident.span));
        if self.find_column(&name, span)?.is_some() {
            return Ok(None);
        }
        let Some((scope, item_at)) = self.find_relation(&name) else { return Ok(None) };
        self.check_lateral(scope, item_at, span)?;
        let Some(item) = self.scopes.get(scope).and_then(|scope| scope.items.get(item_at)).cloned() else {
            return Ok(None);
        };
        let item = ScopeItem { qualified_only: Vec::new(), ..item };
        let columns = self.visible(std::slice::from_ref(&item));
        columns
            .iter()
            .map(|column| self.reference((scope, item_at, column.place.1), span))
            .collect::<BindResult<_>>()
            .map(Some)
    }

    /// Binds `t.a`, `s.t.a`.
    pub(crate) fn qualified_column(&mut self, idents: &[ast::Ident]) -> BindResult<Scalar> {
        let Some((last, qualifier)) = idents.split_last() else { return Err(self.internal("a name without words")) };
        let span = idents.iter().fold(Span::default(), |all, ident| all.with(self.span(ident.span)));
        let (scope, item) = self.relation_of(qualifier, span)?;
        let name = fold(last);
        match self.column_in(scope, item, &name, span)? {
            Some(at) => self.reference((scope, item, at), span),
            None if name == TABLE_OID && self.has_oid(scope, item) => self.table_oid(scope, item, span),
            None => {
                let relation = qualifier.last().map(fold);
                let found = self.scopes.get(scope).and_then(|scope| scope.items.get(item));
                match found {
                    Some(item) => Err(self.missing_column_of(item, relation, name, span)),
                    None => self.error(BindErrorKind::UndefinedColumn { relation, name }, span),
                }
            }
        }
    }

    /// Finds the relation that `t` or `s.t` refers to.
    pub(crate) fn relation_of(&mut self, qualifier: &[ast::Ident], span: Span) -> BindResult<(usize, usize)> {
        let names: Vec<String> = qualifier.iter().map(fold).collect();
        let found = match names.as_slice() {
            [name] => {
                self.check_relation_name(name, span)?;
                self.find_relation(name)
            }
            [schema, name] => self.find_table_of_schema(schema, name),
            [database, schema, name] => {
                self.check_database(database, &names.join("."), span)?;
                self.find_table_of_schema(schema, name)
            }
            _ => {
                let kind = BindErrorKind::DottedNames { what: "qualified", name: names.join(".") };
                return self.error(kind, span);
            }
        };
        let Some((scope, item)) = found else {
            let name = names.last().cloned().unwrap_or_default();
            return Err(self.missing_relation(&name, span));
        };
        self.check_lateral(scope, item, span)?;
        Ok((scope, item))
    }

    /// Finds the relation of a wildcard such as `t.*`.
    pub(crate) fn relation_named(&mut self, name: &ast::ObjectName, span: Span) -> BindResult<(usize, usize)> {
        match parts(name) {
            Some(idents) => {
                let idents: Vec<ast::Ident> = idents.into_iter().cloned().collect();
                self.relation_of(&idents, span)
            }
            None => self.unsupported("a computed name"),
        }
    }

    /// Finds an unqualified column. Two columns of one query are ambiguous.
    fn find_column(&self, name: &str, span: Span) -> BindResult<Option<Place>> {
        for (scope_at, scope) in self.scopes.iter().enumerate().rev() {
            let mut found: Option<Place> = None;
            for (item_at, item) in scope.items.iter().enumerate() {
                if item.pending && !scope.lateral {
                    continue;
                }
                for at in 0..self.width(item) {
                    if self.column_name(item, at) != Some(name) || item.qualified_only.contains(&at) {
                        continue;
                    }
                    if found.is_some() {
                        return self.error(BindErrorKind::AmbiguousColumn { name: name.to_owned() }, span);
                    }
                    found = Some((scope_at, item_at, at));
                }
            }
            if let Some((scope_at, item_at, _)) = found {
                self.check_lateral(scope_at, item_at, span)?;
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Is a column of that unqualified name in scope?
    pub(crate) fn has_column(&self, name: &str, span: Span) -> BindResult<bool> {
        Ok(self.find_column(name, span)?.is_some())
    }

    /// Does an unqualified name refer to a column of the innermost query? GROUP BY prefers such a column to an output.
    pub(crate) fn own_column(&self, name: &str, span: Span) -> BindResult<bool> {
        let own = self.scopes.len().saturating_sub(1);
        Ok(self.find_column(name, span)?.is_some_and(|(scope, ..)| scope == own))
    }

    /// Finds a column of a given relation.
    fn column_in(&self, scope: usize, item: usize, name: &str, span: Span) -> BindResult<Option<usize>> {
        let Some(item) = self.scopes.get(scope).and_then(|scope| scope.items.get(item)) else { return Ok(None) };
        let mut named = (0..self.width(item)).filter(|at| self.column_name(item, *at) == Some(name));
        match (named.next(), named.next()) {
            (_, Some(_)) => self.error(BindErrorKind::AmbiguousColumn { name: name.to_owned() }, span),
            (found, None) => Ok(found),
        }
    }

    /// Finds the innermost relation of that name.
    pub(crate) fn find_relation(&self, name: &str) -> Option<(usize, usize)> {
        self.find_item(|item| item.name.as_deref() == Some(name))
    }

    fn find_item(&self, is: impl Fn(&ScopeItem) -> bool) -> Option<(usize, usize)> {
        self.scopes.iter().enumerate().rev().find_map(|(scope_at, scope)| {
            let seen = |item: &ScopeItem| !item.pending || scope.lateral;
            let item = scope.items.iter().position(|item| seen(item) && is(item))?;
            Some((scope_at, item))
        })
    }

    fn find_table_of_schema(&self, schema: &str, name: &str) -> Option<(usize, usize)> {
        let found = self.relations.find(self.path.as_deref(), Some(schema), name)?;
        let oid = match found {
            crate::Found::Table(table) => table.oid,
            crate::Found::View(view) => view.oid,
            crate::Found::Computed(relation) if relation.oid != 0 => catalog::TableOid(relation.oid),
            crate::Found::Computed(_) | crate::Found::Other(_) => return None,
        };
        self.find_item(|item| item.table == Some(oid))
    }

    /// Checks that the name is unique: tables of two schemas can have the same name.
    fn check_relation_name(&self, name: &str, span: Span) -> BindResult<()> {
        for scope in self.scopes.iter().rev() {
            let seen = |item: &&ScopeItem| !item.pending || scope.lateral;
            match scope.items.iter().filter(seen).filter(|item| item.name.as_deref() == Some(name)).count() {
                0 => {}
                1 => return Ok(()),
                _ => return self.error(BindErrorKind::AmbiguousTable { name: name.to_owned() }, span),
            }
        }
        Ok(())
    }

    fn check_lateral(&self, scope: usize, item: usize, span: Span) -> BindResult<()> {
        let item = self.scopes.get(scope).and_then(|scope| scope.items.get(item));
        match item {
            Some(item) if item.pending && item.lateral_error => {
                let name = item.name.clone().unwrap_or_default();
                self.error(BindErrorKind::InvalidLateral { name }, span)
            }
            _ => Ok(()),
        }
    }

    /// Returns the column as an expression, and records that the subqueries in between read it as an outer column.
    pub(crate) fn reference(&mut self, place: Place, span: Span) -> BindResult<Scalar> {
        let (scope, item, at) = place;
        let item = self.scopes.get(scope).and_then(|scope| scope.items.get(item));
        let id = match item.map(|item| &item.columns) {
            Some(&ItemColumns::Table { rel, .. }) => self.table_col(rel, at)?,
            Some(ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. }) => match columns.get(at) {
                Some((_, id)) => *id,
                None => return Err(self.internal("a column that is out of range")),
            },
            None => return Err(self.internal("a column that is out of range")),
        };
        let level = self.level_of(scope)?;
        self.note_read(scope, id);
        Ok(Scalar { kind: Kind::Col(ColRef { id, level }), ty: self.col_ty(id), span })
    }

    /// Records that the subqueries between the current place and the column's scope read it as an outer column.
    pub(crate) fn note_read(&mut self, scope: usize, id: ColId) {
        for boundary in &mut self.boundaries {
            if let Some(own) = boundary.depth.checked_sub(scope + 1) {
                boundary.free.insert(id, u8::try_from(own).unwrap_or(u8::MAX));
            }
        }
    }

    pub(super) fn level_of(&self, scope: usize) -> BindResult<u8> {
        let level = self.scopes.len() - 1 - scope;
        u8::try_from(level).map_err(|_| BindError::new(BindErrorKind::TooManyColumns, Span::default()))
    }
}
