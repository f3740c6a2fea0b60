//! RETURNING: what a writing statement answers for each row that it wrote.

use super::joined_columns::JoinedColumns;
use super::key_match::{column_at, folded};
use super::params::ParamTypes;
use super::row_exprs::{Exprs, Scope, Second, has_subquery};
use super::target::{Row, Target};
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
pub(super) enum Item {
    /// A column of the row.
    Column(usize),
    /// A computed value.
    Computed(usize),
    /// A column of a joined table.
    Joined(usize),
}

impl Returning {
    pub(super) fn new(columns: Arc<Vec<ColumnDesc>>, items: Vec<Item>, exprs: Exprs) -> Self {
        Self { columns, items, exprs }
    }

    pub(crate) fn needs_context(&self) -> bool {
        self.exprs.needs_context()
    }

    pub(crate) fn is_cacheable(&self) -> bool {
        self.exprs.is_cacheable()
    }

    /// The answer for rows that were written, each with its columns of joined tables.
    pub(crate) async fn rows(&self, rows: &[(Row, Row)], scope: &Scope<'_>) -> EngineResult<Vec<Row>> {
        if self.exprs.is_empty() {
            return Ok(rows.iter().map(|(row, joined)| self.answer(row, joined, &[])).collect());
        }
        let pairs: Vec<[&[Datum]; 2]> = rows.iter().map(|(row, joined)| [row.as_slice(), joined]).collect();
        let pairs: Vec<&[&[Datum]]> = pairs.iter().map(<[_; 2]>::as_slice).collect();
        let computed = self.exprs.eval_rows(scope, &pairs).await?;
        let rows = rows.iter().zip(computed);
        Ok(rows.map(|((row, joined), computed)| self.answer(row, joined, &computed)).collect())
    }

    fn answer(&self, row: &[Datum], joined: &[Datum], computed: &[Datum]) -> Row {
        let value = |item: &Item| match item {
            Item::Column(at) => row.get(*at),
            Item::Computed(at) => computed.get(*at),
            Item::Joined(at) => joined.get(*at),
        };
        self.items.iter().map(|item| value(item).cloned().unwrap_or(Datum::Null)).collect()
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
        for item in items {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                self.engine.planner().check_clause(expr, "RETURNING")?;
            }
        }
        let (columns, compiled, exprs) = (Vec::new(), Vec::new(), Vec::new());
        let mut list = List { target, alias, joined, joined_columns, columns, items: compiled, exprs };
        items.iter().try_for_each(|item| list.add(item))?;
        let List { mut columns, items: compiled, exprs, .. } = list;
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

/// The list as far as it is compiled.
struct List<'a> {
    target: &'a Target,
    alias: &'a str,
    joined: &'a JoinedColumns,
    joined_columns: &'a [OutputColumn],
    columns: Vec<ColumnDesc>,
    items: Vec<Item>,
    exprs: Vec<Expr>,
}

impl List<'_> {
    fn add(&mut self, item: &SelectItem) -> EngineResult<()> {
        match item {
            SelectItem::UnnamedExpr(expr) => return self.add_expr(expr, None),
            SelectItem::ExprWithAlias { expr, alias } => return self.add_expr(expr, Some(folded(alias))),
            SelectItem::Wildcard(_) => {
                self.add_target();
                self.add_joined();
            }
            SelectItem::QualifiedWildcard(kind, _) if is_target(kind, self.alias) => self.add_target(),
            SelectItem::QualifiedWildcard(..) if self.joined.has_wildcard() => self.add_joined(),
            other => return fail(Fault::Unsupported { feature: format!("RETURNING {other}") }),
        }
        Ok(())
    }

    fn add_expr(&mut self, expr: &Expr, name: Option<String>) -> EngineResult<()> {
        if has_subquery(expr) {
            return fail(Fault::Unsupported { feature: "a subquery in RETURNING".to_string() });
        }
        match column_at(self.target, self.alias, expr) {
            Some(at) => {
                let column = self.target.describe(at);
                self.columns.push(ColumnDesc { name: name.unwrap_or_else(|| column.name.clone()), ..column });
                self.items.push(Item::Column(at));
            }
            None => {
                let name = name.unwrap_or_else(|| output_name(expr));
                // Its type is known when all expressions are compiled.
                self.columns.push(ColumnDesc { name, ty: DataType::Text, table_oid: 0, column_number: 0 });
                self.items.push(Item::Computed(self.exprs.len()));
                self.exprs.push(self.joined.rewritten(expr));
            }
        }
        Ok(())
    }

    fn add_target(&mut self) {
        let visible = self.target.table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
        for (at, _) in visible {
            self.columns.push(self.target.describe(at));
            self.items.push(Item::Column(at));
        }
    }

    /// Where `*` and `other.*` stand.
    fn add_joined(&mut self) {
        for (at, column) in self.joined_columns.iter().enumerate().skip(self.joined.exprs.len()) {
            let OutputColumn { name, ty, table_oid, column_number, .. } = column.clone();
            self.columns.push(ColumnDesc { name, ty, table_oid, column_number });
            self.items.push(Item::Joined(at));
        }
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
