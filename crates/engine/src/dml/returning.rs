//! RETURNING: what a writing statement answers for each row that it wrote.

use super::joined_columns::JoinedColumns;
use super::key_match::{column_at, folded};
use super::params::ParamTypes;
use super::row_exprs::{Exprs, Scope, Second, has_subquery};
use super::target::Target;
use crate::error::{EngineResult, Fault, fail};
use crate::{ColumnDesc, Session};
use catalog::Catalog;
use query::OutputColumn;
use sql::ast::{Expr, SelectItem, SelectItemQualifiedWildcardKind};
use std::sync::Arc;
use types::{DataType, Datum};

/// A compiled RETURNING.
#[derive(Debug)]
pub(crate) struct Returning {
    pub(crate) columns: Arc<Vec<ColumnDesc>>,
    items: Vec<Item>,
    exprs: Exprs,
}

#[derive(Debug)]
enum Item {
    /// A column of the row.
    Column(usize),
    /// A computed value.
    Computed(usize),
    /// A column of a joined table.
    Joined(usize),
}

impl Returning {
    pub(crate) fn needs_context(&self) -> bool {
        !self.exprs.is_empty()
    }

    /// The answer for one row.
    pub(crate) async fn row(&self, row: &[Datum], joined: &[Datum], scope: &Scope<'_>) -> EngineResult<Vec<Datum>> {
        let computed = self.exprs.eval(scope, row, Some(joined)).await?;
        let value = |item: &Item| match item {
            Item::Column(at) => row.get(*at),
            Item::Computed(at) => computed.get(*at),
            Item::Joined(at) => joined.get(*at),
        };
        Ok(self.items.iter().map(|item| value(item).cloned().unwrap_or(Datum::Null)).collect())
    }
}

impl Session {
    pub(crate) async fn compile_returning(
        &mut self,
        catalog: &Arc<Catalog>,
        target: &Target,
        alias: &str,
        items: &[SelectItem],
        (joined, joined_columns): (&JoinedColumns, &[OutputColumn]),
        params: &mut ParamTypes,
    ) -> EngineResult<Option<Returning>> {
        if items.is_empty() {
            return Ok(None);
        }
        let mut columns = Vec::new();
        let mut compiled = Vec::new();
        let mut exprs: Vec<Expr> = Vec::new();
        for item in items {
            let (expr, name) = match item {
                SelectItem::UnnamedExpr(expr) => (expr, None),
                SelectItem::ExprWithAlias { expr, alias } => (expr, Some(folded(alias))),
                SelectItem::Wildcard(_) => {
                    all_columns(target, &mut columns, &mut compiled);
                    all_joined(joined, joined_columns, &mut columns, &mut compiled);
                    continue;
                }
                SelectItem::QualifiedWildcard(kind, _) if is_target(kind, alias) => {
                    all_columns(target, &mut columns, &mut compiled);
                    continue;
                }
                SelectItem::QualifiedWildcard(..) if joined.has_wildcard() => {
                    all_joined(joined, joined_columns, &mut columns, &mut compiled);
                    continue;
                }
                other => return fail(Fault::Unsupported { feature: format!("RETURNING {other}") }),
            };
            if has_subquery(expr) {
                return fail(Fault::Unsupported { feature: "a subquery in RETURNING".to_string() });
            }
            match column_at(target, alias, expr) {
                Some(at) => {
                    let column = target.describe(at);
                    columns.push(ColumnDesc { name: name.unwrap_or_else(|| column.name.clone()), ..column });
                    compiled.push(Item::Column(at));
                }
                None => {
                    let name = name.unwrap_or_else(|| output_name(expr));
                    columns.push(ColumnDesc { name, ty: DataType::Text, table_oid: 0, column_number: 0 });
                    compiled.push(Item::Computed(exprs.len()));
                    exprs.push(joined.rewritten(expr));
                }
            }
        }
        let types: Vec<DataType> = joined_columns.iter().map(|column| column.ty).collect();
        let second = if types.is_empty() { Second::None } else { Second::Joined(&types) };
        let exprs = self.row_exprs(catalog, target, alias, second, &exprs, params).await?;
        let computed = columns.iter_mut().zip(&compiled).filter(|(_, item)| matches!(item, Item::Computed(_)));
        for ((column, _), ty) in computed.zip(exprs.types()) {
            column.ty = *ty;
        }
        Ok(Some(Returning { columns: Arc::new(columns), items: compiled, exprs }))
    }
}

fn all_columns(target: &Target, columns: &mut Vec<ColumnDesc>, items: &mut Vec<Item>) {
    let visible = target.table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
    for (at, _) in visible {
        columns.push(target.describe(at));
        items.push(Item::Column(at));
    }
}

/// Where `*` and `other.*` stand.
fn all_joined(
    joined: &JoinedColumns,
    joined_columns: &[OutputColumn],
    columns: &mut Vec<ColumnDesc>,
    items: &mut Vec<Item>,
) {
    for (at, column) in joined_columns.iter().enumerate().skip(joined.exprs.len()) {
        let OutputColumn { name, ty, table_oid, column_number } = column.clone();
        columns.push(ColumnDesc { name, ty, table_oid, column_number });
        items.push(Item::Joined(at));
    }
}

pub(super) fn is_target(kind: &SelectItemQualifiedWildcardKind, alias: &str) -> bool {
    match kind {
        SelectItemQualifiedWildcardKind::ObjectName(name) => match name.0.as_slice() {
            [part] => part.as_ident().is_some_and(|ident| folded(ident) == alias),
            _ => false,
        },
        SelectItemQualifiedWildcardKind::Expr(_) => false,
    }
}

/// PostgreSQL's name for a column without an alias.
fn output_name(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(name) => folded(name),
        Expr::CompoundIdentifier(names) => names.last().map(folded).unwrap_or_default(),
        Expr::Function(function) => {
            function.name.0.last().and_then(|part| part.as_ident()).map(folded).unwrap_or_default()
        }
        Expr::Nested(inner) => output_name(inner),
        Expr::Cast { expr, .. } => output_name(expr),
        Expr::Case { .. } => "case".to_string(),
        _ => "?column?".to_string(),
    }
}
