//! Expressions over the rows of one table, outside a statement: index expressions and predicates.

use crate::binder::Binder;
use crate::clause::Clause;
use crate::error::BindResult;
use crate::relations::{Environment, Found, Relations};
use crate::same::same;
use crate::scope::{ItemColumns, Scope, ScopeItem};
use crate::tree::{CastVia, ColId, ColRef, Kind, Scalar};
use builtins::{FuncId, TypeId, Volatility};
use catalog::Table;
use sql::ast;
use std::sync::Arc;
use types::temporal::Utc;

/// An expression over the columns of a table.
#[derive(Clone, Debug)]
pub struct TableExpression {
    /// Columns that it reads: ordinal in the table and column id.
    pub cols: Vec<(usize, ColId)>,
    /// The expression.
    pub value: Scalar,
}

/// Binds an expression over the columns of a table.
///
/// # Errors
/// As [`crate::bind`].
pub fn bind_table_expression(
    table: &Arc<Table>,
    expr: &ast::Expr,
    env: &Environment<'_>,
) -> BindResult<TableExpression> {
    let mut binder = Binder::new(&NoRelations, env, &[]);
    // The text is not that of a statement, so errors have no positions.
    let value = binder.within_stored(Vec::new(), |binder| {
        let mut scope = Scope::new();
        let rel = binder.new_rel(Arc::clone(table));
        let columns = ItemColumns::Table { rel, renamed: Vec::new() };
        let mut item = ScopeItem::new(Some(table.name.clone()), Some(table.oid), columns);
        item.pending = false;
        scope.items.push(item);
        binder.scopes.push(scope);
        let value = binder.in_clause(Clause::Where, |binder| binder.scalar(expr))?;
        binder.output_type(value)
    })?;
    let ids = binder.scans.first().map(|scanned| scanned.ids.as_slice()).unwrap_or_default();
    let cols = ids.iter().enumerate().filter_map(|(at, id)| Some((at, (*id)?))).collect();
    Ok(TableExpression { cols, value })
}

/// Binds an expression of the catalog; `None` if it cannot be bound. Its constants mean the same in every session.
pub fn bind_stored_expression(table: &Arc<Table>, text: &str) -> Option<TableExpression> {
    bind_table_expression(table, &sql::parse_expr(text).ok()?, &Environment { text, rules: &Utc }).ok()
}

impl TableExpression {
    /// Returns the expression over a scan with other column ids; `None` if the scan lacks a column that it reads.
    pub fn over(&self, scan: &[(usize, ColId)]) -> Option<Scalar> {
        let mut value = self.value.clone();
        let id_of = |id: ColId| {
            let (place, _) = self.cols.iter().find(|(_, own)| *own == id)?;
            scan.iter().find(|(at, _)| at == place).map(|(_, id)| *id)
        };
        replace(&mut value, &id_of).then_some(value)
    }

    /// Returns the volatility of the expression.
    pub fn volatility(&self) -> Volatility {
        volatility(&self.value)
    }
}

/// Do two expressions give the same value for each row?
pub fn is_same(a: &Scalar, b: &Scalar) -> bool {
    same(a, b)
}

fn replace(value: &mut Scalar, id_of: &dyn Fn(ColId) -> Option<ColId>) -> bool {
    if let Kind::Col(ColRef { id, .. }) = &mut value.kind {
        let Some(new) = id_of(*id) else { return false };
        *id = new;
    }
    let mut all = true;
    value.each_operand_mut(&mut |operand| all = all && replace(operand, id_of));
    all
}

/// Does a value depend on the session or on the time of the statement? Not everything that PostgreSQL calls stable
/// does: Bennu has one DateStyle only, and `1 || 'x'` is the same in every session.
pub fn depends_on_session(value: &Scalar) -> bool {
    let by_zone = |ty: TypeId| matches!(ty.element().unwrap_or(ty), TypeId::TIMESTAMPTZ | TypeId::INTERVAL);
    let mut asks = match &value.kind {
        Kind::Cast { via: CastVia::Text | CastVia::Elements, arg, .. } => by_zone(value.ty.id) || by_zone(arg.ty.id),
        Kind::Call { args, .. } if own_volatility(value) == Volatility::Stable => {
            args.is_empty() || by_zone(value.ty.id) || args.iter().any(|arg| by_zone(arg.ty.id))
        }
        _ => own_volatility(value) == Volatility::Stable,
    };
    value.each_operand(&mut |operand| asks = asks || depends_on_session(operand));
    asks
}

/// Returns the volatility of an expression, as PostgreSQL classifies it.
pub fn volatility(value: &Scalar) -> Volatility {
    let mut highest = own_volatility(value);
    value.each_operand(&mut |operand| highest = highest.max(volatility(operand)));
    highest
}

/// Returns the volatility of an operation without that of its operands.
fn own_volatility(value: &Scalar) -> Volatility {
    let of = |func: FuncId| builtins::function(func).map_or(Volatility::Volatile, |function| function.volatility);
    match &value.kind {
        Kind::Call { func, .. } => of(*func),
        Kind::Cast { via: CastVia::Function(func), .. } => of(*func),
        Kind::Cast { via: CastVia::Text, arg, .. } => is_read(value.ty.id).max(is_printed(arg.ty.id)),
        Kind::Cast { via: CastVia::Elements, arg, .. } => {
            let element = |ty: TypeId| ty.element().unwrap_or(ty);
            is_read(element(value.ty.id)).max(is_printed(element(arg.ty.id)))
        }
        Kind::Session(_) => Volatility::Stable,
        Kind::Own { function, .. } if function.volatile => Volatility::Volatile,
        Kind::Subquery(_) | Kind::Param(_) => Volatility::Volatile,
        Kind::Extreme { lt: func, .. }
        | Kind::NullIf { eq: func, .. }
        | Kind::Distinct { eq: func, .. }
        | Kind::InList { eq: func, .. }
        | Kind::AnyArray { op: func, .. } => of(*func),
        Kind::RowCompare { pairs, .. } => {
            pairs.iter().flat_map(|(eq, lt, ..)| [of(*eq), of(*lt)]).max().unwrap_or(Volatility::Immutable)
        }
        _ => Volatility::Immutable,
    }
}

/// Returns the volatility of a type's input function: some read DateStyle, IntervalStyle, the time zone or the catalog.
fn is_read(ty: TypeId) -> Volatility {
    match PrintedAs::of(ty) {
        PrintedAs::Same => Volatility::Immutable,
        PrintedAs::BySession | PrintedAs::ReadBySession => Volatility::Stable,
    }
}

/// Returns the volatility of a type's output function.
fn is_printed(ty: TypeId) -> Volatility {
    match PrintedAs::of(ty) {
        PrintedAs::Same | PrintedAs::ReadBySession => Volatility::Immutable,
        PrintedAs::BySession => Volatility::Stable,
    }
}

/// Whether a type's input and output functions depend on the session. Source: `provolatile` of `typinput` and
/// `typoutput`.
enum PrintedAs {
    Same,
    ReadBySession,
    BySession,
}

impl PrintedAs {
    fn of(ty: TypeId) -> Self {
        match ty {
            TypeId::TIME | TypeId::INTERVAL => Self::ReadBySession,
            TypeId::DATE | TypeId::TIMESTAMP | TypeId::TIMESTAMPTZ | TypeId::REGCLASS | TypeId::REGTYPE => {
                Self::BySession
            }
            ty if ty.element().is_some() => Self::BySession,
            _ => Self::Same,
        }
    }
}

/// A catalog without relations.
#[derive(Clone, Copy, Debug)]
pub struct NoRelations;

impl Relations for NoRelations {
    fn find(&self, _: Option<&[String]>, _: Option<&str>, _: &str) -> Option<Found> {
        None
    }

    fn schema_of(&self, _: &Table) -> Option<String> {
        None
    }
}
