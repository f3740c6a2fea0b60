//! INSERT and UPSERT.

use super::arbiters::Arbiters;
use super::insert_rows::NewRows;
use super::joined_columns::JoinedColumns;
use super::literal::{Literal, literal};
use super::on_conflict::{Action, Existing};
use super::params::ParamTypes;
use super::returning::Returning;
use super::row_exprs::{Exprs, Scope, Second};
use super::row_source::RowSource;
use super::target::{FAMILY, Row, Target};
use super::value::{Computed, Value, default_of, value_for};
use super::{Outcome, row_set, row_value};
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::{New, NewRow, Old};
use crate::work::Work;
use catalog::{Catalog, Identity, TableOid};
use query::Plan;
use sql::ast::{Expr, Query, SelectItem, SetExpr};
use sql::{ColumnName, Insert, InsertSource, InsertValue, Overriding};
use std::sync::Arc;
use txn::LockMode;
use types::{DataType, Datum};

/// A compiled INSERT or UPSERT.
#[derive(Debug)]
pub(crate) struct InsertProgram {
    pub(crate) target: Target,
    /// Which columns the source gives, in its order.
    pub(super) columns: Vec<usize>,
    pub(super) source: Rows,
    /// For the other columns.
    pub(super) defaults: Defaults,
    /// All computed values of VALUES.
    pub(super) computed: Exprs,
    pub(crate) action: Action,
    /// What decides whether a row is there.
    pub(super) arbiters: Arbiters,
    pub(crate) returning: Option<Returning>,
}

/// What columns get that the source leaves out.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    pub(super) constants: Vec<(usize, Datum)>,
    /// Next values of sequences, for each row of a query.
    pub(super) sequences: Vec<(usize, TableOid)>,
    /// Evaluated for each row of a query. (For VALUES they are values of their rows.)
    pub(super) columns: Vec<usize>,
    pub(super) exprs: Exprs,
}

#[derive(Debug)]
pub(super) enum Rows {
    Values(Vec<Vec<Value>>),
    /// A query, with the text constants in its select list: they have no type of their own.
    Query {
        source: RowSource,
        readable: Vec<bool>,
    },
}

impl InsertProgram {
    pub(crate) fn is_cacheable(&self) -> bool {
        let rows = match &self.source {
            Rows::Values(_) => true,
            Rows::Query { source, .. } => source.plan.cacheable,
        };
        let exprs = [&self.computed, &self.defaults.exprs].into_iter().all(Exprs::is_cacheable);
        rows && exprs && self.action.is_cacheable()
    }

    pub(crate) fn needs_context(&self) -> bool {
        let exprs = [&self.computed, &self.defaults.exprs];
        exprs.into_iter().any(Exprs::needs_context) || self.action.needs_context()
    }

    /// The plan of its rows, if they come from a query.
    pub(crate) fn row_set(&self) -> Option<&Arc<Plan>> {
        match &self.source {
            Rows::Query { source, .. } => Some(&source.plan),
            Rows::Values(_) => None,
        }
    }

    /// Rows of VALUES.
    pub(crate) fn values(&self) -> Option<usize> {
        match &self.source {
            Rows::Values(rows) => Some(rows.len()),
            Rows::Query { .. } => None,
        }
    }
}

impl Session {
    pub(crate) async fn compile_insert(
        &mut self,
        catalog: &Arc<Catalog>,
        insert: &Insert,
        params: &mut ParamTypes,
    ) -> EngineResult<InsertProgram> {
        let target = self.target(catalog, &insert.table).await?;
        let target = self.checked_target(catalog, target).await?;
        let alias = insert.alias.clone().unwrap_or_else(|| insert.table.name.clone());
        let mut computed = Computed::default();
        let (mut columns, mut source): (Vec<usize>, Rows) = match &insert.source {
            InsertSource::DefaultValues => (Vec::new(), Rows::Values(vec![Vec::new()])),
            InsertSource::Values(rows) => {
                let columns = columns(&target, insert.columns.as_deref(), rows.first().map_or(0, Vec::len))?;
                let mut values = Vec::with_capacity(rows.len());
                for row in rows {
                    check_width(insert.columns.is_some(), &columns, row.len())?;
                    refuse_generated(&target, &columns, |at| matches!(row.get(at), Some(InsertValue::Default)))?;
                    values.push(values_of(&target, &columns, row, params, &mut computed)?);
                }
                (columns, Rows::Values(values))
            }
            InsertSource::Query(query) => {
                let known = listed_parameters(query, &target, insert.columns.as_deref(), params.known())?;
                let plan = self.plan(catalog, query, &known).await?;
                params.merge(query, &plan.parameters);
                let columns = columns(&target, insert.columns.as_deref(), plan.columns.len())?;
                check_width(insert.columns.is_some(), &columns, plan.columns.len())?;
                refuse_generated(&target, &columns, |_| false)?;
                let readable = row_set::text_constants(query, columns.len());
                (columns, Rows::Query { source: RowSource::new(plan, None), readable })
            }
        };
        check_identity(&target, insert.overriding, &mut columns, &mut source)?;
        let (action, arbiters) = self.compile_action(catalog, &target, &alias, insert, &columns, params).await?;
        let (mut defaults, exprs) = defaults(&target, &mut columns, &mut source, &mut computed)?;
        defaults.exprs = self.row_exprs(catalog, &target, &alias, Second::None, &exprs, params).await?;
        let computed = self.exprs_over(catalog, &[], &computed.0, params).await?;
        let joined = (&JoinedColumns::default(), [].as_slice());
        let returning = self.compile_returning(catalog, &target, &alias, &insert.returning, joined, params).await?;
        Ok(InsertProgram { target, columns, source, defaults, computed, action, arbiters, returning })
    }

    pub(crate) async fn insert(
        &mut self,
        work: &mut Work,
        program: &InsertProgram,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let rows = match self.new_rows(work, program, scope).await? {
            NewRows::Few(rows) => rows,
            NewRows::Many { first, rest } => return self.insert_many(work, program, scope, first, rest).await,
        };
        self.insert_rows(work, program, rows, scope).await
    }

    /// Puts rows in.
    pub(super) async fn insert_rows(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        rows: Vec<Row>,
        scope: &Scope<'_>,
    ) -> EngineResult<Outcome> {
        let target = &program.target;
        let new_row = if program.action.completes_row() { NewRow::partial } else { NewRow::new };
        let rows = rows.into_iter().map(|row| new_row(target, row)).collect::<EngineResult<Vec<_>>>()?;
        self.row_writer(work, target).lock_rows(rows.iter().map(NewRow::key), LockMode::Exclusive).await?;
        let mut outcome = Outcome::default();
        for row in rows {
            self.insert_row(work, program, row, scope, &mut outcome).await?;
        }
        Ok(outcome)
    }

    /// Puts one row in, whose lock is held.
    async fn insert_row(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        row: NewRow,
        scope: &Scope<'_>,
        outcome: &mut Outcome,
    ) -> EngineResult<()> {
        let (old, new) = match program.action {
            Action::Refuse => (Old::Unique, row),
            Action::Replace if program.target.is_written_blindly() => (Old::Unread, row),
            Action::Keep | Action::Replace | Action::Overwrite(_) | Action::Update(_) => {
                match self.merged(work, program, row, scope).await? {
                    Some(merged) => merged,
                    None => return Ok(()),
                }
            }
        };
        self.row_writer(work, &program.target).write(&old, Some(New::Row(&new))).await?;
        outcome.keep(program.returning.as_ref(), new.row(), &[]);
        Ok(())
    }

    /// The row that is there and what it becomes; `None`: it stays.
    async fn merged(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        row: NewRow,
        scope: &Scope<'_>,
    ) -> EngineResult<Option<(Old, NewRow)>> {
        let target = &program.target;
        let Some((key, old)) = self.conflicting_row(work, target, &program.arbiters, &row).await? else {
            if program.action.completes_row() {
                // A generated column of the row alone was computed when the row was made.
                target.check_conditions(row.row())?;
            }
            let old = if program.arbiters.key { Old::Missing } else { Old::Unique };
            return Ok(Some((old, row)));
        };
        let (_, new) = row.into_parts();
        let twice = work.txn.written_by_statement(target.storage, FAMILY, &key)?;
        let merged = program.action.merge(target, Existing { old: &old, new, twice }, scope).await?;
        let Some(merged) = merged else { return Ok(None) };
        Ok(Some((Old::Row { key, row: old }, NewRow::new(target, merged)?)))
    }
}

pub(crate) fn set(row: &mut Row, at: usize, value: Datum) {
    if let Some(slot) = row.get_mut(at) {
        *slot = value;
    }
}

/// The columns that a source of that width fills.
fn columns(target: &Target, named: Option<&[ColumnName]>, width: usize) -> EngineResult<Vec<usize>> {
    let Some(named) = named else {
        let visible = target.table.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
        return Ok(visible.map(|(at, _)| at).take(width.max(1)).collect());
    };
    let mut columns = Vec::with_capacity(named.len());
    for name in named {
        let at = target.position(name)?;
        if columns.contains(&at) {
            return fail(Fault::ColumnTwice { column: name.name.clone() });
        }
        columns.push(at);
    }
    Ok(columns)
}

/// The types of parameters, those that a SELECT lists as they are among them: each is of its column's type.
fn listed_parameters(
    query: &Query,
    target: &Target,
    named: Option<&[ColumnName]>,
    known: &[Option<DataType>],
) -> EngineResult<Vec<Option<DataType>>> {
    let mut types = known.to_vec();
    let SetExpr::Select(select) = query.body.as_ref() else { return Ok(types) };
    let parameter = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => match literal(expr) {
            Some(Literal::Param(index)) => Some(Some(index)),
            _ => Some(None),
        },
        // Behind a wildcard places are not known.
        _ => None,
    };
    let Some(listed) = select.projection.iter().map(parameter).collect::<Option<Vec<_>>>() else { return Ok(types) };
    if listed.iter().all(Option::is_none) {
        return Ok(types);
    }
    let columns = columns(target, named, listed.len())?;
    for (index, at) in listed.into_iter().zip(columns) {
        if let (Some(index), Some(column)) = (index, target.column(at)) {
            types.resize(types.len().max(index + 1), None);
            if let Some(ty) = types.get_mut(index) {
                ty.get_or_insert(column.ty.unlimited());
            }
        }
    }
    Ok(types)
}

/// Generated columns take no values of a statement but DEFAULT.
fn refuse_generated(target: &Target, columns: &[usize], is_default: impl Fn(usize) -> bool) -> EngineResult<()> {
    for (place, at) in columns.iter().enumerate() {
        if let Some(column) = target.column(*at).filter(|column| column.generated.is_some())
            && !is_default(place)
        {
            return fail(Fault::GeneratedGiven { column: column.name.clone() });
        }
    }
    Ok(())
}

/// Columns GENERATED ALWAYS AS IDENTITY take no values of the statement, unless it says so.
fn check_identity(
    target: &Target,
    overriding: Option<Overriding>,
    columns: &mut [usize],
    source: &mut Rows,
) -> EngineResult<()> {
    for (place, at) in columns.iter().enumerate() {
        let Some(column) = target.column(*at) else { continue };
        let Some(identity) = column.identity else { continue };
        match (overriding, identity, &mut *source) {
            (Some(Overriding::System), ..) | (None, Identity::ByDefault, _) => {}
            (None, Identity::Always, Rows::Values(rows)) => {
                let given = |value: &Value| !matches!(value, Value::Next(_));
                if rows.iter().filter_map(|row| row.get(place)).any(given) {
                    return fail(Fault::IdentityGiven { column: column.name.clone() });
                }
            }
            (None, Identity::Always, Rows::Query { .. }) => {
                return fail(Fault::IdentityGiven { column: column.name.clone() });
            }
            (Some(Overriding::User), _, Rows::Values(rows)) => {
                for value in rows.iter_mut().filter_map(|row| row.get_mut(place)) {
                    if let Some(sequence) = column.sequence {
                        *value = Value::Next(sequence);
                    }
                }
            }
            (Some(Overriding::User), _, Rows::Query { .. }) => {
                let feature = "OVERRIDING USER VALUE of a query".to_string();
                return fail(Fault::Unsupported { feature });
            }
        }
    }
    Ok(())
}

fn check_width(named: bool, columns: &[usize], width: usize) -> EngineResult<()> {
    if width > columns.len() {
        return fail(Fault::InsertWidth { more: "expressions", fewer: "target columns" });
    }
    if named && width < columns.len() {
        return fail(Fault::InsertWidth { more: "target columns", fewer: "expressions" });
    }
    Ok(())
}

fn values_of(
    target: &Target,
    columns: &[usize],
    row: &[InsertValue],
    params: &mut ParamTypes,
    computed: &mut Computed,
) -> EngineResult<Vec<Value>> {
    columns
        .iter()
        .zip(row)
        .map(|(at, value)| value_for(target, *at, value, row_value::Rows::None, params, computed))
        .collect()
}

/// The defaults of the columns that the source leaves out. In VALUES each row gets its own evaluation.
fn defaults(
    target: &Target,
    columns: &mut Vec<usize>,
    source: &mut Rows,
    computed: &mut Computed,
) -> EngineResult<(Defaults, Vec<Expr>)> {
    let (mut defaults, mut exprs) = (Defaults::default(), Vec::new());
    for (at, column) in target.table.columns.iter().enumerate() {
        if columns.contains(&at) || column.hidden || (column.default.is_none() && column.sequence.is_none()) {
            continue;
        }
        let mut own = Computed::default();
        match default_of(target, at, &mut own)? {
            Value::Constant(value) => defaults.constants.push((at, value)),
            Value::Param(index) => return fail(Fault::NoSuchParameter { number: index + 1 }),
            Value::Next(sequence) if matches!(source, Rows::Query { .. }) => defaults.sequences.push((at, sequence)),
            Value::Computed(_) | Value::Row(_) | Value::Elements(_) | Value::Next(_) => match source {
                Rows::Values(rows) => {
                    columns.push(at);
                    for row in rows {
                        row.push(default_of(target, at, computed)?);
                    }
                }
                Rows::Query { .. } => {
                    defaults.columns.push(at);
                    exprs.append(&mut own.0);
                }
            },
        }
    }
    Ok((defaults, exprs))
}
