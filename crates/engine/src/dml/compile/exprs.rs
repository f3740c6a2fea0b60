//! Bound expressions over the current rows of a statement.
//!
//! Most are programs of `rows`, without a plan or Arrow. Calls of functions that `rows` does not implement become
//! physical expressions of DataFusion; expressions with subqueries become a query whose parameters are the columns
//! that they read.

use super::Writing;
use crate::Session;
use crate::dml::row_exprs::{Exprs, Scope};
use crate::dml::target::Target;
use crate::error::{EngineResult, Fault, fail};
use crate::row_program::SqlFunctions;
use crate::threads::turn;
use bind::tree::{Body, Bound, ColId, ColInfo, CteBody, Kind, Needs, Output, ParamId, Query, Rel, Scalar, Subquery};
use builtins::{Env, TimeZone, Ty};
use futures::StreamExt;
use query::{Plan, Planner, RowInput};
use std::sync::Arc;
use types::{DataType, Datum};

/// Expressions as a program of `rows`.
#[derive(Debug)]
pub(crate) struct BoundExprs {
    exprs: rows::Exprs,
    /// Row and position of each column that the expressions read.
    inputs: Vec<(usize, usize)>,
    pub(crate) types: Vec<DataType>,
}

impl BoundExprs {
    /// Evaluates all expressions over `rows`, one row for each relation in scope.
    pub(crate) fn eval(&self, env: Option<&Env>, params: &[Datum], rows: &[&[Datum]]) -> EngineResult<Vec<Datum>> {
        let row = gathered(&self.inputs, rows)?;
        match env {
            Some(env) => Ok(self.exprs.eval(env, params, &row)?),
            None => Ok(self.exprs.eval(&no_session(), params, &row)?),
        }
    }
}

/// The environment of expressions that do not depend on the session.
fn no_session() -> Env {
    Env { zone: TimeZone::UTC, transaction_time: 0, statement_time: 0 }
}

/// Expressions with subqueries.
#[derive(Debug)]
pub(crate) struct BoundQuery {
    planner: Arc<Planner>,
    pub(crate) plan: Arc<Plan>,
    /// Number of the statement's own parameters; the columns that the expressions read follow them.
    params: usize,
    inputs: Vec<(usize, usize)>,
    pub(crate) types: Vec<DataType>,
}

impl BoundQuery {
    pub(crate) async fn eval(&self, scope: &Scope<'_>, rows: &[&[Datum]]) -> EngineResult<Vec<Datum>> {
        let Some(context) = &scope.context else {
            return fail(Fault::Internal { detail: "expressions without a context".to_string() });
        };
        let mut all = scope.params.get(..self.params).unwrap_or(scope.params).to_vec();
        all.extend(gathered(&self.inputs, rows)?);
        let mut execution = self.planner.execute(context, &self.plan, &all).await?;
        while let Some(batch) = execution.stream.next().await {
            let batch = batch.map_err(query::QueryError::from)?;
            if let Some(values) = query::convert::batch_to_rows(&batch, &self.types)?.into_iter().next() {
                return Ok(values);
            }
        }
        fail(Fault::Internal { detail: "no values for a row".to_string() })
    }
}

fn gathered(inputs: &[(usize, usize)], rows: &[&[Datum]]) -> EngineResult<Vec<Datum>> {
    let value = |(row, place): &(usize, usize)| rows.get(*row).and_then(|row| row.get(*place)).cloned();
    let values: Option<Vec<Datum>> = inputs.iter().map(value).collect();
    values.ok_or_else(|| Fault::Internal { detail: "a row without a value".to_string() }.into())
}

/// The largest number of expressions in one plan: the time to plan them grows with the square, and a plan has a limited
/// number of columns. INSERT computes the values of all rows of VALUES together.
const PLANNED_TOGETHER: usize = 256;

/// Whether expressions are compiled in parts. Those that share a CTE are not: each part would compute it.
fn splits(writing: &Writing<'_>, scalars: &[&Scalar]) -> bool {
    scalars.len() > PLANNED_TOGETHER && writing.bound.row_ctes().is_empty()
}

/// The columns `cols` of the target as inputs of expressions, read from row number `row`.
pub(super) fn inputs_of<'a>(
    target: &'a Target,
    cols: &'a [(usize, ColId)],
    row: usize,
) -> impl Iterator<Item = RowInput> + 'a {
    cols.iter().filter_map(move |(at, col)| {
        let column = target.column(*at)?;
        Some(RowInput { col: *col, row, place: *at, ty: column.ty })
    })
}

impl Session {
    /// Compiles expressions.
    pub(crate) async fn bound_exprs(
        &mut self,
        writing: &Writing<'_>,
        scalars: &[&Scalar],
        inputs: &[RowInput],
    ) -> EngineResult<Exprs> {
        Ok(self.compiled_exprs(writing, scalars, inputs).await?.with_scalar_properties(scalars))
    }

    async fn compiled_exprs(
        &mut self,
        writing: &Writing<'_>,
        scalars: &[&Scalar],
        inputs: &[RowInput],
    ) -> EngineResult<Exprs> {
        if scalars.is_empty() {
            return Ok(Exprs::default());
        }
        let subquery = scalars.iter().any(|scalar| has_subquery(scalar));
        if subquery && !splits(writing, scalars) {
            return self.row_query(writing, scalars, inputs).await;
        }
        let types: Option<Vec<DataType>> = scalars.iter().map(|scalar| value_type(scalar.ty)).collect();
        if let Some(types) = types.filter(|_| !subquery) {
            let cols: Vec<ColId> = inputs.iter().map(|input| input.col).collect();
            if let Ok(exprs) =
                rows::compile_exprs(writing.bound, scalars.iter().copied(), &cols, &SqlFunctions(self.engine.planner()))
            {
                let inputs = inputs.iter().map(|input| (input.row, input.place)).collect();
                return Ok(Exprs::of_rows(BoundExprs { exprs, inputs, types }));
            }
        }
        if splits(writing, scalars) {
            let mut parts = Vec::with_capacity(scalars.len().div_ceil(PLANNED_TOGETHER));
            for part in scalars.chunks(PLANNED_TOGETHER) {
                parts.push(Box::pin(self.bound_exprs(writing, part, inputs)).await?);
            }
            return Ok(Exprs::of_parts(parts));
        }
        let context = self.planning_context(writing.catalog).await?;
        let planner = Arc::clone(self.engine.planner());
        let parameters = writing.parameters.to_vec();
        let compiled = planner.bound_row_exprs(&context, writing.bound, scalars, inputs, parameters);
        match turn::all_apart(compiled).await? {
            Some(exprs) => Ok(Exprs::of_stages(exprs)),
            None => self.row_query(writing, scalars, inputs).await,
        }
    }

    /// Compiles the expressions as a query of one row, in which columns are parameters after the statement's own.
    async fn row_query(
        &mut self,
        writing: &Writing<'_>,
        scalars: &[&Scalar],
        inputs: &[RowInput],
    ) -> EngineResult<Exprs> {
        let params = writing.parameters.len();
        let mut bound = Bound { needs: Needs::default(), ..writing.bound.clone() };
        let mut parameters = writing.parameters.to_vec();
        for input in inputs {
            bound.params.push(Ty::of(&input.ty));
            parameters.push(input.ty.unlimited());
        }
        let (mut exprs, mut outputs) = (Vec::with_capacity(scalars.len()), Vec::with_capacity(scalars.len()));
        for scalar in scalars {
            let Some(col) = ColId::at(bound.cols.len()) else { return too_many("columns") };
            let name = format!("v{}", outputs.len());
            bound.cols.push(ColInfo { name: name.clone(), ty: scalar.ty, nullable: true, origin: None });
            let mut value = (*scalar).clone();
            let Some(()) = parameters_for(&mut value, inputs, params) else { return too_many("parameters") };
            exprs.push((col, value));
            outputs.push(Output { col, name });
        }
        let rel = Rel::Project { input: Box::new(Rel::OneRow), exprs };
        let mut ctes = writing.bound.row_ctes().to_vec();
        for cte in &mut ctes {
            let rels = match &mut cte.body {
                CteBody::Inline(rel) | CteBody::Either(rel) | CteBody::Materialized(rel) => vec![rel],
                CteBody::Recursive { base, step, .. } => vec![base, step],
            };
            for rel in rels {
                let Some(()) = parameters_within(rel, inputs, params) else { return too_many("parameters") };
            }
        }
        bound.body = Body::Query(Query { ctes, rel, outputs });
        let plan = self.lowered(writing.catalog, &bound, parameters).await?;
        let types = plan.columns.iter().map(|column| column.ty).collect();
        let planner = Arc::clone(self.engine.planner());
        let inputs = inputs.iter().map(|input| (input.row, input.place)).collect();
        Ok(Exprs::of_query(BoundQuery { planner, plan, params, inputs, types }))
    }
}

fn too_many<T>(what: &'static str) -> EngineResult<T> {
    fail(Fault::TooLarge { message: format!("an expression reads too many {what}") })
}

/// The type of an expression's values; `None` if only the DataFusion plan determines it.
pub(super) fn value_type(ty: Ty) -> Option<DataType> {
    match ty.data_type()? {
        DataType::Numeric(_) => Some(DataType::Numeric(ty.digits)),
        _ if ty.id == builtins::TypeId::BPCHAR && ty.typmod == -1 => None,
        other => Some(other),
    }
}

pub(super) fn has_subquery(scalar: &Scalar) -> bool {
    let mut found = matches!(scalar.kind, Kind::Subquery(_));
    scalar.each_operand(&mut |operand| found = found || has_subquery(operand));
    found
}

/// Replaces columns of the current rows by parameters, also within subqueries. `None`: there are too many parameters.
fn parameters_for(value: &mut Scalar, inputs: &[RowInput], first: usize) -> Option<()> {
    if let Kind::Col(col) = &value.kind
        && let Some(at) = inputs.iter().position(|input| input.col == col.id)
    {
        value.kind = Kind::Param(ParamId(u16::try_from(first + at).ok()?));
    }
    let mut outcome = Some(());
    if let Kind::Subquery(subquery) = &mut value.kind {
        let Subquery { rel, free, .. } = subquery.as_mut();
        free.retain(|col| inputs.iter().all(|input| input.col != col.id));
        outcome = parameters_within(rel, inputs, first);
    }
    value.each_operand_mut(&mut |operand| outcome = outcome.and_then(|()| parameters_for(operand, inputs, first)));
    outcome
}

fn parameters_within(rel: &mut Rel, inputs: &[RowInput], first: usize) -> Option<()> {
    let mut outcome = Some(());
    rel.each_scalar_mut(&mut |value| outcome = outcome.and_then(|()| parameters_for(value, inputs, first)));
    rel.each_input_mut(&mut |input| outcome = outcome.and_then(|()| parameters_within(input, inputs, first)));
    outcome
}
