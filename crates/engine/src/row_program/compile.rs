//! Compiles queries to row programs. A query that does not compile is planned by DataFusion.

use super::explain::kept;
use super::relations::CatalogRelations;
use super::relations::Names;
use super::{HandOvers, RowProgram, RowPrograms, SqlFunctions};
use crate::error::{EngineResult, Fault};
use crate::session::is_large;
use crate::statement::Source;
use crate::threads::turn;
use crate::{ColumnDesc, Session};
use bind::tree::{Body, Bound, Output};
use bind::{BindError, Environment};
use builtins::{Ty, TypeId, Volatility};
use catalog::Catalog;
use parking_lot::Mutex;
use rows::{Options, Program};
use std::sync::Arc;
use std::time::Instant;
use types::DataType;

/// A compiled query with its parameters and columns.
pub(crate) struct Compiled {
    pub(crate) program: RowProgram,
    pub(crate) parameters: Vec<DataType>,
    pub(crate) columns: Vec<ColumnDesc>,
}

impl Session {
    /// The query as a row program, if it can be one.
    pub(crate) fn row_program(&self, catalog: &Catalog, source: &Arc<Source>, bound: &Bound) -> Option<Compiled> {
        let mode = self.settings.effective().row_programs;
        // A long text is no short statement, and is compiled where other tasks do not wait for it.
        if mode == RowPrograms::Off || is_large(&source.text) {
            return None;
        }
        let Body::Query(query) = &bound.body else { return None };
        // The hand-over to DataFusion runs the query again, and a volatile function must not be called twice.
        if bound.facts.volatility == Volatility::Volatile || bound.needs.own_functions {
            return None;
        }
        let parameters = parameters(bound, &source.types).ok()?;
        let columns = query.outputs.iter().map(|output| column(catalog, bound, output)).collect::<Option<Vec<_>>>()?;
        let hints = Arc::clone(&self.hints);
        let options = Options { full_scans: mode == RowPrograms::All, index_choice: self.index_choice(), hints };
        let program: Program = rows::compile(bound, &SqlFunctions(self.engine.planner()), options).ok()?;
        let (plan, handed_over) = (Mutex::default(), HandOvers::default());
        let bound = kept(bound, self.explaining);
        let program = RowProgram { program, source: Arc::clone(source), plan, handed_over, bound };
        Some(Compiled { program, parameters, columns })
    }

    /// Binds a statement.
    pub(crate) fn bound(&self, catalog: &Catalog, source: &Source) -> Result<Bound, BindError> {
        // A long text is bound apart, so that other tasks of the thread do not wait.
        let large = is_large(&source.text);
        let path = self.search_path();
        let began = Instant::now();
        let bind = || self.bound_in(catalog, Names::in_path(&path), source);
        let bound = if large { turn::apart(bind) } else { bind() };
        self.engine.counters().bind.add_since(began);
        bound
    }

    /// Binds a statement whose names are resolved as `names` says.
    pub(crate) fn bound_in(&self, catalog: &Catalog, names: Names<'_>, source: &Source) -> Result<Bound, BindError> {
        let rules = self.time_zone();
        let relations = self.relations(catalog, names);
        let declared: Vec<Option<Ty>> = source.types.iter().map(|ty| ty.as_ref().map(Ty::of)).collect();
        let env = Environment { text: &source.written.text, rules: &rules };
        bind::bind(&source.statement, &relations, &env, &declared)
    }

    /// Name resolution for this session.
    pub(crate) fn relations<'a>(&'a self, catalog: &'a Catalog, names: Names<'a>) -> CatalogRelations<'a> {
        CatalogRelations { catalog, names, functions: self.engine.functions() }
    }
}

/// Parameter types: as declared by the client, else as inferred by the binder.
///
/// # Errors
/// 0A000 for a type that no client value has.
pub(crate) fn parameters(bound: &Bound, declared: &[Option<DataType>]) -> EngineResult<Vec<DataType>> {
    let said = |at: usize| declared.get(at).copied().flatten();
    let of = |(at, ty): (usize, &Ty)| {
        let found = said(at).or_else(|| ty.data_type()).or_else(|| ty.parameter_type());
        found.ok_or_else(|| Fault::Unsupported { feature: format!("a parameter of type {}", ty.sql_name()) }.into())
    };
    bound.params.iter().enumerate().map(of).collect()
}

/// An output column as front ends see it. A table column has the type of the table's definition, with limits of
/// arrays.
fn column(catalog: &Catalog, bound: &Bound, output: &Output) -> Option<ColumnDesc> {
    let info = bound.col(output.col)?;
    let name = output.name.clone();
    let Some((oid, number)) = info.origin else {
        return Some(ColumnDesc { name, ty: value_type(info.ty)?, table_oid: 0, column_number: 0 });
    };
    let of_number = |column: &&catalog::Column| i16::try_from(column.id.0).is_ok_and(|id| id == number);
    let ty = match (catalog.table_by_oid(oid), catalog.view_by_oid(oid)) {
        (Some(table), _) => table.columns.iter().find(of_number)?.ty,
        (None, Some(view)) => view.columns.get(usize::try_from(number).ok()?.checked_sub(1)?)?.ty,
        (None, None) => value_type(info.ty)?,
    };
    Some(ColumnDesc { name, ty, table_oid: oid.0, column_number: number })
}

/// The type of a column's values. For numerics, with the digits that all values have.
fn value_type(ty: Ty) -> Option<DataType> {
    match ty.data_type()? {
        DataType::Numeric(_) => Some(DataType::Numeric(ty.digits)),
        // The length of a computed `char(n)` is not known.
        _ if ty.id == TypeId::BPCHAR && ty.typmod == -1 => None,
        other => Some(other),
    }
}
