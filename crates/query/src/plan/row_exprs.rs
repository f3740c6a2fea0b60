//! Expressions over rows in memory: compiled once, evaluated on batches without a plan.
//!
//! ```text
//!   projection over a scan of the row ──optimize──> projections over the scan ──> stages of physical expressions
//!   eval:  rows, parameters, session values ──> one batch ──stage by stage──> values
//! ```
//! Any other plan (such as one with subqueries) is not compiled.

use super::bind::fitted;
use super::kept_effects;
use super::parameters::number_of;
use super::{OutputColumn, Plan, Planner};
use crate::context::QueryContext;
use crate::convert::{batch_to_rows, datum_to_scalar, datums_to_array, field};
use crate::error::{QueryError, QueryResult};
use crate::exec::only_input;
use crate::exec::row_by_row::Lazy;
use crate::exec::row_parameter::RowParameter;
use crate::functions::{effects, is_conditional, session_value, waits};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use futures::FutureExt;
use std::collections::HashMap;
use std::sync::Arc;
use types::{DataType, Datum};

/// A row type that expressions are compiled over.
#[derive(Clone, Debug)]
pub(crate) struct RowTable {
    /// The names and types of its columns.
    pub(crate) columns: Vec<(String, DataType)>,
}

impl RowTable {
    pub(crate) fn schema(&self) -> SchemaRef {
        let fields: Vec<Field> = self.columns.iter().map(|(name, ty)| field(name, ty, true)).collect();
        Arc::new(Schema::new(fields))
    }
}

/// Compiled expressions. Valid for the catalog version that they were compiled with.
#[derive(Debug)]
pub struct RowExprs {
    /// The types of the parameters.
    pub parameters: Vec<DataType>,
    /// The columns of the values.
    pub columns: Vec<OutputColumn>,
    /// May another session use them?
    pub cacheable: bool,
    types: Vec<DataType>,
    inputs: Vec<Input>,
    values: Vec<Value>,
    stages: Vec<Stage>,
    options: Arc<ConfigOptions>,
}

/// An input column: the row and its column in that row.
#[derive(Clone, Copy, Debug)]
struct Input {
    table: usize,
    column: usize,
    ty: DataType,
}

/// A placeholder, which has the same value for all rows.
#[derive(Clone, Debug)]
struct Value {
    id: String,
    source: Source,
    field: FieldRef,
}

#[derive(Clone, Debug)]
enum Source {
    /// `$n`, counted from 0.
    Parameter(usize),
    /// A session function, by the name of its placeholder.
    Session,
}

/// A projection over the columns of the stage before it.
#[derive(Debug)]
struct Stage {
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    /// The input columns, followed by the placeholder values.
    input: SchemaRef,
    /// The same expressions, if their calls must be made row by row.
    by_row: Option<Vec<Lazy>>,
}

impl Planner {
    /// Compiles a plan over rows in memory to stages; `None` if it has other nodes than projections.
    pub(crate) fn stages(&self, plan: &Plan, row: &RowTable) -> QueryResult<Option<RowExprs>> {
        let mut compiler = Compiler { planner: self, row, values: Vec::new(), stages: Vec::new() };
        compiler.find_values(&plan.logical)?;
        let Some(inputs) = compiler.compile(&plan.logical)? else { return Ok(None) };
        let Compiler { values, stages, .. } = compiler;
        Ok(Some(RowExprs {
            parameters: plan.parameters.clone(),
            types: plan.columns.iter().map(|column| column.ty).collect(),
            columns: plan.columns.as_ref().clone(),
            cacheable: plan.cacheable,
            inputs,
            values,
            stages,
            options: Arc::clone(self.state.config_options()),
        }))
    }
}

struct Compiler<'a> {
    planner: &'a Planner,
    row: &'a RowTable,
    values: Vec<Value>,
    stages: Vec<Stage>,
}

impl Compiler<'_> {
    /// Collects the placeholders of the plan.
    fn find_values(&mut self, plan: &LogicalPlan) -> QueryResult<()> {
        let mut found: HashMap<String, Value> = HashMap::new();
        plan.apply_with_subqueries(|node| {
            node.apply_expressions(|expr| {
                expr.apply(|part| {
                    if let Expr::Placeholder(placeholder) = part
                        && let Some(field) = &placeholder.field
                    {
                        let source = number_of(placeholder).map_or(Source::Session, Source::Parameter);
                        let id = placeholder.id.clone();
                        let field: FieldRef = Arc::new(Field::new(column_of(&id), field.data_type().clone(), true));
                        found.insert(id.clone(), Value { id, source, field });
                    }
                    Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
                })
            })
        })?;
        self.values = found.into_values().collect();
        self.values.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(())
    }

    /// Compiles a plan to stages; returns the input columns of the first one.
    fn compile(&mut self, plan: &LogicalPlan) -> QueryResult<Option<Vec<Input>>> {
        match plan {
            LogicalPlan::Projection(projection) => {
                let Some(inputs) = self.compile(&projection.input)? else { return Ok(None) };
                let stage = self.stage(projection)?;
                self.stages.push(stage);
                Ok(Some(inputs))
            }
            LogicalPlan::Extension(extension) if kept_effects::is_kept(extension.node.as_ref()) => {
                only_input(extension.node.inputs()).map_or(Ok(None), |input| self.compile(input))
            }
            LogicalPlan::TableScan(scan) if scan.filters.is_empty() && scan.fetch.is_none() => {
                Ok(self.inputs(scan.projection.as_deref()))
            }
            LogicalPlan::EmptyRelation(one) if one.produce_one_row && one.schema.fields().is_empty() => {
                Ok(Some(Vec::new()))
            }
            _ => Ok(None),
        }
    }

    fn inputs(&self, projection: Option<&[usize]>) -> Option<Vec<Input>> {
        let columns = &self.row.columns;
        let all: Vec<usize> = (0..columns.len()).collect();
        let input = |column: &usize| {
            let (_, ty) = columns.get(*column)?;
            Some(Input { table: 0, column: *column, ty: *ty })
        };
        projection.unwrap_or(&all).iter().map(input).collect()
    }

    fn stage(&self, projection: &Projection) -> QueryResult<Stage> {
        let own = projection.input.schema();
        let schema = self.with_values(own)?;
        let exprs = projection.expr.iter().map(|expr| self.physical(expr.clone(), &schema, own.fields().len()));
        let (exprs, input) = (exprs.collect::<QueryResult<Vec<_>>>()?, nullable(&schema));
        let by_row = match acts_by_row(&exprs)? {
            true => Some(exprs.iter().map(|expr| Lazy::new(expr, &input)).collect::<Result<_>>()?),
            false => None,
        };
        Ok(Stage { exprs, input, by_row })
    }

    /// Appends the placeholder values to the columns.
    fn with_values(&self, columns: &DFSchemaRef) -> QueryResult<DFSchema> {
        let own = columns.iter().map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)));
        let values = self.values.iter().map(|value| (None, Arc::clone(&value.field)));
        Ok(DFSchema::new_with_metadata(own.chain(values).collect(), HashMap::new())?)
    }

    fn physical(&self, expr: Expr, schema: &DFSchema, columns: usize) -> QueryResult<Arc<dyn PhysicalExpr>> {
        let expr = expr.transform_up(|expr| match &expr {
            Expr::Placeholder(place) => {
                Ok(Transformed::yes(Expr::Column(Column::new_unqualified(column_of(&place.id)))))
            }
            _ => Ok(Transformed::no(expr)),
        });
        let physical = self.planner.state.create_physical_expr(expr.data()?, schema)?;
        // Some functions require a constant argument where a parameter stands.
        Ok(physical.transform_up(|expr| Ok(RowParameter::in_place_of(expr, columns))).data()?)
    }
}

/// The column name of a placeholder. No column of a table starts with this character.
fn column_of(id: &str) -> String {
    format!("\u{1}{id}")
}

fn nullable(schema: &DFSchema) -> SchemaRef {
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .enumerate()
        .map(|(i, field)| Field::new(i.to_string(), field.data_type().clone(), true))
        .collect();
    Arc::new(Schema::new(fields))
}

impl RowExprs {
    /// Moves the expressions to other rows: `place` maps a column of the compiled row to a row and a column in it.
    pub(crate) fn over(mut self, place: impl Fn(usize) -> Option<(usize, usize)>) -> Self {
        for input in &mut self.inputs {
            if let Some((table, column)) = place(input.column) {
                (input.table, input.column) = (table, column);
            }
        }
        self
    }

    /// Do they call session functions? [`Self::eval`] then requires a context.
    pub fn needs_context(&self) -> bool {
        self.values.iter().any(|value| matches!(value.source, Source::Session))
    }

    /// Does a call wait?
    pub fn waits(&self) -> bool {
        let calls = |expr: &Arc<dyn PhysicalExpr>| expr.exists(|part| Ok(waits(part))).unwrap_or(true);
        self.stages.iter().flat_map(|stage| &stage.exprs).any(calls)
    }

    /// Do they call a volatile function?
    pub fn is_volatile(&self) -> bool {
        self.stages.iter().flat_map(|stage| &stage.exprs).any(is_volatile)
    }

    /// The types of the values.
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Evaluates the expressions for each element of `rows`, which is one row or several side by side.
    ///
    /// # Errors
    /// Errors of the evaluation; [`QueryError::Internal`] if a required context is missing.
    pub async fn eval(
        &self,
        cx: Option<&QueryContext>,
        params: &[Datum],
        rows: &[&[&[Datum]]],
    ) -> QueryResult<Vec<Vec<Datum>>> {
        if !self.stages.iter().any(|stage| stage.by_row.is_some()) {
            return self.eval_at_once(cx, params, rows).await;
        }
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            all.extend(self.eval_at_once(cx, params, &[*row]).await?);
        }
        Ok(all)
    }

    /// As [`Self::eval`], for expressions that call no function that waits and need no context.
    ///
    /// # Errors
    /// As [`Self::eval`]; [`QueryError::Internal`] if a function waits.
    pub fn eval_alone(&self, rows: &[&[&[Datum]]]) -> QueryResult<Vec<Vec<Datum>>> {
        let waits = || QueryError::internal("a function that waits among the values of a row");
        self.eval(None, &[], rows).now_or_never().ok_or_else(waits)?
    }

    async fn eval_at_once(
        &self,
        cx: Option<&QueryContext>,
        params: &[Datum],
        rows: &[&[&[Datum]]],
    ) -> QueryResult<Vec<Vec<Datum>>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let values = self.values.iter().map(|value| self.value(value, cx, params, rows.len()));
        let values: Vec<ArrayRef> = values.collect::<QueryResult<_>>()?;
        let columns = self.inputs.iter().map(|input| input.array(rows));
        let mut columns: Vec<ArrayRef> = columns.collect::<QueryResult<_>>()?;
        for stage in &self.stages {
            columns = stage.run(columns, &values, rows.len(), &self.options).await?;
        }
        let fields = columns.iter().map(|column| Field::new("", column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        batch_to_rows(&batch(schema, columns, rows.len())?, &self.types)
    }

    fn value(&self, value: &Value, cx: Option<&QueryContext>, params: &[Datum], rows: usize) -> QueryResult<ArrayRef> {
        let scalar = match value.source {
            Source::Parameter(number) => match (self.parameters.get(number), params.get(number)) {
                (Some(ty), Some(given)) => Some(datum_to_scalar(ty, &fitted(ty, given)?)?),
                _ => None,
            },
            Source::Session => match cx {
                Some(cx) => session_value(&value.id, cx)?,
                None => None,
            },
        };
        let scalar = scalar.ok_or_else(|| QueryError::internal(format!("parameter {} has no value", value.id)))?;
        Ok(scalar.cast_to(value.field.data_type())?.to_array_of_size(rows)?)
    }
}

impl Input {
    fn array(&self, rows: &[&[&[Datum]]]) -> QueryResult<ArrayRef> {
        let of_row = |row: &&[&[Datum]]| row.get(self.table).and_then(|row| row.get(self.column)).cloned();
        let values: Vec<Datum> = rows.iter().map(|row| of_row(row).unwrap_or(Datum::Null)).collect();
        datums_to_array(&self.ty, values)
    }
}

impl Stage {
    async fn run(
        &self,
        mut columns: Vec<ArrayRef>,
        values: &[ArrayRef],
        rows: usize,
        options: &Arc<ConfigOptions>,
    ) -> QueryResult<Vec<ArrayRef>> {
        columns.extend(values.iter().cloned());
        let input = batch(Arc::clone(&self.input), columns, rows)?;
        if let Some(exprs) = &self.by_row {
            let mut computed = Vec::with_capacity(exprs.len());
            for expr in exprs {
                computed.push(expr.value(&input, options).await?);
            }
            return Ok(computed);
        }
        let computed = self.exprs.iter().map(|expr| expr.evaluate(&input)?.into_array(rows));
        Ok(computed.collect::<Result<_>>()?)
    }
}

/// Must the calls of the expressions be made row by row?
fn acts_by_row(exprs: &[Arc<dyn PhysicalExpr>]) -> Result<bool> {
    let (mut calls, mut alone) = (0, false);
    for expr in exprs {
        calls += effects(expr)?;
        alone = alone || is_conditional(expr)? || expr.exists(|part| Ok(waits(part)))?;
    }
    Ok(calls > 1 || alone)
}

fn batch(schema: SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> QueryResult<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options)
        .map_err(|error| QueryError::internal(format!("values of a row: {error}")))
}
