//! A parameter of row expressions: a column that has one value per batch and is evaluated as a constant.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Evaluates to the value of a column in the first row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowParameter {
    column: usize,
}

impl RowParameter {
    /// Replaces a column reference behind the first `columns`.
    pub(crate) fn in_place_of(expr: Arc<dyn PhysicalExpr>, columns: usize) -> Transformed<Arc<dyn PhysicalExpr>> {
        let index = (expr.as_ref() as &dyn Any).downcast_ref::<Column>().map(Column::index);
        match index.filter(|index| *index >= columns) {
            Some(column) => Transformed::yes(Arc::new(Self { column })),
            None => Transformed::no(expr),
        }
    }
}

impl fmt::Display for RowParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter@{}", self.column)
    }
}

impl PhysicalExpr for RowParameter {
    fn data_type(&self, input: &Schema) -> Result<arrow::datatypes::DataType> {
        Ok(input.field(self.column).data_type().clone())
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(true)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(batch.column(self.column), 0)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        Vec::new()
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(self)
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
