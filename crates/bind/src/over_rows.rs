//! Expressions over rows that are at hand, known by the names and types of their columns: CHECK constraints, generated
//! columns, parts of indexes, defaults, COPY's WHERE.

use crate::binder::Binder;
use crate::error::{BindResult, Clause};
use crate::relations::{Environment, Relations};
use crate::scope::{ItemColumns, Scope, ScopeItem};
use crate::tree::{Body, Bound, ColId, ColInfo};
use builtins::Ty;
use sql::ast;
use types::DataType;

/// A row as expressions name it.
#[derive(Clone, Copy, Debug)]
pub struct NamedRow<'a> {
    /// What its columns are qualified with.
    pub name: &'a str,
    /// Names and types.
    pub columns: &'a [(String, DataType)],
}

/// Expressions over rows, as [`Body::Exprs`].
#[derive(Clone, Debug)]
pub struct OverRows {
    /// Them.
    pub bound: Bound,
    /// Row and place of each column.
    pub cols: Vec<(ColId, usize, usize)>,
}

/// Binds expressions without parameters; what they name are columns of the rows.
///
/// # Errors
/// As [`crate::bind`].
pub fn bind_over_rows(
    rows: &[NamedRow<'_>],
    exprs: &[ast::Expr],
    relations: &dyn Relations,
    env: &Environment<'_>,
) -> BindResult<OverRows> {
    let mut binder = Binder::new(relations, env, &[]);
    let mut cols = Vec::new();
    let mut items = Vec::with_capacity(rows.len());
    for (row, named) in rows.iter().enumerate() {
        let mut columns = Vec::with_capacity(named.columns.len());
        for (place, (name, ty)) in named.columns.iter().enumerate() {
            let info = ColInfo { name: name.clone(), ty: Ty::of(ty), nullable: true, origin: None };
            let col = binder.new_col(info)?;
            columns.push((name.clone(), col));
            cols.push((col, row, place));
        }
        let mut item = ScopeItem::new(Some(named.name.to_owned()), None, ItemColumns::Named(columns));
        item.pending = false;
        items.push(item);
    }
    // Their text is not that of a statement whose positions could be told.
    let values = binder.within_view(Vec::new(), |binder| {
        let mut scope = Scope::new();
        scope.items = items;
        binder.scopes.push(scope);
        let value = |expr| {
            let value = binder.in_clause(Clause::Where, |binder| binder.scalar(expr))?;
            binder.output_type(value)
        };
        exprs.iter().map(value).collect::<BindResult<Vec<_>>>()
    })?;
    Ok(OverRows { bound: binder.finish(Body::Exprs(values))?, cols })
}
