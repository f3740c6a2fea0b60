//! Expressions with effects, evaluated for one row: operands from left to right, and none that is not needed.
//!
//! DataFusion evaluates the right side of AND and OR for all rows of a batch unless the left side decides all of them,
//! and functions that wait before everything else of an operator, also within CASE.

use crate::functions::{effects, is_coalesce, waits};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, make_comparator, new_null_array};
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::async_scalar_function::AsyncFuncExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, Column};
use futures::future::BoxFuture;
use std::cmp::Ordering;
use std::sync::Arc;

/// An expression, split where DataFusion would evaluate operands too early or too late.
#[derive(Debug)]
pub(crate) enum Lazy {
    /// Evaluated by DataFusion: no operand has effects.
    Whole(Arc<dyn PhysicalExpr>),
    /// AND, or OR, which `decides`.
    Logic { decides: bool, left: Box<Lazy>, right: Box<Lazy> },
    /// CASE.
    Case(Case),
    /// COALESCE, with a result of that type.
    First(Vec<Lazy>, DataType),
    /// A function that waits.
    Waiting(AsyncFuncExpr, Operands),
    /// Any other expression.
    Over(Arc<dyn PhysicalExpr>, Operands),
}

/// CASE, with a result of type `ty`.
#[derive(Debug)]
pub(crate) struct Case {
    operand: Option<Box<Lazy>>,
    arms: Vec<(Lazy, Lazy)>,
    other: Option<Box<Lazy>>,
    ty: DataType,
}

/// The operands with effects. Their values become columns behind those of the row, which the expression above reads.
#[derive(Debug)]
pub(crate) struct Operands {
    values: Vec<Lazy>,
    schema: SchemaRef,
}

impl Lazy {
    /// Splits an expression over rows of `schema`.
    ///
    /// # Errors
    /// None for a valid expression.
    pub(crate) fn new(expr: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Result<Self> {
        if effects(expr)? == 0 {
            return Ok(Self::Whole(Arc::clone(expr)));
        }
        let lazy = |expr: &Arc<dyn PhysicalExpr>| Self::new(expr, schema);
        if let Some(logic) = expr.downcast_ref::<BinaryExpr>()
            && let Operator::And | Operator::Or = logic.op()
        {
            let (left, right) = (Box::new(lazy(logic.left())?), Box::new(lazy(logic.right())?));
            return Ok(Self::Logic { decides: *logic.op() == Operator::Or, left, right });
        }
        if let Some(case) = expr.downcast_ref::<CaseExpr>() {
            let arms = case.when_then_expr().iter().map(|(when, then)| Ok((lazy(when)?, lazy(then)?)));
            return Ok(Self::Case(Case {
                operand: case.expr().map(lazy).transpose()?.map(Box::new),
                arms: arms.collect::<Result<_>>()?,
                other: case.else_expr().map(lazy).transpose()?.map(Box::new),
                ty: expr.data_type(schema)?,
            }));
        }
        if is_coalesce(expr) {
            let all = expr.children().into_iter().map(lazy).collect::<Result<_>>()?;
            return Ok(Self::First(all, expr.data_type(schema)?));
        }
        Self::over(expr, schema)
    }

    fn over(expr: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Result<Self> {
        let (expr, operands) = Operands::of(expr, schema)?;
        if waits(&expr) {
            return Ok(Self::Waiting(AsyncFuncExpr::try_new("value", expr, &operands.schema)?, operands));
        }
        Ok(Self::Over(expr, operands))
    }

    /// Has it effects?
    pub(super) fn acts(&self) -> bool {
        !matches!(self, Self::Whole(_))
    }

    /// The value for one row.
    ///
    /// # Errors
    /// Errors of the evaluation.
    pub(crate) fn value<'a>(
        &'a self,
        row: &'a RecordBatch,
        options: &'a Arc<ConfigOptions>,
    ) -> BoxFuture<'a, Result<ArrayRef>> {
        Box::pin(async move {
            match self {
                Self::Whole(expr) => evaluated(expr, row),
                Self::Logic { decides, left, right } => {
                    let first = truth(&left.value(row, options).await?);
                    if first == Some(*decides) {
                        return Ok(boolean(first));
                    }
                    let second = truth(&right.value(row, options).await?);
                    let known = first.is_some() && second.is_some();
                    Ok(boolean(if known || second == Some(*decides) { second } else { None }))
                }
                Self::Case(case) => case.value(row, options).await,
                Self::First(all, ty) => first_known(all, ty, row, options).await,
                Self::Waiting(call, operands) => {
                    let row = operands.beside(row, options).await?;
                    call.invoke_with_args(&row, Arc::clone(options)).await?.into_array(1)
                }
                Self::Over(expr, operands) => evaluated(expr, &operands.beside(row, options).await?),
            }
        })
    }
}

impl Case {
    async fn value(&self, row: &RecordBatch, options: &Arc<ConfigOptions>) -> Result<ArrayRef> {
        let operand = match &self.operand {
            Some(operand) => Some(operand.value(row, options).await?),
            None => None,
        };
        for (when, then) in &self.arms {
            let when = when.value(row, options).await?;
            let chosen = match &operand {
                Some(operand) => is_equal(operand, &when)?,
                None => truth(&when) == Some(true),
            };
            if chosen {
                return Ok(cast(&then.value(row, options).await?, &self.ty)?);
            }
        }
        match &self.other {
            Some(other) => Ok(cast(&other.value(row, options).await?, &self.ty)?),
            None => Ok(new_null_array(&self.ty, 1)),
        }
    }
}

/// The first value that is not NULL.
async fn first_known(all: &[Lazy], ty: &DataType, row: &RecordBatch, options: &Arc<ConfigOptions>) -> Result<ArrayRef> {
    for item in all {
        let value = item.value(row, options).await?;
        if value.logical_null_count() == 0 {
            return Ok(cast(&value, ty)?);
        }
    }
    Ok(new_null_array(ty, 1))
}

impl Operands {
    /// The expression over columns in place of its operands with effects, and these.
    fn of(expr: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Result<(Arc<dyn PhysicalExpr>, Self)> {
        let mut fields: Vec<FieldRef> = schema.fields().iter().map(Arc::clone).collect();
        let (mut values, mut children) = (Vec::new(), Vec::new());
        for child in expr.children() {
            if effects(child)? == 0 {
                children.push(Arc::clone(child));
                continue;
            }
            let field = child.return_field(schema)?;
            children.push(Arc::new(Column::new(field.name(), fields.len())) as Arc<dyn PhysicalExpr>);
            fields.push(Arc::new(Field::clone(&field).with_nullable(true)));
            values.push(Lazy::new(child, schema)?);
        }
        let over = match values.is_empty() {
            true => Arc::clone(expr),
            false => Arc::clone(expr).with_new_children(children)?,
        };
        Ok((over, Self { values, schema: Arc::new(Schema::new(fields)) }))
    }

    /// The row with the values of the operands.
    async fn beside(&self, row: &RecordBatch, options: &Arc<ConfigOptions>) -> Result<RecordBatch> {
        if self.values.is_empty() {
            return Ok(row.clone());
        }
        let mut columns = row.columns().to_vec();
        for value in &self.values {
            columns.push(value.value(row, options).await?);
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

fn evaluated(expr: &Arc<dyn PhysicalExpr>, row: &RecordBatch) -> Result<ArrayRef> {
    expr.evaluate(row)?.into_array(1)
}

/// The only value of an array of booleans; `None` is NULL.
pub(super) fn truth(value: &ArrayRef) -> Option<bool> {
    value.as_boolean_opt().and_then(|values| values.iter().next().flatten())
}

fn boolean(value: Option<bool>) -> ArrayRef {
    Arc::new(BooleanArray::from(vec![value]))
}

/// Are both values known and equal?
fn is_equal(left: &ArrayRef, right: &ArrayRef) -> Result<bool> {
    if left.logical_null_count() + right.logical_null_count() > 0 {
        return Ok(false);
    }
    let right = cast(right, left.data_type())?;
    Ok(make_comparator(left, &right, SortOptions::default())?(0, 0) == Ordering::Equal)
}
