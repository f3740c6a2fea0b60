//! The output list: wildcards, and the names of columns.

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::name::fold;
use crate::scope::ScopeItem;
use crate::tree::{Scalar, Span};
use sql::ast;

impl Binder<'_> {
    pub(crate) fn outputs(&mut self, items: &[ast::SelectItem]) -> BindResult<Vec<(String, Scalar)>> {
        let mut outputs = Vec::with_capacity(items.len());
        for item in items {
            match item {
                ast::SelectItem::UnnamedExpr(expr) => {
                    let value = self.output_value(expr)?;
                    outputs.push((output_name(expr), value));
                }
                ast::SelectItem::ExprWithAlias { expr, alias } => {
                    let value = self.output_value(expr)?;
                    outputs.push((fold(alias), value));
                }
                ast::SelectItem::Wildcard(options) => {
                    let span = self.span(options.wildcard_token.0.span);
                    self.star(None, span, &mut outputs)?;
                }
                ast::SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    let span =
                        name.0.first().and_then(ast::ObjectNamePart::as_ident).map(|ident| self.span(ident.span));
                    let span = span.unwrap_or_default();
                    let place = self.relation_named(name, span)?;
                    self.star(Some(place), span, &mut outputs)?;
                }
                _ => return self.unsupported("this form of an item of SELECT"),
            }
        }
        Ok(outputs)
    }

    fn output_value(&mut self, expr: &ast::Expr) -> BindResult<Scalar> {
        let value = self.scalar(expr)?;
        match value.ty.id {
            builtins::TypeId::RECORD if !self.is_record(&value) => self.unsupported("a row as a column of a result"),
            _ => Ok(value),
        }
    }

    /// Expands `*` or `t.*`.
    fn star(
        &mut self,
        relation: Option<(usize, usize)>,
        span: Span,
        outputs: &mut Vec<(String, Scalar)>,
    ) -> BindResult<()> {
        let own = self.scopes.len() - 1;
        let (scope, items): (usize, Vec<ScopeItem>) = match relation {
            None => (own, self.scope().items.clone()),
            Some((scope, item)) => {
                // All columns of the relation, including those that USING merges.
                let item = self.scopes.get(scope).and_then(|scope| scope.items.get(item)).cloned();
                (scope, item.into_iter().map(|item| ScopeItem { qualified_only: Vec::new(), ..item }).collect())
            }
        };
        if items.is_empty() {
            return self.error(BindErrorKind::StarWithoutTables, span);
        }
        for column in self.visible(&items) {
            let item = relation.map_or(column.place.0, |(_, item)| item);
            let value = self.reference((scope, item, column.place.1), span)?;
            outputs.push((column.name, value));
        }
        Ok(())
    }
}

/// Returns PostgreSQL's name for an unnamed output.
fn output_name(expr: &ast::Expr) -> String {
    figure(expr).map_or_else(|| "?column?".to_owned(), |(name, _)| name)
}

/// Returns the name, and whether it is that of a column or function rather than a type.
fn figure(expr: &ast::Expr) -> Option<(String, bool)> {
    use ast::Expr as E;
    let strong = |name: &str| Some((name.to_owned(), true));
    match expr {
        E::Identifier(ident) => strong(&fold(ident)),
        E::CompoundIdentifier(idents) => idents.last().and_then(|ident| strong(&fold(ident))),
        E::Nested(inner) | E::Collate { expr: inner, .. } => figure(inner),
        E::Function(function) => match &function.args {
            ast::FunctionArguments::Subquery(_) => strong("array"),
            _ => function.name.0.last().and_then(ast::ObjectNamePart::as_ident).and_then(|ident| strong(&fold(ident))),
        },
        E::Cast { expr, data_type, .. } => {
            figure(expr).filter(|(_, strong)| *strong).or_else(|| Some((type_name(data_type)?, false)))
        }
        E::TypedString(typed) => Some((type_name(&typed.data_type)?, false)),
        E::Interval(_) => Some(("interval".to_owned(), false)),
        E::Case { else_result, .. } => {
            let of_else = else_result.as_deref().and_then(figure).filter(|(_, strong)| *strong);
            of_else.or_else(|| Some(("case".to_owned(), false)))
        }
        E::Exists { negated: false, .. } => strong("exists"),
        E::Subquery(query) => first_name(&query.body),
        E::Extract { .. } => strong("extract"),
        E::Position { .. } => strong("position"),
        E::Substring { shorthand: true, .. } => strong("substr"),
        E::Substring { .. } => strong("substring"),
        E::CompoundFieldAccess { root, access_chain } => {
            // The last field gives the name; subscripts have none.
            let field = access_chain.iter().rev().find_map(|access| match access {
                ast::AccessExpr::Dot(E::Identifier(ident)) => Some(fold(ident)),
                _ => None,
            });
            field.map_or_else(|| figure(root), |field| Some((field, true)))
        }
        E::Overlay { .. } => strong("overlay"),
        E::Trim { trim_where, .. } => strong(match trim_where {
            Some(ast::TrimWhereField::Leading) => "ltrim",
            Some(ast::TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        }),
        E::AtTimeZone { .. } => strong("timezone"),
        E::BinaryOp { op: ast::BinaryOperator::Overlaps, .. } => strong("overlaps"),
        E::Array(_) => strong("array"),
        E::Tuple(_) => strong("row"),
        _ => None,
    }
}

fn first_name(body: &ast::SetExpr) -> Option<(String, bool)> {
    match body {
        ast::SetExpr::Select(select) => match select.projection.first()? {
            ast::SelectItem::UnnamedExpr(expr) => figure(expr),
            ast::SelectItem::ExprWithAlias { alias, .. } => Some((fold(alias), true)),
            _ => None,
        },
        ast::SetExpr::Query(query) => first_name(&query.body),
        ast::SetExpr::SetOperation { left, .. } => first_name(left),
        ast::SetExpr::Values(_) => Some(("column1".to_owned(), true)),
        _ => None,
    }
}

/// Returns the name of a type in `pg_type`.
fn type_name(data_type: &ast::DataType) -> Option<String> {
    if let ast::DataType::Interval { .. } = data_type {
        return Some("interval".to_owned());
    }
    let oid = match crate::catalog_types::catalog_type(data_type) {
        Some(ty) => ty.id,
        None => builtins::Ty::of(&sql::data_type(data_type).ok()?).id,
    };
    let oid = oid.element().unwrap_or(oid);
    builtins::lists::PgType::by_oid(oid.0).map(|ty| ty.name.to_owned())
}
