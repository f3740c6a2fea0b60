//! Joins: ON, USING, NATURAL.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::{BindErrorKind, BindResult};
use crate::from::Source;
use crate::name::{fold, parts};
use crate::scope::{ItemColumns, Scope, ScopeItem, Visible};
use crate::tree::{ApplyKind, ColId, ColRef, JoinKind, Kind, Rel, Scalar, Span};
use sql::ast;
use std::collections::HashMap;

impl Binder<'_> {
    pub(crate) fn join(&mut self, left: Source, join: &ast::Join) -> BindResult<Source> {
        let Some((kind, constraint)) = join_kind(&join.join_operator) else {
            return self.unsupported("this kind of join");
        };
        let mut right = self.right_side(&left, kind, &join.relation)?;
        if kind == JoinKind::Left {
            self.assign_new_columns(&mut right, &left.items)?;
        }
        self.check_aliases(&left.items, &right.items)?;
        if matches!(kind, JoinKind::Left | JoinKind::Full) {
            self.make_nullable(&right.items);
        }
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            self.make_nullable(&left.items);
        }
        match constraint {
            ast::JoinConstraint::Using(columns) => {
                let (columns, alias) = split_alias(columns);
                let names = self.using_names(columns)?;
                self.join_using(kind, left, right, names, alias)
            }
            ast::JoinConstraint::Natural => {
                let names = self.natural_names(&left.items, &right.items);
                self.join_using(kind, left, right, names, None)
            }
            ast::JoinConstraint::On(condition) => {
                let on = self.join_condition(&left.items, &right.items, condition)?;
                Ok(self.joined(kind, left, right, on))
            }
            ast::JoinConstraint::None => Ok(self.joined(kind, left, right, Vec::new())),
        }
    }

    fn join_using(
        &mut self,
        kind: JoinKind,
        mut left: Source,
        mut right: Source,
        names: Vec<(String, Span)>,
        alias: Option<&ast::Ident>,
    ) -> BindResult<Source> {
        let (mut on, mut merged, mut exprs) = (Vec::new(), Vec::new(), Vec::new());
        for (name, span) in names {
            let (a, b) = (self.side(&mut left, &name, span, "left")?, self.side(&mut right, &name, span, "right")?);
            on.push(self.operator("=", Some(a.clone()), b.clone(), span)?);
            let value = self.merged(kind, a, b)?;
            let id = match value.kind {
                Kind::Col(col) => col.id,
                _ => {
                    let id = self.computed(&name, &value)?;
                    exprs.push((id, value));
                    id
                }
            };
            merged.push((name, id));
        }
        let mut source = self.joined(kind, left, right, on);
        let alias = alias.map(|alias| self.named_merged(fold(alias), &merged, &source.items)).transpose()?;
        source.items.insert(0, ScopeItem::new(None, None, ItemColumns::Named(merged)));
        source.items.extend(alias);
        if !exprs.is_empty() {
            source.rel = Rel::Project { input: Box::new(source.rel), exprs };
        }
        Ok(source)
    }

    /// Returns the scope item of `USING (…) AS alias`: the merged columns under an alias, beside the joined relations.
    fn named_merged(
        &mut self,
        name: String,
        merged: &[(String, ColId)],
        beside: &[ScopeItem],
    ) -> BindResult<ScopeItem> {
        self.refuse_lock(&name, "a join")?;
        self.remember(&name, None);
        // Unqualified names and `*` find the merged columns without the alias.
        let qualified_only = (0..merged.len()).collect();
        let item = ScopeItem::new(Some(name), None, ItemColumns::Named(merged.to_vec()));
        let item = ScopeItem { qualified_only, ..item };
        self.check_aliases(beside, std::slice::from_ref(&item))?;
        Ok(item)
    }

    /// Binds the right side, which may reference the left one laterally.
    fn right_side(&mut self, left: &Source, kind: JoinKind, factor: &ast::TableFactor) -> BindResult<Source> {
        let lateral_error = matches!(kind, JoinKind::Right | JoinKind::Full);
        let scope = self.scope();
        let before = scope.items.len();
        scope.items.extend(left.items.iter().cloned().map(|item| ScopeItem { lateral_error, ..item }));
        let right = self.table_factor(factor);
        self.scope().items.truncate(before);
        right
    }

    /// Gives new ids to columns from outside that the right side of a left join outputs, `LEFT JOIN LATERAL (SELECT
    /// a.v)`: these outputs are NULL where the right side has no row.
    fn assign_new_columns(&mut self, side: &mut Source, left: &[ScopeItem]) -> BindResult<()> {
        let mut exprs = Vec::new();
        let mut own = HashMap::new();
        for item in &mut side.items {
            let ItemColumns::Named(columns) = &mut item.columns else { continue };
            for (_, col) in columns {
                let Some(level) = self.level_outside(*col, left) else { continue };
                if !own.contains_key(col) {
                    let Some(info) = self.cols.get(col.index()).cloned() else { continue };
                    let value =
                        Scalar { kind: Kind::Col(ColRef { id: *col, level }), ty: info.ty, span: Span::default() };
                    let id = self.new_col(info)?;
                    exprs.push((id, value));
                    own.insert(*col, id);
                }
                if let Some(id) = own.get(col) {
                    *col = *id;
                }
            }
        }
        if !exprs.is_empty() {
            let input = std::mem::replace(&mut side.rel, Rel::OneRow);
            side.rel = Rel::Project { input: Box::new(input), exprs };
        }
        Ok(())
    }

    /// Returns how many query levels further out a column of `left` or of an enclosing query is, seen from a derived
    /// table.
    fn level_outside(&self, col: ColId, left: &[ScopeItem]) -> Option<u8> {
        if left.iter().any(|item| self.has_col(item, col)) {
            return Some(1);
        }
        let has = |scope: &Scope| scope.items.iter().any(|item| self.has_col(item, col));
        let out = self.scopes.iter().rev().position(has)?;
        u8::try_from(out + 1).ok()
    }

    /// Binds ON, whose scope is the two sides of the join.
    fn join_condition(
        &mut self,
        left: &[ScopeItem],
        right: &[ScopeItem],
        condition: &ast::Expr,
    ) -> BindResult<Vec<Scalar>> {
        let sides = left.iter().chain(right).cloned().map(|item| ScopeItem { pending: false, ..item }).collect();
        let before = std::mem::replace(&mut self.scope().items, sides);
        let bound = self.in_clause(Clause::JoinOn, |binder| binder.conditions(condition, "JOIN/ON"));
        self.scope().items = before;
        bound
    }

    fn joined(&mut self, kind: JoinKind, left: Source, right: Source, on: Vec<Scalar>) -> Source {
        let (of_left, further): (Vec<ColId>, Vec<ColId>) =
            right.free.iter().partition(|id| left.items.iter().any(|item| self.has_col(item, **id)));
        let (outer, inner) = (Box::new(left.rel), Box::new(right.rel));
        let rel = match of_left.is_empty() {
            true => Rel::Join { kind, left: outer, right: inner, on },
            false => {
                let kind = if kind == JoinKind::Left { ApplyKind::Left } else { ApplyKind::Inner };
                Rel::Apply { kind, outer, inner, on, free: of_left }
            }
        };
        let items = left.items.into_iter().chain(right.items).collect();
        Source { rel, items, free: left.free.into_iter().chain(further).collect() }
    }

    fn has_col(&self, item: &ScopeItem, id: ColId) -> bool {
        match &item.columns {
            ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => {
                columns.iter().any(|(_, col)| *col == id)
            }
            ItemColumns::Table { rel, .. } => {
                self.scans.get(rel.0 as usize).is_some_and(|scanned| scanned.ids.contains(&Some(id)))
            }
        }
    }

    /// Marks the columns of the nullable side of an outer join.
    fn make_nullable(&mut self, items: &[ScopeItem]) {
        for item in items {
            let ids: Vec<ColId> = match &item.columns {
                ItemColumns::Named(columns) | ItemColumns::Computed { columns, .. } => {
                    columns.iter().map(|(_, id)| *id).collect()
                }
                ItemColumns::Table { rel, .. } => match self.scans.get_mut(rel.0 as usize) {
                    Some(scanned) => {
                        scanned.nullable = true;
                        scanned.ids.iter().flatten().copied().collect()
                    }
                    None => Vec::new(),
                },
            };
            for id in ids {
                if let Some(info) = self.cols.get_mut(id.index()) {
                    info.nullable = true;
                }
            }
        }
    }

    fn using_names(&self, names: &[ast::ObjectName]) -> BindResult<Vec<(String, Span)>> {
        let mut found: Vec<(String, Span)> = Vec::new();
        for name in names {
            let Some([ident]) =
                parts(name).as_deref().map(<[_]>::to_vec).and_then(|idents| <[_; 1]>::try_from(idents).ok())
            else {
                return self.error(BindErrorKind::Syntax { message: "syntax error at or near \".\"" }, Span::default());
            };
            let (name, span) = (fold(ident), self.span(ident.span));
            if found.iter().any(|(other, _)| *other == name) {
                return self.error(BindErrorKind::RepeatedUsing { name }, Span::default());
            }
            found.push((name, span));
        }
        Ok(found)
    }

    fn natural_names(&self, left: &[ScopeItem], right: &[ScopeItem]) -> Vec<(String, Span)> {
        let theirs: Vec<String> = self.visible(right).into_iter().map(|column| column.name).collect();
        let mut names: Vec<(String, Span)> = Vec::new();
        for Visible { name, .. } in self.visible(left) {
            if theirs.contains(&name) && !names.iter().any(|(other, _)| *other == name) {
                names.push((name, Span::default()));
            }
        }
        names
    }

    /// Returns the USING column of one side. From now on only a qualified name reaches it there.
    fn side(&mut self, source: &mut Source, name: &str, span: Span, side: &'static str) -> BindResult<Scalar> {
        let named: Vec<Visible> =
            self.visible(&source.items).into_iter().filter(|column| column.name == name).collect();
        let place = match named.as_slice() {
            [] => return self.error(BindErrorKind::UndefinedUsing { name: name.to_owned(), side }, span),
            [one] => one.place,
            _ => return self.error(BindErrorKind::AmbiguousUsing { name: name.to_owned(), side }, span),
        };
        let Some(item) = source.items.get_mut(place.0) else {
            return Err(self.internal("a column of USING without a place"));
        };
        item.qualified_only.push(place.1);
        let id = self.item_col(&item.columns, place.1)?;
        Ok(Scalar { kind: Kind::Col(ColRef { id, level: 0 }), ty: self.col_ty(id), span })
    }

    /// Returns the merged column of a USING pair, of the common type.
    fn merged(&mut self, kind: JoinKind, left: Scalar, right: Scalar) -> BindResult<Scalar> {
        let mut sides = vec![left, right];
        let ty = self.unify(&mut sides, "JOIN/USING")?;
        let is_plain = |side: &Scalar| matches!(side.kind, Kind::Col(_));
        let span = Span::default();
        let [left, right] =
            <[Scalar; 2]>::try_from(sides).map_err(|_| self.internal("a pair of columns that is none"))?;
        Ok(match kind {
            JoinKind::Full => Scalar { kind: Kind::Coalesce(vec![left, right]), ty, span },
            JoinKind::Right => right,
            JoinKind::Inner if !is_plain(&left) && is_plain(&right) => right,
            _ => left,
        })
    }
}

/// Splits the columns of USING from the alias that the lexer appends to them.
fn split_alias(columns: &[ast::ObjectName]) -> (&[ast::ObjectName], Option<&ast::Ident>) {
    let Some((last, before)) = columns.split_last() else { return (columns, None) };
    match parts(last).as_deref() {
        Some([marker, alias]) if marker.value == sql::JOIN_ALIAS && !before.is_empty() => (before, Some(alias)),
        _ => (columns, None),
    }
}

pub(crate) fn join_kind(operator: &ast::JoinOperator) -> Option<(JoinKind, &ast::JoinConstraint)> {
    use ast::JoinOperator as J;
    Some(match operator {
        J::Join(on) | J::Inner(on) | J::CrossJoin(on) => (JoinKind::Inner, on),
        J::Left(on) | J::LeftOuter(on) => (JoinKind::Left, on),
        J::Right(on) | J::RightOuter(on) => (JoinKind::Right, on),
        J::FullOuter(on) => (JoinKind::Full, on),
        _ => return None,
    })
}
