//! Sequences as tables of one row with the current position, for pg_dump.

use crate::source::Source;
use arrow::array::{BooleanArray, Int64Array};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use catalog::Sequence;
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::TableType;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// The table of one sequence.
#[derive(Debug)]
pub(crate) struct SequenceTable {
    sequence: Arc<Sequence>,
    schema: SchemaRef,
    source: Source,
}

impl SequenceTable {
    pub(crate) fn new(sequence: Arc<Sequence>, source: Source) -> Self {
        let fields =
            [("last_value", ArrowType::Int64), ("log_cnt", ArrowType::Int64), ("is_called", ArrowType::Boolean)];
        let fields: Vec<Field> = fields.map(|(name, ty)| Field::new(name, ty, false)).into();
        Self { sequence, schema: Arc::new(Schema::new(fields)), source }
    }
}

#[async_trait]
impl TableProvider for SequenceTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (last, called) = self.source.live.position(&self.sequence).await;
        let row = RecordBatch::try_new(
            Arc::clone(&self.schema),
            vec![
                Arc::new(Int64Array::from(vec![last])),
                // `log_cnt`: always 0, because there is no such log.
                Arc::new(Int64Array::from(vec![0])),
                Arc::new(BooleanArray::from(vec![called])),
            ],
        )?;
        Ok(MemorySourceConfig::try_new_exec(&[vec![row]], Arc::clone(&self.schema), projection.cloned())?)
    }
}
