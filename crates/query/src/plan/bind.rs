//! Binds a cached plan for execution: parameters get values, tables the read view of the statement.

use super::parameters::number_of;
use super::{distinct_prefix, first_rows};
use crate::Refusal;
use crate::context::QueryContext;
use crate::convert::datum_to_scalar;
use crate::error::{QueryError, QueryResult};
use crate::functions::{in_list, session_value, with_values};
use crate::lower::check_windows;
use crate::provider::RegionTable;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use catalog::{Table, TableOid};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DFSchemaRef, Result, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::expr_rewriter::{NamePreserver, SavedName};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::physical_expr::create_physical_expr;
use index::IndexChoice;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{DataType, Datum, coerce, text};

/// Converts the parameters' values to the types of the plan.
///
/// # Errors
/// [`QueryError::ParameterCount`]; [`QueryError::Type`] for a value that does not fit.
pub(super) fn parameter_scalars(types: &[DataType], values: &[Datum]) -> QueryResult<Vec<ScalarValue>> {
    if types.len() != values.len() {
        return Err(QueryError::ParameterCount { expected: types.len(), found: values.len() });
    }
    types.iter().zip(values).map(|(ty, value)| datum_to_scalar(ty, &fitted(ty, value)?)).collect()
}

/// Applies an assignment cast if the value has another type than the plan expects.
pub(super) fn fitted(ty: &DataType, value: &Datum) -> QueryResult<Datum> {
    match value {
        // Clients send values of unknown type as text.
        Datum::Text(text) if !ty.is_text() => Ok(text::parse(ty, text)?),
        value => Ok(coerce::assign(ty, value.clone())?),
    }
}

/// Binds the parameters and the read view.
///
/// # Errors
/// [`QueryError::Internal`] for a parameter without a value; errors of evaluating LIMIT and OFFSET.
pub(super) fn bind(plan: &LogicalPlan, cx: &QueryContext, parameters: &[ScalarValue]) -> QueryResult<LogicalPlan> {
    let scans = Scans::of(plan)?;
    let choice = cx.settings.get("bennu.index_choice").and_then(|value| IndexChoice::from_setting(&value));
    let choice = choice.unwrap_or_default();
    let bound = plan.clone().transform_down_with_subqueries(|node| {
        let node = bind_table(node, cx, &scans, choice)?;
        let bound = node.map_data(|node| {
            let limits = matches!(node, LogicalPlan::Limit(_));
            // The nodes above find aggregates and windows by name, and a parameter is part of the name.
            let named = matches!(node, LogicalPlan::Aggregate(_) | LogicalPlan::Window(_));
            let inputs = Inputs::of(&node);
            let bound = |expr: Expr| {
                let name = if named && !matches!(expr, Expr::GroupingSet(_)) {
                    NamePreserver::new_for_projection().save(&expr)
                } else {
                    SavedName::None
                };
                let bound = bind_expr(expr, cx, (parameters, &inputs))?.update_data(|expr| name.restore(expr));
                if limits { bound.map_data(constant) } else { Ok(bound) }
            };
            node.map_expressions(bound).data()
        })?;
        check_limit(&bound.data)?;
        check_windows(&bound.data)?;
        // After limits are known, and before the tables below are bound.
        bound.transform_data(first_rows::annotated)?.transform_data(distinct_prefix::annotated)
    });
    Ok(bound.data()?)
}

/// Evaluates LIMIT and OFFSET expressions over constants: for DataFusion a computed limit is unknown.
///
/// # Errors
/// 2201W and 2201X; errors of the evaluation.
pub(super) fn fold_limits(plan: LogicalPlan) -> QueryResult<LogicalPlan> {
    let folded = plan.transform_up_with_subqueries(|node| {
        if !matches!(node, LogicalPlan::Limit(_)) {
            return Ok(Transformed::no(node));
        }
        let folded = node.map_expressions(|expr| {
            let is_open = expr.exists(|part| Ok(matches!(part, Expr::Placeholder(_))))?;
            if is_open { Ok(Transformed::no(expr)) } else { Ok(Transformed::yes(constant(expr)?)) }
        })?;
        check_limit(&folded.data)?;
        Ok(folded)
    });
    Ok(folded.data()?)
}

/// Rejects negative LIMIT and OFFSET.
///
/// # Errors
/// 2201W and 2201X.
fn check_limit(node: &LogicalPlan) -> QueryResult<()> {
    let LogicalPlan::Limit(limit) = node else { return Ok(()) };
    let negative = |bound: &Option<Box<Expr>>| {
        bound.as_deref().is_some_and(|bound| match bound {
            Expr::Literal(ScalarValue::Int64(Some(count)), _) => *count < 0,
            Expr::Negative(inner) => matches!(inner.as_ref(), Expr::Literal(ScalarValue::Int64(Some(1..)), _)),
            _ => false,
        })
    };
    if negative(&limit.fetch) {
        return Err(Refusal::Limit.because("LIMIT must not be negative"));
    }
    if negative(&limit.skip) {
        return Err(Refusal::Offset.because("OFFSET must not be negative"));
    }
    Ok(())
}

/// Evaluates an expression without columns or subqueries to an `Int64` literal.
fn constant(expr: Expr) -> Result<Expr> {
    let is_fixed = |part: &Expr| !matches!(part, Expr::ScalarSubquery(_) | Expr::OuterReferenceColumn(..));
    if matches!(expr, Expr::Literal(..)) || expr.any_column_refs() || expr.exists(|part| Ok(!is_fixed(part)))? {
        return Ok(expr);
    }
    let none = DFSchema::empty();
    let one_row = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::clone(none.inner()), Vec::new(), &one_row)?;
    let value = create_physical_expr(&expr, &none, &ExecutionProps::new(), &Default::default())?.evaluate(&row)?;
    let value = ScalarValue::try_from_array(&value.into_array(1)?, 0)?;
    Ok(Expr::Literal(value.cast_to(&ArrowType::Int64)?, None))
}

/// The scans of a statement.
#[derive(Default)]
struct Scans {
    all: usize,
    of_tables: BTreeMap<TableOid, usize>,
}

impl Scans {
    fn of(plan: &LogicalPlan) -> Result<Self> {
        let mut scans = Self::default();
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                scans.all += 1;
                if let Some(table) = RegionTable::of(scan) {
                    *scans.of_tables.entry(table.table().oid).or_default() += 1;
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(scans)
    }

    /// DataFusion uses row estimates only if there are several tables to join.
    fn are_several(&self) -> bool {
        self.all > 1
    }

    /// Whether a table is read more than once. All its scans read one snapshot of it.
    fn repeat(&self, table: &Table) -> bool {
        self.of_tables.get(&table.oid).is_some_and(|scans| *scans > 1)
    }
}

fn bind_table(
    node: LogicalPlan,
    cx: &QueryContext,
    scans: &Scans,
    choice: IndexChoice,
) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
    match RegionTable::of(&scan) {
        None => Ok(Transformed::no(LogicalPlan::TableScan(scan))),
        Some(table) => {
            let fresh_since = cx.fresh_since.filter(|_| !scans.repeat(table.table()));
            let bound = table.bind(&cx.reader, scans.are_several(), choice, &cx.hints).with_refreshed(fresh_since);
            scan.source = provider_as_source(Arc::new(bound));
            Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
        }
    }
}

/// The schemas against which the expressions of a node are resolved.
struct Inputs {
    rows: Vec<DFSchemaRef>,
    /// The columns of the table: filters of a scan may read columns that the scan does not output.
    source: Option<SchemaRef>,
}

impl Inputs {
    fn of(node: &LogicalPlan) -> Self {
        let source = match node {
            LogicalPlan::TableScan(scan) => Some(scan.source.schema()),
            _ => None,
        };
        Self { rows: node.inputs().iter().map(|input| Arc::clone(input.schema())).collect(), source }
    }

    fn type_of(&self, value: &Expr) -> Option<ArrowType> {
        let of_source = || match (value, &self.source) {
            (Expr::Column(column), Some(source)) => {
                Some(source.field_with_name(&column.name).ok()?.data_type().clone())
            }
            _ => None,
        };
        self.rows.iter().find_map(|rows| value.get_type(rows.as_ref()).ok()).or_else(of_source)
    }
}

fn bind_expr(
    expr: Expr,
    cx: &QueryContext,
    (parameters, inputs): (&[ScalarValue], &Inputs),
) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| {
        let bound = match &expr {
            Expr::Placeholder(placeholder) => Some(Expr::Literal(value_of(placeholder, cx, parameters)?, None)),
            Expr::ScalarFunction(call) => match call.args.as_slice() {
                [value, Expr::Literal(ScalarValue::List(_), _)] => {
                    in_list(call.func.name(), &call.args, inputs.type_of(value).as_ref())?
                }
                _ => with_values(call)?,
            },
            _ => None,
        };
        Ok(bound.map_or_else(|| Transformed::no(expr), Transformed::yes))
    })
}

fn value_of(placeholder: &Placeholder, cx: &QueryContext, parameters: &[ScalarValue]) -> QueryResult<ScalarValue> {
    let value = match number_of(placeholder) {
        Some(number) => parameters.get(number).cloned(),
        None => session_value(&placeholder.id, cx)?,
    };
    value.ok_or_else(|| QueryError::internal(format!("parameter {} has no value", placeholder.id)))
}
