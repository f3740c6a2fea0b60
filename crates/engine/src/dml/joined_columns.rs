//! What RETURNING wants of the tables that FROM and USING join to the target.
//!
//! These values cannot be computed from the row that was written, so the row set brings them along: first the
//! columns that expressions name, then those of `*`.

use super::key_match::column_at;
use super::returning::is_target;
use super::row_exprs::JOINED;
use super::target::Target;
use crate::error::{EngineResult, Fault, fail};
use sql::ast::{
    self, Expr, Ident, ObjectName, ObjectNamePart, SelectItem, SelectItemQualifiedWildcardKind, TableFactor,
    TableWithJoins,
};
use std::ops::ControlFlow;

/// Columns of joined tables that RETURNING needs.
#[derive(Debug, Default)]
pub(crate) struct JoinedColumns {
    /// As expressions name them.
    pub(crate) exprs: Vec<Expr>,
    /// For the select list of the row set: those, and perhaps wildcards.
    pub(crate) items: Vec<SelectItem>,
}

impl JoinedColumns {
    pub(crate) fn find(
        target: &Target,
        alias: &str,
        returning: &[SelectItem],
        from: &[TableWithJoins],
    ) -> EngineResult<Self> {
        let mut found = Self::default();
        if from.is_empty() {
            return Ok(found);
        }
        let mut wildcards = Vec::new();
        for item in returning {
            match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    found.add_columns_of(target, alias, expr);
                }
                SelectItem::Wildcard(_) => wildcards.extend(relations(from)?),
                SelectItem::QualifiedWildcard(kind, _) if is_target(kind, alias) => {}
                other => wildcards.push(other.clone()),
            }
        }
        if returning.iter().filter(|item| is_joined_wildcard(item, alias)).count() > 1 {
            return fail(Fault::Unsupported { feature: "more than one * over joined tables in RETURNING".to_string() });
        }
        found.items = found.exprs.iter().enumerate().map(named).chain(wildcards).collect();
        Ok(found)
    }

    pub(crate) fn has_wildcard(&self) -> bool {
        self.items.len() > self.exprs.len()
    }

    /// The expression with its joined columns taken from the row that holds them.
    pub(crate) fn rewritten(&self, expr: &Expr) -> Expr {
        let mut expr = expr.clone();
        let _ = ast::visit_expressions_mut(&mut expr, |part| {
            if let Some(place) = self.exprs.iter().position(|known| known == part) {
                let names = [JOINED.to_string(), format!("x{place}")];
                *part = Expr::CompoundIdentifier(names.map(|name| Ident::with_quote('"', name)).to_vec());
            }
            ControlFlow::<()>::Continue(())
        });
        expr
    }

    fn add_columns_of(&mut self, target: &Target, alias: &str, expr: &Expr) {
        let _ = ast::visit_expressions(expr, |part| {
            let is_column = matches!(part, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
            if is_column && column_at(target, alias, part).is_none() && !self.exprs.contains(part) {
                self.exprs.push(part.clone());
            }
            ControlFlow::<()>::Continue(())
        });
    }
}

fn named((i, expr): (usize, &Expr)) -> SelectItem {
    SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::new(format!("x{i}")) }
}

fn is_joined_wildcard(item: &SelectItem, alias: &str) -> bool {
    match item {
        SelectItem::Wildcard(_) => true,
        SelectItem::QualifiedWildcard(kind, _) => !is_target(kind, alias),
        _ => false,
    }
}

/// `name.*` for each table of FROM.
fn relations(from: &[TableWithJoins]) -> EngineResult<Vec<SelectItem>> {
    let all = from
        .iter()
        .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
    all.map(|factor| {
        let name = match factor {
            TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
                Some(alias.name.clone())
            }
            TableFactor::Table { name, .. } => name.0.last().and_then(ObjectNamePart::as_ident).cloned(),
            _ => None,
        };
        match name {
            Some(name) => {
                let name = ObjectName(vec![ObjectNamePart::Identifier(name)]);
                let kind = SelectItemQualifiedWildcardKind::ObjectName(name);
                Ok(SelectItem::QualifiedWildcard(kind, Default::default()))
            }
            None => fail(Fault::Unsupported { feature: "RETURNING * over such a FROM".to_string() }),
        }
    })
    .collect()
}
