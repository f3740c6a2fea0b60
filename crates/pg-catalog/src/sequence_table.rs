//! Sequences as tables of one row: where each stands. pg_dump reads them.

use crate::source::Source;
use arrow::array::{BooleanArray, Int64Array};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use catalog::Sequence;
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{SchemaProvider, Session, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::TableType;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// The sequences of a schema.
#[derive(Debug)]
pub(crate) struct SequenceSchema {
    pub(crate) name: String,
    pub(crate) source: Source,
}

#[async_trait]
impl SchemaProvider for SequenceSchema {
    fn table_names(&self) -> Vec<String> {
        let own = |sequence: &&Arc<Sequence>| self.source.schema_name(sequence.schema.0) == Some(self.name.as_str());
        self.source.catalog.sequences().filter(own).map(|sequence| sequence.name.clone()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let found = self.source.catalog.sequence(&self.name, name);
        Ok(found.map(|sequence| {
            let table = SequenceTable { sequence: Arc::clone(sequence), schema: schema(), source: self.source.clone() };
            Arc::new(table) as Arc<dyn TableProvider>
        }))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.source.catalog.sequence(&self.name, name).is_some()
    }
}

#[derive(Debug)]
struct SequenceTable {
    sequence: Arc<Sequence>,
    schema: SchemaRef,
    source: Source,
}

fn schema() -> SchemaRef {
    let field = |name, ty| Field::new(name, ty, false);
    Arc::new(Schema::new(vec![
        field("last_value", ArrowType::Int64),
        field("log_cnt", ArrowType::Int64),
        field("is_called", ArrowType::Boolean),
    ]))
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
                // How much of its log is left: there is none.
                Arc::new(Int64Array::from(vec![0])),
                Arc::new(BooleanArray::from(vec![called])),
            ],
        )?;
        Ok(MemorySourceConfig::try_new_exec(&[vec![row]], Arc::clone(&self.schema), projection.cloned())?)
    }
}
