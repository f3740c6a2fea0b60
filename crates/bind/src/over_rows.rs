//! Expressions over given rows, described by the names and types of their columns: CHECK constraints, generated
//! columns, index expressions, defaults, COPY's WHERE.

use crate::binder::{Binder, plain};
use crate::clause::Clause;
use crate::coerce::name_of;
use crate::error::{BindErrorKind, BindResult};
use crate::fixed_constants::SessionConstants;
use crate::relations::{Environment, Relations};
use crate::scope::{ItemColumns, Scope, ScopeItem};
use crate::tree::{Body, Bound, CastContext, ColId, ColInfo, Scalar};
use builtins::{Ty, TypeId};
use sql::ast;
use types::DataType;

/// A row that expressions can reference.
#[derive(Clone, Copy, Debug)]
pub struct NamedRow<'a> {
    /// The qualifier of its columns.
    pub name: &'a str,
    /// Names and types of its columns.
    pub columns: &'a [(String, DataType)],
}

/// Expressions of a clause, and the rows that they can reference.
#[derive(Clone, Copy, Debug)]
pub struct RowExpressions<'a> {
    /// The rows in scope.
    pub rows: &'a [NamedRow<'a>],
    /// The expressions.
    pub exprs: &'a [ast::Expr],
    /// The clause that contains them.
    pub clause: Clause,
    /// The targets that their values are assigned to, by position; may be empty.
    pub assigned_to: &'a [AssignedTo<'a>],
}

/// The target of an assignment.
#[derive(Clone, Copy, Debug)]
pub struct AssignedTo<'a> {
    /// Its type.
    pub ty: DataType,
    /// Its name, if it is a column.
    pub column: Option<&'a str>,
}

/// Bound expressions over rows, as [`Body::Exprs`].
#[derive(Clone, Debug)]
pub struct OverRows {
    /// The bound expressions.
    pub bound: Bound,
    /// Column id, index of its row and ordinal in the row.
    pub cols: Vec<(ColId, usize, usize)>,
}

/// Binds expressions of a clause over the columns of the rows, without parameters.
///
/// # Errors
/// As [`crate::bind`].
pub fn bind_over_rows(
    over: &RowExpressions<'_>,
    relations: &dyn Relations,
    env: &Environment<'_>,
) -> BindResult<OverRows> {
    let mut binder = Binder::new(relations, env, &[]);
    let (values, cols) = binder.over_rows(over)?;
    Ok(OverRows { bound: binder.finish(Body::Exprs(values))?, cols })
}

/// Returns the constants of expressions over rows that depend on the session.
///
/// # Errors
/// As [`bind_over_rows`].
pub fn session_constants_over_rows(
    over: &RowExpressions<'_>,
    relations: &dyn Relations,
    env: &Environment<'_>,
) -> BindResult<SessionConstants> {
    let mut binder = Binder::new(relations, env, &[]);
    binder.constants = Some(SessionConstants::default());
    binder.over_rows(over)?;
    Ok(binder.constants.unwrap_or_default())
}

/// Bound expressions, with column id, index of its row and ordinal of each column in scope.
type BoundOverRows = (Vec<Scalar>, Vec<(ColId, usize, usize)>);

impl Binder<'_> {
    fn over_rows(&mut self, over: &RowExpressions<'_>) -> BindResult<BoundOverRows> {
        let RowExpressions { rows, exprs, clause, assigned_to } = *over;
        self.has_parameters = false;
        let mut cols = Vec::new();
        let mut items = Vec::with_capacity(rows.len());
        for (row, named) in rows.iter().enumerate() {
            let mut columns = Vec::with_capacity(named.columns.len());
            for (place, (name, ty)) in named.columns.iter().enumerate() {
                let info = ColInfo { name: name.clone(), ty: Ty::of(ty), nullable: true, origin: None };
                let col = self.new_col(info)?;
                columns.push((name.clone(), col));
                cols.push((col, row, place));
            }
            let mut item = ScopeItem::new(Some(named.name.to_owned()), None, ItemColumns::Named(columns));
            item.pending = false;
            items.push(item);
        }
        // As in a view, nothing else is in scope, but errors keep their positions in the statement.
        let lines = std::mem::take(&mut self.lines);
        let values = self.within_stored(Vec::new(), |binder| {
            binder.lines = lines;
            let mut scope = Scope::new();
            scope.items = items;
            binder.scopes.push(scope);
            let value = |(at, expr)| {
                let value = binder.in_clause(clause, |binder| binder.scalar(expr))?;
                match (clause.condition(), assigned_to.get(at)) {
                    (Some(what), _) => binder.must_be_boolean(value, what),
                    (None, Some(ty)) => binder.assigned_value(clause, value, *ty),
                    (None, None) => binder.output_type(value),
                }
            };
            exprs.iter().enumerate().map(value).collect::<BindResult<Vec<_>>>()
        })?;
        Ok((values, cols))
    }

    /// Casts a value for assignment to a type without its type modifier, which the assignment applies.
    fn assigned_value(&mut self, clause: Clause, value: Scalar, target: AssignedTo<'_>) -> BindResult<Scalar> {
        let ty = Ty::of(&target.ty);
        // The fields of an interval type determine how its literals are read.
        let to = if ty.id == TypeId::INTERVAL { ty } else { plain(ty.id) };
        let (from, span) = (value.ty, value.span);
        match self.try_coerce(value, to, CastContext::Assignment)? {
            Some(value) => Ok(value),
            None => {
                let (given, wanted) = (name_of(from), name_of(to));
                let column = target.column.map(str::to_owned);
                let kind = match column {
                    Some(column) if matches!(clause, Clause::Default) => {
                        BindErrorKind::DefaultNotAssignable { column, wanted, given }
                    }
                    Some(column) => BindErrorKind::NotAssignable { column, wanted, given },
                    None => BindErrorKind::CannotAssign { from: given, to: wanted },
                };
                let hint = "You will need to rewrite or cast the expression.";
                self.error(kind, span).map_err(|error| error.with_hint(hint))
            }
        }
    }
}
